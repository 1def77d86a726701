/** Limits of the cache, each with its reason. */

/**
 * Maximum size, in octets, of a body that is stored in memory; larger ones are stored on disk alone, or one file would
 * evict a thousand pages.
 */
export const MAX_MEMORY_BODY = 8 * 1024 * 1024;
/** Maximum part of the memory that one body may use, for nodes with little memory. */
export const BODY_SHARE = 1 / 8;
/** Octets of an entry beyond its key, body and headers: objects and the table node. Measured: 0.6 to 0.9 KB. */
export const ENTRY_OVERHEAD = 1024;
/**
 * Maximum size, as a part of the memory and on top of it, of the responses being recorded; beyond it they are streamed
 * and not stored.
 */
export const RECORDING_SHARE = 1 / 2;
/** Maximum number of octets by which the slowest reader of a live stream lags; beyond it the origin is paused. */
export const LIVE_WINDOW = 256 * 1024;
/**
 * Maximum time, in milliseconds, that a request waits for an in-flight request for the same entry, as with nginx's
 * `proxy_cache_lock_timeout`; then it is sent to the origin as well.
 */
export const WAIT_MS = 5_000;
/**
 * Milliseconds for which a key is marked as not shareable (hit-for-miss), so that its requests do not queue.
 * A response seldom becomes shareable sooner.
 */
export const UNSHARED_MS = 30_000;
/** Maximum number of keys in each table of the negative cache, about 200 octets each. The least recently used is evicted. */
export const MAX_RECENT = 50_000;
/**
 * Maximum length, in characters, of a key in the negative cache; a longer one is replaced by its hash, or the tables would
 * have 16 KB of each URL that a client invents.
 */
export const MAX_RECENT_KEY = 128;
/** Milliseconds for which a failed origin gets no further request if a stale entry can be used. */
export const FAILING_MS = 3_000;
/**
 * Maximum time, in milliseconds, for which a fetch continues after its last reader has left: enough for a page, not for
 * a film.
 */
export const ORPHAN_MS = 30_000;
/** Maximum number of octets of an unused error response that are read to reuse its connection. */
export const MAX_DROPPED = 64 * 1024;
/**
 * Maximum time, in milliseconds, by which a response may be newer than a request: the longest time a request waits for
 * it.
 */
export const CLOCK_SLACK_MS = 120_000;
/**
 * Maximum number of header names that a resource varies by. With more, every request would have its own variant; such a
 * response is not stored.
 */
export const MAX_VARY = 8;
/**
 * Maximum size, in octets, of the header values that identify a variant; longer values are attacks or specific to one
 * visitor.
 */
export const MAX_VARIANT_OCTETS = 4 * 1024;
/**
 * Part of the time since `Last-Modified` for which a response without a lifetime is fresh (RFC 9111 §4.2.2).
 */
export const HEURISTIC_SHARE = 0.1;
/** Maximum heuristic freshness, in seconds: after a day the response must be revalidated. */
export const MAX_HEURISTIC = 86_400;
/**
 * Seconds for which a stale entry is used while the origin is unreachable (RFC 9111 §4.2.4), unless
 * forbidden.
 */
export const DISCONNECTED_SEC = 86_400;
/**
 * Seconds for which `force` stores a response without a lifetime, by status; the values of the large CDNs.
 */
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
/**
 * Maximum time, in seconds, for which an edge lifetime stores an error: a recovered page must be visible within minutes.
 */
export const MAX_FORCED_ERROR = 180;

/** Maximum number of tags of a response: Fastly and Cloudflare take fewer octets of them. */
export const MAX_TAGS = 1_000;
/** Maximum size, in characters, of the headers with tags: that of Fastly and Cloudflare. */
export const MAX_TAGS_CHARACTERS = 16 * 1024;
/** Maximum size, in octets, of the head of a cache file: an origin's largest response head and the fields of the entry. */
export const MAX_FILE_HEAD = 256 * 1024;
/** Entries of memory that a survey reads at once: about a millisecond. */
export const SURVEYED_AT_ONCE = 1_000;
/** Maximum number of URLs of a domain that a survey lists: those used last, as many as a person reads. */
export const MAX_SURVEYED_URLS = 1_000;
/** Maximum length, in characters, of a listed URL: longer ones are counted alone; a purge cannot name them either. */
export const MAX_SURVEYED_URL = 2_048;
/** Maximum number of tags that are listed of a URL: as many as one purge names. */
export const MAX_SURVEYED_TAGS = 30;
/** Maximum number of octets queued for writing; beyond it responses are stored in memory alone. */
export const MAX_WRITE_BACKLOG = 32 * 1024 * 1024;
/** Octets of a queued write beyond its content: objects, paths and promises. Measured: 2.9 KB. */
export const WRITE_OVERHEAD = 3 * 1024;
/**
 * Maximum number of files written at once: each needs a file descriptor, of which connections need some too, and Node
 * writes four at a time.
 */
export const WRITES_AT_ONCE = 16;
/** Files removed at once: hundreds of thousands may expire in the same hour. */
export const REMOVALS_AT_ONCE = 64;
/**
 * Maximum number of octets of one large body queued for its file before its origin is paused, and of octets written at
 * once.
 */
export const SPILL_WINDOW = 1024 * 1024;
/**
 * Maximum time, in milliseconds, of one such write; beyond it the body is not stored, and its clients are no longer
 * paused.
 */
export const SPILL_STALL_MS = 2_000;
/** Milliseconds without writing after a failed write: a full disk is not tried again for every response. */
export const DISK_REST_MS = 10_000;
/** Octets read from a file at once. */
export const READ_OCTETS = 256 * 1024;
/** Milliseconds between two removals of expired files. */
export const SWEEP_MS = 3_600_000;
/**
 * Days after which a file expires while the setting of its domain is unknown, since no request for it came
 * since the start: the maximum of the setting.
 */
export const DEFAULT_DISK_DAYS = 7;
/**
 * Maximum number of files in the index of a node, 170 octets of memory each (measured with a million). Beyond it the least
 * recently used files of the domains with the most are evicted, so that new URLs without end at one domain cost that domain.
 */
export const MAX_FILES = 1_000_000;
/** Files written between two comparisons with this maximum: each reads the numbers of all domains. */
export const FILES_BETWEEN_COUNTS = 100;
