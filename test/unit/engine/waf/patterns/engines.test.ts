import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import { kindsNeeded } from '../../../../../src/base/regex/cover.ts';
import { buildDfa } from '../../../../../src/base/regex/dfa.ts';
import { readProgram } from '../../../../../src/base/regex/program.ts';
import { startMeter } from '../../../../../src/engine/waf/octets/meter.ts';
import { factsOf, octetsOf } from '../../../../../src/engine/waf/octets/octet-buffer.ts';
import { lazyDfa, lazyDfaEnd } from '../../../../../src/engine/waf/patterns/lazy-dfa.ts';
import {
  matcherOf,
  mayMatch,
  octetDfa,
  octetDfaEnd,
  octetDfaShortest,
  patternGroups,
  patternMatches,
} from '../../../../../src/engine/waf/patterns/pattern.ts';

/** Each pattern with a text that it matches, since random texts may all miss it. */
const MATCHED = [
  ['a', 'ba'],
  ['abc|bcd', 'abcd'],
  ['^a+b?$', 'aab'],
  ['^$', ''],
  ['\\bab\\b', 'c ab;'],
  ['\\Bb', 'ab'],
  ['[^a-c;]{2}', 'a  '],
  ['(?i)a(?:b|C)*;', 'AcB;'],
  ['(?:^|;)a.b', 'c;a\nb'],
  ['(?m)^b', 'a\nb'],
  ['a$', 'ba'],
  ['[\\x80-\\xff]+a', '\xe9\xffa'],
  ['\\x00', 'a\0'],
  ['a.{2}b|b.{3}a', 'bccca'],
  ['(?:a|b;){3}', 'ab;a'],
  ['(?i)[\'"`]\\s*or\\b', '" OR '],
] as const;
const PATTERNS = MATCHED.map(([source]) => source);
const NEAR = ['a', 'b', 'c', ';', ' '];
const FAR = ['A', 'B', '\n', "'", '"', 'or', 'q', '\0', '\xe9', '\xff', '_', '9'];
const TEXTS = fc
  .oneof(
    fc.array(fc.constantFrom(...NEAR), { maxLength: 24 }),
    fc.array(fc.constantFrom(...NEAR, ...FAR), { maxLength: 40 }),
  )
  .map((parts) => parts.join(''));

function plenty() {
  return startMeter(1e9);
}

function compiled(source: string) {
  const regex = RE2JS.compile(source, RE2JS.DOTALL);
  const built = buildDfa(readProgram(regex));
  if (!built.ok) throw new Error(built.reason);
  return { regex, table: octetDfa(built.table), lazy: lazyDfa(readProgram(regex)) };
}

describe('the compiled and the lazy DFA match exactly where re2js matches', () => {
  test.each(MATCHED)('%s', (source, matching) => {
    const { regex, table, lazy } = compiled(source);
    let matched = 0;
    fc.assert(
      fc.property(TEXTS, (text) => {
        const expected = regex.matcher(text).find();
        matched += expected ? 1 : 0;
        const octets = octetsOf(text);
        expect(octetDfaEnd(table, octets, text.length) >= 0).toBe(expected);
        expect(lazyDfaEnd(lazy, { octets, length: text.length }, plenty()) >= 0).toBe(expected);
      }),
      { numRuns: 500, examples: [[matching]] },
    );
    expect(matched).toBeGreaterThan(0);
  });
});

test('mayMatch is never false for a text that the pattern matches', () => {
  let refused = 0;
  const matchers = PATTERNS.map((source) => {
    const regex = RE2JS.compile(source, RE2JS.DOTALL);
    const needed = kindsNeeded(readProgram(regex));
    const written = { source, ignoreCase: false, dotAll: true, dfa: null, required: null, needed };
    return { matcher: matcherOf(written), regex };
  });
  fc.assert(
    fc.property(TEXTS, fc.nat(PATTERNS.length - 1), (text, at) => {
      const { matcher, regex } = matchers[at]!;
      const may = mayMatch(matcher, factsOf(text).shape);
      if (!may) refused++;
      if (!may) expect(regex.matcher(text).find()).toBe(false);
    }),
    { numRuns: 1_000 },
  );
  expect(refused).toBeGreaterThan(20);
});

/** Texts of so many octets of which each pattern's shortest matches can be made. */
function textsOf(length: number): readonly string[] {
  if (length === 0) return [''];
  const octets = [...NEAR, "'", 'o', 'r', '\xe9', '\0'];
  return textsOf(length - 1).flatMap((text) => octets.map((octet) => text + octet));
}

test.each(PATTERNS)('octetDfaShortest of %s is the length of its shortest match', (source) => {
  const { regex, table } = compiled(source);
  const shortest = octetDfaShortest(table);
  expect(shortest).toBeLessThanOrEqual(6);
  const matches = (length: number) => textsOf(length).some((text) => regex.matcher(text).find());
  for (let length = 0; length < Math.min(shortest, 5); length++) expect(matches(length)).toBe(false);
  if (shortest < 5) expect(matches(shortest)).toBe(true);
});

describe('a lazy DFA', () => {
  const source = '(?:[ab]*a[ab]{9};)|c{3}';
  const text = 'abbabaabbbabaababbbaabababbbaabbaaababab'.repeat(5);
  const stepsOf = (dfa: ReturnType<typeof lazyDfa>) => {
    const meter = startMeter(1e9);
    lazyDfaEnd(dfa, { octets: octetsOf(text), length: text.length }, meter);
    return 1e9 - meter.left;
  };

  test('costs the same steps whatever texts it matched before', () => {
    const program = readProgram(RE2JS.compile(source));
    const cold = stepsOf(lazyDfa(program));
    const dfa = lazyDfa(program);
    for (const other of ['aaaaaaaaaaaaaa;', 'cc', 'bababababababa']) {
      lazyDfaEnd(dfa, { octets: octetsOf(other), length: other.length }, plenty());
    }
    expect(stepsOf(dfa)).toBe(cold);
    expect(stepsOf(dfa)).toBe(cold);
    expect(cold).toBeGreaterThan(text.length);
  });

  test('stops when the step budget is exhausted', () => {
    const meter = startMeter(500);
    const dfa = lazyDfa(readProgram(RE2JS.compile(source)));
    expect(lazyDfaEnd(dfa, { octets: octetsOf(text), length: text.length }, meter)).toBe(-1);
    expect(meter.left).toBeLessThan(0);
  });
});

test('patternGroups returns the groups of the leftmost match', () => {
  const matcher = matcherOf({
    source: '(\\d+)-(\\d+)?',
    ignoreCase: false,
    dotAll: true,
    dfa: null,
    required: null,
    needed: -1,
  });
  expect(patternGroups(matcher, 'x 12-34', plenty())).toEqual(['12-34', '12', '34']);
  expect(patternGroups(matcher, 'x 12-', plenty())).toEqual(['12-', '12', null]);
  expect(patternGroups(matcher, 'none', plenty())).toBeNull();
  const text = 'x 12-34';
  expect(patternMatches(matcher, { text, shape: factsOf(text).shape }, plenty())).toBe(true);
});
