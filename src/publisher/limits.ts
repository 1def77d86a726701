/** Bounds on what a publisher keeps and how often it works, each with its reason. */

/**
 * Octets of the plans of one name that are stored, to print, compare and roll back to: some forty of a domain with
 * 10,000 rules, thousands of an ordinary one.
 */
export const MAX_STORED_OCTETS = 33_554_432;
/** Plans of one name that are stored: more versions than anybody compares. */
export const MAX_STORED_PLANS = 100;
/** Milliseconds for which plans are stored beyond the newest few: a month of work to go back to. */
export const STORED_MS = 30 * 24 * 3_600_000;
/** Plans that are stored whatever their age, so that a domain that rests for a year can be rolled back. */
export const AGELESS_PLANS = 10;
/**
 * Plans that are stored whatever their size, the published one among them: what was there before the last two changes can
 * be rolled back to, even where each is as large as nodes take.
 */
export const SIZELESS_PLANS = 3;
/** Plans of one name removed in one transaction: on SQLite other writers wait for it, some milliseconds a plan. */
export const PRUNED_AT_ONCE = 20;
/** Names looked at in one reading. */
export const PRUNED_NAMES = 200;
/** Revisions of a name between two prunings beside the hourly ones: a burst stores at most so many plans too many. */
export const PRUNE_EVERY = 20;

/**
 * Milliseconds of a publication from which its domain rests before the next, and after which others no longer wait for it:
 * ordinary ones take a tenth of that.
 */
export const SLOW_MS = 250;
/** A domain rests this many times as long as its publication took, so its plans take a third of a processor at most. */
export const DOMAIN_REST = 2;
/** Milliseconds of the longest rest: with two of the slowest compiles it is below what `?wait=published` waits. */
export const LONGEST_DOMAIN_REST_MS = 4_000;
/** Claims whose slow publications may be under way at once: as many publications as plans may wait for the thread. */
export const CLAIMS_UNDER_WAY = 4;
