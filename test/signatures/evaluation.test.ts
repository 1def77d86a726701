/**
 * How many attacks of the evaluation sets the starter signatures stop, and how many ordinary requests. The bounds are what was
 * measured, rounded to the worse side: a signature that stops working, or stops too much, shows here.
 */
import { describe, expect, test } from 'vitest';
import {
  attacksOf,
  type EvaluatedRequest,
  HALVES,
  type Half,
  ordinaryOf,
} from '../../bench/data/waf-sets.ts';
import { inspectRequest } from '../support/starter.ts';

interface Bound {
  readonly paranoia: number;
  readonly attacks: number;
  readonly ordinary: number;
}

/** By half and paranoia level, the least share of attacks and the greatest of ordinary requests that is stopped. */
const BOUNDS: Readonly<Record<Half, readonly Bound[]>> = {
  open: [
    { paranoia: 1, attacks: 1, ordinary: 0.001 },
    { paranoia: 2, attacks: 1, ordinary: 0.0012 },
  ],
  closed: [
    { paranoia: 1, attacks: 0.963, ordinary: 0.0057 },
    { paranoia: 2, attacks: 0.976, ordinary: 0.0085 },
  ],
};

function stopped(list: readonly EvaluatedRequest[], paranoia: number): readonly EvaluatedRequest[] {
  return list.filter(({ request }) => {
    const { score, denied, exhausted } = inspectRequest(request, paranoia);
    return score >= 5 || denied || exhausted;
  });
}

function printed(list: readonly EvaluatedRequest[], hits: readonly EvaluatedRequest[]): string {
  return `${hits.length} of ${list.length}, ${((100 * hits.length) / list.length).toFixed(2)} %`;
}

test('the sets are large, and of many classes, kinds and languages', () => {
  const attacks = HALVES.flatMap(attacksOf);
  const ordinary = HALVES.flatMap(ordinaryOf);
  expect(attacks.length).toBeGreaterThanOrEqual(600);
  expect(new Set(attacks.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(18);
  expect(ordinary.length).toBeGreaterThanOrEqual(3_000);
  expect(new Set(ordinary.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(20);
});

describe.each(HALVES)('the %s half', (half) => {
  const ordinary = ordinaryOf(half).filter(({ lesson }) => !lesson);

  test.each(BOUNDS[half])('level $paranoia', ({ paranoia, ...bound }) => {
    const attacks = attacksOf(half);
    const found = stopped(attacks, paranoia);
    const wrong = stopped(ordinary, paranoia);
    console.log(`${half}, level ${paranoia}: attacks stopped ${printed(attacks, found)}`);
    console.log(`${half}, level ${paranoia}: ordinary requests stopped ${printed(ordinary, wrong)}`);
    expect(found.length / attacks.length).toBeGreaterThanOrEqual(bound.attacks);
    expect(wrong.length / ordinary.length).toBeLessThanOrEqual(bound.ordinary);
  });
});
