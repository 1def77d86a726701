/** Limits of the compiler, each with its reason. */
import type { DfaLimits } from '../../../base/regex/dfa.ts';

/** Maximum length, in characters, of a configuration or data file; the longest of the OWASP Core Rule Set has 204,000. */
export const MAX_SOURCE_CHARACTERS = 4_194_304;
/** Maximum number of files that are included, directly and indirectly; the Core Rule Set has 30. */
export const MAX_INCLUDED_FILES = 1_000;
/** Maximum nesting depth of `Include`; a deeper one is most likely circular. */
export const MAX_INCLUDE_DEPTH = 16;
/**
 * Maximum number of rules per text; the Core Rule Set has 700, and with more than this an inspection exceeds its step
 * budget.
 */
export const MAX_SIGNATURE_RULES = 10_000;
/** Maximum length, in characters, of a pattern; the longest of the Core Rule Set has 21,000. */
export const MAX_SIGNATURE_PATTERN = 65_536;
/**
 * The limits of one pattern's DFA, whose table has 16-bit words and thus at most 65,535 of them. Patterns beyond
 * 3,000 states mostly grow exponentially: of the 255 of the Core Rule Set 224 fit, and with twice as many states
 * 227.
 */
export const SIGNATURE_DFA_LIMITS: DfaLimits = { states: 3_000, octets: 131_072, steps: 20_000_000 };
/**
 * Maximum number of words in the table of a guard (the DFA of a simpler pattern, for one that is too large): what 16
 * bits can address.
 */
export const MAX_GUARD_WORDS = 60_000;
/**
 * Maximum number of literals of which a pattern requires one; the longest lists of the Core Rule Set name 1,500
 * functions.
 */
export const MAX_REQUIRED_LITERALS = 2_000;
/**
 * Maximum share of positions in ordinary text at which such a literal may begin; above it, the search excludes too few
 * values.
 */
export const MAX_REQUIRED_SHARE = 0.05;
