import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile } from '../../../../src/engine/compiler/index.ts';
import {
  type Candidates,
  createCandidates,
  nextCandidate,
  restart,
  skipTo,
} from '../../../../src/engine/evaluator/candidates.ts';
import { resetTouched, touch } from '../../../../src/engine/evaluator/indexes.ts';
import { createLoaded } from '../../../../src/engine/evaluator/loaded.ts';
import type { Plan } from '../../../../src/engine/plan/layout.ts';
import { ruleSet } from '../../../support/sample-rules.ts';

const { plan: EMPTY } = compile(ruleSet({}));

/** Candidates over these posting lists, of which `touched` are touched. */
function candidatesOf(
  lists: readonly (readonly number[])[],
  touched = lists.map((_, list) => list),
): Candidates {
  let at = 0;
  const rows = lists.flatMap((list) => {
    const row = [at, list.length];
    at += list.length;
    return row;
  });
  const plan: Plan = {
    ...EMPTY,
    postings: Uint32Array.from(rows),
    postingSlots: Uint32Array.from(lists.flat()),
  };
  const candidates = createCandidates(createLoaded(plan, 0));
  resetTouched(candidates.touched);
  for (const list of touched) touch(candidates.touched, list);
  restart(candidates);
  return candidates;
}

function union(lists: readonly (readonly number[])[]): readonly number[] {
  return [...new Set(lists.flat())].sort((a, b) => a - b);
}

function walk(candidates: Candidates, end: number): readonly number[] {
  const slots: number[] = [];
  for (let slot = nextCandidate(candidates, end); slot >= 0; slot = nextCandidate(candidates, end))
    slots.push(slot);
  return slots;
}

const END = 12_000;
/** Ascending slots: short lists, long ones, dense runs, and slots around the edges of words and windows. */
const list = fc
  .oneof(
    fc.uniqueArray(fc.nat(40), { maxLength: 12 }),
    fc.uniqueArray(fc.nat(END - 1), { maxLength: 30 }),
    fc.uniqueArray(fc.nat(END - 1), { minLength: 200, maxLength: 400 }),
    fc
      .tuple(fc.nat(END - 600), fc.integer({ min: 1, max: 600 }))
      .map(([from, length]) => Array.from({ length }, (_, at) => from + at)),
    fc.uniqueArray(fc.constantFrom(0, 1, 31, 32, 33, 1_023, 1_024, 1_025, 2_047, 2_048, 11_999), {
      maxLength: 11,
    }),
  )
  .map((slots) => [...slots].sort((a, b) => a - b));

describe('the walk over candidates', () => {
  test('the candidates are the sorted union of the touched postings, each slot once', () => {
    let windows = 0;
    fc.assert(
      fc.property(fc.array(list, { maxLength: 7 }), fc.array(fc.nat(6), { maxLength: 9 }), (lists, picks) => {
        const touched = picks.filter((pick) => pick < lists.length);
        const candidates = candidatesOf(lists, touched);
        if (candidates.fewCount < 0) windows++;
        const expected = union([...new Set(touched)].map((pick) => lists[pick]!));
        expect(walk(candidates, END)).toEqual(expected);
        expect(nextCandidate(candidates, END)).toBe(-1);
        restart(candidates);
        expect(walk(candidates, END)).toEqual(expected);
      }),
      { numRuns: 600 },
    );
    expect(windows).toBeGreaterThan(100);
  });

  test('candidates are returned phase by phase, also after a phase ends early', () => {
    const phase = fc.record({
      length: fc.constantFrom(0, 1, 5, 31, 32, 100, 1_000, 1_024, 3_000),
      taken: fc.nat(40),
    });
    fc.assert(
      fc.property(fc.array(list, { maxLength: 7 }), fc.array(phase, { maxLength: 12 }), (lists, phases) => {
        const candidates = candidatesOf(lists);
        const all = union(lists);
        for (let run = 0; run < 2; run++) {
          let start = 0;
          for (const { length, taken } of phases) {
            const end = start + length;
            skipTo(candidates, start);
            const expected = all.filter((slot) => slot >= start && slot < end).slice(0, taken);
            const slots: number[] = [];
            while (slots.length < taken) {
              skipTo(candidates, start);
              const slot = nextCandidate(candidates, end);
              if (slot < 0) break;
              slots.push(slot);
            }
            expect(slots).toEqual(expected);
            start = end;
          }
          restart(candidates);
        }
      }),
      { numRuns: 600 },
    );
  });

  test.each([
    [32, true],
    [33, false],
  ])('%i slots, duplicates counted: sorted outright is %s', (count, few) => {
    const slots = Array.from({ length: count }, (_, at) => at * 100);
    const candidates = candidatesOf([slots]);
    expect(candidates.fewCount >= 0).toBe(few);
    expect(walk(candidates, END)).toEqual(slots);
    const halves = candidatesOf([slots.slice(0, 16), slots.slice(0, count - 16)]);
    expect(halves.fewCount >= 0).toBe(few);
    expect(walk(halves, END)).toEqual(slots.slice(0, count - 16));
  });

  test('a search that ends at its first match never reads the rest of long lists', () => {
    const lists = [0, 1, 2].map((offset) => Array.from({ length: 50_000 }, (_, at) => at * 3 + offset));
    const candidates = candidatesOf(lists);
    const before = candidates.cursors.slice(0, 3);
    expect(nextCandidate(candidates, 150_000)).toBe(0);
    expect(nextCandidate(candidates, 150_000)).toBe(1);
    for (const [index, cursor] of candidates.cursors.subarray(0, 3).entries()) {
      expect(cursor - before[index]!).toBeLessThan(400);
    }
    skipTo(candidates, 149_990);
    expect(walk(candidates, 150_000)).toEqual([
      149_990, 149_991, 149_992, 149_993, 149_994, 149_995, 149_996, 149_997, 149_998, 149_999,
    ]);
  });

  test('a request that touches no posting has no candidate', () => {
    expect(walk(candidatesOf([[1, 2, 3]], []), END)).toEqual([]);
    expect(walk(candidatesOf([]), END)).toEqual([]);
  });
});

describe('touched postings', () => {
  test('a posting is touched once per request, also after the request counter wraps at 2^32', () => {
    const { touched } = candidatesOf([[1], [2, 3]], []);
    for (const request of [5, 0xfffffffe, 0xffffffff]) {
      touched.request = request;
      resetTouched(touched);
      touch(touched, 1);
      touch(touched, 1);
      touch(touched, 0);
      expect([touched.count, touched.slots]).toEqual([2, 3]);
      expect([...touched.postings.subarray(0, 2)]).toEqual([1, 0]);
      resetTouched(touched);
      expect([touched.count, touched.slots]).toEqual([0, 0]);
      touch(touched, 1);
      expect(touched.count).toBe(1);
    }
  });
});
