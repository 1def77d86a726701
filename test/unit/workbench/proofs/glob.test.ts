import fc from 'fast-check';
import { expect, test } from 'vitest';
import { globCovers, globMatches, globsOverlap } from '../../../../src/workbench/proofs/lint/filters.ts';

/** Patterns over two letters, so that they collide. */
const patterns = fc.stringMatching(/^[ab*]{0,5}$/);

const split = (pattern: string): readonly string[] => pattern.split('*');

/** Every text of at most `length` letters. */
function texts(length: number): readonly string[] {
  if (length === 0) return [''];
  const shorter = texts(length - 1);
  return [...new Set([...shorter, ...shorter.flatMap((text) => [`${text}a`, `${text}b`])])];
}

const TEXTS = texts(8);

/** One letter at a time, the plainest reading of a wildcard. */
function naive(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (pattern[0] === '*')
    return naive(pattern.slice(1), text) || (text !== '' && naive(pattern, text.slice(1)));
  return text[0] === pattern[0] && naive(pattern.slice(1), text.slice(1));
}

test('globMatches agrees with a naive matcher', () => {
  fc.assert(
    fc.property(patterns, fc.constantFrom(...TEXTS), (pattern, text) => {
      expect(globMatches(split(pattern), text)).toBe(naive(pattern, text));
    }),
    { numRuns: 500 },
  );
});

test('globsOverlap is true when some text matches both patterns', () => {
  fc.assert(
    fc.property(patterns, patterns, (left, right) => {
      const meet = TEXTS.some((text) => naive(left, text) && naive(right, text));
      // Patterns of five letters share a text of at most eight letters when they share any (a star adds none).
      expect(globsOverlap(split(left), split(right))).toBe(meet);
    }),
    { numRuns: 300 },
  );
});

test('globCovers is true only when the wide pattern matches every text of the narrow one', () => {
  fc.assert(
    fc.property(patterns, patterns, (wide, narrow) => {
      if (!globCovers(split(wide), split(narrow))) return;
      for (const text of TEXTS) if (naive(narrow, text)) expect(naive(wide, text)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['/api/*', '/api/v1/*', true],
  ['/*', '*', false],
  ['*', '/*', true],
  ['*.css', '/a*.css', true],
  ['/a*b*c', '/axbyc', true],
  ['/a*b', '/a*', false],
  ['*a*', '*aa*', true],
  ['/api/*', '/api', false],
])('`%s` covers `%s`: %s', (wide, narrow, expected) => {
  expect(globCovers(split(wide), split(narrow))).toBe(expected);
});
