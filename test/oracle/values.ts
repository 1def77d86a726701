/**
 * The values that conditions read of headers, query and cookies, and how they compare (semantics §12). In: the request's
 * own headers, the raw query. Out: one value an occurrence, and whether it compares with what a condition lists.
 */
import type { ValueCondition } from '../../src/rules/model/types.ts';
import { compiledRegex, matchPieces } from './patterns.ts';
import { percentDecode, utf8 } from './text.ts';

/** Octets of one value that are read. */
const READ = 8_192;

/** One occurrence, as far as it is read. */
export interface ReadValue {
  readonly text: string;
  /** Whether nothing follows. */
  readonly whole: boolean;
}

function trimmed(text: string): string {
  return text.replace(/^[ \t]+/, '').replace(/[ \t]+$/, '');
}

/** The field that a name in lower case has: the property of that name, else the last one that differs in case alone. */
function fieldOf(headers: object, name: string): unknown {
  const exact = Object.hasOwn(headers, name) ? (headers as Record<string, unknown>)[name] : undefined;
  if (exact !== undefined) return exact;
  return Object.entries(headers).findLast(([other]) => other.toLowerCase() === name)?.[1];
}

/** The lines of a header, without the blanks around them. */
export function lines(headers: unknown, name: string): string[] {
  if (typeof headers !== 'object' || headers === null) return [];
  const field = fieldOf(headers, name);
  const all: unknown[] = Array.isArray(field) ? field : [field];
  return all.filter((line) => typeof line === 'string').map(trimmed);
}

/** Every occurrence of a header, each of whose characters is one octet. */
export function headerValues(headers: unknown, name: string): ReadValue[] {
  return lines(headers, name).map(readCharacters);
}

function readCharacters(text: string): ReadValue {
  return { text: text.slice(0, READ), whole: text.length <= READ };
}

/** Every occurrence of a cookie in the lines of the header `cookie`. */
export function cookieValues(headers: unknown, name: string): ReadValue[] {
  return lines(headers, 'cookie')
    .flatMap((line) => line.split(';'))
    .filter((pair) => pair.includes('='))
    .map((pair) => {
      const mark = pair.indexOf('=');
      return { name: trimmed(pair.slice(0, mark)), value: trimmed(pair.slice(mark + 1)) };
    })
    .filter((cookie) => cookie.name !== '' && cookie.name === name)
    .map((cookie) => readCharacters(cookie.value));
}

function decoded(text: string): string {
  return percentDecode(text.replaceAll('+', ' '));
}

/** Every occurrence of a parameter in a raw query; `null` is no query. */
export function queryValues(query: string | null, name: string): ReadValue[] {
  return (query ?? '')
    .split('&')
    .map((piece) => {
      const mark = piece.includes('=') ? piece.indexOf('=') : piece.length;
      return { name: decoded(piece.slice(0, mark)), value: decoded(piece.slice(mark + 1)) };
    })
    .filter((parameter) => parameter.name !== '' && parameter.name === name)
    .map((parameter) => readOctets(parameter.value));
}

/** As many whole characters as have at most `READ` octets in UTF-8. */
function readOctets(text: string): ReadValue {
  if (utf8(text).length <= READ) return { text, whole: true };
  let read = '';
  let octets = 0;
  for (const character of text) {
    octets += utf8(character).length;
    if (octets > READ) break;
    read += character;
  }
  return { text: read, whole: false };
}

function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Stands for all that may follow what is read of a value. */
const CONTINUATIONS = ['', ...Array.from({ length: 256 }, (_, octet) => String.fromCharCode(octet))];

/** Verdicts on long values, which take 257 searches each. */
const longVerdicts = new Map<string, boolean>();

function regexCompares(pattern: string, { text, whole }: ReadValue, ignoreCase: boolean): boolean {
  const regex = compiledRegex(pattern, { ignoreCase });
  if (whole) return regex.matcher(text).find();
  const key = JSON.stringify([pattern, ignoreCase, text]);
  const verdict = longVerdicts.get(key) ?? CONTINUATIONS.every((more) => regex.matcher(text + more).find());
  longVerdicts.set(key, verdict);
  return verdict;
}

type Comparison = 'equals' | 'prefix' | 'suffix' | 'contains' | 'wildcard' | 'regex';

/** Whether a value compares with an entry. One that is read in part does only if it would whatever follows. */
export function compares(
  value: ReadValue,
  entry: string,
  { comparison, ignoreCase }: { readonly comparison: Comparison; readonly ignoreCase: boolean },
): boolean {
  const fold = (text: string): string => (ignoreCase ? asciiLower(text) : text);
  const text = fold(value.text);
  switch (comparison) {
    case 'equals':
      return value.whole && text === fold(entry);
    case 'prefix':
      return text.startsWith(fold(entry));
    case 'suffix':
      return value.whole && text.endsWith(fold(entry));
    case 'contains':
      return text.includes(fold(entry));
    case 'wildcard':
      return (value.whole || entry.endsWith('*')) && matchPieces(fold(entry).split('*'), text);
    case 'regex':
      return regexCompares(entry, value, ignoreCase);
  }
}

/** Whether a condition holds for the occurrences of what it names. */
export function valueHolds(
  { op, values, ignore_case }: ValueCondition,
  found: readonly ReadValue[],
): boolean {
  if (op === 'present') return found.length > 0;
  if (op === 'absent') return found.length === 0;
  const negated = op.startsWith('not_');
  const comparison = op.replace('not_', '') as Comparison;
  const one = found.some((value) =>
    values.some((entry) => compares(value, entry, { comparison, ignoreCase: ignore_case })),
  );
  return one !== negated;
}
