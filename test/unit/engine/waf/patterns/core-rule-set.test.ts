/**
 * The patterns of the Core Rule Set 3.3 with look-around and backreferences (rules 920120 and 942130,
 * https://github.com/coreruleset/coreruleset, Apache-2.0): as patterns, and as operators of signatures.
 */
import { describe, expect, test } from 'vitest';
import { startMeter } from '../../../../../src/engine/waf/octets/meter.ts';
import { matcherOf, patternEnd, patternGroups } from '../../../../../src/engine/waf/patterns/pattern.ts';
import { compilePattern, signaturePattern } from '../../../../../src/engine/waf/seclang/patterns.ts';
import { inspect, signatures } from '../../../../support/signatures.ts';

const TICK = '`';
const FILE_NAME = String.raw`(?<!&(?:[aAoOuUyY]uml)|&(?:[aAeEiIoOuU]circ)|&(?:[eEiIoOuUyY]acute)|&(?:[aAeEiIoOuU]grave)|&(?:[cC]cedil)|&(?:[aAnNoO]tilde)|&(?:amp)|&(?:apos));|['"=\x5c]`;
const TAUTOLOGY = String.raw`(?i:[\s'"${TICK}()]*?\b([\d\w]+)\b[\s'"${TICK}()]*?(?:<(?:=(?:[\s'"${TICK}()]*?(?!\b\1\b)[\d\w]+|>[\s'"${TICK}()]*?(?:\b\1\b))|>?[\s'"${TICK}()]*?(?!\b\1\b)[\d\w]+)|(?:not\s+(?:regexp|like)|is\s+not|>=?|!=|\^)[\s'"${TICK}()]*?(?!\b\1\b)[\d\w]+|(?:(?:sounds\s+)?like|r(?:egexp|like)|=)[\s'"${TICK}()]*?(?:\b\1\b)))`;

function matcher(written: string) {
  const read = signaturePattern(written, false);
  if (!read.ok || read.pattern.backtrack === null) throw new Error('no pattern for backtracking');
  const { source, ignoreCase, program, backtrack } = read.pattern;
  const { dfa, needed } = compilePattern(program);
  return matcherOf({ source, ignoreCase, dotAll: true, dfa, required: null, needed, backtrack });
}

function groupsIn(written: string, text: string) {
  return patternGroups(matcher(written), text, startMeter(1e7));
}

describe('920120', () => {
  test.each([
    ['a.txt', null],
    ['a;b.txt', [';']],
    ["a'b", ["'"]],
    ['caf&eacute;.txt', null],
    ['&auml;&Ouml;&ntilde;&amp;&apos;', null],
    ['&auml;;', [';']],
    ['&lt;', [';']],
    ['auml;', [';']],
    ['&aUml;', [';']],
    ['&amp;="', ['=']],
    ['a\\b', ['\\']],
  ])('on %j: %j', (text, groups) => {
    expect(groupsIn(FILE_NAME, text)).toEqual(groups);
  });
});

describe('942130', () => {
  test.each([
    ['1=1', ['1=1', '1']],
    ['1=2', null],
    ["' or 'a'='a", [" 'a'='a", 'a']],
    ['ab = AB', ['ab = AB', 'ab']],
    ['ab = abc', null],
    ['1<2', ['1<2', '1']],
    ['1<1', null],
    ['1<=2', ['1<=2', '1']],
    ['1<=>1', ['1<=>1', '1']],
    ['1<=>2', null],
    ['1!=12', ['1!=12', '1']],
    ['5 is not 6', ['5 is not 6', '5']],
    ['5 is not 5', null],
    ['a sounds like a', ['a sounds like a', 'a']],
    ['a not like b', ['a not like b', 'a']],
    ['a=b', null],
    ['x a = a', [' a = a', 'a']],
  ])('on %j: %j', (text, groups) => {
    expect(groupsIn(TAUTOLOGY, text)).toEqual(groups);
  });
});

