/** Bounds on SecLang text and on what is made of it, each with its reason. */
import type { DfaLimits } from '../../base/regex/dfa.ts';

/** Characters of one configuration or data file: the largest of the OWASP Core Rule Set has 204,000. */
export const MAX_SOURCE_CHARACTERS = 4_194_304;
/** Files that one `Include` may lead to, directly and through others: the Core Rule Set has 30. */
export const MAX_INCLUDED_FILES = 1_000;
/** `Include` inside `Include`: deeper is a circle. */
export const MAX_INCLUDE_DEPTH = 16;
/** Rules of one text: the Core Rule Set has 700; beyond this one request could not be inspected in its time. */
export const MAX_SIGNATURE_RULES = 10_000;
/** Characters of one pattern: the longest of the Core Rule Set has 21,000. */
export const MAX_SIGNATURE_PATTERN = 65_536;
/**
 * One pattern's automaton. A table of 16-bit words has 65,535 at most; a pattern that needs more states than this is
 * nearly always one whose states multiply (of the 255 of the Core Rule Set 224 fit, and at twice as many states 227).
 */
export const SIGNATURE_DFA_LIMITS: DfaLimits = { states: 3_000, octets: 131_072, steps: 20_000_000 };
/** Words of the table of a guard, the automaton that stands in for one that is too large: what 16 bits can address. */
export const MAX_GUARD_WORDS = 60_000;
/** Literals of which one is required by one pattern: the longest lists of the Core Rule Set name 1,500 functions. */
export const MAX_REQUIRED_LITERALS = 2_000;
/** The share of places in ordinary texts at which one of them may start: above, a scan for them tells little. */
export const MAX_REQUIRED_SHARE = 0.05;
