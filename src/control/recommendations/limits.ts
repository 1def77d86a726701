/** The bounds and thresholds of recommendations, each with its reason. Shares are parts of 1. */

const DAY_MS = 86_400_000;

/** Days of traffic after which a rule without a match is reported as unused. Given (semantics §11). */
export const UNUSED_DAYS = 30;
/**
 * Days with traffic among them, at least: a shop that is closed at weekends has 21, and a domain that was off for half of
 * the time has not shown that it does without the rule.
 */
export const UNUSED_TRAFFIC_DAYS = 20;
/** Requests of those days, at least: with fewer, a rule for one page in a thousand has had no chance to match. */
export const UNUSED_REQUESTS = 1_000;
/** Responses with the statuses of an error page, at least: without errors an error page has had nothing to replace. */
export const UNUSED_PAGE_RESPONSES = 100;

/** Days that a dry_run rule has been unchanged: a week has every weekday, and the counts are of this very rule. */
export const DRY_RUN_DAYS = 7;
/** Days with traffic among them, at least. */
export const DRY_RUN_TRAFFIC_DAYS = 5;
/** Requests in that week, at least: shares of fewer say little. */
export const DRY_RUN_REQUESTS = 1_000;
/** Matches, or changed decisions, that a statement about a dry_run rule rests on, at least. */
export const DRY_RUN_MATCHES = 100;
/** The largest share of requests that a rule may refuse to be recommended for enforcement: attacks are usually less. */
export const MAX_READY_SHARE = 0.05;
/** The share of requests from which on a rule that would refuse them is probably wrong: most of them are customers. */
export const MIN_BROAD_SHARE = 0.2;
/** The share of a rule's matches that other dry_run rules may hide, at most, where it is said to be without effect. */
export const MAX_HIDDEN_SHARE = 0.05;
/** Changes that the evidence lists, those with the most requests. */
export const MAX_CHANGES_SHOWN = 10;

/** Days of log entries that are read: as long as they are stored by default. */
export const ENTRY_DAYS = 7;
/** Rules of each of the types `waf` and `cache` whose entries are read, the first in evaluation order. */
export const MAX_ENTRY_RULES = 4;
/**
 * Parts of that time, or of the shorter one since the rule was changed, of each of which entries are read: of a whole week two
 * hours. The newest entries of a busy rule are of minutes, and a burst must not hide what happens at other hours.
 */
export const ENTRY_PARTS = 84;
/** Entries of one rule and part that are read, the newest: 840 of a rule. */
export const ENTRIES_OF_PART = 10;
/** Entries of the domain that are read to see whether its requests come over TLS, the newest. */
export const NEWEST_ENTRIES = 100;
/** Octets of all entries that are read: they are sent to a thread, some 3,000 entries. */
export const MAX_ENTRY_OCTETS = 4_194_304;
/**
 * Milliseconds after which no further search of entries is begun; each ends within a second by itself, and takes less than a
 * millisecond where a rule alone is asked for.
 */
export const READ_ENTRIES_MS = 4_000;

/** Blocked requests of a signature, at least, before it is reported as a false positive. */
export const FALSE_POSITIVE_REQUESTS = 20;
/** Visitors (networks) that sent them, at least: one scanner has one or a few. */
export const FALSE_POSITIVE_VISITORS = 10;
/** Different hours in which they came, at least: twice as many as `waf tune` asks for, since entries are a part of a week. */
export const FALSE_POSITIVE_HOURS = 6;
/** The share of the signature's blocked requests that are in places of a likely false positive. */
export const FALSE_POSITIVE_SHARE = 0.9;
/** Exclusions of one signature, at most: a form has a few places, a scan has many. */
export const FALSE_POSITIVE_PLACES = 3;
/** Ids of log entries that the evidence lists, for a person to read before the exclusion is made. */
export const MAX_EXAMPLES = 5;

/** Entries of a cache rule, at least. At the usual sampling of 1 % they are of 20,000 requests. */
export const CACHE_ENTRIES = 200;
/** Different hours of those entries, at least: one campaign lasts less. */
export const CACHE_HOURS = 12;
/** Misses among them, at least: where nearly everything is a hit, nothing is to be gained. */
export const CACHE_MISSES = 100;
/** The share of misses with a parameter that splits the cache, from which on it is worth a change. */
export const SPLIT_SHARE = 0.2;
/** Requests with a parameter whose values are judged, at least. */
export const UNIQUE_VALUES = 50;
/** The share of different values from which on they count as unique to each request. */
export const UNIQUE_SHARE = 0.95;
/** Requests of one path whose responses are compared, at least, to see that the values change nothing. */
export const COMPARED_RESPONSES = 10;
/** Parameters that a proposed rule lists, at most: where pages take more, a list would soon lack one. */
export const MAX_QUERY_PARAMS = 50;
/** Characters of a parameter's name; longer ones are noise of scanners. */
export const MAX_PARAM_CHARACTERS = 64;
/** Characters of a logged target: a node cuts longer ones, whose query is then not whole (`edge/proxy/limits.ts`). */
export const MAX_WHOLE_TARGET = 2_047;
/** Different parameter names of one rule that are counted; beyond them the rule gets no recommendation. */
export const MAX_COUNTED_PARAMS = 1_000;

/** Names of the zone that are followed from an origin to its address: resolvers follow about as many. */
export const MAX_ALIASES = 8;

/** Milliseconds before its end from which on a certificate expires soon. Given (semantics §8, `expiring`). */
export const CERTIFICATE_MS = 14 * DAY_MS;
/** Milliseconds for which the order of a certificate counts as under way: most end within minutes. */
export const ORDER_MS = DAY_MS;
/** Milliseconds before its end from which on an API key expires soon: time to put a new one everywhere. */
export const KEY_MS = 14 * DAY_MS;
/** Milliseconds without a use after which the key of a consumer is reported: most jobs run once a month. */
export const UNUSED_KEY_MS = 90 * DAY_MS;
/** Requests of an operation that no document has, at least: scanners and mistyped addresses have fewer. */
export const UNKNOWN_REQUESTS = 20;
/** Operations that the evidence lists, those with the most requests. */
export const MAX_OPERATIONS_SHOWN = 100;
/** Names that the evidence lists; their number is beside. */
export const MAX_NAMES_SHOWN = 100;

/** Recommendations of one page, at most and by default. */
export const MAX_RECOMMENDATIONS = 1_000;
/** Characters of one proposed change as YAML: a rule with long lists. An error page with more is changed by hand. */
export const MAX_FRAGMENT_CHARACTERS = 131_072;
