/**
 * Pages of long answers: as many entries as the page's limit and `MAX_RESULT_PAGE_OCTETS` allow. Long texts and lists of
 * an entry can be shortened: a text then ends in `…` and its length, a list is reported with its length.
 */
import { type FieldPath, formatPath } from '../../base/diagnostics/diagnostic.ts';
import type { AnswerPage } from './job.ts';
import { MAX_RESULT_PAGE_OCTETS } from './limits.ts';

/** Octets up to which an entry is never shortened: a tenth of a page. */
const WHOLE_OCTETS = MAX_RESULT_PAGE_OCTETS / 10;
/** Octets reserved for the page note. */
const PAGE_NOTE_OCTETS = 200;
/** Characters of a text inside a list or of a rule's step: a sentence and a path of usual length. */
const STEP_CHARACTERS = 500;
/** Characters of any other text, such as the path: the length of a request line. */
const TEXT_CHARACTERS = 16_384;
/** Entries of a shortened list. */
const LIST_ENTRIES = 50;

/** A shortened list: its path in the answer and its full length. */
export interface Shortened {
  readonly path: string;
  readonly of: number;
}

/** The `page` object of an answer. */
export interface PageNote {
  readonly limit: number;
  /** Entries of this page, and of all pages. */
  readonly shown: number;
  readonly of: number;
  /** Entries before the next page; `null`: this is the last page. */
  readonly next: number | null;
}

/**
 * The entries of a page, each in the form that `show` returns. A page has at least one entry, so that paging always ends.
 * @param around the rest of the answer, whose octets count too
 */
export function takePage<Entry, Shown>(
  entries: readonly Entry[],
  { limit, from, around }: AnswerPage & { readonly around: unknown },
  show: (entry: Entry, index: number) => Shown,
): { readonly shown: readonly Shown[]; readonly page: PageNote } {
  let room = MAX_RESULT_PAGE_OCTETS - octetsOf(around) - PAGE_NOTE_OCTETS;
  const shown: Shown[] = [];
  for (const [index, entry] of entries.slice(from, from + limit).entries()) {
    const one = show(entry, from + index);
    room -= octetsOf(one) + 1;
    if (room < 0 && shown.length > 0) break;
    shown.push(one);
  }
  const next = from + shown.length;
  const more = next < entries.length && shown.length > 0;
  return { shown, page: { limit, shown: shown.length, of: entries.length, next: more ? next : null } };
}

/** An entry unchanged, or shortened when it is a large part of a page. */
export function fitEntry<Value>(value: Value, path: FieldPath, shortened: Shortened[]): Value {
  return octetsOf(value) <= WHOLE_OCTETS ? value : (cut(value, path, shortened) as Value);
}

/** A JSON value with long texts and lists shortened; adds the shortened lists to `shortened`. */
export function cut(value: unknown, path: FieldPath, shortened: Shortened[]): unknown {
  if (typeof value === 'string') return short(value, isInList(path) ? STEP_CHARACTERS : TEXT_CHARACTERS);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (value.length > LIST_ENTRIES) shortened.push({ path: formatPath(path), of: value.length });
    return value.slice(0, LIST_ENTRIES).map((one, index) => cut(one, [...path, index], shortened));
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, cut(one, [...path, name], shortened)]),
  );
}

function isInList(path: FieldPath): boolean {
  return path[0] === 'rules' || path.some((step) => typeof step === 'number');
}

/** The first `most` characters of a text, followed by `…` and its length if it is longer. */
export function short(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}

function octetsOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
