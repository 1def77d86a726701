/** Limits of the command line, each with its reason. */

/** The most files that `--watch` follows: a rule set of signatures has hundreds, and each costs a stat a second. */
export const MAX_WATCHED_FILES = 5_000;
