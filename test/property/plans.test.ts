/** A plan's bytes: sealed and opened they are the same plan, and the same rule set always makes the same bytes. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { type Evaluator, loadPlan } from '../../src/engine/evaluator/index.ts';
import { type Plan, SECTIONS } from '../../src/engine/plan/layout.ts';
import { openPlan } from '../../src/engine/plan/seal.ts';
import { everyFourth } from '../support/generate-gateways.ts';
import { cases, expectSame } from './cases.ts';

const CASES = cases(60, 40, { answers: 0.3, conditions: { share: 0.3 } }).map(everyFourth);

function sectionBytes(plan: Plan, name: keyof Plan): Buffer {
  const section = plan[name];
  return Buffer.from(section.buffer, section.byteOffset, section.byteLength);
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The same value with the keys of every object in the opposite order. */
function turned<T>(value: T): T {
  if (Array.isArray(value)) return value.map(turned) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, entry]) => [key, turned(entry)] as const);
  return Object.fromEntries(entries.reverse()) as T;
}

test('opening undoes sealing, and sealing undoes opening', () => {
  for (const { seed, ruleSet } of CASES) {
    const { plan } = compile(ruleSet);
    const bytes = seal(plan, { revision: seed });
    const opened = openPlan(bytes);
    expect(opened.revision).toBe(seed);
    for (const { name } of SECTIONS) {
      const same = Buffer.compare(sectionBytes(opened.plan, name), sectionBytes(plan, name));
      expect(same, `seed ${seed}, section ${name}`).toBe(0);
    }
    expect(Buffer.compare(seal(opened.plan, { revision: seed }), bytes), `seed ${seed}`).toBe(0);
  }
});

test('every revision survives', () => {
  const { plan } = compile(CASES[0]!.ruleSet);
  fc.assert(
    fc.property(fc.maxSafeNat(), (revision) => openPlan(seal(plan, { revision })).revision === revision),
    { examples: [[0], [2 ** 32 - 1], [2 ** 32], [Number.MAX_SAFE_INTEGER]] },
  );
  for (const revision of [-1, 0.5, Number.NaN, 2 ** 53])
    expect(() => seal(plan, { revision })).toThrow('revision');
});

test('compiling twice gives one digest, whatever the order of a rule’s own fields', () => {
  for (const { seed, ruleSet } of CASES) {
    const once = digest(seal(compile(ruleSet).plan));
    expect(digest(seal(compile(ruleSet).plan)), `seed ${seed}`).toBe(once);
    // Names of headers act in the order in which they are listed.
    if (ruleSet.registry !== undefined) continue;
    expect(digest(seal(compile(turned(structuredClone(ruleSet))).plan)), `seed ${seed}`).toBe(once);
  }
});

test('compiling and deciding leave the rule set and the bytes as they were', () => {
  for (const { seed, ruleSet, requests, options } of CASES) {
    const before = JSON.stringify(ruleSet);
    const bytes = seal(compile(ruleSet).plan);
    const sum = digest(bytes);
    const evaluator = loadPlan(bytes, options);
    for (const request of requests) evaluator.explain(request);
    expect(JSON.stringify(ruleSet), `seed ${seed}`).toBe(before);
    expect(digest(bytes), `seed ${seed}`).toBe(sum);
  }
});

test('a copy of the bytes decides the same, at any offset in its buffer', () => {
  for (const made of CASES) {
    const bytes = seal(compile(made.ruleSet).plan, { revision: made.seed });
    const shifted = new Uint8Array(bytes.length + 16);
    const offset = 1 + (made.seed % 9);
    shifted.set(bytes, offset);
    const copies = [structuredClone(bytes), shifted.subarray(offset, offset + bytes.length)];
    for (const copy of copies) {
      const pair: [Evaluator, Evaluator] = [loadPlan(bytes, made.options), loadPlan(copy, made.options)];
      expectSame(pair, made);
    }
  }
});

test('decisions are JSON-safe plain data', () => {
  for (const { seed, ruleSet, requests, options } of CASES) {
    const evaluator = loadPlan(seal(compile(ruleSet).plan), options);
    for (const request of requests) {
      const decision = evaluator.evaluate(request);
      expect(JSON.parse(JSON.stringify(decision)), `seed ${seed}`).toEqual(decision);
      expect(structuredClone(decision), `seed ${seed}`).toEqual(decision);
    }
  }
});

test('a decision stays as it was while others are made', () => {
  for (const { seed, ruleSet, requests, options } of CASES) {
    const evaluator = loadPlan(seal(compile(ruleSet).plan), options);
    const made = requests.map((request) => {
      const decision = evaluator.evaluate(request);
      return { decision, text: JSON.stringify(decision) };
    });
    for (const { decision, text } of made) expect(JSON.stringify(decision), `seed ${seed}`).toBe(text);
  }
});
