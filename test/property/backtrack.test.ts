/**
 * Backtracking agrees with V8's on random patterns with look-around, backreferences and atomic groups. ECMAScript differs
 * from PCRE where a group is repeated or not set, and where an iteration is empty: the patterns have none of these.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startMeter } from '../../src/engine/waf/octets/meter.ts';
import { backtrackSearch } from '../../src/engine/waf/patterns/backtrack.ts';
import { backtrackerOf } from '../../src/engine/waf/patterns/backtracker.ts';
import { compilePcre } from '../../src/engine/waf/seclang/pcre-compile.ts';
import { parsePcre } from '../../src/engine/waf/seclang/pcre-parse.ts';

/** A pattern in both notations. */
interface Written {
  readonly pcre: string;
  readonly script: string;
  readonly canBeEmpty: boolean;
}

function same(source: string, canBeEmpty = false): Written {
  return { pcre: source, script: source, canBeEmpty };
}

function joined(parts: readonly Written[]): Written {
  return {
    pcre: parts.map(({ pcre }) => pcre).join(''),
    script: parts.map(({ script }) => script).join(''),
    canBeEmpty: parts.every(({ canBeEmpty }) => canBeEmpty),
  };
}

function around(open: string, body: Written, close: string): Written {
  return { ...body, pcre: `${open}${body.pcre}${close}`, script: `${open}${body.script}${close}` };
}

/** Numbers the groups of a script that stand for atomic ones: `(?>a)` is `(?=(a))\1` (Perl's documentation, perlre). */
let atomics = 0;

const single = fc
  .constantFrom('a', 'b', 'B', '[ab]', '[^a]', '.', '-', '\\w', '\\d', '\\n')
  .map((one) => same(one));
const assertion = fc.constantFrom('\\b', '\\B', '^', '$').map((one) => same(one, true));
/** Of one length. */
const fixed = fc
  .array(fc.oneof({ weight: 4, arbitrary: single }, assertion), { minLength: 1, maxLength: 3 })
  .map(joined);
const { part } = fc.letrec<{ part: Written }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 4 },
    single,
    assertion,
    fc.tuple(tie('part'), tie('part')).map(joined),
    fc.tuple(tie('part'), tie('part')).map(([left, right]) => ({
      pcre: `(?:${left.pcre}|${right.pcre})`,
      script: `(?:${left.script}|${right.script})`,
      canBeEmpty: left.canBeEmpty || right.canBeEmpty,
    })),
    fc
      .tuple(tie('part'), fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{2,}?'))
      .map(([body, sign]) => {
        if (body.canBeEmpty) return body;
        return { ...around('(?:', body, `)${sign}`), canBeEmpty: /^(?:\*|\?)/.test(sign) };
      }),
    fc.tuple(tie('part'), fc.constantFrom('(?=', '(?!')).map(([body, open]) => ({
      ...around(open, body, ')'),
      canBeEmpty: true,
    })),
    fc.tuple(fixed, fc.constantFrom('(?<=', '(?<!')).map(([body, open]) => ({
      ...around(open, body, ')'),
      canBeEmpty: true,
    })),
    fc.tuple(tie('part'), fc.boolean()).map(([body, possessive]) => {
      const name = `atomic${++atomics}`;
      const loops = possessive && !body.canBeEmpty;
      const inner = loops ? `(?:${body.script})*` : body.script;
      return {
        pcre: loops ? `(?:${body.pcre})*+` : `(?>${body.pcre})`,
        script: `(?:(?=(?<${name}>${inner}))\\k<${name}>)`,
        canBeEmpty: loops || body.canBeEmpty,
      };
    }),
  ),
}));

/** Groups, which are set whenever a backreference is reached, between other parts. */
const pattern = fc
  .tuple(
    part,
    fc.array(fc.tuple(part, part, fc.constantFrom('', '\\k', '(?!\\k)', '(?=.?\\k)', '(?:\\k-)+')), {
      maxLength: 3,
    }),
  )
  .map(([first, groups]) => {
    const parts = groups.flatMap(([body, after, reference], index) => {
      const name = `<g${1 + (index >> 1)}>`;
      return [
        around(`(?<g${index + 1}>`, body, ')'),
        after,
        same(reference.replace('\\k', `\\k${name}`), true),
      ];
    });
    return { ...joined([first, ...parts]), groups: groups.length };
  });
const text = fc
  .array(fc.constantFrom('a', 'b', 'a', 'b', 'A', 'B', '-', '1', '\n', 'é'), { maxLength: 10 })
  .map((characters) => characters.join(''));

test('match and groups are those of V8, memoised from the first step or not', () => {
  const counted = { compared: 0, matched: 0 };
  const property = fc.property(
    pattern,
    fc.boolean(),
    fc.array(text, { minLength: 12, maxLength: 12 }),
    ({ pcre, script, groups }, ignoreCase, texts) => {
      const read = parsePcre(pcre, ignoreCase);
      const compiled = read.ok ? compilePcre(read.parsed) : read;
      // A script has no empty pattern between parentheses that is repeated, and no group without name.
      if (!compiled.ok) throw new Error(`${pcre}: ${compiled.reason}`);
      const machine = backtrackerOf(compiled.program);
      const expression = new RegExp(script, ignoreCase ? 'sid' : 'sd');
      for (const one of texts) {
        // V8 folds letters beyond ASCII.
        if (ignoreCase && one.includes('é')) continue;
        const found = expression.exec(one);
        const spans = Array.from(
          { length: groups },
          (_, group) => found?.indices?.groups?.[`g${group + 1}`] ?? [-1, -1],
        );
        const expected = found === null ? null : [...found.indices![0]!, ...spans.flat()];
        const subject = { octets: Uint8Array.from(one, (octet) => octet.charCodeAt(0)), length: one.length };
        for (const plainSteps of [0, 1e9]) {
          const meter = startMeter(1e8);
          const actual = backtrackSearch(machine, subject, { meter, captures: true, plainSteps });
          expect(actual === null ? null : [...actual], `${pcre} on ${JSON.stringify(one)}`).toEqual(expected);
        }
        counted.compared++;
        if (expected !== null) counted.matched++;
      }
    },
  );
  fc.assert(property, { numRuns: 2_000 });
  expect(counted.compared).toBeGreaterThan(15_000);
  expect(counted.matched).toBeGreaterThan(3_000);
});
