import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KIND_BITS, KINDS } from '../../../../../src/base/octets/octet-kinds.ts';
import { WAF_TRANSFORMATIONS } from '../../../../../src/engine/plan/signature-program.ts';
import { octetsOf, shapeOf } from '../../../../../src/engine/waf/octets/octet-buffer.ts';
import {
  CHANGES,
  LENGTH_BEHIND,
  lengthAhead,
  MAKES,
  TRANSFORMATIONS,
} from '../../../../../src/engine/waf/transformations/transformations.ts';

test('every octet has one kind, and every kind has an octet', () => {
  expect(new Set(KINDS)).toEqual(new Set(KIND_BITS));
  expect(KIND_BITS).toHaveLength(32);
});

describe('a transformation does not change a text without the kinds in CHANGES', () => {
  test.each(WAF_TRANSFORMATIONS.filter((name) => CHANGES[name] !== -1))('%s', (name) => {
    const harmless = Array.from({ length: 256 }, (_, octet) => octet).filter(
      (octet) => (KINDS[octet]! & CHANGES[name]) === 0,
    );
    expect(harmless.length).toBeGreaterThan(64);
    const texts = fc
      .array(fc.constantFrom(...harmless), { maxLength: 60 })
      .map((octets) => String.fromCharCode(...octets));
    fc.assert(
      fc.property(texts, (text) => {
        expect(shapeOf(octetsOf(text), text.length) & CHANGES[name]).toBe(0);
        expect(TRANSFORMATIONS[name](text)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the result of a transformation has no kinds but those of its input and of MAKES', () => {
  test.each(WAF_TRANSFORMATIONS.filter((name) => MAKES[name] !== -1))('%s', (name) => {
    const octets = fc.oneof(
      fc.constantFrom(...Array.from('aZ9 \t\0/*\\.-#<>!\'",;(^', (one) => one.charCodeAt(0))),
      fc.integer({ min: 0, max: 255 }),
    );
    const texts = fc.array(octets, { maxLength: 24 }).map((all) => String.fromCharCode(...all));
    fc.assert(
      fc.property(texts, (text) => {
        const before = shapeOf(octetsOf(text), text.length);
        const made = TRANSFORMATIONS[name](text);
        expect(shapeOf(octetsOf(made), made.length) & ~(before | MAKES[name])).toBe(0);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the result of a transformation is no longer than lengthAhead', () => {
  test.each(WAF_TRANSFORMATIONS)('%s', (name) => {
    const pieces = fc.oneof(
      fc.constantFrom(
        ...'/ . .. ./ // /a/../ \\ %41 %u0041 \\x41 \\41 &#65; &lt 0x41 /* */ -- <!-- ^" \t YWJj'.split(' '),
      ),
      fc.constantFrom('\0', '\xe2\x80\x98', '\xff', ' ', '\r\n', '=', '1', 'A'),
    );
    const texts = fc.array(pieces, { maxLength: 12 }).map((all) => all.join(''));
    const bound = LENGTH_BEHIND[name] ?? ((length: number): number => length);
    fc.assert(
      fc.property(texts, (text) => {
        const { length } = TRANSFORMATIONS[name](text);
        expect(length).toBeLessThanOrEqual(bound(text.length));
        expect(length).toBeLessThanOrEqual(lengthAhead(WAF_TRANSFORMATIONS.indexOf(name), text));
      }),
      { numRuns: 2_000 },
    );
  });
});
