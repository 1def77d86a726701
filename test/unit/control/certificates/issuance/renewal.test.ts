/** Times of renewals. */
import { expect, test } from 'vitest';
import { renewalTime, timeInWindow } from '../../../../../src/control/certificates/issuance/renewal.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test.each([90 * DAY, 6 * DAY, 47 * DAY, HOUR, 7])(
  'a life of %j ms ends a third after its renewal or later',
  (life) => {
    for (const start of [0, 1_800_000_000_123])
      for (const random of [0, 0.1, 0.5, 0.999]) {
        const at = renewalTime({ not_before: start, not_after: start + life }, random);
        expect(Number.isInteger(at)).toBe(true);
        expect(at - start).toBeLessThanOrEqual(Math.round((life * 2) / 3));
        expect(at - start).toBeGreaterThanOrEqual(Math.floor(life * (2 / 3 - 1 / 20)));
      }
  },
);

test('renewals of certificates of one time are spread', () => {
  const times = [0, 0.5, 1].map((random) => renewalTime({ not_before: 0, not_after: 90 * DAY }, random));
  expect(times.map((at) => at / DAY)).toEqual([60, 57.75, 55.5]);
});

test('a planned time in the window stays, and another one moves into it', () => {
  const window = { start: 100, end: 200 };
  for (const planned of [100, 150, 200]) expect(timeInWindow(window, planned, 0.7)).toBe(planned);
  for (const planned of [99, 201, 0, Number.MAX_SAFE_INTEGER]) {
    expect(timeInWindow(window, planned, 0)).toBe(100);
    expect(timeInWindow(window, planned, 0.25)).toBe(125);
    expect(timeInWindow(window, planned, 0.999)).toBe(200);
  }
});
