/**
 * Tests of one text, a host or a path, as conditions of other products have them, and their conversion to the include
 * and exclude entries of rules. Tests are combined only where the result is exact.
 */
import { captureGroups, parsePattern } from '../../base/regex/regex.ts';

/** Entries of a list that two conditions on one text are combined to. */
const MAX_COMBINED = 256;

/**
 * `pieces`: literal texts with any run of characters between two of them, from the start to the end of the text; one piece is
 * equality. `regex`: RE2 syntax, unanchored.
 */
export type TextTest =
  | { readonly kind: 'pieces'; readonly pieces: readonly string[] }
  | { readonly kind: 'regex'; readonly source: string };

/** The text equals. */
export function equalsText(text: string): TextTest {
  return { kind: 'pieces', pieces: [text] };
}

/** The text starts with. */
export function startsWithText(text: string): TextTest {
  return { kind: 'pieces', pieces: [text, ''] };
}

/** The text ends with. */
export function endsWithText(text: string): TextTest {
  return { kind: 'pieces', pieces: ['', text] };
}

/** The text contains. */
export function containsText(text: string): TextTest {
  return { kind: 'pieces', pieces: ['', text, ''] };
}

/** A wildcard in which `*` is any run of characters. */
export function wildcardText(text: string): TextTest {
  return { kind: 'pieces', pieces: text.split(/\*+/) };
}

/** A regex, or the reason why it is not one in RE2 syntax. */
export function regexText(source: string): TextTest | string {
  const parsed = parsePattern(source, { ignoreCase: false });
  return parsed.ok ? { kind: 'regex', source } : parsed.reason;
}

/** A test that ignores case, as a regex. */
export function withoutCase(test: TextTest): TextTest {
  const source = test.kind === 'regex' ? test.source : regexOf(test.pieces);
  return { kind: 'regex', source: source.startsWith('(?i)') ? source : `(?i)${source}` };
}

