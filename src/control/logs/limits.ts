/** The bounds of the logs room, each with its reason. */

/** Octets of one batch as JSON lines: what a thread checks and stores in some 20 ms. A node sends at most half of it. */
export const MAX_BATCH_OCTETS = 2_097_152;
/** Octets of the same batch as sent, in gzip: JSON lines shrink to a quarter and less. */
export const MAX_SENT_OCTETS = 1_048_576;
/** Entries of one batch; a node sends at most 500. */
export const MAX_BATCH_ENTRIES = 1_000;
/** Domains of one batch, each of which costs two reads on the API's thread; a node sends at most 100. */
export const MAX_BATCH_DOMAINS = 200;
/** Octets of the first line of a batch, which lists the domains: 200 names of 253 characters each. */
export const MAX_HEAD_OCTETS = 65_536;
/** Octets of one entry: twice the longest line that the fields' own bounds (`edge/proxy/limits.ts`) make usual. */
export const MAX_ENTRY_OCTETS = 131_072;
/** Octets as JSON lines that one node may send a second, and at once: 1,000 entries a second, and a minute of them after a cut. */
export const NODE_OCTETS_PER_SEC = 2_097_152;
/** See `NODE_OCTETS_PER_SEC`. */
export const NODE_BURST_OCTETS = 134_217_728;
/** Milliseconds that an entry's time may be ahead of the server's clock, as for traffic counts. */
export const MAX_AHEAD_MS = 300_000;
/** Characters of an entry's texts that are indexed or compared: id, action, rule, address, path. */
export const MAX_TEXT = 2_048;
/** Items of a list in an entry: four times as many as a node writes (`MAX_MATCHES` in `edge/proxy/limits.ts`). */
export const MAX_ENTRY_LIST = 256;
/** Rules of one entry that a search by rule finds: as many as a line lists for request and response, and those of both decisions. */
export const MAX_ENTRY_RULES = 130;

/** Days that entries are stored, unless the operator sets another number: most incidents are examined within a week. */
export const DEFAULT_DAYS = 7;
/** Days, at most: a file or a partition for each is open at once. */
export const MAX_DAYS = 90;
/** Octets of one domain's entries of one day, 80,000 entries: an attack on one domain leaves room for all others. */
export const MAX_DOMAIN_DAY_OCTETS = 134_217_728;
/**
 * The part of it that counted lines may take beyond it: the decisions of an attack fill a day within the hour, and the numbers of
 * its requests by rule and network, which are fewer and shorter, go on after that.
 */
export const COUNTED_SHARE = 1 / 4;
/** Octets of all days together. Beyond them the oldest days go, and at last new entries are not stored. */
export const MAX_TOTAL_OCTETS = 17_179_869_184;
/** Octets of room on the disk below which no entry is stored, so that the log never takes the room of the API's writes. */
export const MIN_ROOM_OCTETS = 268_435_456;
/** Milliseconds between two looks at the room on the disk and the size of all days. */
export const LOOK_MS = 5_000;
/** Milliseconds between two removals of days that are over. */
export const PRUNE_MS = 600_000;

/** Entries of a page: at most, and without `limit`. A page of 200 is up to some 400 KB. */
export const MAX_ENTRIES = 200;
/** See `MAX_ENTRIES`. */
export const USUAL_ENTRIES = 100;
/** Entries that one search examines, at most: some 100 ms. The answer then says that it is not complete, and where to go on. */
export const MAX_EXAMINED = 20_000;
/** Entries that are read at once while searching. */
export const EXAMINED_AT_ONCE = 500;
/** Milliseconds after which a search ends as if it had examined `MAX_EXAMINED`. */
export const SEARCH_MS = 1_000;
/** Characters of a filter's text: a path of a line is not longer. */
export const MAX_FILTER = 2_048;
/** Octets of all entries of a page; the page ends before the entry that would exceed them. */
export const MAX_PAGE_OCTETS = 2_097_152;

/** Calls that wait for one of the threads, at most: further ones are refused and tried again. Batches are bounded in size. */
export const MAX_WAITING_CALLS = 32;
/** Searches of one account that run or wait for the one that runs: what one page load requests at once. */
export const MAX_SEARCHES_OF_ACCOUNT = 8;
/** Nodes whose rate is remembered; the longest idle is forgotten first, which only gives it its whole burst back. */
export const MAX_RATED_NODES = 10_000;
/** Batches written as lines whose digests are stored, so that one sent again is not written again: minutes of 50 nodes, in 2 MB. */
export const MAX_REMEMBERED_BATCHES = 10_000;
