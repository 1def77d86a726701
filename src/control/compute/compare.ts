/** Prints and compares sealed plans, page by page. */
import { type FieldPath, formatPath } from '../../base/diagnostics/diagnostic.ts';
import { servesNow } from '../../engine/evaluator/facts.ts';
import type { FindList } from '../../engine/evaluator/plan-parts.ts';
import { listDigests } from '../../engine/plan/list-digests.ts';
import { openPlan } from '../../engine/plan/seal.ts';
import { proveChanges } from '../../workbench/proofs/changes.ts';
import { diffPlans, type PlanSide, type RuleChange } from '../../workbench/proofs/diff.ts';
import { changeInput } from '../../workbench/proofs/differences.ts';
import { describedChanges } from '../../workbench/simulation/render-changes.ts';
import { diffSealed, printSealed } from '../publishing/printed.ts';
import type { AnswerPage, DiffJob, PrintJob, TextDiffJob, TextPage } from './job.ts';

/**
 * Maximum size, in octets, of one page of a trace, a diff, an analysis or recommendations: what a browser renders without
 * a visible pause.
 */
export const MAX_RESULT_PAGE_OCTETS = 1_000_000;

/** One entry of a part of the answer: an element of a list (`key: null`), or a member of an object. */
interface Entry {
  readonly part: string;
  readonly key: string | null;
  readonly value: unknown;
}

/** A page of the answer of `/diff`. @throws PlanFault */
export function compareRevisions({ from, to, before, after, proof, page }: DiffJob, lists: FindList): string {
  return comparePlans({ before, after, proof, page, lists, head: { from, to }, cursor: `${from}-${to}` });
}

/** Two sealed plans, and the page of their differences. */
export interface ComparedPlans {
  /** `null`: a tombstone. */
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
  readonly proof: boolean;
  readonly page: AnswerPage;
  /** The lists that the plans name by digest, for the proof; absent: they name none. */
  readonly lists?: FindList | undefined;
  /** The first fields of the answer. */
  readonly head: object;
  /** The beginning of the cursor of the next page. */
  readonly cursor: string;
}

/**
 * The differences of two plans as JSON text. Entries of its pages are the changes of hosts, then those of rules, then those of
 * outcomes. @throws PlanFault
 */
export function comparePlans({ before, after, proof, page, lists: find, ...around }: ComparedPlans): string {
  const sides = { before: opened(before), after: opened(after) };
  const { hosts, rules, same, ...rest } = diffPlans(sides.before, sides.after);
  const lists = listChanges(sides.before, sides.after);
  const outcomes = proof ? proveOutcomes({ before, after, lists: find }) : null;
  const entries = [
    ...entriesOf('hosts', hosts),
    ...entriesOf('rules', rules),
    ...entriesOf('outcomes', outcomes?.changes ?? []),
  ];
  const counts = { hosts: hosts.length, ...countRules(rules) };
  const proved = proof ? { proof: outcomes?.summary ?? null } : {};
  const listed = lists.length === 0 ? {} : { lists };
  const head = { ...around.head, same: same && lists.length === 0, ...rest, ...listed, counts, ...proved };
  const { parts, note, shortened } = pageOf(entries, page, head);
  const next = note.next === null ? null : `${around.cursor}-${note.next}`;
  const { hosts: hostsShown = [], rules: rulesShown = [], outcomes: outcomesShown = [] } = parts;
  return JSON.stringify({
    ...head,
    hosts: hostsShown,
    rules: rulesShown,
    ...(proof ? { outcomes: outcomesShown } : {}),
    page: { ...note, next },
    shortened,
  });
}

function opened(bytes: Uint8Array | null): PlanSide {
  return { opened: bytes === null ? null : openPlan(bytes) };
}

/** A list whose content differs. */
interface ListChange {
  readonly name: string;
  /** SHA-256 of its sealed form, 64 hex digits; `null`: the plan does not name it by digest. */
  readonly before: string | null;
  readonly after: string | null;
}

/** The lists that two plans name by digest and that differ, by name. */
function listChanges(before: PlanSide, after: PlanSide): readonly ListChange[] {
  const [was, now] = [before, after].map(
    ({ opened: side }) =>
      new Map(side === null ? [] : listDigests(side.plan).map(({ name, digest }) => [name, digest] as const)),
  );
  return [...new Set([...was!.keys(), ...now!.keys()])]
    .sort()
    .map((name) => ({ name, before: was!.get(name) ?? null, after: now!.get(name) ?? null }))
    .filter((change) => change.before !== change.after);
}

function countRules(rules: readonly RuleChange[]): Readonly<Record<RuleChange['change'], number>> {
  const counts = { added: 0, removed: 0, changed: 0, moved: 0 };
  for (const { change } of rules) counts[change] += 1;
  return counts;
}

/** A page of the unified diff of two printed plans: whole lines, as many as fit. @throws PlanFault */
export function compareTexts({ before, after, from }: TextDiffJob): TextPage {
  const text = diffSealed(before, after);
  const lines = text === '' ? [] : text.slice(0, -1).split('\n');
  let [next, octets] = [from, 0];
  while (next < lines.length) {
    octets += Buffer.byteLength(lines[next]!) + 1;
    // A page has at least one line, so that paging always ends.
    if (octets > MAX_RESULT_PAGE_OCTETS && next > from) break;
    next += 1;
  }
  const shown = lines.slice(from, next).map((line) => `${line}\n`);
  return { text: shown.join(''), of: lines.length, next: next < lines.length ? next : null };
}

