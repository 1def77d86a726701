/** Bounds of HTTP message parsing and pushing, each with its reason. */

/** Seconds; RFC 9111 §1.2.2 asks for at least 2^31, and no page is older than 68 years. */
export const MAX_SECONDS = 2 ** 31;
/** Octets pushed to a client at once; a larger write would be encrypted whole for clients that read slowly. */
export const PUSH_OCTETS = 256 * 1024;
