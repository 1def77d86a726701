/** Numbers and charts of tables. */
import { describe, expect, test } from 'vitest';
import {
  durationText,
  grouped,
  millisecondsText,
  octetsText,
  shareText,
  sparkline,
} from '../../../../src/cli/print/table.ts';

describe('numbers', () => {
  test('digits are in groups of three', () => {
    expect([0, 999, 1_204, 1_204_311].map(grouped)).toEqual(['0', '999', '1,204', '1,204,311']);
  });

  test('octets have three significant digits and a decimal unit', () => {
    expect([0, 512, 999, 1_000, 48_211_003, 999_700, 2.5e15].map(octetsText)).toEqual([
      '0 B',
      '512 B',
      '999 B',
      '1.00 kB',
      '48.2 MB',
      '1.00 MB',
      '2.50 PB',
    ]);
  });

  test('a part that is there is never shown as nothing, and a part of nothing is a dash', () => {
    expect([shareText(1, 100_000), shareText(0, 5), shareText(1, 3), shareText(0, 0)]).toEqual([
      '<0.1 %',
      '0.0 %',
      '33.3 %',
      '–',
    ]);
  });

  test('milliseconds have two or three significant digits', () => {
    expect([0.42, 12.4, 99.4, 221.7, 999.7, 1_690].map(millisecondsText)).toEqual([
      '0.42 ms',
      '12 ms',
      '99 ms',
      '222 ms',
      '1.00 s',
      '1.69 s',
    ]);
  });

  test('a duration is in the largest unit of which there are two', () => {
    expect([-5, 4_000, 119_000, 120_000, 7_199_000, 86_400_000, 172_800_000].map(durationText)).toEqual([
      '0 s',
      '4 s',
      '119 s',
      '2 min',
      '119 min',
      '24 h',
      '2 d',
    ]);
  });
});

describe('a chart', () => {
  test('has the highest bar for the largest value and a blank for none', () => {
    expect(sparkline([0, 1, 4, 8], 10)).toBe(' ▂▅█');
    expect(sparkline([0, 0], 10)).toBe('  ');
    expect(sparkline([], 10)).toBe('');
  });

  test('sums neighbouring values where there are more than it is wide, and the newest bar is whole', () => {
    expect(sparkline([9, 1, 1, 1, 1], 3)).toBe('█▂▂');
    expect(sparkline(new Array<number>(1_440).fill(3), 24)).toBe('█'.repeat(24));
    for (const count of [1, 7, 24, 25, 100, 1_500]) {
      expect(sparkline(new Array<number>(count).fill(1), 24).length).toBeLessThanOrEqual(24);
    }
  });
});
