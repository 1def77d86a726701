/** The line that shows how far a replay is. */
import { expect, it } from 'vitest';
import { progressText } from '../../../../src/cli/replay/progress.ts';

it.each([
  [{ done: 0, octets: 100, lines: 0, elapsedMs: 200 }, '0 lines, 0 a second'],
  [
    { done: 25_000_000, octets: 100_000_000, lines: 120_000, elapsedMs: 500 },
    '[######                  ]  25 %  120,000 lines, 240,000 a second, 1 s left',
  ],
  [
    { done: 1_000, octets: 1_000_000, lines: 10, elapsedMs: 1_000 },
    '[                        ]   0 %  10 lines, 10 a second, 16 min left',
  ],
  [
    // The log has grown since its size was read.
    { done: 200, octets: 100, lines: 10, elapsedMs: 1_000 },
    '[########################] 100 %  10 lines, 10 a second, 0 s left',
  ],
  [{ done: 5_000, octets: null, lines: 1_234_567, elapsedMs: 10_000 }, '1,234,567 lines, 123,457 a second'],
])('of %j', (state, text) => {
  expect(progressText(state)).toBe(text);
});
