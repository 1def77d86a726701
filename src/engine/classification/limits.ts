/** Bounds of classification, each with its reason. */

/**
 * Maximum number of decoded records of a country database in the cache: a country database has some 250 different ones,
 * a city database many.
 */
export const MAX_DECODED_RECORDS = 4_096;
/**
 * Maximum number of prefixes per operator: the longest published list (Google's user-triggered fetchers) has some 2,000.
 */
export const MAX_PREFIXES = 20_000;
/** Maximum number of cached addresses with a declared bot, least recently used evicted first: some 10 MB. */
export const MAX_REMEMBERED_BOTS = 50_000;
/** Maximum number of concurrent DNS lookups; a later request looks further addresses up. */
export const MAX_BOT_LOOKUPS = 16;
/** Maximum number of reverse-DNS names checked per address; crawlers' addresses have one. */
export const MAX_REVERSE_NAMES = 4;
/** Milliseconds for which a confirmed bot is cached: crawlers keep their addresses for months. */
export const CONFIRMED_MS = 24 * 3_600_000;
/** Milliseconds for which a refuted address is cached: short enough after an operator's mistake. */
export const REFUTED_MS = 3_600_000;
/** Milliseconds until an address is looked up again after the DNS failed. */
export const UNANSWERED_MS = 60_000;
