/** Bounds of test files. */

/** The largest number of repetitions of a request, so that a test takes seconds. */
export const MAX_REPEAT = 100_000;
