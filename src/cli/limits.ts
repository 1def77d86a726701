/** Limits of the command line, each with its reason. */

/** The most files that `--watch` follows: a rule set of signatures has hundreds, and each costs a stat a second. */
export const MAX_WATCHED_FILES = 5_000;

/** The most domains that one command goes over: enough for an agency, and each is compiled in memory. */
export const MAX_DOMAIN_FILES = 1_000;
/** The deepest folder below `-f` that is searched for edge files: a customer, an environment, a domain, and two more. */
export const MAX_FOLDER_DEPTH = 5;

/** The most requests of one `import nginx --check`: a minute of them, and each path of a large configuration. */
export const MAX_CHECKED_REQUESTS = 5_000;