describe('both', () => {
  /** Words of the patterns and of their surroundings. */
  const PIECES = {
    [FILE_NAME]: [
      '&',
      'auml',
      'amp',
      'apos',
      'Oacute',
      ';',
      'uml',
      '=',
      '"',
      '&auml;',
      '&ntilde',
      'cedil',
      ' ',
    ],
    [TAUTOLOGY]: [
      ...[
        '1',
        'a',
        'ab',
        'A',
        'Ab',
        '_',
        '=',
        ' ',
        "'",
        '"',
        TICK,
        '(',
        ')',
        '<',
        '>',
        '<=',
        '<>',
        '!=',
        '^',
      ],
      ...['like', 'not like', 'is not', 'sounds like', 'rlike', 'regexp', '1 = 1', "'a'='a", '2<>1', '\n'],
    ],
  };

  test.each([
    ['920120', FILE_NAME, new RegExp(FILE_NAME, 's')],
    // Without `(?i:` around it, which Node 20 does not know.
    ['942130', TAUTOLOGY, new RegExp(TAUTOLOGY.slice('(?i:'.length, -1), 'si')],
  ])('%s matches what it matches in V8', (_, written, expression) => {
    const own = matcher(written);
    const pieces = PIECES[written]!;
    let seed = 1;
    const below = (most: number): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((seed / 2 ** 32) * most);
    };
    let matched = 0;
    for (let turn = 0; turn < 5_000; turn++) {
      const text = Array.from({ length: below(9) }, () => pieces[below(pieces.length)]).join('');
      const found = expression.exec(text);
      const groups = found === null ? null : [...found].map((group) => group ?? null);
      expect(patternGroups(own, text, startMeter(1e7)), text).toEqual(groups);
      expect(patternEnd(own, text, startMeter(1e7)) >= 0, text).toBe(found !== null);
      if (found !== null) matched++;
    }
    expect(matched).toBeGreaterThan(500);
    expect(matched).toBeLessThan(4_500);
  });

  test.each([
    [FILE_NAME, '&auml;'],
    [TAUTOLOGY, 'a b='],
    [TAUTOLOGY, 'a<'],
    [TAUTOLOGY, 'a like b '],
    [TAUTOLOGY, '1 1 <'],
  ])('costs fewer steps for hostile octets than an inspection has: %#', (written, unit) => {
    const meter = startMeter(1e9);
    patternEnd(matcher(written), unit.repeat(65_536 / unit.length), meter);
    expect((1e9 - meter.left) / 65_536).toBeLessThan(80);
  });
});

describe('as operators', () => {
  const rule = (operator: string, actions: string): string =>
    `SecRule ARGS:a "${operator}" "id:1,phase:2,block,severity:CRITICAL,setvar:tx.anomaly_score_pl1=+5,${actions}"`;
  const idsOf = (text: string, value: string): readonly number[] =>
    inspect(signatures(text), { target: `/?a=${encodeURIComponent(value)}` }).ids;

  test('a negated operator matches exactly the other values', () => {
    const negated = rule('!@rx ^(\\w+)-(?!\\1$)\\w+$', "msg:'x'");
    expect(idsOf(negated, 'a-b')).toEqual([]);
    expect(idsOf(negated, 'a-ab')).toEqual([]);
    expect(idsOf(negated, 'a-a')).toEqual([1]);
    expect(idsOf(negated, 'a')).toEqual([1]);
  });

  test('captured groups are those of the match', () => {
    const text = [
      rule('@rx (?<=<)(\\w+)>(?=.*</\\1>)', "capture,chain,msg:'x'"),
      'SecRule TX:1 "@streq b" "t:none"',
    ].join('\n');
    expect(idsOf(text, '<a><b></b>')).toEqual([1]);
    expect(idsOf(text, '<a></a>')).toEqual([]);
    expect(idsOf(text, '<a></b>')).toEqual([]);
  });

  test('a request that exhausts the steps of a pattern counts as at the threshold', () => {
    const program = signatures(rule('@rx (.*)-(.*)\\1\\2x', "msg:'x'"));
    expect(inspect(program, { target: '/?a=a-ax' })).toMatchObject({ exhausted: false, ids: [1] });
    const { exhausted, ids } = inspect(program, { target: `/?a=${'-ab'.repeat(4_000)}y-x` });
    expect({ exhausted, ids }).toEqual({ exhausted: true, ids: [] });
  });
});
