/** What is remembered for a moment, while the time of day jumps. */
import { expect, test } from 'vitest';
import { FAILING_MS, UNSHARED_MS } from '../../../src/http-cache/limits.ts';
import { createNegativeCache } from '../../../src/http-cache/negative-cache.ts';

const DAY = 86_400_000;

test.each([
  ['stands still', 0, false],
  ['goes on', FAILING_MS / 2, false],
  ['goes on past it', UNSHARED_MS + 1, true],
  ['jumps ahead', DAY, true],
  ['is set back', -DAY, true],
])('a clock that %s', (_what, by, over) => {
  let now = 10 * DAY;
  const recent = createNegativeCache(() => now);
  recent.setShareable('a', false);
  recent.setFailing('a', 'unreached');
  now += by;
  expect([recent.isShareable('a'), recent.failureOf('a') === null]).toEqual([over, over]);
});
