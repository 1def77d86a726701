/** Percent of a traffic quota. */
import { describe, expect, test } from 'vitest';
import { GIGABYTE, percentOf } from '../../../../src/control/billing/quota-use.ts';

describe('percent of a quota', () => {
  test('is exact at each level for every quota up to 20,000 GB', () => {
    const wrong: number[] = [];
    for (let quota = 1; quota <= 20_000; quota++) {
      for (const level of [80, 100, 101]) {
        // Whole octets: a percent of a gigabyte is ten million of them.
        const octets = (quota * GIGABYTE * level) / 100;
        if (percentOf(octets - 1, quota) !== level - 1 || percentOf(octets, quota) !== level)
          wrong.push(quota);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('is none of no quota, and 100 of a quota of nothing', () => {
    expect([percentOf(5, null), percentOf(0, 0), percentOf(0, 1)]).toEqual([null, 100, 0]);
  });
});
