/** Bounds of importers, each with its reason. */

/** Octets of all files of one import together: hundreds of times a large configuration. */
export const MAX_SOURCE_OCTETS = 16 * 1024 * 1024;
/** Files of one nginx configuration, includes counted each time: a server with a file for each of its sites. */
export const MAX_SOURCE_FILES = 2_000;
/** Levels of nested blocks or includes; nginx's own directives nest five deep. */
export const MAX_DEPTH = 32;
/** Directives of one nginx configuration: three times what fills the rules of a domain. */
export const MAX_DIRECTIVES = 100_000;
/** Levels of parentheses and `not` in an expression, so that the parser's recursion is bounded. */
export const MAX_EXPRESSION_DEPTH = 64;
/** Characters of an expression; Cloudflare's own limit is 4,096, and lists of addresses are longer elsewhere. */
export const MAX_EXPRESSION_CHARACTERS = 65_536;
/** Rules that one source rule becomes at most: each alternative of its condition is one. */
export const MAX_ALTERNATIVES = 64;
/** Entries of a list that two conditions on one text are combined to. */
export const MAX_COMBINED = 256;
/** Characters of a source rule that the report repeats: a line of a terminal. */
export const MAX_SHOWN_CHARACTERS = 100;
/** Rules of one import that are drafted at most: the rules of a domain. */
export const MAX_DRAFTED_RULES = 10_000;
/** Keys of a `map` over the path that are compared without case: each is a regex, and a domain has room for 64. */
export const MAX_CASELESS_KEYS = 32;
