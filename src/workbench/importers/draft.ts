/**
 * The draft of an imported edge file: entries of the report, records and rules, which importers add one by one, and the file
 * that is made of them. A rule that the model refuses is left out, and its entry says why, so that the file compiles.
 */
import { getDomain } from 'tldts';
import { normalizeName } from '../../base/addresses/host.ts';
import { parseIp } from '../../base/addresses/ip.ts';
import { type Diagnostic, describeDiagnostic } from '../../base/diagnostics/diagnostic.ts';
import { DROP_STATUSES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import { printEdge } from '../../rules/files/print-edge.ts';
import { parseRecord, parseRule, parseRuleSet } from '../../rules/model/parse.ts';
import type { DnsRecord, EntryList } from '../../rules/model/types.ts';
import { addressParts, dropFields, EVERY_REQUEST, type ImportedFilter } from './filter.ts';
import {
  type ImportEntry,
  type ImportedEdge,
  type ImporterOptions,
  type ImportOutcome,
  type ImportRefusal,
  refusedImport,
  shownSource,
} from './report.ts';

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

function errorOf(diagnostics: readonly Diagnostic[]): string {
  return describeDiagnostic(diagnostics.find(({ severity }) => severity === 'error')!);
}

/** Makes the file and the report. */
export function finishDraft(
  draft: ImportDraft,
  { domain: asked, origin }: ImporterOptions,
): ImportedEdge | ImportRefusal {
  const domain = asked === null ? domainOf([...draft.hosts.keys()]) : normalizeName(asked);
  if (domain === null) {
    const message =
      asked === null
        ? 'the source names no host from which the domain follows'
        : `\`${asked}\` is no domain name`;
    return refusedImport(null, message, 'name it: --domain example.com');
  }
  const records = recordsOf(draft, domain, origin);
  if (!Array.isArray(records)) return records as ImportRefusal;
  leaveForeign(draft, domain);
  const printed = printDraft(draft, domain, records as readonly object[]);
  if (typeof printed !== 'string') return printed;
  const entries: ImportEntry[] = draft.entries.map((entry) => ({ ...entry }));
  return { ok: true, domain, text: printed, entries, notes: draft.notes };
}

/** Takes hosts of other domains out of the rules, and rules that have no others. */
function leaveForeign(draft: ImportDraft, domain: string): void {
  const isOwn = (host: string): boolean => {
    // Such a wildcard may match hosts of any domain.
    if (host.endsWith('*')) return true;
    const name = host.replace(/^\*\.?/, '');
    return name === domain || name.endsWith(`.${domain}`);
  };
  for (let index = draft.rules.length - 1; index >= 0; index--) {
    const { entry, fields, type } = draft.rules[index]!;
    const { host_match_type, host_includes } = fields as {
      host_match_type?: string;
      host_includes?: readonly string[];
    };
    if (host_includes === undefined || host_match_type === 'regex' || host_includes.every(isOwn)) continue;
    const own = host_includes.filter(isOwn);
    if (own.length > 0) draft.rules[index] = { type, entry, fields: { ...fields, host_includes: own } };
    else {
      draft.rules.splice(index, 1);
      entry.becomes.splice(entry.becomes.indexOf(type), 1);
      if (entry.becomes.length === 0)
        markMissing(entry, `its hosts are not of \`${domain}\`, and a file has one domain`);
    }
  }
}

/** The records of the hosts; hosts of other domains get an entry each. */
function recordsOf(draft: ImportDraft, domain: string, fallback: string): readonly object[] | ImportRefusal {
  const records: DnsRecord[] = [];
  const outside: string[] = [];
  const unnamed: string[] = [];
  for (const [host, origin] of withEnclosers(draft.hosts)) {
    if (host !== domain && !host.endsWith(`.${domain}`)) {
      outside.push(host);
      continue;
    }
    if (origin === null) unnamed.push(host);
    const name = host === domain ? '@' : host.slice(0, -domain.length - 1);
    const record = recordFields(name, origin ?? { address: fallback }, domain);
    const parsed = parseRecord({ id: records.length + 1, ...record }, domain);
    if (parsed.ok) records.push(parsed.record);
    else markMissing(addEntry(draft, 'records', host), errorOf(parsed.diagnostics));
  }
  for (const host of outside) {
    const entry = addEntry(draft, 'hosts', host);
    markMissing(
      entry,
      `the host is not of \`${domain}\`, and a file has one domain; import it with --domain`,
    );
  }
  if (unnamed.length > 0) {
    draft.notes.push(
      `the source names no origin for ${unnamed.map((host) => `\`${host}\``).join(', ')}; their records forward to \`${fallback}\` (--origin names another)`,
    );
  }
  return records;
}

