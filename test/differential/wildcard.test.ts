/**
 * Path wildcards against micromatch, on generated patterns and paths: once the pattern alone, once end to end through
 * a sealed drop rule. micromatch is asked with options that make `*` match any run of characters (`bash`, `dot`) and
 * every other character literal (`nonegate`, `noext`, `nobrace`); what it still reads otherwise is kept out of the
 * patterns or undone, each where it is named.
 */
import fc from 'fast-check';
import micromatch from 'micromatch';
import { expect, test } from 'vitest';
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { loadPlan } from '../../src/engine/evaluator/index.ts';
import { createLoaded, patternMatches, sourceOf } from '../../src/engine/evaluator/loaded.ts';
import { PATTERN } from '../../src/engine/plan/layout.ts';
import { request, rule, ruleSet } from '../support/sample-rules.ts';

// Without its fast paths, which read `*/*` and `*.*` as asking for something behind the slash or the dot.
const OPTIONS = { bash: true, dot: true, nonegate: true, noext: true, nobrace: true, fastpaths: false };

/**
 * Whether micromatch lets `pattern` match `path`. Undone here:
 * - `**` between slashes is its globstar, which also matches no directory at all: runs of stars are made one;
 * - it trims a leading `./` and folds slashes: patterns hold no dot segment and no `//`, as the model demands;
 * - `(`, `)`, `|`, `+`, `@`, `"`, `'`, `$`, `^` and its own metacharacters `?[]{}!\` are not in the alphabet.
 */
function oracle(pattern: string, path: string): boolean {
  return micromatch.isMatch(path, pattern.replace(/\*{2,}/g, '*'), OPTIONS);
}

/** Few letters, so that patterns and paths meet; dots, since micromatch hides dot files by default. */
const piece = fc.string({
  unit: fc.constantFrom('a', 'b', 'ab', '.', '-', '_', '~', ':', 'é', '中', ';', ','),
  maxLength: 4,
});
const segment = fc.oneof(
  { weight: 3, arbitrary: piece },
  { weight: 1, arbitrary: fc.constantFrom('a', 'b', 'aa', 'a.b') },
);

/** A canonical path. */
const path = fc
  .array(segment, { maxLength: 4 })
  .chain((parts) => fc.constantFrom(`/${parts.join('/')}`, `/${parts.join('/')}/`))
  .filter((text) => isCanonical(text));

function isCanonical(text: string): boolean {
  return !text.includes('//') && !text.split('/').some((part) => part === '.' || part === '..');
}

const pattern = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: segment },
      { weight: 3, arbitrary: fc.constant('*') },
      { weight: 2, arbitrary: fc.constant('/') },
    ),
    {
      minLength: 1,
      maxLength: 9,
    },
  )
  .map((parts) => parts.join(''))
  .filter((text) => text !== '' && isCanonical(text) && (text.startsWith('/') || text.startsWith('*')));

/** A pattern made of a path, so that most of them match. */
const near = fc
  .tuple(path, fc.array(fc.tuple(fc.nat(30), fc.nat(6)), { maxLength: 3 }))
  .map(([text, cuts]) => {
    let out: string = text;
    for (const [at, length] of cuts) out = `${out.slice(0, at + 1)}*${out.slice(at + 1 + length)}`;
    return { path: text, pattern: out };
  })
  .filter((pair) => isCanonical(pair.pattern));

const pair = fc.oneof(near, fc.record({ path, pattern }));

/** Whether a pattern matches a path, as the evaluator reads it from a compiled plan. */
function compiledMatches(source: string, text: string): boolean {
  const { plan } = compile(ruleSet({ rules: [rule('drop', 1, { path_includes: [source] })] }));
  const loaded = createLoaded(plan, 0);
  const numbers = Array.from({ length: plan.patterns.length / PATTERN.size }, (_, number) => number);
  const number = numbers.find((one) => sourceOf(loaded, one) === source);
  return patternMatches(loaded, number!, text);
}

/** The path as a visitor sends it: what a URI may not hold raw is escaped, and is decoded at the gate. */
function sent(text: string): string {
  return text.replace(/[^\x21-\x7e]/gu, encodeURIComponent);
}

test('a pattern alone', () => {
  let matched = 0;
  fc.assert(
    fc.property(pair, (one) => {
      const expected = oracle(one.pattern, one.path);
      if (expected) matched++;
      return compiledMatches(one.pattern, one.path) === expected;
    }),
    { numRuns: 3_000 },
  );
  expect(matched).toBeGreaterThan(500);
});

test('lists of includes and excludes, through a sealed drop rule', () => {
  let blocked = 0;
  const lists = fc.record({
    pairs: fc.array(pair, { minLength: 1, maxLength: 4 }),
    excludes: fc.array(pattern, { maxLength: 2 }),
    extra: fc.array(path, { maxLength: 4 }),
  });
  fc.assert(
    fc.property(lists, ({ pairs, excludes, extra }) => {
      const includes = pairs.map((one) => one.pattern);
      const rules = [rule('drop', 1, { path_includes: includes, path_excludes: excludes })];
      const evaluator = loadPlan(seal(compile(ruleSet({ rules })).plan));
      for (const text of [...pairs.map((one) => one.path), ...extra]) {
        // A `;` gives the path a second form, which is for other tests.
        if (text.includes(';')) continue;
        const holds = (entry: string): boolean => oracle(entry, text);
        const expected = includes.some(holds) && !excludes.some(holds);
        const { action } = evaluator.evaluate(request({ target: sent(text) }));
        if (expected) blocked++;
        expect(action, `${text} of [${includes}] without [${excludes}]`).toBe(expected ? 'block' : 'forward');
      }
    }),
    { numRuns: 1_000 },
  );
  expect(blocked).toBeGreaterThan(300);
});
