import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answerChanged,
  answerOf,
  type FlattenedTarget,
  type LookupOutcome,
  newTarget,
  nextState,
} from '../../../../src/control/zones/flatten.ts';

const NOW = 1_000_000_000_000;
const DAY = 86_400_000;
const FAILURE: LookupOutcome = { kind: 'failure' };

function answer(ttlSec: number, ...addresses: readonly string[]): LookupOutcome {
  return { kind: 'answer', addresses, ttlSec };
}

/** Seconds until the next lookup. */
function wait(row: FlattenedTarget, now: number): number {
  return (row.next_at - now) / 1_000;
}

describe('the row of a flattened target', () => {
  it('is due again after the TTL, from 30 to 300 seconds', () => {
    for (const [ttl, seconds] of [
      [0, 30],
      [29, 30],
      [31, 31],
      [299, 299],
      [86_400, 300],
    ] as const) {
      const row = nextState(newTarget('x.test', NOW), answer(ttl, '192.0.2.1'), NOW);
      expect(wait(row, NOW)).toBe(seconds);
    }
  });

  it('has sorted, distinct addresses, at most 20 of each family', () => {
    const four = Array.from({ length: 30 }, (_, at) => `192.0.2.${10 + at}`);
    const six = Array.from({ length: 30 }, (_, at) => `2001:db8::${10 + at}`);
    const row = nextState(newTarget('x.test', NOW), answer(60, ...six.toReversed(), ...four, ...four), NOW);
    expect(row.addresses).toEqual([...four.slice(0, 20), ...six.slice(0, 20)]);
  });

  it('does not change when only the order of addresses or the TTL does', () => {
    const first = nextState(newTarget('x.test', NOW), answer(300, '192.0.2.2', '192.0.2.1'), NOW);
    const second = nextState(first, answer(12, '192.0.2.1', '192.0.2.2'), NOW + 300_000);
    expect(answerChanged(newTarget('x.test', NOW), first)).toBe(true);
    expect(answerChanged(first, second)).toBe(false);
    expect(second.good_at).toBe(NOW + 300_000);
  });

  it('changes with the first answer, even one without addresses, and not with a first failure', () => {
    const fresh = newTarget('x.test', NOW);
    expect(answerOf(fresh)).toBeNull();
    expect(answerChanged(fresh, nextState(fresh, answer(60), NOW))).toBe(true);
    expect(answerChanged(fresh, nextState(fresh, FAILURE, NOW))).toBe(false);
  });

  it('retries a failed lookup after 30, 60, 120, 240, then every 300 seconds', () => {
    let row = newTarget('x.test', NOW);
    const waits: number[] = [];
    for (let at = 0; at < 7; at++) {
      row = nextState(row, FAILURE, NOW);
      waits.push(wait(row, NOW));
    }
    expect(waits).toEqual([30, 60, 120, 240, 300, 300, 300]);
    expect(nextState(row, answer(60), NOW).failures).toBe(0);
  });

  it('has its last answer for a day of failures, then none', () => {
    const good = nextState(newTarget('x.test', NOW), answer(60, '192.0.2.1'), NOW);
    const late = nextState(good, FAILURE, NOW + DAY - 1);
    expect(late.addresses).toEqual(['192.0.2.1']);
    const over = nextState(late, FAILURE, NOW + DAY);
    expect([answerOf(over), answerChanged(late, over)]).toEqual([[], true]);
    expect(answerChanged(over, nextState(over, FAILURE, NOW + DAY + 300_000))).toBe(false);
  });

  it('takes an answer without addresses at once', () => {
    const good = nextState(newTarget('x.test', NOW), answer(60, '192.0.2.1'), NOW);
    expect(answerOf(nextState(good, answer(300), NOW + 60_000))).toEqual([]);
  });

  it('is always due in 30 to 300 seconds, and serves no answer for more than a day and a retry', () => {
    const outcomes = fc.oneof(
      fc.constant(FAILURE),
      fc
        .record({ ttl: fc.nat(1_000), last: fc.integer({ min: 0, max: 255 }) })
        .map(({ ttl, last }) => answer(ttl, `192.0.2.${last}`)),
    );
    fc.assert(
      fc.property(fc.array(outcomes, { maxLength: 400 }), (list) => {
        let row = newTarget('x.test', NOW);
        let lastGood: number | null = null;
        for (const outcome of list) {
          const now = row.next_at;
          row = nextState(row, outcome, now);
          if (outcome.kind === 'answer') lastGood = now;
          expect(wait(row, now)).toBeGreaterThanOrEqual(30);
          expect(wait(row, now)).toBeLessThanOrEqual(300);
          expect(row.good_at).toBe(lastGood);
          if (lastGood === null || now - lastGood >= DAY) expect(row.addresses).toEqual([]);
          else expect(row.addresses).toHaveLength(1);
        }
      }),
    );
  });
});
