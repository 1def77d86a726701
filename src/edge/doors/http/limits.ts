/** Limits of the HTTP door, each with its reason. */

/**
 * Maximum size, in octets, of a request's head: what nginx accepts of a visitor by default (four buffers of 8 KiB), a second
 * copy of a long target, and what the proxy adds.
 */
export const MAX_DOOR_HEAD_OCTETS = 64 * 1024;
/** Maximum number of headers: those that a node accepts of a visitor, and the proxy's own. */
export const MAX_DOOR_HEADERS = 256;
/** Maximum number of connections: a proxy keeps some dozens open for each of its processes. */
export const MAX_DOOR_CONNECTIONS = 4_096;
/** Maximum time, in milliseconds, for a whole head: the proxy is on this machine and has it whole already. */
export const DOOR_HEAD_MS = 10_000;
/** Maximum time, in milliseconds, for a whole request: the proxy buffers a body before it sends it. */
export const DOOR_REQUEST_MS = 60_000;
/** Milliseconds until an idle connection is closed: longer than the 60 s of nginx's `keepalive_timeout`, whose side ends it first. */
export const DOOR_IDLE_MS = 90_000;
/** Milliseconds that a connection within a request may be without an octet either way. */
export const DOOR_STALL_MS = 30_000;
/** Octets of a body that are read by default: the largest `body_cap_kb` that the examples use. */
export const DOOR_BODY_OCTETS = 128 * 1024;
/** Octets of a proof that are read: `MAX_PROOF_OCTETS` and one more, which shows that it is longer. */
export const PROOF_OCTETS = 8 * 1024 + 1;
/** Fewest octets of a secret: 128 bits cannot be guessed. */
export const LEAST_SECRET_OCTETS = 16;
/** Milliseconds between two log lines about refusals for one reason. */
export const REFUSAL_LOG_MS = 60_000;
/** Maximum length, in characters, of a header's name in a log line. */
export const MAX_LOGGED_NAME = 64;
