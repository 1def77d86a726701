/** The bounds of a mutation run, each with its reason. */

/** Mutants that are tried; of more, a selection that a seed fixes. 200 rules make about 2,000; 1,000 take a minute or two. */
export const MAX_MUTANTS = 1_000;
/** Entries of one list that are dropped one by one, evenly spread: a list of 256 addresses is not 256 questions. */
export const MAX_DROPPED_ENTRIES = 6;
/** Steps of the proof about one mutant (`workbench/proofs/space/limits.ts` says what a step is): about a second. */
export const MAX_MUTANT_STEPS = 400_000;
/** Requests to one rate limit that a printed test repeats; a limit that needs more is left open. */
export const MAX_REPEATED = 5_000;
/** Mutants that are proved in one space: more would share more of it, and divide it finer. */
export const MAX_BATCH = 32;
/** Requests by which the turns of a pool are compared. */
export const MAX_TURNS = 16;
/** Survivors, and mutants left open, that the report for people lists. */
export const MAX_PRINTED = 20;
/** Steps of the question whether two filters overlap, or are the same. */
export const MAX_ORDER_STEPS = 20_000;
