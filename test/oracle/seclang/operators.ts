/** Operators (ModSecurity reference manual, "Operators"), each asked of one value; patterns straight through `re2js`, or V8. */
import { RE2JS } from 're2js';
import { DETECTORS } from '../../../src/engine/waf/detectors/detectors.ts';
import {
  ipMatch,
  NUMBER_OPERATORS,
  numberOf,
  PLAIN_OPERATORS,
  prepareByteRange,
  prepareIpMatch,
  TEXT_OPERATORS,
  validateByteRange,
} from '../../../src/engine/waf/operators/operators.ts';
import { translatePattern } from '../../../src/engine/waf/seclang/pcre-translate.ts';

/** What an operator found: TX.0 and, for a pattern, its groups. `null`: it does not hold. */
export type Found = readonly string[] | null;

export interface Asked {
  /** In lower case. */
  readonly operator: string;
  /** With its macros filled in; white space around it is written for all operators but `rx`, and gone by now. */
  readonly argument: string;
  /** A data file's text. */
  readonly read: (name: string) => string;
  /** Whether groups are wanted, which takes `re2js` much longer than to say whether there is a match. */
  readonly groups: boolean;
}

export function holds(value: string, { operator, argument, read, groups }: Asked): Found {
  const yes = (answer: boolean): Found => (answer ? [value] : null);
  switch (operator) {
    case 'rx':
      return search(patternOf(argument), value, groups);
    case 'pm':
      return phrase(value, (argument.match(/(?:\|[\da-f\s]+\||\S)+/gi) ?? []).map(unhex));
    case 'pmf':
    case 'pmfromfile':
      return phrase(
        value,
        argument.split(/\s+/).flatMap((name) => linesOf(read(name))),
      );
    case 'ipmatch':
      return yes(
        ipMatch(
          value,
          prepareIpMatch(
            argument
              .split(',')
              .map((one) => one.trim())
              .filter(Boolean),
          ),
        ),
      );
    case 'ipmatchf':
    case 'ipmatchfromfile':
      return yes(
        ipMatch(value, prepareIpMatch(argument.split(/\s+/).flatMap((name) => linesOf(read(name))))),
      );
    case 'validatebyterange':
      return yes(validateByteRange(value, prepareByteRange(rangesOf(argument))));
    default:
      return yes(named(operator, value, argument));
  }
}

function named(operator: string, value: string, argument: string): boolean {
  for (const [name, check] of Object.entries(NUMBER_OPERATORS)) {
    if (name.toLowerCase() === operator) return check(value, numberOf(argument));
  }
  for (const [name, check] of Object.entries(TEXT_OPERATORS)) {
    if (name.toLowerCase() === operator) return check(value, argument);
  }
  for (const [name, check] of Object.entries(PLAIN_OPERATORS)) {
    if (name.toLowerCase() === operator) return check(value);
  }
  for (const [name, { find }] of Object.entries(DETECTORS)) {
    if (name.toLowerCase() === operator) return find(value) !== null;
  }
  throw new Error(`a rule that can be reached uses @${operator}`);
}

/** A pattern that finds the groups of its first match, or only whether there is one. */
interface Searched {
  readonly test: (value: string) => boolean;
  /** Also of the whole match. */
  readonly groups: (value: string) => readonly (string | null)[] | null;
}

const patterns = new Map<string, Searched>();
/** Look-around and backreferences, which V8 has and `re2js` has not. */
const LOOKS_AROUND = /\(\?<?[=!]|\\[1-9]/;

function patternOf(written: string): Searched {
  let pattern = patterns.get(written);
  if (pattern === undefined) {
    pattern = LOOKS_AROUND.test(written) ? inV8(new RegExp(written, 's')) : inRe2(written);
    patterns.set(written, pattern);
  }
  return pattern;
}

function inV8(expression: RegExp): Searched {
  return {
    test: (value) => expression.test(value),
    groups: (value) => expression.exec(value)?.map((group) => group ?? null) ?? null,
  };
}

function inRe2(written: string): Searched {
  const { source, ignoreCase } = translatePattern(written);
  const pattern = RE2JS.compile(source, RE2JS.DOTALL | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0));
  return {
    test: (value) => pattern.test(value),
    groups: (value) => {
      const matcher = pattern.matcher(value);
      if (!matcher.find()) return null;
      return Array.from({ length: pattern.groupCount() + 1 }, (_, group) => matcher.group(group));
    },
  };
}

function search(pattern: Searched, value: string, groups: boolean): Found {
  if (!groups) return pattern.test(value) ? [] : null;
  return pattern.groups(value)?.map((group) => group ?? '') ?? null;
}

/** A selector's pattern, `REQUEST_COOKIES:/^sess/`, asked of a name. */
export function selects(written: string, name: string): boolean {
  return patternOf(`(?i)${written}`).test(name);
}

const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** `|41 42|` is AB. */
function unhex(text: string): string {
  return text.replace(/\|((?:\s*[\da-f]{2})+\s*)\|/gi, (_, hex: string) =>
    Buffer.from(hex.replace(/\s/g, ''), 'hex').toString('latin1'),
  );
}

/** The phrase that ends first, of those the longest, as it stands in the value. */
function phrase(value: string, phrases: readonly string[]): Found {
  const text = lower(value);
  let best: { from: number; end: number } | null = null;
  for (const one of phrases) {
    const from = text.indexOf(lower(one));
    const end = from + one.length;
    if (from < 0) continue;
    if (best === null || end < best.end || (end === best.end && from < best.from)) best = { from, end };
  }
  return best === null ? null : [value.slice(best.from, best.end)];
}

function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

function rangesOf(text: string): readonly boolean[] {
  const pairs = text.split(',').map((piece) => piece.split('-').map(Number));
  return Array.from({ length: 256 }, (_, octet) =>
    pairs.some(([from = 0, to = from]) => octet >= from && octet <= to),
  );
}
