/**
 * The budgets of proofs, each with its reason. They count steps of work, not time, so that a proof ends alike on every
 * machine. A proof that runs out of one is `unknown`, and says which.
 */

/** States of the automaton of one path filter. Ordinary filters need fewer than 100. */
export const MAX_PATH_STATES = 4_000;
/** Cells of all automata of a space (states × letters), of 4 octets: 160 MiB, which no heap limit of a thread counts. */
export const MAX_SPACE_CELLS = 40_000_000;
/** Steps of patterns while the automata of all filters are built: some seconds. */
export const MAX_SPACE_WORK = 200_000_000;
/** The same where recommendations ask, which have no time for more than a second of it. */
export const MAX_QUICK_WORK = 20_000_000;
/** States of the automaton that divides the hosts below one wildcard record. */
export const MAX_HOST_STATES = 20_000;
/** Tests of a host against a host filter: 10,000 hosts against 1,000 filters. */
export const MAX_HOST_TESTS = 10_000_000;
/** States visited by one search for a path. About 0.1 s. */
export const MAX_SEARCH_STATES = 20_000;
/** Start URLs of the search for circles of redirects without proofs, each followed for 20 hops: less than a second. */
export const MAX_CIRCLE_STARTS = 5_000;
/** Hosts and paths of one redirect among them. */
export const MAX_STARTS_OF_LIST = 4;
/** Circles that are found without proofs: who has that many corrects some first. */
export const MAX_CIRCLES = 20;
/** Steps of the proof that a visitor reaches a redirect of one of them. */
export const MAX_CIRCLE_STEPS = 20_000;
/** Steps of the question whether two rules share a request, outside of the search for conflicts. */
export const MAX_PAIR_STEPS = 20_000;
/** Steps of all such questions about one rule set, one for each pair at least: less than a second. */
export const MAX_APART_STEPS = 200_000;
/** Boxes that one question may be divided into. */
export const MAX_CELLS = 50_000;
/** Steps of all questions about one rule set, in visited states and divided boxes; some seconds. */
export const MAX_TOTAL_STEPS = 4_000_000;
/** Points tried one by one before all blockers are considered at once. */
export const MAX_LAZY_ROUNDS = 24;
/** Blockers of an answer that are reduced to a minimal set; a longer list is reported as it is. */
export const MAX_MINIMISED = 48;
/** Steps of the questions about one rule, so that one rule does not use up the total. */
export const MAX_RULE_STEPS = 300_000;
/** Steps of the comparison of two plans; some seconds. */
export const MAX_CHANGE_STEPS = 4_000_000;
/** Steps of all questions about one invariant; about a second. */
export const MAX_INVARIANT_STEPS = 1_000_000;
/** Steps of the question whether the other entries of a list cover one. */
export const MAX_ENTRY_STEPS = 20_000;
/** Steps of all such questions about one rule set: a second or so. */
export const MAX_ENTRIES_STEPS = 1_000_000;
/** Entries of a covering that is reduced to a minimal one. */
export const MAX_COVERING = 24;
/** Steps of the question whether two rules of equal priority share a request. */
export const MAX_CONFLICT_STEPS = 20_000;
/** Steps of all such questions about one rule set: a second or so. */
export const MAX_CONFLICTS_STEPS = 1_000_000;
/** Steps of the search for a request of one region beside a rule. */
export const MAX_REGION_STEPS = 100_000;
/** Steps of all such searches in one plan: some seconds. */
export const MAX_REGIONS_STEPS = 4_000_000;
/** Pairs of rules of one component whose changed order is proved or shown, and comparisons of places to find them. */
export const MAX_INVERTED = 1_000;
export const MAX_ORDER_TESTS = 1_000_000;
