/**
 * The draft of an imported edge file: entries of the report, records and rules, which importers add one by one. A rule that the
 * model refuses is left out, and its entry says why. `finish-draft.ts` makes the file.
 */
import { type Diagnostic, describeDiagnostic } from '../../base/diagnostics/diagnostic.ts';
import { DROP_STATUSES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import { parseRule } from '../../rules/model/parse.ts';
import type { EntryList } from '../../rules/model/types.ts';
import { addressParts, dropFields, EVERY_REQUEST, type ImportedFilter } from './filter.ts';
import { type ImportOutcome, shownSource } from './report.ts';

/** Rules of one import that are drafted at most: the rules of a domain. */
const MAX_DRAFTED_RULES = 10_000;

/** An entry of the report while the import runs. */
export interface DraftEntry {
  readonly place: string;
  readonly source: string;
  outcome: ImportOutcome;
  readonly reasons: string[];
  readonly becomes: string[];
  /** Whether it guards a path and the file has no rule in its place. */
  opened: boolean;
  kind: string | null;
}

/** A rule of the draft; its priority is its place among those of its type. */
export interface DraftedRule {
  readonly type: RuleType;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly entry: DraftEntry;
  /** Others that it is of, too. */
  readonly also?: readonly DraftEntry[];
}

/** The origin that a record forwards to. */
export interface DraftOrigin {
  readonly address: string;
  readonly scheme?: 'Default' | 'Http' | 'Https';
  readonly port?: number | null;
  readonly hostHeader?: string;
}

/** The draft. */
export interface ImportDraft {
  readonly entries: DraftEntry[];
  readonly rules: DraftedRule[];
  /** Proxied hosts, in lower case; `null`: the source names no origin. */
  readonly hosts: Map<string, DraftOrigin | null>;
  /** Lists that rules name, by name. */
  readonly lists: Map<string, EntryList>;
  readonly notes: string[];
}

/** Creates an empty draft. */
export function createDraft(): ImportDraft {
  return { entries: [], rules: [], hosts: new Map(), lists: new Map(), notes: [] };
}

/** Adds an entry; it is `exact` until it is marked otherwise. */
export function addEntry(draft: ImportDraft, place: string, source: string): DraftEntry {
  const entry: DraftEntry = {
    place,
    source: shownSource(source),
    outcome: 'exact',
    reasons: [],
    becomes: [],
    opened: false,
    kind: null,
  };
  draft.entries.push(entry);
  return entry;
}

/** Marks an entry as carried over with a difference. */
export function markDifference(entry: DraftEntry, reason: string): void {
  if (entry.outcome === 'exact' || entry.outcome === 'not_needed') entry.outcome = 'differs';
  if (!entry.reasons.includes(reason)) entry.reasons.push(reason);
}

/** Marks an entry as not carried over. */
export function markMissing(entry: DraftEntry, reason: string): void {
  entry.outcome = 'not_carried';
  if (!entry.reasons.includes(reason)) entry.reasons.push(reason);
}

/** Marks an entry as one in whose place its path is refused to everybody. */
export function markClosed(entry: DraftEntry, reason: string): void {
  if (entry.outcome !== 'not_carried') entry.outcome = 'closed';
  if (!entry.reasons.includes(reason)) entry.reasons.push(reason);
}

/** Marks an entry as a guard that the file lacks. */
export function markOpened(entry: DraftEntry, reason: string): void {
  markMissing(entry, reason);
  entry.opened = true;
}

/** Marks an entry as one that decides nothing, unless it decides something for other requests: the worse outcome wins. */
export function markNeedless(entry: DraftEntry, reason: string): void {
  if (entry.becomes.length > 0 || (entry.outcome !== 'exact' && entry.outcome !== 'not_needed')) return;
  entry.outcome = 'not_needed';
  if (!entry.reasons.includes(reason)) entry.reasons.push(reason);
}

/** Adds a rule, or marks its entry when the model refuses the fields. Returns whether it was added. */
export function addRule(draft: ImportDraft, entry: DraftEntry, type: RuleType, fields: object): boolean {
  const reason = tryRule(draft, entry, type, fields);
  if (reason !== null) markMissing(entry, reason);
  return reason === null;
}

/** Adds a rule; a text is the reason why the model refuses it. */
export function tryRule(
  draft: ImportDraft,
  entry: DraftEntry,
  type: RuleType,
  fields: object,
): string | null {
  if (draft.rules.length >= MAX_DRAFTED_RULES) return `a file has at most ${MAX_DRAFTED_RULES} rules`;
  const parsed = parseRule(type, fields);
  if (!parsed.ok) return `as a ${type} rule it is refused: ${errorOf(parsed.diagnostics)}`;
  draft.rules.push({ type, fields: fields as Readonly<Record<string, unknown>>, entry });
  markBecomes(entry, type);
  return null;
}

/** Adds a type to what an entry becomes; it is needed then. */
function markBecomes(entry: DraftEntry, type: RuleType): void {
  if (entry.outcome === 'not_needed') {
    entry.outcome = 'exact';
    entry.reasons.length = 0;
  }
  entry.becomes.push(type);
}

/** Makes the rule that was added last one of these entries, too. */
export function shareRule({ rules }: ImportDraft, also: readonly DraftEntry[]): void {
  const rule = rules.at(-1)!;
  rules[rules.length - 1] = { ...rule, also };
  for (const entry of also) markBecomes(entry, rule.type);
}

/**
 * Adds a drop rule. Where the model refuses it, one with fewer filters refuses more requests instead: nothing that the
 * source refuses is let through. Returns whether the first was added.
 */
export function addDrop(draft: ImportDraft, entry: DraftEntry, filter: ImportedFilter): boolean {
  const { hostIncludes, hostExcludes, pathIncludes, pathExcludes } = filter;
  const hosts = { ...EVERY_REQUEST, hostIncludes, hostExcludes };
  const failures: string[] = [];
  for (const [wider, refused] of [
    [filter, null],
    [{ ...hosts, pathIncludes, pathExcludes }, 'from every address'],
    [{ ...hosts, pathIncludes }, 'and what is excepted from them'],
    [hosts, 'of every path of the hosts'],
    [EVERY_REQUEST, 'of the whole domain'],
  ] as const) {
    const failure = tryDrop(draft, entry, wider);
    if (failure === null) {
      for (const one of failures) markClosed(entry, one);
      if (refused !== null) markClosed(entry, `the edge refuses its requests ${refused}`);
      return refused === null;
    }
    failures.push(failure);
  }
  for (const one of failures) markOpened(entry, one);
  return false;
}

/** Adds a drop rule, or several where its addresses are more than one takes; a text is the reason why it cannot. */
export function tryDrop(draft: ImportDraft, entry: DraftEntry, filter: ImportedFilter): string | null {
  const before = entry.becomes.length;
  for (const part of addressParts(filter)) {
    const failure = tryRule(draft, entry, 'drop', dropFields(part));
    if (failure === null) continue;
    removeRules(draft, entry, before);
    return failure;
  }
  return null;
}

/** Gives the drop rules of an entry the status that the source answers, and marks one that no drop rule has. */
export function answerWith(
  draft: ImportDraft,
  entry: DraftEntry,
  { status, product }: { readonly status: number; readonly product: string },
): void {
  if (!DROP_STATUSES.some((known) => known === status)) {
    markDifference(entry, `the edge answers 403; ${product} answers ${status}`);
    return;
  }
  if (status === DROP_STATUSES[0]) return;
  let left = entry.becomes.filter((type) => type === 'drop').length;
  for (let index = draft.rules.length - 1; index >= 0 && left > 0; index--) {
    const rule = draft.rules[index]!;
    if (rule.entry !== entry || rule.type !== 'drop') continue;
    draft.rules[index] = { ...rule, fields: { ...rule.fields, status } };
    left--;
  }
}

/** Refuses requests that the source guards in a way that no rule has. */
export function addGuard(
  draft: ImportDraft,
  entry: DraftEntry,
  { filters, reason }: { readonly filters: readonly ImportedFilter[]; readonly reason: string },
): void {
  markClosed(entry, reason);
  markClosed(entry, 'all its requests are refused, until a rule is written by hand');
  for (const filter of filters) addDrop(draft, entry, filter);
}

/** Takes the rules of an entry out of the draft, those that were added first excepted. */
export function removeRules(draft: ImportDraft, entry: DraftEntry, excepted = 0): void {
  let left = draft.rules.filter((rule) => rule.entry === entry).length;
  for (let index = draft.rules.length - 1; index >= 0 && left > excepted; index--) {
    if (draft.rules[index]!.entry !== entry) continue;
    draft.rules.splice(index, 1);
    left--;
  }
  entry.becomes.length = Math.min(entry.becomes.length, excepted);
}

/** The first error as a sentence. */
export function errorOf(diagnostics: readonly Diagnostic[]): string {
  return describeDiagnostic(diagnostics.find(({ severity }) => severity === 'error')!);
}
