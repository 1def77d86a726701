/** What holds for every transformation: bounded work, octets in and out, once is enough where the manual means it so. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  WAF_TRANSFORMATIONS,
  type WafTransformation,
} from '../../../../../src/engine/plan/signature-program.ts';
import { TRANSFORMATIONS } from '../../../../../src/engine/waf/transformations/transformations.ts';
import { countTextWork } from '../../../../support/count-text-work.ts';

/** Octets that some transformation treats specially, and some that none does. */
const MARKS = '%u+0fF1\\xn\'"&#;ltgtampquotnbsp/*<!--->. \t\r\n\0aZ,^(=\xa0\xc2\xc3\xe2\x82\xac\xf0\x9f\xff';
const text = fc.string({ unit: fc.constantFrom(...MARKS), maxLength: 40 });

/** Applying these a second time changes nothing. */
const IDEMPOTENT: readonly WafTransformation[] = [
  'cmdLine',
  'compressWhitespace',
  'lowercase',
  'normalizePath',
  'normalizePathWin',
  'removeNulls',
  'removeWhitespace',
  'replaceNulls',
  'trim',
  'trimLeft',
  'trimRight',
  'uppercase',
];

/** Inputs that make naive versions read the same text again and again. */
const HOSTILE = [
  '%',
  '%u',
  '%u12',
  '+%+',
  '\\',
  '\\x',
  '\\12',
  '\\00000',
  '&',
  '&#',
  '&#0',
  '&#x',
  '&lt',
  '/',
  '../',
  'a/../',
  'a/',
  '/*',
  '*/',
  '<!-',
  '<!--',
  '-',
  '#',
  '0x',
  '0x4',
  ' ',
  '" ',
  '\0',
  '\xc3',
  '\xe2\x82',
  '\xf0\x9f\x98\x80',
  'A',
  'a',
  '=',
];

/** Characters read for each character of input, at most: transformations read some twice to see whether to begin. */
const MOST_READS = 40;

describe.each(WAF_TRANSFORMATIONS)('%s', (name) => {
  const transform = TRANSFORMATIONS[name];

  test('returns Latin-1 text', () => {
    fc.assert(
      fc.property(text, (value) => {
        for (const character of transform(value)) expect(character.codePointAt(0)).toBeLessThan(256);
      }),
    );
  });

  test('does linear work on repetitive inputs', () => {
    for (const piece of HOSTILE) {
      for (const tail of ['', 'x']) {
        const value = piece.repeat(Math.ceil(65_536 / piece.length)) + tail;
        const work = countTextWork(() => transform(value));
        expect(work / value.length, JSON.stringify(piece)).toBeLessThan(MOST_READS);
      }
    }
  });

  test('does not depend on earlier transformations', () => {
    fc.assert(
      fc.property(text, text, (value, other) => {
        const alone = transform(value);
        transform(other.repeat(300));
        expect(transform(value)).toBe(alone);
      }),
    );
  });
});

test.each(IDEMPOTENT)('%s is idempotent: twice is %s once', (name) => {
  const transform = TRANSFORMATIONS[name];
  fc.assert(
    fc.property(text, (value) => {
      const once = transform(value);
      expect(transform(once)).toBe(once);
    }),
  );
});

test('the work counter detects a quadratic function', () => {
  const value = 'ab'.repeat(500);
  const quadratic = (): void => {
    for (let at = 0; at < value.length; at++) value.indexOf('c', at);
  };
  expect(countTextWork(quadratic) / value.length).toBeGreaterThan(MOST_READS);
});
