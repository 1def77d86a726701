/** Bounds of simulations. */
import { MAX_REPEAT } from '../../rules/files/limits.ts';

/** Requests that a rate limit can have counted before: a test that sends as many and one more can be written. */
export const MAX_COUNTED = MAX_REPEAT - 1;
