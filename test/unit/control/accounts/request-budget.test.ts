import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRequestBudget, REQUESTS_PER_MINUTE } from '../../../../src/control/accounts/request-budget.ts';

const MINUTE = 60_000;

/** All admitted times, searched through each time. */
function naiveBudget(limit: number): (now: number) => number {
  const admitted: number[] = [];
  return (now) => {
    const inside = admitted.filter((time) => time > now - MINUTE);
    if (inside.length < limit) {
      admitted.push(now);
      return 0;
    }
    return Math.max(1, Math.ceil((inside[inside.length - limit]! + MINUTE - now) / 1_000));
  };
}

describe('the request budget of a key', () => {
  test('is 300 requests a minute, and the next one is refused with its seconds to wait', () => {
    const budget = createRequestBudget();
    for (let sent = 0; sent < REQUESTS_PER_MINUTE; sent++) expect(budget.take(1, 1_000_000 + sent)).toBe(0);
    expect(budget.take(1, 1_000_300)).toBe(60);
    expect(budget.take(2, 1_000_300)).toBe(0);
    expect(budget.take(1, 1_000_000 + MINUTE - 1)).toBe(1);
    expect(budget.take(1, 1_000_000 + MINUTE)).toBe(0);
  });

  test('admits the same requests as a count of every request', () => {
    const steps = fc.array(fc.oneof(fc.nat(50), fc.nat(20_000)), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), steps, (limit, gaps) => {
        const budget = createRequestBudget(limit);
        const naive = naiveBudget(limit);
        let now = 1_000_000;
        for (const gap of gaps) {
          now += gap;
          expect(budget.take(7, now)).toBe(naive(now));
        }
      }),
    );
  });

  test('admits a request after the seconds that the refusal names', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5_000), { minLength: 5, maxLength: 60 }), (gaps) => {
        const budget = createRequestBudget(5);
        let now = 5_000_000;
        for (const gap of gaps) {
          now += gap;
          const wait = budget.take(1, now);
          if (wait === 0) continue;
          now += wait * 1_000;
          expect(budget.take(1, now)).toBe(0);
        }
      }),
    );
  });

  test('admits a key after the clock is set back', () => {
    const budget = createRequestBudget(2);
    expect(budget.take(1, 10 * MINUTE)).toBe(0);
    expect(budget.take(1, MINUTE)).toBe(0);
    expect(budget.take(1, MINUTE)).toBeLessThanOrEqual(60);
    expect(budget.take(1, 11 * MINUTE)).toBe(0);
  });

  test('removes unused keys from memory', () => {
    const budget = createRequestBudget(1);
    for (let key = 1; key <= 5_000; key++) budget.take(key, key * 1_000);
    expect(budget.size()).toBeLessThan(2_200);
  });
});