/**
 * A wildcard record covers no name below a name that exists (RFC 4592); the same wildcard is added there, since other
 * products match any depth.
 */
function withEnclosers(hosts: ImportDraft['hosts']): ReadonlyMap<string, DraftOrigin | null> {
  const all = new Map(hosts);
  const wildcards = [...hosts.keys()].filter((host) => host.startsWith('*.'));
  wildcards.sort((one, other) => other.length - one.length);
  for (const wildcard of wildcards) {
    const parent = wildcard.slice(1);
    for (const host of hosts.keys()) {
      const name = host.startsWith('*.') ? host.slice(2) : host;
      if (!name.endsWith(parent)) continue;
      const labels = name.slice(0, -parent.length).split('.');
      for (let from = 0; from < labels.length; from++) {
        const below = `*.${labels.slice(from).join('.')}${parent}`;
        if (!all.has(below)) all.set(below, hosts.get(wildcard)!);
      }
    }
  }
  return all;
}

/** The fields of a proxied record. */
function recordFields(name: string, origin: DraftOrigin, domain: string): object {
  const family = parseIp(origin.address, new Uint32Array(4));
  const type = family === 4 ? 'A' : family === 6 ? 'AAAA' : name === '@' ? 'ALIAS' : 'CNAME';
  const absolute = name === '@' ? domain : `${name}.${domain}`;
  // A record must not lead to itself; the origin of a host that is its own origin is named by the operator.
  const isOwn = family === 0 && normalizeName(origin.address) === absolute;
  return {
    name,
    type: isOwn ? (name === '@' ? 'ALIAS' : 'CNAME') : type,
    destination: isOwn ? 'origin.invalid' : origin.address,
    proxied: true,
    scheme: origin.scheme ?? 'Default',
    port: origin.port ?? null,
    host_header: origin.hostHeader ?? '',
  };
}

/** Rounds in which single rules are left out; a source with more of them loses all later patterns at once. */
const MAX_ROUNDS = 64;

/** Parses and prints the whole; rules that only together exceed a budget are left out. */
function printDraft(draft: ImportDraft, domain: string, records: readonly object[]): string | ImportRefusal {
  // What has no room is found from the end: headers before what refuses, redirects or routes.
  const isLate = ({ type }: DraftedRule): boolean => type === 'headers';
  let rules: readonly DraftedRule[] = [
    ...draft.rules.filter((rule) => !isLate(rule)),
    ...draft.rules.filter(isLate),
  ];
  for (let round = 0; ; round++) {
    const numbered = withPriorities(rules);
    const lists = listsOfRules(draft, rules);
    const parsed = parseRuleSet({ domain: { name: domain }, records, rules: numbered }, { lists });
    if (parsed.ok) {
      const { ruleSet } = parsed;
      const { comments, head } = commentsOf(draft, rules, ruleSet.rules);
      const printed = { records: ruleSet.records, rules: ruleSet.rules, lists, ids: false, comments };
      return head + printEdge({ domain: { name: domain }, ...printed }).text;
    }
    const wrong = parsed.diagnostics.filter(({ severity }) => severity === 'error');
    const places = new Map(wrong.flatMap((one) => (one.path[0] === 'rules' ? [[one.path[1], one]] : [])));
    if (places.size === 0 || rules.length === 0) return refusedImport(null, errorOf(parsed.diagnostics));
    const first = Math.min(...[...places.keys()].filter((key) => typeof key === 'number'));
    // A budget of all rules names none of them; the last rule that refuses nothing is left out then.
    const last = rules.findLastIndex(({ type }) => type !== 'drop');
    const whole = places.get(undefined);
    rules = rules.flatMap((rule, index) => {
      const isLate = round >= MAX_ROUNDS && index > first && JSON.stringify(rule.fields).includes('"regex"');
      const found =
        places.get(index) ??
        (index === (last < 0 ? rules.length - 1 : last) ? whole : undefined) ??
        (isLate ? places.get(first) : undefined);
      return found === undefined ? [rule] : withoutRule(rule, found);
    });
  }
}

/** The lists of the draft that rules name. */
function listsOfRules({ lists }: ImportDraft, rules: readonly DraftedRule[]): readonly EntryList[] {
  const named = new Set(rules.map(({ fields }) => fields['targets']));
  return [...lists.values()].filter(({ name }) => named.has(`@${name}`));
}

