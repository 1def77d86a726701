/** The grammars answer every string, and do an amount of work that grows with its length and no faster. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KINDS } from '../../src/base/octets/octet-kinds.ts';
import { DETECTORS } from '../../src/engine/waf/detectors/detectors.ts';

/** Pieces of the languages that the grammars read. */
const PIECES = [
  ...`{{ }} {% %} \${ #{ *{ @{ ~{ %{ } { <% %> <# > @( #set( $a $a. ( ) [ ] | || & && ; : . .. , = == ! !! ' " \` \\ \\'`.split(
    ' ',
  ),
  ...`#[ *[ @[ ~[ %[ [ ::`.split(' '),
  ...`__ __class__ __mro__ constructor . class .forName ?new( T( @java.lang. @ new import system( 7*7 |attr( |map('system')`.split(
    ' ',
  ),
  ...`*) )( (| (& (uid= =* ']| // /* or and count( count(// name( child:: doc(' $ne $where [$ne] "$gt": "map": "function this. return`.split(
    ' ',
  ),
  ...`O:4:"A":1:{ O: :" rO0AB BAh gAS Tzo YTo cos system !!python/ !ruby/ <java _$$ND_ $type aced0005 AAEAAAD///// <dynamic-proxy> "py/object" "json_class"`.split(
    ' ',
  ),
  ...`http:// // :// a: @ 127.0.0.1 0x7f 1. .nip.io [:: ] file:/ jar: gopher:// # <!-- # exec <esi:`.split(
    ' ',
  ),
  ...'ls -la /etc certutil whoami'.split(' '),
  '\r\n',
  '\n',
  '\nset ',
  '\n*1',
  ' ',
  '\x00',
  '\x04\x08',
  '\xac\xed',
  '\xe2\x91\xa0',
  'a',
];
const BEFORE = ['', "'", '{{', '${', "1' or ", '<%', '"'];

const GRAMMARS = Object.entries(DETECTORS).filter(
  ([name]) => !name.endsWith('SQLi') && !name.endsWith('XSS'),
);

const mixture = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 4 })), { maxLength: 40 })
  .map((pieces) => pieces.join(''));

const prototype = String.prototype as Record<'charCodeAt' | 'indexOf' | 'slice' | 'includes', unknown>;
const { charCodeAt, indexOf, slice, includes } = String.prototype;
let steps = 0;

/** Counts the characters that are read, one by one, by a search or by a copy. */
beforeEach(() => {
  steps = 0;
  prototype.charCodeAt = function count(this: string, at: number) {
    steps++;
    return charCodeAt.call(this, at);
  };
  prototype.indexOf = function count(this: string, what: string, from = 0) {
    const found = indexOf.call(this, what, from);
    steps += (found < 0 ? this.length : found) - Math.min(from, this.length) + 1;
    return found;
  };
  prototype.includes = function count(this: string, what: string, from = 0) {
    const found = indexOf.call(this, what, from);
    steps += (found < 0 ? this.length : found) - from + 1;
    return found >= 0;
  };
  prototype.slice = function count(this: string, from: number, to?: number) {
    const copy = slice.call(this, from, to);
    steps += copy.length;
    return copy;
  };
});

afterEach(() => {
  Object.assign(prototype, { charCodeAt, indexOf, slice, includes });
});

function stepsOf(detect: (value: string) => unknown, value: string): number {
  steps = 0;
  detect(value);
  return steps;
}

/** At each place a name, a class, or a preprocessed expression is read up to a bound, 512 octets at most. */
const STEPS_PER_CHARACTER = 1_000;

describe.each(GRAMMARS)('%s', (_, { find, kinds, shortest, triggers }) => {
  test('returns the same result twice for any mixture, in linear work', () => {
    fc.assert(
      fc.property(mixture, (value) => {
        const first = find(value);
        expect(stepsOf(find, value)).toBeLessThanOrEqual(STEPS_PER_CHARACTER * (value.length + 20));
        expect(find(value)).toBe(first);
      }),
      { numRuns: 1000 },
    );
  });

  test('never throws for any octets, nor for characters above U+00FF', () => {
    const octets = fc.uint8Array({ maxLength: 200 }).map((bytes) => String.fromCharCode(...bytes));
    fc.assert(fc.property(octets, (value) => void find(value)));
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (value) => void find(value)));
  });

  test.each(PIECES)('does linear work on repetitions of %j', (piece) => {
    for (const before of BEFORE) {
      const value = before + piece.repeat(3000);
      expect(stepsOf(find, value), JSON.stringify(before + piece)).toBeLessThanOrEqual(
        STEPS_PER_CHARACTER * value.length,
      );
    }
  });

  test('does linear work on repetitions of two pieces', () => {
    const two = fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(...PIECES), fc.constantFrom(...BEFORE));
    fc.assert(
      fc.property(two, ([first, second, before]) => {
        const value = before + (first + second).repeat(400);
        expect(stepsOf(find, value)).toBeLessThanOrEqual(STEPS_PER_CHARACTER * value.length);
      }),
      { numRuns: 300 },
    );
  });

  test('reports no value that the prefilter excludes', () => {
    fc.assert(
      fc.property(mixture, (value) => {
        if (find(value) === null) return;
        expect(value.length).toBeGreaterThanOrEqual(shortest);
        expect(kindsOf(value) & kinds).not.toBe(0);
        if (triggers !== undefined) expect(value).toSatisfy(hasOneOf(triggers));
      }),
      { numRuns: 2000 },
    );
  });
});

/** Whether a text has one of `triggers`, without case of ASCII. */
function hasOneOf(triggers: readonly string[]): (value: string) => boolean {
  return (value) => {
    const lower = value.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
    return triggers.some((trigger) => indexOf.call(lower, trigger) >= 0);
  };
}

/** The kinds of the octets of a value; characters above U+00FF have none. */
function kindsOf(value: string): number {
  let kinds = 0;
  for (let at = 0; at < value.length; at++) kinds |= KINDS[charCodeAt.call(value, at)] ?? 0;
  return kinds;
}
