/** Which plans of a name stay, and what their limits are. */
import { expect, test } from 'vitest';
import {
  AGELESS_PLANS,
  MAX_STORED_OCTETS,
  MAX_STORED_PLANS,
  SIZELESS_PLANS,
  STORED_MS,
} from '../../../../src/control/publishing/limits.ts';
import { outdated } from '../../../../src/control/publishing/revisions.ts';
import type { StoredPlan } from '../../../../src/control/store/tables/plans.ts';

const NOW = 2_000_000_000_000;

/** Plans of revisions `count` … 1, newest first. */
function plans(count: number, octets: number, age: (place: number) => number): readonly StoredPlan[] {
  return Array.from({ length: count }, (_, place) => ({
    revision: count - place,
    at: NOW - age(place),
    octets,
  }));
}

test('new small plans are not pruned up to MAX_STORED_PLANS', () => {
  expect(
    outdated(
      plans(MAX_STORED_PLANS, 1_000, () => 0),
      NOW,
    ),
  ).toEqual([]);
  expect(
    outdated(
      plans(MAX_STORED_PLANS + 2, 1_000, () => 0),
      NOW,
    ),
  ).toEqual([2, 1]);
});

test('old plans are pruned except for the newest AGELESS_PLANS', () => {
  const old = plans(AGELESS_PLANS + 3, 1_000, () => STORED_MS + 1);
  expect(outdated(old, NOW)).toEqual([3, 2, 1]);
  const young = plans(AGELESS_PLANS + 3, 1_000, (place) => (place < AGELESS_PLANS + 2 ? 0 : STORED_MS + 1));
  expect(outdated(young, NOW)).toEqual([1]);
});

test('plans beyond MAX_STORED_OCTETS are pruned except for the newest SIZELESS_PLANS', () => {
  const count = SIZELESS_PLANS + 2;
  expect(
    outdated(
      plans(count, MAX_STORED_OCTETS, () => 0),
      NOW,
    ),
  ).toEqual([2, 1]);
  const tenth = Math.floor(MAX_STORED_OCTETS / 10);
  expect(
    outdated(
      plans(12, tenth, () => 0),
      NOW,
    ),
  ).toEqual([2, 1]);
});
