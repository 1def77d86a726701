/** The detectors answer every string, and do an amount of work that grows with its length and no faster. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { detectEntities } from '../../src/engine/waf/detectors/entities.ts';
import { detectLookup } from '../../src/engine/waf/detectors/lookup.ts';
import { detectScript } from '../../src/engine/waf/detectors/script.ts';
import { detectSqlStatement } from '../../src/engine/waf/detectors/sql-statement.ts';
import { detectSqli } from '../../src/engine/waf/detectors/sqli.ts';
import { detectXss } from '../../src/engine/waf/detectors/xss.ts';
import { detectorStrings } from '../support/detector-strings.ts';

/** Pieces that attacks and their readers' special cases are made of. */
const PIECES = [
  ...`' " \` \\ \\' '' ( ) [ ] { } < > = == <=> ! != & && | || , ; : :: := . .. + - -- --x # /* */ /*! * / % ^ ~ ? @ @@ $ $a$ $$`.split(
    ' ',
  ),
  ...`0 1 1e 1.5 0x 0xf 0b1 x' b' q'( n' e' u&' select union all from and or not in is like group by if case when null user`.split(
    ' ',
  ),
  ...`sleep waitfor exec drop table collate binary int into outfile <a <a/ </a <!-- --> --!> <!doctype <![CDATA[ ]]> <? <% %>`.split(
    ' ',
  ),
  ...`onclick= style= href= javascript: data: &# &#x &colon; &Tab; xmlns= <svg <!`.split(' '),
  ...`alert( eval( constructor window[ atob( ) ]( on <b> <scr ipt`.split(' '),
  ...`\${ \${: :- } lower: jndi: \\u006a <!ENTITY <!entity% &a; %a; &#37;`.split(' '),
  ' ',
  '\n',
  '\t',
  '\x00',
  '\x0b',
  '\xa0',
  '\xe9',
  'a',
];

const mixture = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 4 })), { maxLength: 40 })
  .map((pieces) => pieces.join(''));

const prototype = String.prototype as {
  charCodeAt: typeof String.prototype.charCodeAt;
  indexOf: typeof String.prototype.indexOf;
};
const { charCodeAt, indexOf } = prototype;
let steps = 0;

/** Counts characters looked at, whether one by one or by a search. */
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
});

afterEach(() => {
  prototype.charCodeAt = charCodeAt;
  prototype.indexOf = indexOf;
});

function stepsOf(detect: (value: string) => unknown, value: string): number {
  steps = 0;
  detect(value);
  return steps;
}

/** Looks at one character. Over all pairs of the pieces, repeated, the most was 13; a mixture may be worse. */
const STEPS_PER_CHARACTER = 30;

const DETECTORS = [
  ['detectSqli', detectSqli],
  ['detectXss', detectXss],
  ['detectSqlStatement', detectSqlStatement],
  ['detectScript', detectScript],
  ['detectLookup', detectLookup],
  ['detectEntities', detectEntities],
] as const;

describe.each(DETECTORS)('%s', (_, detect) => {
  test('returns the same result twice for any mixture, in linear work', () => {
    fc.assert(
      fc.property(mixture, (value) => {
        const first = detect(value);
        expect(stepsOf(detect, value)).toBeLessThanOrEqual(STEPS_PER_CHARACTER * (value.length + 20));
        expect(detect(value)).toBe(first);
      }),
      { numRuns: 1000 },
    );
  });

  test('never throws for any octets', () => {
    const octets = fc.uint8Array({ maxLength: 200 }).map((bytes) => String.fromCharCode(...bytes));
    fc.assert(fc.property(octets, (value) => void detect(value)));
  });

  test('never throws for characters above U+00FF', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (value) => void detect(value)));
  });

  test.each(PIECES)('does linear work on repetitions of %j', (piece) => {
    for (const before of ['', "'", '"', '1 ', "x' ", '<a ', '<a b="']) {
      const value = before + piece.repeat(3000);
      expect(stepsOf(detect, value), JSON.stringify(before + piece)).toBeLessThanOrEqual(
        STEPS_PER_CHARACTER * value.length,
      );
    }
  });

  test('does linear work on repetitions of two pieces', () => {
    const two = fc.tuple(
      fc.constantFrom(...PIECES),
      fc.constantFrom(...PIECES),
      fc.constantFrom('', "'", '1 ', '<a '),
    );
    fc.assert(
      fc.property(two, ([first, second, before]) => {
        const value = before + (first + second).repeat(400);
        expect(stepsOf(detect, value)).toBeLessThanOrEqual(STEPS_PER_CHARACTER * value.length);
      }),
      { numRuns: 300 },
    );
  });
});

describe('text around an attack does not hide it', () => {
  const attacks = detectorStrings('sqli').filter(({ heading }) => heading === 'a condition behind a string');

  test('text before a closing quote does not hide an injection', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    fc.assert(
      fc.property(fc.constantFrom(...attacks), word, ({ value }, before) => {
        if (/^['"]/.test(value)) expect(detectSqli(before + value)).not.toBeNull();
      }),
    );
  });

  test('text around a script does not hide it', () => {
    const text = fc.stringMatching(/^[a-z0-9 .,;]{0,30}$/);
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(detectXss(`${before}<script>f()</script>${after}`)).not.toBeNull();
        expect(detectXss(`${before}" onload=f() ${after}`)).not.toBeNull();
      }),
    );
  });
});