/** A page of the printed plan with its page note and its shortened lists, as JSON text. @throws PlanFault */
export function printRevision({ bytes, page }: PrintJob): string {
  const { hosts, rules, indexes, ...rest } = printSealed(bytes);
  const indexParts = Object.entries(indexes as Readonly<Record<string, unknown>>);
  const entries = [
    ...entriesOf('hosts', hosts),
    ...entriesOf('rules', rules),
    ...indexParts.flatMap(([name, index]) => (isLong(index) ? entriesOf(`indexes.${name}`, index) : [])),
  ];
  const { parts, note, shortened } = pageOf(entries, page, rest);
  const shownIndexes = indexParts.map(([name, index]) => {
    const empty = Array.isArray(index) ? [] : {};
    return [name, isLong(index) ? (parts[`indexes.${name}`] ?? empty) : index];
  });
  const plan = {
    ...rest,
    hosts: parts['hosts'] ?? [],
    rules: parts['rules'] ?? [],
    indexes: Object.fromEntries(shownIndexes),
  };
  return JSON.stringify({ plan, page: note, shortened });
}

/** Whether an index lists rules, as a list or by key; other indexes are a few numbers and appear on every page. */
function isLong(index: unknown): boolean {
  return (
    Array.isArray(index) || (typeof index === 'object' && Object.values(index ?? {}).every(Array.isArray))
  );
}

function entriesOf(part: string, of: unknown): readonly Entry[] {
  if (Array.isArray(of)) return of.map((value): Entry => ({ part, key: null, value }));
  if (typeof of !== 'object' || of === null) return [];
  return Object.entries(of).map(([key, value]): Entry => ({ part, key, value }));
}

interface Shown {
  readonly parts: Readonly<Record<string, unknown>>;
  readonly note: PageNote;
  readonly shortened: readonly Shortened[];
}

/** Takes a page of entries that fits beside `around`. */
function pageOf(entries: readonly Entry[], page: AnswerPage, around: object): Shown {
  const shortened: Shortened[] = [];
  const places = new Map<string, number>();
  const taken = takePage(entries, { ...page, around }, ({ part, key, value }) => {
    const place = places.get(part) ?? 0;
    places.set(part, place + 1);
    return { part, key, value: fitEntry(value, [part, key ?? place], shortened) };
  });
  return { parts: partsOf(taken.shown), note: taken.page, shortened };
}

/** Entries by their part: a list, or an object if they have keys. */
function partsOf(entries: readonly Entry[]): Readonly<Record<string, unknown>> {
  const lists = new Map<string, Entry[]>();
  for (const entry of entries) {
    const list = lists.get(entry.part);
    if (list === undefined) lists.set(entry.part, [entry]);
    else list.push(entry);
  }
  const parts = [...lists].map(([part, list]) => {
    const keyed = list[0]?.key !== null;
    return [
      part,
      keyed ? Object.fromEntries(list.map(({ key, value }) => [key, value])) : list.map(({ value }) => value),
    ];
  });
  return Object.fromEntries(parts);
}

// Proves which outcomes two sealed plans decide differently, as values of an answer.

/** What was proved. */
interface ProvedOutcomes {
  /** The changed outcomes, each with a request that shows it. */
  readonly changes: readonly object[];
  readonly summary: {
    /** Hosts and rules decide every request alike. */
    readonly equivalent: boolean;
    /** Everything is proved: no pair of outcomes is left open. */
    readonly complete: boolean;
    readonly outcomes: number;
    /** Pairs of rules that are proved neither way, at most `MAX_OPEN`. */
    readonly open: readonly object[];
  };
}

/** Open pairs of an answer: the remedy is the same for all, to compare with requests. */
const MAX_OPEN = 50;

type ProvedPlans = Pick<ComparedPlans, 'before' | 'after' | 'lists'>;

/** Proves the changes; `null`: one of the plans is a tombstone, or serves nothing. @throws PlanFault */
function proveOutcomes({ before, after, lists }: ProvedPlans): ProvedOutcomes | null {
  if (before === null || after === null) return null;
  const found = lists === undefined ? {} : { lists };
  const sides = [before, after].map((bytes) => ({ opened: openPlan(bytes), bytes, ...found }));
  const input = changeInput(sides[0]!, sides[1]!);
  const subjects = { before: input.before.subject, after: input.after.subject };
  if (![subjects.before, subjects.after].every(({ loaded }) => servesNow(loaded.plan))) return null;
  const proved = proveChanges(input);
  const { changes, open } = describedChanges(proved, subjects);
  const complete = !proved.isIncomplete && open.length === 0;
  const equivalent = changes.length === 0 && complete;
  return {
    changes,
    summary: { equivalent, complete, outcomes: changes.length, open: open.slice(0, MAX_OPEN) },
  };
}

// Pages of long answers: as many entries as the page's limit and `MAX_RESULT_PAGE_OCTETS` allow. Long texts and lists of
// an entry can be shortened: a text then ends in `…` and its length, a list is reported with its length.

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
