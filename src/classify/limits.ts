/** Bounds of classification, each with its reason. */

/** Records of a country database kept decoded: a country database has some 250 different ones, a city database many. */
export const MAX_DECODED_RECORDS = 4_096;
/** Prefixes of one operator: the longest published list (Google's user-triggered fetchers) has some 2,000. */
export const MAX_PREFIXES = 20_000;
/** What is remembered of addresses that say they are a bot, the least recently asked for leaving first: some 10 MB. */
export const MAX_REMEMBERED_BOTS = 50_000;
/** Addresses looked up in the DNS at a time; what comes beside them is looked up at a later request. */
export const MAX_BOT_LOOKUPS = 16;
/** Names of one address that are followed: those of crawlers have one. */
export const MAX_REVERSE_NAMES = 4;
/** Milliseconds that a confirmed bot is remembered: crawlers keep their addresses for months. */
export const CONFIRMED_MS = 24 * 3_600_000;
/** Milliseconds that an address is remembered which is not its bot's: soon enough after an operator's mistake. */
export const REFUTED_MS = 3_600_000;
/** Milliseconds until an address is looked up again whose names could not be had. */
export const UNANSWERED_MS = 60_000;