/** Whether a text passes. */
export function passes(test: TextTest, text: string): boolean {
  if (test.kind === 'regex') return captureGroups(test.source, false, text) !== null;
  const { pieces } = test;
  const first = pieces[0]!;
  const last = pieces.at(-1)!;
  if (pieces.length === 1) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

/** The texts that pass one of each list; `null`: no list of entries is exact. */
export function combineTests(one: readonly TextTest[], other: readonly TextTest[]): TextTest[] | null {
  if (one.length * other.length > MAX_COMBINED * MAX_COMBINED) return null;
  const combined = new Map<string, TextTest>();
  for (const left of one) {
    for (const right of other) {
      const both = combinePair(left, right);
      if (both === null) return null;
      for (const test of both) combined.set(JSON.stringify(test), test);
      if (combined.size > MAX_COMBINED) return null;
    }
  }
  return [...combined.values()];
}

/** The texts that pass both tests; `null`: no list of entries is exact. */
function combinePair(one: TextTest, other: TextTest): readonly TextTest[] | null {
  if (JSON.stringify(one) === JSON.stringify(other)) return [one];
  for (const [left, right] of [
    [one, other],
    [other, one],
  ] as const) {
    const literal = literalOf(left);
    if (literal !== null) return passes(right, literal) ? [left] : [];
    if (coversAll(left)) return [right];
    const prefix = prefixOf(left);
    if (prefix === null) continue;
    if (startOf(right).startsWith(prefix)) return [right];
    if (right.kind === 'pieces' && !prefix.startsWith(startOf(right))) return [];
    if (right.kind === 'regex' && isAnchored(right) && !prefix.startsWith(startOf(right))) return [];
  }
  if (one.kind === 'regex' || other.kind === 'regex') return null;
  const left = prefixOf(one) === null ? other : one;
  const right = left === one ? other : one;
  const prefix = prefixOf(left);
  return prefix === null ? null : joinPrefix(prefix, right.pieces);
}

/** A prefix together with a suffix or a contained text; the two may overlap. `null` for other forms. */
function joinPrefix(prefix: string, pieces: readonly string[]): readonly TextTest[] | null {
  const isSuffix = pieces.length === 2 && pieces[0] === '';
  const isContained = pieces.length === 3 && pieces[0] === '' && pieces[2] === '';
  if (!isSuffix && !isContained) return null;
  const piece = pieces[1]!;
  if (isContained && prefix.includes(piece)) return [startsWithText(prefix)];
  const end = isContained ? [''] : [];
  const tests: TextTest[] = [{ kind: 'pieces', pieces: [prefix, piece, ...end] }];
  for (let shared = 1; shared <= Math.min(piece.length, prefix.length); shared++) {
    if (!prefix.endsWith(piece.slice(0, shared))) continue;
    tests.push({ kind: 'pieces', pieces: [prefix + piece.slice(shared), ...end] });
  }
  return tests;
}

/** The text of an equality; `null` for other tests. */
export function literalOf(test: TextTest): string | null {
  return test.kind === 'pieces' && test.pieces.length === 1 ? test.pieces[0]! : null;
}

/** The prefix of a test that is a prefix alone; `null` for other tests. */
function prefixOf(test: TextTest): string | null {
  return test.kind === 'pieces' && test.pieces.length === 2 && test.pieces[1] === '' ? test.pieces[0]! : null;
}

/** Whether every path passes, whose first character is `/`. A host has no `/`, so that its tests are never `/*`. */
export function coversAll(test: TextTest): boolean {
  const prefix = prefixOf(test);
  return prefix === '' || prefix === '/';
}

/** Whether every text that passes starts with `startOf(test)`, and the test is not about its middle. */
function isAnchored(test: TextTest): boolean {
  return test.kind === 'pieces' || startOf(test) !== '';
}

/** A text with which every text that passes starts; empty: unknown. */
export function startOf(test: TextTest): string {
  return test.kind === 'pieces' ? test.pieces[0]! : regexStart(test.source);
}

/** The literal text after a leading `^`. Empty where alternatives, flags or a quantifier make it uncertain. */
function regexStart(source: string): string {
  if (!source.startsWith('^') || hasOuterAlternative(source)) return '';
  let start = '';
  let at = openedAt(source);
  while (at < source.length) {
    const escaped = source[at] === '\\';
    const character = escaped ? source[at + 1] : source[at];
    if (character === undefined || (escaped ? /[A-Za-z0-9]/ : /[.[\](){}*+?|^$]/).test(character)) break;
    const next = source[at + (escaped ? 2 : 1)];
    if (next !== undefined && '*?{'.includes(next)) break;
    start += character;
    at += escaped ? 2 : 1;
    if (next === '+') break;
  }
  return start;
}

/** Where the text after `^` begins: inside a group at the start, unless the group has alternatives or may be absent. */
function openedAt(source: string): number {
  const [head] = /^\^\((?:\?:|\?P?<\w+>|(?!\?))/.exec(source) ?? [];
  if (head === undefined) return 1;
  const rest = source.slice(head.length);
  const close = closingOf(rest);
  const isOptional = /^[*?{]/.test(rest.slice(close + 1));
  return close < 0 || isOptional || hasOuterAlternative(rest.slice(0, close)) ? 1 : head.length;
}

/** Where the group that a text is inside of ends; -1: nowhere. */
function closingOf(text: string): number {
  let depth = 0;
  let inClass = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '\\') at++;
    else if (inClass) inClass = character !== ']';
    else if (character === '[') inClass = true;
    else if (character === '(') depth++;
    else if (character === ')' && depth-- === 0) return at;
  }
  return -1;
}

/** Whether a `|` is outside all groups and classes. */
function hasOuterAlternative(source: string): boolean {
  let depth = 0;
  let inClass = false;
  for (let at = 0; at < source.length; at++) {
    const character = source[at]!;
    if (character === '\\') at++;
    else if (inClass) inClass = character !== ']';
    else if (character === '[') inClass = true;
    else if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (character === '|' && depth === 0) return true;
  }
  return false;
}

/** A literal text in a regex. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Pieces as a regex. */
function regexOf(pieces: readonly string[]): string {
  const start = pieces[0] === '' && pieces.length > 1 ? '' : '^';
  const end = pieces.at(-1) === '' && pieces.length > 1 ? '' : '$';
  const shown = pieces.filter((piece, index) => piece !== '' || (index > 0 && index < pieces.length - 1));
  return `${start}${shown.map(escapeRegex).join('.*')}${end}`;
}

/** The excludes that take something away; those of texts that no include matches are left out, and repeated ones. */
function overlapping(
  includes: readonly TextTest[] | null,
  excludes: readonly TextTest[],
): readonly TextTest[] {
  const distinct = [...new Map(excludes.map((test) => [JSON.stringify(test), test])).values()];
  if (includes === null) return distinct;
  return distinct.filter((exclude) => combineTests(includes, [exclude])?.length !== 0);
}

/** The fields of a path filter. */
export interface PathEntries {
  readonly path_match_type: 'wildcard' | 'regex';
  readonly path_includes?: readonly string[];
  readonly path_excludes?: readonly string[];
}

/** The path filter of includes (`null`: every path) and excludes: wildcards, or regexes where one of them is. */
export function pathEntries(asked: readonly TextTest[] | null, denied: readonly TextTest[]): PathEntries {
  const includes = asked === null || asked.some(coversAll) ? null : asked;
  const excludes = overlapping(includes, denied);
  const all = [...(includes ?? []), ...excludes];
  const isRegex = all.some(({ kind }) => kind === 'regex');
  const written = (test: TextTest): string =>
    test.kind === 'regex' ? test.source : isRegex ? regexOf(test.pieces) : wildcardOf(test.pieces);
  return {
    path_match_type: isRegex ? 'regex' : 'wildcard',
    ...(includes === null ? {} : { path_includes: includes.map(written) }),
    ...(excludes.length === 0 ? {} : { path_excludes: excludes.map(written) }),
  };
}

/** A wildcard entry of a path; its own escapes are decoded once, so that a literal star is `%2A`. */
function wildcardOf(pieces: readonly string[]): string {
  const escaped = pieces.map((piece) => piece.replace(/[%*]/g, (mark) => (mark === '%' ? '%25' : '%2A')));
  return escaped.join('*');
}

/** The fields of a host filter. */
export interface HostEntries {
  readonly host_match_type?: 'exact' | 'wildcard' | 'regex';
  readonly host_includes?: readonly string[];
  readonly host_excludes?: readonly string[];
}

/** The host filter of includes (`null`: every host) and excludes. */
export function hostEntries(includes: readonly TextTest[] | null, denied: readonly TextTest[]): HostEntries {
  const excludes = overlapping(includes, denied);
  const all = [...(includes ?? []), ...excludes];
  if (all.length === 0) return includes === null ? {} : { host_includes: [] };
  const isRegex = all.some(({ kind }) => kind === 'regex');
  const isExact = all.every((test) => literalOf(test) !== null);
  const written = (test: TextTest): string =>
    test.kind === 'regex' ? test.source : isRegex ? regexOf(test.pieces) : test.pieces.join('*');
  return {
    host_match_type: isRegex ? 'regex' : isExact ? 'exact' : 'wildcard',
    ...(includes === null ? {} : { host_includes: includes.map(written) }),
    ...(excludes.length === 0 ? {} : { host_excludes: excludes.map(written) }),
  };
}
