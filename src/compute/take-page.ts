/**
 * Pages of long answers: as many entries as the page's limit and its octets allow. Long texts and lists of an entry can
 * be cut: a text then ends in `…` and its length, and a list is named with its length.
 */
import { type FieldPath, formatPath } from '../base/diagnostic.ts';
import type { AnswerPage } from './job.ts';
import { MAX_RESULT_PAGE_OCTETS } from './limits.ts';

/** Octets of an entry that is shown whole: a tenth of a page. */
const WHOLE_OCTETS = MAX_RESULT_PAGE_OCTETS / 10;
/** Octets for what says where a page begins and ends. */
const PAGE_NOTE_OCTETS = 200;
/** Characters of a text inside a list or of a rule's step: a sentence and a path of ordinary length. */
const STEP_CHARACTERS = 500;
/** Characters of a text of its own, such as the path: what a request line may hold. */
const TEXT_CHARACTERS = 16_384;
/** Entries of a list that is cut. */
const LIST_ENTRIES = 50;

/** A list of which only the beginning is shown, and its length. */
export interface Shortened {
  readonly path: string;
  readonly of: number;
}

/** What a page says of itself. */
export interface PageNote {
  readonly limit: number;
  /** Entries of this page, and of all pages. */
  readonly shown: number;
  readonly of: number;
  /** How many entries come before the next page; `null` on the last one. */
  readonly next: number | null;
}

/**
 * The entries of a page, each as `show` makes it. A page has one entry at least, so that reading page after page comes
 * to an end.
 * @param around what the answer holds beside its entries
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

/** An entry as it is, or cut when it is a large part of a page. */
export function fitEntry<Value>(value: Value, path: FieldPath, shortened: Shortened[]): Value {
  return octetsOf(value) <= WHOLE_OCTETS ? value : (cut(value, path, shortened) as Value);
}

/** A JSON value with long texts and lists cut. */
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

/** A text of at most `most` characters; what is cut off is named by its length. */
export function short(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}

function octetsOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
