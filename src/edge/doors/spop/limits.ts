/** Bounds of one connection of HAProxy; beyond one, its octets wait in the kernel, and no other connection does. */

/** Decisions of a connection that are awaited: requests with a clearance, a token, a body or a challenge. */
export const MAX_PENDING = 1_024;

/** Octets of the frames of those, which stay in memory with their bodies. */
export const MAX_PENDING_OCTETS = 16 * 1024 * 1024;

/** Octets of ACKs that the kernel has not taken: HAProxy reads too slowly. */
export const MAX_UNWRITTEN_OCTETS = 1024 * 1024;

/** Connections of one door. HAProxy has one for each of its threads, or for each request that waits. */
export const MAX_CONNECTIONS = 4_096;

/** Milliseconds until HAPROXY-HELLO has arrived; a plain TCP check connects and closes at once. */
export const HELLO_MS = 10_000;

/** Milliseconds in which the peer closes after AGENT-DISCONNECT. */
export const CLOSE_MS = 2_000;

/** Milliseconds without a frame after which a connection of a stopping door is closed: none is under way then. */
export const QUIET_MS = 50;

/** Milliseconds for decisions under way before connections are handed over; HAProxy gives one 500 ms. */
export const HAND_OVER_MS = 500;

/** Milliseconds between two log sentences of the same kind. */
export const REPORT_MS = 60_000;
