/** The bounds of drafts, each with its reason. */

/**
 * How often a publication checks its draft again because it was changed meanwhile; more often than that, several clients write at
 * once, and the answer is 409.
 */
export const MAX_CHECKS = 3;
/**
 * Newest entries of the audit log in which the author of each change is searched: about a thousand changes of rules. Without an
 * entry among them, the author of a change is not shown.
 */
export const MAX_SEARCHED_ENTRIES = 1_000;
