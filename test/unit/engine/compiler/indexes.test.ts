import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDraft, type PlanDraft } from '../../../../src/engine/compiler/draft.ts';
import { compile } from '../../../../src/engine/compiler/index.ts';
import { layTree, reversed, type TreeEntries } from '../../../../src/engine/compiler/indexes.ts';
import {
  createTouched,
  resetTouched,
  type Touched,
  walkBackward,
  walkForward,
} from '../../../../src/engine/evaluator/indexes.ts';
import { NODE, NONE, type Plan } from '../../../../src/engine/plan/layout.ts';
import { ruleSet } from '../../../support/sample-rules.ts';

const { plan: EMPTY } = compile(ruleSet({}));

/** A plan that holds what the draft holds of trees. */
function planOf(draft: PlanDraft): Plan {
  const rows: number[] = [];
  let at = 0;
  for (const list of draft.postings.lists) {
    rows.push(at, list.length);
    at += list.length;
  }
  return {
    ...EMPTY,
    nodes: Uint32Array.from(draft.nodes),
    labels: Uint16Array.from(draft.labels.units),
    postings: Uint32Array.from(rows),
    postingSlots: Uint32Array.from(draft.postings.lists.flat()),
  };
}

/** Entries whose slots are their place in the two lists, so that each posting names its literal. */
function entriesOf(exact: readonly string[], prefix: readonly string[]): TreeEntries {
  return {
    exact: new Map(exact.map((literal, at) => [literal, [at]])),
    prefix: new Map(prefix.map((literal, at) => [literal, [exact.length + at]])),
  };
}

function slotsOf(plan: Plan, touched: Touched): readonly number[] {
  const postings = [...touched.postings.subarray(0, touched.count)];
  return postings.map((posting) => plan.postingSlots[plan.postings[posting * 2]!]!).sort((a, b) => a - b);
}

type Walk = typeof walkForward;

function walked(walk: Walk, plan: Plan, root: number, text: string): readonly number[] {
  const touched = createTouched(plan.postings);
  resetTouched(touched);
  walk(plan, root, text, touched);
  return slotsOf(plan, touched);
}

const literal = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'é', '中'), maxLength: 7 });
const literals = fc.uniqueArray(literal, { maxLength: 25 });

describe('a tree of literals', () => {
  test('a tree read forwards finds the literals that equal the text or that it starts with', () => {
    fc.assert(
      fc.property(literals, literals, fc.array(literal, { maxLength: 8 }), (exact, prefix, texts) => {
        const draft = createDraft(ruleSet({}));
        const root = layTree(draft, entriesOf(exact, prefix));
        expect(root === NONE).toBe(exact.length + prefix.length === 0);
        if (root === NONE) return;
        const plan = planOf(draft);
        for (const text of [...texts, ...exact, ...prefix]) {
          const expected = [
            ...exact.flatMap((one, at) => (one === text ? [at] : [])),
            ...prefix.flatMap((one, at) => (text.startsWith(one) ? [exact.length + at] : [])),
          ];
          expect(walked(walkForward, plan, root, text), text).toEqual(expected);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('a tree read backwards finds the literals that the text ends with', () => {
    fc.assert(
      fc.property(literals, literals, fc.array(literal, { maxLength: 8 }), (exact, suffix, texts) => {
        const draft = createDraft(ruleSet({}));
        const root = layTree(draft, entriesOf(exact.map(reversed), suffix.map(reversed)));
        if (root === NONE) return;
        const plan = planOf(draft);
        for (const text of [...texts, ...exact, ...suffix]) {
          const expected = [
            ...exact.flatMap((one, at) => (one === text ? [at] : [])),
            ...suffix.flatMap((one, at) => (text.endsWith(one) ? [exact.length + at] : [])),
          ];
          expect(walked(walkBackward, plan, root, text), text).toEqual(expected);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('the right child is found among many', () => {
    const exact = Array.from({ length: 4_000 }, (_, at) => `/${String.fromCharCode(34 + at * 13)}x`);
    const draft = createDraft(ruleSet({}));
    const root = layTree(draft, entriesOf(exact, []));
    const plan = planOf(draft);
    for (const [at, text] of exact.entries()) expect(walked(walkForward, plan, root, text)).toEqual([at]);
    expect(walked(walkForward, plan, root, '/!x')).toEqual([]);
    expect(walked(walkForward, plan, root, '/\uffffx')).toEqual([]);
  });

  test('several trees share one section', () => {
    const draft = createDraft(ruleSet({}));
    const roots = [['a', 'ab'], ['b'], [], ['abc', 'abd', 'x']].map((list) =>
      layTree(draft, entriesOf(list, [])),
    );
    const plan = planOf(draft);
    expect(roots[2]).toBe(NONE);
    expect(walked(walkForward, plan, roots[0]!, 'ab')).toEqual([1]);
    expect(walked(walkForward, plan, roots[1]!, 'b')).toEqual([0]);
    expect(walked(walkForward, plan, roots[1]!, 'ab')).toEqual([]);
    expect(walked(walkForward, plan, roots[3]!, 'abd')).toEqual([1]);
    expect(walked(walkForward, plan, roots[3]!, 'x')).toEqual([2]);
  });

  test('an edge is split where literals part, and nowhere else', () => {
    const draft = createDraft(ruleSet({}));
    layTree(draft, entriesOf(['/api/users', '/api/carts', '/api/users/new'], []));
    expect(draft.nodes.length / NODE.size).toBe(5);
  });
});

test('a literal reversed is its code units from the end', () => {
  expect(reversed('abc')).toBe('cba');
  expect(reversed('')).toBe('');
  expect(reversed(reversed('a😀b'))).toBe('a😀b');
});
