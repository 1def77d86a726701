/** Lines that refuse requests, or answer them from HAProxy itself, as drop rules. */
import {
  addDrop,
  addEntry,
  answerWith,
  type DraftEntry,
  markClosed,
  markDifference,
  tryRule,
} from '../draft.ts';
import {
  addressParts,
  dropFields,
  filtersOf,
  type ImportedCondition,
  type ImportedFilter,
} from '../filter.ts';
import { addGuard } from '../guard.ts';
import type { TextTest } from '../text-test.ts';
import { allOf, entryOf, type HaproxyImport, noneOf, type Walk } from './context.ts';
import type { HaproxyLine } from './parse-haproxy.ts';
import { strictCondition } from './read-condition.ts';

/** What is refused. */
export interface HaproxyRefusal {
  readonly condition: ImportedCondition;
  readonly status: number;
  readonly differences: readonly string[];
  /** Whether the file refuses what HAProxy does not refuse; the reason why. */
  readonly closed?: string;
}

/** Entries of a list of one rule at most (`MAX_LIST_ENTRIES`, less those that a scope adds). */
const MAX_TESTS = 150;

/** A filter in parts, each with as many entries as a rule takes; regexes have a rule of their own. */
export function filterParts(filter: ImportedFilter): readonly ImportedFilter[] {
  return addressParts(filter).flatMap((one) =>
    testParts(one.pathIncludes).flatMap((pathIncludes) =>
      testParts(one.hostIncludes).map((hostIncludes) => ({ ...one, pathIncludes, hostIncludes })),
    ),
  );
}

function testParts(tests: readonly TextTest[] | null): readonly (readonly TextTest[] | null)[] {
  if (tests === null || tests.length <= MAX_TESTS) return [tests];
  const parts: (readonly TextTest[])[] = [];
  for (const kind of ['pieces', 'regex'] as const) {
    const own = tests.filter((test) => test.kind === kind);
    for (let at = 0; at < own.length; at += MAX_TESTS) parts.push(own.slice(at, at + MAX_TESTS));
  }
  return parts;
}

/** Adds the drop rules of a line that refuses what meets a condition. */
export function addRefusal(
  state: HaproxyImport,
  walk: Walk,
  line: HaproxyLine,
  refusal: HaproxyRefusal,
): void {
  const entry = entryOf(state, line);
  const { condition, status, differences, closed } = refusal;
  const strict = strictCondition(condition);
  const inSection = allOf(strict, walk.scope, ...noneOf(walk.allowed));
  const behind = allOf(inSection, ...noneOf(walk.carried));
  const isExact = walk.carried.length === 0 || filtersOf(behind).ok || !filtersOf(inSection).ok;
  const close = (filter: ImportedFilter): string | null => emitDrop(state, entry, filter);
  addGuard(state.draft, entry, {
    condition: isExact ? behind : inSection,
    differences,
    unmet: 'no request meets its condition',
    closing: 'refused',
    emit: close,
    close,
  });
  walk.ended.push(allOf(condition, ...noneOf(walk.allowed)));
  if (entry.becomes.length === 0) return;
  if (!isExact) markDifference(entry, 'requests that HAProxy redirects before it are refused');
  if (closed !== undefined) markClosed(entry, closed);
  else answerWith(state.draft, entry, { status, product: 'HAProxy' });
}

function emitDrop(state: HaproxyImport, entry: DraftEntry, filter: ImportedFilter): string | null {
  for (const part of filterParts(filter)) {
    const failure = tryRule(state.draft, entry, 'drop', dropFields(part));
    if (failure !== null) return failure;
  }
  return null;
}

/** Refuses requests for which HAProxy has no server: it answers 503. */
export function refuseUnrouted(
  state: HaproxyImport,
  { head }: { readonly head: HaproxyLine },
  condition: ImportedCondition,
): void {
  const read = filtersOf(condition);
  const names = [...state.hosts, ...state.wildcards];
  const filters = read.ok ? read.filters.filter((filter) => names.some((name) => mayMeet(filter, name))) : [];
  if (read.ok && filters.length === 0) return;
  const entry = state.entries.get(head) ?? addEntry(state.draft, head.place, head.words.join(' '));
  state.entries.set(head, entry);
  for (const filter of filters) addDrop(state.draft, entry, filter);
  if (read.ok) {
    answerWith(state.draft, entry, { status: 503, product: 'HAProxy' });
    return;
  }
  markDifference(
    entry,
    `HAProxy answers 503 to requests that no backend serves; the file forwards them to the
    origin of the record (${read.reason})`.replace(/\s+/g, ' '),
  );
}

/** Whether requests of a host, or of a host of a wildcard, may pass a filter. */
function mayMeet({ hostIncludes, hostExcludes }: ImportedFilter, name: string): boolean {
  const isExcluded = hostExcludes.some((test) => test.kind === 'pieces' && test.pieces.join('*') === name);
  if (isExcluded) return false;
  return (
    hostIncludes === null ||
    hostIncludes.some((test) => test.kind === 'regex' || name.startsWith('*') || test.pieces.length > 1) ||
    hostIncludes.some((test) => test.kind === 'pieces' && test.pieces[0] === name)
  );
}
