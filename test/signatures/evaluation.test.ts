/** How many attacks of the evaluation sets the starter signatures stop, and how many ordinary requests. */
import { describe, expect, test } from 'vitest';
import { inspectRequest } from '../support/starter.ts';
import { attacksOf, type EvaluatedRequest, HALVES, ordinaryOf } from '../support/traffic/evaluation.ts';

/** By paranoia level, the least share of attacks and the greatest of ordinary requests that is stopped. */
const GOALS = [
  { paranoia: 1, attacks: 0.97, ordinary: 0.001 },
  { paranoia: 2, attacks: 0.99, ordinary: 0.01 },
] as const;

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

  test.each(GOALS)('level $paranoia', ({ paranoia, ...goal }) => {
    const attacks = attacksOf(half);
    const found = stopped(attacks, paranoia);
    const wrong = stopped(ordinary, paranoia);
    console.log(`${half}, level ${paranoia}: attacks stopped ${printed(attacks, found)}`);
    console.log(`${half}, level ${paranoia}: ordinary requests stopped ${printed(ordinary, wrong)}`);
    expect(found.length / attacks.length).toBeGreaterThanOrEqual(goal.attacks);
    expect(wrong.length / ordinary.length).toBeLessThanOrEqual(goal.ordinary);
  });
});
