/** Limits of parsing and pushing messages, each with its reason. */

/** Maximum of delta-seconds: RFC 9111 §1.2.2 requires at least 2^31, which are 68 years. */
export const MAX_SECONDS = 2 ** 31;
/** Maximum number of octets pushed at once: TLS encrypts a whole write at once, also for a client that reads slowly. */
export const PUSH_OCTETS = 256 * 1024;
/** Objects and lists inside one another in a JSON body: no request of the API needs more than eight. */
export const MAX_JSON_DEPTH = 32;
