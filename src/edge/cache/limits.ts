/** Bounds of the cache, each with its reason. */

/** Octets of a body held in memory; larger ones live on disk alone, or one file would push a thousand pages out. */
export const MAX_MEMORY_BODY = 8 * 1024 * 1024;
/** A body may take this part of the memory at most, for nodes whose memory is small. */
export const BODY_SHARE = 1 / 8;
/** Octets an entry takes beyond its body and headers: objects, the table's node. Measured: 0.6 to 0.9 KB. */
export const ENTRY_OVERHEAD = 1024;
/** Answers being recorded may hold this part of the memory on top of it; past it they stream through unkept. */
export const RECORDING_SHARE = 1 / 2;
/** Octets by which the slowest of those who share an answer that is not recorded may lag before its origin waits. */
export const LIVE_WINDOW = 256 * 1024;
/** Octets pushed to a client at once; a larger write would be encrypted whole for clients that read slowly. */
export const PUSH_OCTETS = 256 * 1024;
/** Milliseconds a request waits for another's fetch of the same, as nginx's lock: after that its origin is asked twice. */
export const WAIT_MS = 5_000;
/** Milliseconds a key is known to be unfit to share, so that its visitors need not queue: an answer's usual change of mind. */
export const UNSHARED_MS = 30_000;
/** Keys of which something is remembered for a while, about 200 octets each. The least used is forgotten. */
export const MAX_RECENT = 50_000;
/** Milliseconds for which an origin that failed is not asked again where what is held may stand in: a breath, for both. */
export const FAILING_MS = 3_000;
/** Milliseconds a fetch goes on after everybody who asked is gone: a page's time, not a film's. */
export const ORPHAN_MS = 30_000;
/** Octets read of an error that nobody gets, to keep its connection: a page of it. */
export const MAX_DROPPED = 64 * 1024;
/** Milliseconds by which an answer may be younger than a request, which waited for it that long at most. */
export const CLOCK_SLACK_MS = 120_000;
/** Headers a resource may vary by. More make every request its own, so such an answer is not kept. */
export const MAX_VARY = 8;
/** Octets of the header values a variant is told apart by; longer ones are attacks or one visitor's own. */
export const MAX_VARIANT_OCTETS = 4 * 1024;
/** Seconds; RFC 9111 §1.2.2 asks for at least 2^31, and no page is older than 68 years. */
export const MAX_SECONDS = 2 ** 31;
/** Part of the time since `Last-Modified` that an answer without a lifetime is taken for fresh (RFC 9111 §4.2.2). */
export const HEURISTIC_SHARE = 0.1;
/** Seconds of it at most: after a day somebody should have looked. */
export const MAX_HEURISTIC = 86_400;
/** Seconds that a stale answer stands in for an origin that cannot be reached (RFC 9111 §4.2.4), unless forbidden. */
export const DISCONNECTED_SEC = 86_400;
/** Seconds that `force` keeps an answer that names no lifetime, by status; as the large networks do. */
export const FORCED_SEC: Readonly<Record<number, number>> = {
  200: 7_200,
  203: 7_200,
  204: 7_200,
  300: 1_200,
  301: 7_200,
  302: 1_200,
  307: 1_200,
  308: 7_200,
  404: 180,
  410: 180,
};
/** Seconds an edge lifetime set by a rule may keep an error: a page that comes back must be seen within minutes. */
export const MAX_FORCED_ERROR = 180;

/** Octets of the header part of a file: an origin's largest head with room for what is noted beside it. */
export const MAX_FILE_HEAD = 256 * 1024;
/** Octets waiting to be written; past it answers stay in memory alone. */
export const MAX_WRITE_BACKLOG = 32 * 1024 * 1024;
/** Octets of one large body waiting for its file before its origin waits, and octets written at once. */
export const SPILL_WINDOW = 1024 * 1024;
/** Milliseconds a disk may take for one such write; past it the body is not kept, and its clients wait no more. */
export const SPILL_STALL_MS = 2_000;
/** Milliseconds without writing after a write failed: a full disk is not asked again for every answer. */
export const DISK_REST_MS = 10_000;
/** Octets read from a file at once. */
export const READ_OCTETS = 256 * 1024;
/** Milliseconds between rounds that remove what is past its days on disk. */
export const SWEEP_MS = 3_600_000;
/** Days a file is kept where its domain has not been asked for since the start, so its setting is not known: the most there is to set. */
export const DEFAULT_DISK_DAYS = 7;
/** Files that the index of one domain holds, about 200 octets each; the least recently used leave. */
export const MAX_FILES = 1_000_000;
