/**
 * The edge file that a draft becomes: records of its hosts, rules in their order with comments that name their sources, and the
 * report. What the model refuses only beside other rules is left out, and its entry says why, so that the file compiles.
 */
import { getDomain } from 'tldts';
import { normalizeName } from '../../base/addresses/host.ts';
import { parseIp } from '../../base/addresses/ip.ts';
import { type Diagnostic, describeDiagnostic } from '../../base/diagnostics/diagnostic.ts';
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import { printEdge } from '../../rules/files/print-edge.ts';
import { parseRecord, parseRuleSet } from '../../rules/model/parse.ts';
import type { DnsRecord, EntryList } from '../../rules/model/types.ts';
import {
  addEntry,
  type DraftEntry,
  type DraftedRule,
  type DraftOrigin,
  errorOf,
  type ImportDraft,
  markClosed,
  markMissing,
  markOpened,
} from './draft.ts';
import { dropFields, EVERY_REQUEST } from './filter.ts';
import {
  type ImportEntry,
  type ImportedEdge,
  type ImporterOptions,
  type ImportRefusal,
  refusedImport,
} from './report.ts';

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
