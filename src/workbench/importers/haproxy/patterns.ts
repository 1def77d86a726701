/**
 * Patterns of ACLs and maps: how HAProxy compares a text with them, as tests of a host or a path and as conditions on values, and
 * the files that list them.
 */
import { MAX_CONDITION_VALUES, MAX_PATTERN_CHARACTERS } from '../../../base/vocabulary/limits.ts';
import { type ImportedFact, valueFact } from '../facts.ts';
import type { ImportedCondition } from '../filter.ts';
import type { OpenIncludes } from '../importer.ts';
import type { SourceFile } from '../report.ts';
import {
  containsText,
  endsWithText,
  equalsText,
  escapeRegex,
  regexText,
  startsWithText,
  type TextTest,
  withoutCase,
} from '../text-test.ts';

/** How a text is compared (`-m`). */
export type MatchKind = 'str' | 'beg' | 'end' | 'sub' | 'dir' | 'dom' | 'reg' | 'found';

/** Delimiters of `dir` and `dom` inside a character class. */
const DELIMITERS = { dir: '/?', dom: '/?.:' } as const;

/** Patterns with how they are compared. */
export interface Patterns {
  readonly match: MatchKind;
  readonly patterns: readonly string[];
  readonly ignoreCase: boolean;
}

/** The tests of a host or a path; a text is the reason why it has none. */
export function textTests({ match, patterns, ignoreCase }: Patterns): readonly TextTest[] | string {
  const tests: TextTest[] = [];
  for (const pattern of patterns) {
    const own = match === 'reg' ? regexText(pattern) : literalTests(match, pattern);
    if (typeof own === 'string') return own;
    const all = 'kind' in own ? [own] : own;
    tests.push(...(ignoreCase ? all.map(withoutCase) : all));
  }
  return tests;
}

function literalTests(match: Exclude<MatchKind, 'reg'>, pattern: string): readonly TextTest[] {
  switch (match) {
    case 'str':
      return [equalsText(pattern)];
    case 'beg':
      return [startsWithText(pattern)];
    case 'end':
      return [endsWithText(pattern)];
    case 'sub':
      return [containsText(pattern)];
    case 'found':
      return [containsText('')];
    case 'dir':
    case 'dom':
      return wordTests(match, pattern);
  }
}

/** A word between delimiters, which are left out around the pattern; a host has dots alone, and a path begins with `/`. */
function wordTests(match: 'dir' | 'dom', pattern: string): readonly TextTest[] {
  const word = trimmedWord(match, pattern);
  if (word === '') return [];
  if (match === 'dir') return [containsText(`/${word}/`), endsWithText(`/${word}`)];
  return [equalsText(word), startsWithText(`${word}.`), endsWithText(`.${word}`), containsText(`.${word}.`)];
}

function trimmedWord(match: 'dir' | 'dom', pattern: string): string {
  const isDelimiter = (character: string): boolean => DELIMITERS[match].includes(character);
  let [start, end] = [0, pattern.length];
  while (start < end && isDelimiter(pattern[start]!)) start++;
  while (end > start && isDelimiter(pattern[end - 1]!)) end--;
  return pattern.slice(start, end);
}

/** Where a value is. */
export interface ValuePlace {
  readonly member: 'headers' | 'query' | 'cookies';
  readonly name: string;
  /** Whether HAProxy compares each part between commas on its own. */
  readonly hasParts: boolean;
}

/** The condition on a value; a text is the reason why it has none. */
export function valueCondition(place: ValuePlace, patterns: Patterns): ImportedCondition | string {
  const { match, ignoreCase } = patterns;
  const fact = (op: FactOp, values: readonly string[]): ImportedFact =>
    valueFact(place.member, place.name, { op, values, ignoreCase: ignoreCase && values.length > 0 });
  if (match === 'found') return { kind: 'fact', fact: fact('present', []) };
  const own = valueTests(place, patterns);
  if (typeof own === 'string') return own;
  const facts: ImportedFact[] = [];
  for (let at = 0; at < own.values.length; at += MAX_CONDITION_VALUES)
    facts.push(fact(own.op, own.values.slice(at, at + MAX_CONDITION_VALUES)));
  return { kind: 'any', of: facts.map((one) => ({ kind: 'fact', fact: one })) };
}

type FactOp = 'present' | 'equals' | 'prefix' | 'suffix' | 'contains' | 'regex';

const OPS: Readonly<Partial<Record<MatchKind, FactOp>>> = {
  str: 'equals',
  beg: 'prefix',
  end: 'suffix',
  sub: 'contains',
  reg: 'regex',
};

function valueTests(
  { hasParts }: ValuePlace,
  { match, patterns }: Patterns,
): { readonly op: FactOp; readonly values: readonly string[] } | string {
  const isWord = match === 'dir' || match === 'dom';
  if (!isWord && (!hasParts || match === 'sub')) {
    const values = patterns.filter((one) => !hasParts || !one.includes(','));
    for (const one of match === 'reg' ? values : []) {
      const read = regexText(one);
      if (typeof read === 'string') return read;
    }
    return { op: OPS[match]!, values };
  }
  if (match === 'reg') {
    const values: string[] = [];
    for (const one of patterns) {
      const read = partRegex(one);
      const source = read === null ? null : regexText(read);
      if (source === null)
        return 'compares each part between commas on its own, which this regex may not be limited to';
      if (typeof source === 'string') return source;
      values.push(read!);
    }
    return { op: 'regex', values };
  }
  return { op: 'regex', values: joinedRegexes(match, patterns, hasParts) };
}

