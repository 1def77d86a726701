/** The negative cache: while the time of day jumps, and with long keys. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { FAILING_MS, UNSHARED_MS } from '../../../../src/edge/cache/limits.ts';
import { createNegativeCache } from '../../../../src/edge/cache/negative-cache.ts';

const DAY = 86_400_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

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

test('long keys have results of their own, and take no more memory than short ones', () => {
  // A text of its own for each key: what `repeat` returns refers to shared parts.
  const keyOf = (number: number): string => Buffer.from(`${number}`.padStart(15_000, 'k')).toString('latin1');
  const recent = createNegativeCache(Date.now);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let number = 0; number < 2_000; number++) {
    const key = keyOf(number);
    recent.setShareable(key, false);
    recent.setChanged(key);
    recent.setFailing(key, 'error');
  }
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(4_000_000);
  expect(recent.isShareable(keyOf(7))).toBe(false);
  expect(recent.isChangedSince(keyOf(7), 0)).toBe(true);
  expect(recent.failureOf(keyOf(7))).toBe('error');
  recent.setShareable(keyOf(7), true);
  expect(recent.isShareable(keyOf(7))).toBe(true);
  expect(recent.isShareable(keyOf(8))).toBe(false);
  expect(recent.isChangedSince(keyOf(2_000), 0)).toBe(false);
  expect(recent.failureOf(keyOf(2_000))).toBeNull();
});