/** Types of rules without which requests reach the origin that the source refuses or challenges. */
const GUARD_TYPES: readonly RuleType[] = ['drop', 'captcha'];

/** What is left of a rule that the whole has no room for; a drop rule refuses its hosts, then the domain. */
function withoutRule(rule: DraftedRule, found: Diagnostic): readonly DraftedRule[] {
  const { entry, fields, type, also = [] } = rule;
  for (const one of [entry, ...also]) one.becomes.splice(one.becomes.indexOf(type), 1);
  const reason = describeDiagnostic(found);
  if (type !== 'drop') {
    for (const one of [entry, ...also]) (GUARD_TYPES.includes(type) ? markOpened : markMissing)(one, reason);
    return [];
  }
  const { host_match_type, host_includes, host_excludes, ...narrowed } = fields;
  const hasPattern = host_match_type === 'regex';
  const hosts = hasPattern ? {} : { host_match_type, host_includes, host_excludes };
  const given = Object.fromEntries(Object.entries(hosts).filter(([, value]) => value !== undefined));
  const wide = { ...given, ...(dropFields(EVERY_REQUEST) as object) };
  const isWide =
    !hasPattern && narrowed['path_includes'] === undefined && narrowed['path_excludes'] === undefined;
  if (isWide && Object.keys(given).length === 0) {
    markOpened(entry, reason);
    return [];
  }
  markClosed(entry, reason);
  markClosed(entry, 'the edge refuses every path of its hosts instead');
  entry.becomes.push('drop');
  return [{ type, fields: isWide ? (dropFields(EVERY_REQUEST) as DraftedRule['fields']) : wide, entry }];
}

/** The comments of rules: their source, how they differ, and what before them is not carried over, settings excepted. */
function commentsOf(
  draft: ImportDraft,
  rules: readonly DraftedRule[],
  printed: readonly { readonly id: number; readonly type: RuleType; readonly priority: number }[],
): { readonly comments: ReadonlyMap<number, readonly string[]>; readonly head: string } {
  const lines = new Map<DraftEntry, string[]>();
  const byEntry = new Set(rules.flatMap(({ entry, also = [] }) => [entry, ...also]));
  let waiting: string[] = [];
  let last: DraftEntry | null = null;
  for (const entry of draft.entries) {
    const text = [`${entry.place}: ${entry.source}`, ...entry.reasons.map((reason) => `  ${reason}`)];
    if (byEntry.has(entry)) {
      lines.set(entry, [...waiting, ...text]);
      waiting = [];
      last = entry;
    } else if (entry.outcome === 'not_carried' && entry.kind === null)
      waiting.push(`not carried over: ${text[0]}`, ...text.slice(1));
  }
  if (last !== null) lines.get(last)!.push(...waiting);
  const comments = new Map<number, readonly string[]>();
  const shown = new Set<DraftEntry>();
  for (const { id } of printed) {
    const { entry, also = [] } = rules[id - 1]!;
    const shownLines = [entry, ...also].flatMap((one) => {
      const head = `${one.place}: ${one.source}`;
      // What is not carried over, and how a rule differs, is said once.
      const own = shown.has(one) ? [head] : (lines.get(one) ?? [head]);
      shown.add(one);
      return own;
    });
    comments.set(id, shownLines);
  }
  // Without a rule there is no place but the head of the file.
  const shownHead =
    last === null ? waiting.map((line) => `# ${line.replace(/[\p{Cc}\u2028\u2029]/gu, ' ')}\n`) : [];
  return { comments, head: shownHead.join('') };
}

/** The distance of priorities: room for rules between. */
const PRIORITY_STEP = 10;

/** Numbers the rules; those of one type are evaluated in the order in which they were added. */
function withPriorities(rules: readonly DraftedRule[]): readonly object[] {
  const next = new Map<string, number>();
  return rules.map(({ type, fields }, index) => {
    const priority = (next.get(type) ?? 0) + PRIORITY_STEP;
    next.set(type, priority);
    return { id: index + 1, type, priority, ...fields };
  });
}

/** The registrable domain that most of the hosts belong to; the first of several. `null`: no host has one. */
export function domainOf(hosts: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const host of hosts) {
    const domain = getDomain(host.replace(/^\*\./, ''), { allowPrivateDomains: true });
    if (domain !== null) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  let best: string | null = null;
  for (const [domain, count] of counts) {
    if (best === null || count > counts.get(best)!) best = domain;
  }
  return best;
}
