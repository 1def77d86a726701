import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  combineTests,
  containsText,
  endsWithText,
  equalsText,
  passes,
  regexText,
  startsWithText,
  type TextTest,
  wildcardText,
} from '../../../../src/workbench/importers/text-test.ts';

const word = fc.stringMatching(/^[ab/]{0,4}$/);
const tests: fc.Arbitrary<TextTest> = fc.oneof(
  word.map(equalsText),
  word.map(startsWithText),
  word.map(endsWithText),
  word.map(containsText),
  fc.array(word, { minLength: 1, maxLength: 3 }).map((pieces) => wildcardText(pieces.join('*'))),
  fc
    .constantFrom(
      '^/a',
      '^/ab*',
      'b$',
      '^/(a|b)',
      'a|^/b',
      '^/a+b',
      '(?i)^/A',
      '^(/a.*b)$',
      '^(?<x>/ab)a',
      '^(/a)?/b',
      '^(/ab|/b)',
      '^(?:/a)b',
    )
    .map((source) => regexText(source) as TextTest),
);

test('combined tests pass exactly the paths that pass one of each list', () => {
  let combined = 0;
  fc.assert(
    fc.property(
      fc.array(tests, { maxLength: 3 }),
      fc.array(tests, { maxLength: 3 }),
      fc.array(fc.stringMatching(/^[ab/]{0,6}$/), { minLength: 20, maxLength: 20 }),
      (one, other, paths) => {
        const both = combineTests(one, other);
        if (both === null) return;
        combined++;
        for (const path of paths.map((text) => `/${text}`)) {
          const expected = one.some((test) => passes(test, path)) && other.some((test) => passes(test, path));
          expect(both.some((test) => passes(test, path))).toBe(expected);
        }
      },
    ),
    { numRuns: 3_000 },
  );
  expect(combined).toBeGreaterThan(300);
});

test('a wildcard passes what a regex of the same meaning passes', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ab*]{0,6}$/), fc.stringMatching(/^[ab]{0,8}$/), (mask, text) => {
      const regex = new RegExp(`^${mask.replaceAll('*', '.*')}$`);
      expect(passes(wildcardText(mask), text)).toBe(regex.test(text));
    }),
  );
});