/** Regexes of literal patterns of a value, as many patterns in each as fit. */
function joinedRegexes(match: MatchKind, patterns: readonly string[], hasParts: boolean): readonly string[] {
  const isWord = match === 'dir' || match === 'dom';
  const marks = isWord ? `[${DELIMITERS[match]}]|` : '';
  const start = match === 'end' ? '' : hasParts ? `(?:${marks}(?:^|,)[ \\t]*)` : `(?:${marks}^)`;
  const end = match === 'beg' ? '' : hasParts ? `(?:${marks}[ \\t]*(?:,|$))` : `(?:${marks}$)`;
  const words = patterns
    .map((one) => (isWord ? trimmedWord(match, one) : one))
    .filter((one) => one !== '' && (!hasParts || !one.includes(',')))
    .map(escapeRegex);
  const regexes: string[] = [];
  let own: string[] = [];
  let length = 0;
  for (const word of words) {
    if (own.length > 0 && length + word.length > MAX_PATTERN_CHARACTERS / 2) {
      regexes.push(`${start}(?:${own.join('|')})${end}`);
      own = [];
      length = 0;
    }
    own.push(word);
    length += word.length + 1;
  }
  if (own.length > 0) regexes.push(`${start}(?:${own.join('|')})${end}`);
  return regexes;
}

/** A regex over one part between commas as one over the whole value; `null`: it may match across them. */
export function partRegex(source: string): string | null {
  let regex = '';
  for (let at = 0; at < source.length; at++) {
    const character = source[at]!;
    if (character === '\\') {
      const next = source[++at] ?? '';
      if (/[SWDAzZpPQxu,0-9]/.test(next) || next === '') return null;
      regex += `\\${next}`;
    } else if (character === '[') {
      const end = source.indexOf(']', at + (source[at + 1] === '^' ? 3 : 2));
      if (end < 0) return null;
      const own = source.slice(at, end + 1);
      const isNegated = own.startsWith('[^');
      if (/\\[SWDpPxu]|\[:/.test(own) || (!isNegated && hasComma(own))) return null;
      regex += isNegated ? `[^,${own.slice(2)}` : own;
      at = end;
    } else if (character === '^' && at === 0) regex += '(?:^|,)[ \\t]*';
    else if (character === '$' && at === source.length - 1) regex += '[ \\t]*(?:,|$)';
    else if (character === ',' && !/\{\d*$/.test(source.slice(Math.max(0, at - 6), at))) return null;
    else if (character === '^' || character === '$') return null;
    else regex += character === '.' ? '[^,]' : character;
  }
  return regex;
}

/** Whether a character class has the comma, alone or in a range. */
function hasComma(own: string): boolean {
  const inner = own.slice(1, -1);
  if (inner.includes(',')) return true;
  for (let at = 1; at < inner.length - 1; at++) {
    if (inner[at] === '-' && inner[at - 1]! <= ',' && inner[at + 1]! >= ',') return true;
  }
  return false;
}

// Files that list patterns, or keys with values.

/** Where HAProxy's packages have its configuration; absolute names of files are below it. */
const INSTALLED = '/etc/haproxy/';

/** The lines of a file of patterns without comments; a text is the reason why it is not read. */
export function patternLines(
  { data, open }: { readonly data: readonly SourceFile[]; readonly open: OpenIncludes },
  path: string,
): readonly string[] | string {
  const name = path.split('/').at(-1)!;
  const given = data.find((one) => one.name === path || one.name.split('/').at(-1) === name);
  const opened = given === undefined ? openPatterns(open, path) : [given];
  if (typeof opened === 'string') return opened;
  return opened
    .flatMap(({ text }) => text.split(/\r?\n/))
    .map((line) => line.replace(/^[ \t]+/, ''))
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function openPatterns(open: OpenIncludes, path: string): readonly SourceFile[] | string {
  const below = path.startsWith(INSTALLED) ? path.slice(INSTALLED.length) : path;
  const opened = open(below);
  if (!('reason' in opened)) return opened.length === 0 ? `\`${path}\` is not among the files` : opened;
  const absolute = below === path ? opened : open(path);
  return 'reason' in absolute ? opened.reason : absolute;
}

/** The converters of maps, and how they compare. */
export const MAP = /^map(?:_(str|beg|end|sub|dir|dom|reg))?$/;

/** A line of a map. */
export interface MapLine {
  readonly key: string;
  readonly value: string;
}

/** The keys and values of a map; a text is the reason why it is not read. */
export function mapLines(
  files: { readonly data: readonly SourceFile[]; readonly open: OpenIncludes },
  path: string,
): readonly MapLine[] | string {
  const lines = patternLines(files, path);
  if (typeof lines === 'string') return lines;
  return lines.map((line) => {
    const [key = ''] = line.split(/[ \t]/, 1);
    return { key, value: line.slice(key.length).trim() };
  });
}
