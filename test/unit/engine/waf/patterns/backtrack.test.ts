/** Patterns with look-around, backreferences and atomic groups match what PCRE matches, in bounded work. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startMeter } from '../../../../../src/engine/waf/octets/meter.ts';
import { backtrackSearch } from '../../../../../src/engine/waf/patterns/backtrack.ts';
import { type Backtracker, backtrackerOf } from '../../../../../src/engine/waf/patterns/backtracker.ts';
import {
  matcherOf,
  octetDfa,
  octetDfaEnd,
  patternEnd,
  patternGroups,
} from '../../../../../src/engine/waf/patterns/pattern.ts';
import { lowerAscii } from '../../../../../src/engine/waf/seclang/lower-operator.ts';
import { compilePattern, signaturePattern } from '../../../../../src/engine/waf/seclang/patterns.ts';
import { approximate } from '../../../../../src/engine/waf/seclang/pcre-approximate.ts';
import { compilePcre } from '../../../../../src/engine/waf/seclang/pcre-compile.ts';
import { parsePcre } from '../../../../../src/engine/waf/seclang/pcre-parse.ts';

interface RecordedCase {
  readonly pattern: string;
  readonly texts: Readonly<Record<string, readonly number[] | null>>;
}

/** Recorded from PCRE2 10.42 with `PCRE2_DOTALL` and `PCRE2_DOLLAR_ENDONLY`, octets above 127 as Latin-1. */
const CASES: readonly RecordedCase[] = readFileSync(
  new URL('../../../../../fixtures/patterns/pcre2.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

function programOf(pattern: string) {
  const read = parsePcre(pattern, false);
  const compiled = read.ok ? compilePcre(read.parsed) : read;
  if (!compiled.ok) throw new Error(`${pattern}: ${compiled.reason}`);
  return compiled.program;
}

function textOf(text: string) {
  return { octets: Uint8Array.from(text, (one) => one.charCodeAt(0)), length: text.length };
}

function spansIn(machine: Backtracker, text: string, how: { captures: boolean; plainSteps?: number }) {
  const meter = startMeter(1e8);
  const spans = backtrackSearch(machine, textOf(text), { meter, ...how });
  expect(meter.left).toBeGreaterThan(0);
  return spans === null ? null : [...spans];
}

describe('recorded cases of PCRE2', () => {
  test('match and groups are those of PCRE2, memoised from the first step or not', () => {
    let texts = 0;
    for (const { pattern, texts: expected } of CASES) {
      const machine = backtrackerOf(programOf(pattern));
      for (const [text, spans] of Object.entries(expected)) {
        const where = `${pattern} on ${JSON.stringify(text)}`;
        texts++;
        expect(spansIn(machine, text, { captures: true }), where).toEqual(spans);
        expect(spansIn(machine, text, { captures: true, plainSteps: 0 }), where).toEqual(spans);
        const whole = spans === null ? null : spans.slice(0, 2);
        expect(spansIn(machine, text, { captures: false }), where).toEqual(whole);
        expect(spansIn(machine, text, { captures: false, plainSteps: 0 }), where).toEqual(whole);
      }
    }
    expect(texts).toBeGreaterThan(1_700);
  });

  test('the simpler pattern rules out no text that matches, and most of the others', () => {
    let ruledOut = 0;
    let others = 0;
    for (const { pattern, texts } of CASES) {
      const { dfa, guard, required } = compilePattern(approximate(programOf(pattern)));
      const automaton = octetDfa((dfa ?? guard)!);
      for (const [text, spans] of Object.entries(texts)) {
        const may = octetDfaEnd(automaton, textOf(text).octets, text.length) >= 0;
        const hasLiteral =
          required === null || required.some((literal) => lowerAscii(text).includes(literal));
        if (spans !== null) expect([may, hasLiteral], `${pattern} on ${text}`).toEqual([true, true]);
        else others++;
        if (!may || !hasLiteral) ruledOut++;
      }
    }
    expect(ruledOut / others).toBeGreaterThan(0.5);
  });
});

/** Patterns that take exponential or cubic time without memo, and texts that show it. */
const HOSTILE = [
  ['(?:a+)+(?=b)c', 'a'],
  ['(?=(?:a|a)+b)', 'a'],
  ['(?>(?:a|aa)+)b', 'a'],
  ['(?:a|a|a)*+b', 'a'],
  ['(?=(a+)+b)a', 'a'],
  ['(?:(?=a+b)a|aa)*c', 'a'],
  ['(?:(?:a?)*)*(?=b)c', 'a'],
  ['(?:(?:(?:a*)+)*(?=a))+b', 'a'],
  ['(?:(?>a|ab)(?>c|bcd))*(?!x)z', 'abc'],
  ['(?=((?:a|ab)*)c)x', 'ab'],
  ['(?<=a)(?:a*)*b', 'a'],
  ['(?:a|b)*(?<!ab)(?:ab|ba)*c', 'ab'],
] as const;

describe('work', () => {
  test.each(HOSTILE)('%s is linear in the text', (pattern, unit) => {
    const machine = backtrackerOf(programOf(pattern));
    for (const captures of [false, true]) {
      const [short, long] = [1_024, 4_096].map((length) => {
        const meter = startMeter(1e9);
        backtrackSearch(machine, textOf(unit.repeat(length / unit.length)), { meter, captures });
        return 1e9 - meter.left;
      });
      expect(long! / short!).toBeLessThan(4.1);
      expect(long).toBeLessThan(1_500 * 4_096);
    }
  });

  test.each([
    ['(a*)*\\1b', 'a'],
    ['(.*)(.*)\\1\\2x', 'ab'],
    ['(\\w+)\\s(?=.*\\b\\1\\b)z', 'a b '],
  ])('%s ends when the step budget is exhausted', (pattern, unit) => {
    const meter = startMeter(100_000);
    const machine = backtrackerOf(programOf(pattern));
    expect(backtrackSearch(machine, textOf(unit.repeat(4_096)), { meter, captures: true })).toBeNull();
    expect(meter.left).toBeLessThan(0);
    // The last piece of work is small.
    expect(meter.left).toBeGreaterThan(-20_000);
  });

  test('an ordinary text never reaches the search', () => {
    const read = signaturePattern('(\\w+)=(?!\\1\\b)\\w+;', false);
    if (!read.ok) throw new Error(read.reason);
    const { dfa, required, needed } = compilePattern(read.pattern.program);
    const { source, ignoreCase, backtrack } = read.pattern;
    expect([dfa !== null, required, backtrack !== null]).toEqual([true, [';'], true]);
    const pattern = { source, ignoreCase, dotAll: true, dfa, required: null, needed, backtrack: backtrack! };
    const matcher = matcherOf(pattern);
    const steps = (text: string): number => {
      const meter = startMeter(1e6);
      patternEnd(matcher, text, meter);
      return 1e6 - meter.left;
    };
    expect(steps('one=two, three=four')).toBe(20);
    expect(steps('one=two;')).toBeGreaterThan(20);
    expect(patternEnd(matcher, 'a=b;', startMeter(1e6))).toBe(4);
    expect(patternEnd(matcher, 'a=a;', startMeter(1e6))).toBe(-1);
    expect(patternGroups(matcher, '-a=b;', startMeter(1e6))).toEqual(['a=b;', 'a']);
    expect(patternGroups(matcher, 'a=a;', startMeter(1e6))).toBeNull();
  });
});
