import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createStringPool,
  createWordPool,
  placeString,
  placeWords,
  sealStrings,
} from '../../../../src/engine/compiler/draft.ts';
import { compile } from '../../../../src/engine/compiler/index.ts';
import { decodeString } from '../../../../src/engine/plan/layout.ts';
import { ruleSet } from '../../../support/sample-rules.ts';

const { plan: EMPTY } = compile(ruleSet({}));

test('every string comes back as it was, equal ones once', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({ unit: fc.constantFrom('a', 'ÿ', 'Ā', '\ud800', '\0', '😀'), maxLength: 20 }),
    fc.integer({ min: 4_090, max: 9_000 }).map((length) => 'xé'.repeat(length)),
    fc.integer({ min: 4_090, max: 9_000 }).map((length) => '中a'.repeat(length)),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), (texts) => {
      const pool = createStringPool();
      const numbers = texts.map((one) => placeString(pool, one));
      const plan = { ...EMPTY, ...sealStrings(pool) };
      for (const [at, one] of texts.entries()) {
        expect(decodeString(plan, numbers[at]!) === one, `string ${at}`).toBe(true);
        expect(placeString(pool, one)).toBe(numbers[at]);
      }
      expect(plan.strings.length / 2).toBe(new Set(['', ...texts]).size);
    }),
    { numRuns: 200 },
  );
});

test('string 0 is empty; Latin-1 takes one octet a character', () => {
  const pool = createStringPool();
  expect(placeString(pool, '')).toBe(0);
  placeString(pool, 'abcÿ');
  placeString(pool, 'Ā');
  const { text8, text16 } = sealStrings(pool);
  expect([text8.length, text16.length]).toEqual([4, 1]);
});

test('equal runs of words share one place, others none', () => {
  const pool = createWordPool();
  const runs = [[1, 2, 3], [12, 3], [1, 23], [], [0], [0xffffffff]];
  const places = runs.map((run) => placeWords(pool, run));
  for (const [at, run] of runs.entries()) {
    expect(pool.words.slice(places[at], places[at]! + run.length)).toEqual(run);
    expect(placeWords(pool, [...run])).toBe(places[at]);
  }
  expect(pool.words).toHaveLength(9);
});
