/** The state of one import from HAProxy: what the parts of the translation share. */
import { addEntry, type DraftEntry, type ImportDraft, markMissing, markNeedless } from '../draft.ts';
import { filtersOf, type ImportedCondition, type ImportedFilter } from '../filter.ts';
import type { OpenIncludes } from '../importer.ts';
import type { SourceFile } from '../report.ts';
import { type HaproxyLine, type HaproxySection, lineText } from './parse-haproxy.ts';

/** The state. */
export interface HaproxyImport {
  readonly draft: ImportDraft;
  /** Entries of the report, by line; they are ordered at the end. */
  readonly entries: Map<HaproxyLine, DraftEntry>;
  readonly sections: readonly HaproxySection[];
  /** Files of patterns and maps that were named beside the configuration. */
  readonly data: readonly SourceFile[];
  readonly open: OpenIncludes;
  /** Exact hosts that the configuration names, in lower case. */
  readonly hosts: Set<string>;
  /** Hosts of wildcard records, `*.example.com`. */
  readonly wildcards: Set<string>;
}

/** The requests that reach a section, and what its lines have changed of them so far. */
export interface Walk {
  readonly section: HaproxySection;
  readonly scope: ImportedCondition;
  /** Requests that `http-request allow` has let through: the other rules of the section do not see them. */
  readonly allowed: ImportedCondition[];
  /** Requests that HAProxy has answered. */
  readonly ended: ImportedCondition[];
  /** Requests that rules of the file answer before others of a later type. */
  readonly carried: ImportedCondition[];
  /** Requests that HAProxy redirects and the file does not. */
  readonly leaked: ImportedCondition[];
  changes: readonly RequestChange[];
  /** Variables by name: the sample that sets it, or the requests for which it is set to a constant. */
  readonly variables: Map<string, RequestVariable>;
  /** The Host header that the origin gets; absent: that of the visitor. */
  hostHeader?: string;
  /** Counters: what `track-sc0` tracks, by its number. */
  readonly tracked: Map<string, TrackedKey>;
}

/** A part of the request that an earlier line changes. */
export interface RequestChange {
  /** `path`, or the name of a header in lower case. */
  readonly target: string;
  readonly condition: ImportedCondition;
  /** What it is then; `null`: the header is absent; `undefined`: it depends on the request. */
  readonly value: string | ReplacedStart | null | undefined;
  readonly place: string;
}

/** A path whose start is replaced by another; the rest stays. */
export interface ReplacedStart {
  readonly from: string;
  readonly to: string;
}

/** A variable. */
export interface RequestVariable {
  /** The sample of a line without a condition. */
  readonly sample: string | null;
  /** What had changed when it was set. */
  readonly changes: readonly RequestChange[];
  /** The requests for which it is set. */
  readonly set: readonly ImportedCondition[];
}

/** What a stick table counts. */
export interface TrackedKey {
  readonly line: HaproxyLine;
  /** Parts of the key of a limit; `null`: it has no equivalent. */
  readonly parts: readonly string[] | null;
  readonly table: string;
  readonly condition: ImportedCondition;
}

/** Every request. */
export const ALWAYS: ImportedCondition = { kind: 'constant', value: true };

/** A condition of several parts that all hold. */
export function allOf(...of: readonly ImportedCondition[]): ImportedCondition {
  const parts = of.filter((one) => one.kind !== 'constant' || !one.value);
  return parts.length === 0 ? ALWAYS : parts.length === 1 ? parts[0]! : { kind: 'all', of: parts };
}

/** A condition of several parts of which one holds. */
export function anyOf(of: readonly ImportedCondition[]): ImportedCondition {
  return of.length === 1 ? of[0]! : { kind: 'any', of };
}

/** The opposites of conditions. */
export function noneOf(of: readonly ImportedCondition[]): readonly ImportedCondition[] {
  return of.map((one) => (one.kind === 'not' ? one.of : { kind: 'not', of: one }));
}

/** A condition without tests that others of it contain, so that its opposite is short; itself where it has no filters. */
export function simplified(condition: ImportedCondition): ImportedCondition {
  const read = filtersOf(condition);
  return read.ok ? anyOf(read.filters.map(conditionOfFilter)) : condition;
}

function conditionOfFilter(filter: ImportedFilter): ImportedCondition {
  const { hostIncludes, hostExcludes, pathIncludes, pathExcludes, ipIncludes, ipExcludes, facts } = filter;
  const parts: (ImportedCondition | null)[] = [
    hostIncludes === null ? null : { kind: 'host', tests: hostIncludes },
    hostExcludes.length === 0 ? null : { kind: 'not', of: { kind: 'host', tests: hostExcludes } },
    pathIncludes === null ? null : { kind: 'path', tests: pathIncludes },
    pathExcludes.length === 0 ? null : { kind: 'not', of: { kind: 'path', tests: pathExcludes } },
    ipIncludes === null ? null : { kind: 'ip', addresses: ipIncludes },
    ipExcludes === null ? null : { kind: 'not', of: { kind: 'ip', addresses: ipExcludes } },
    ...facts.map((fact): ImportedCondition => ({ kind: 'fact', fact })),
  ];
  return allOf(...parts.filter((part) => part !== null));
}

/** A part of a condition that no rule has. */
export function unknown(text: string, reason: string): ImportedCondition {
  return { kind: 'unknown', text, reason };
}

/** The entry of a line. */
export function entryOf({ draft, entries }: HaproxyImport, line: HaproxyLine): DraftEntry {
  const known = entries.get(line);
  if (known !== undefined) return known;
  const entry = addEntry(draft, line.place, lineText(line));
  entries.set(line, entry);
  return entry;
}

/** The lines of the defaults of a section that proxies inherit. */
export function defaultsOf(
  { sections }: Pick<HaproxyImport, 'sections'>,
  section: HaproxySection,
): readonly HaproxyLine[] {
  const before = sections.slice(0, sections.indexOf(section)).filter(({ kind }) => kind === 'defaults');
  const named = sections.find(({ kind, name }) => kind === 'defaults' && name === section.from);
  const own = section.from === null ? before.at(-1) : named;
  if (own === undefined) return [];
  const inherited = own.from === null ? [] : defaultsOf({ sections }, own);
  return [...inherited, ...own.lines];
}

/** The last line that begins with these words, of the section or of its defaults. */
export function settingOf(
  state: Pick<HaproxyImport, 'sections'>,
  section: HaproxySection,
  ...words: readonly string[]
): HaproxyLine | undefined {
  const isIt = (line: HaproxyLine): boolean => words.every((word, index) => line.words[index] === word);
  return section.lines.findLast(isIt) ?? defaultsOf(state, section).findLast(isIt);
}

/** The lines with which a proxy works on requests: those of its defaults first. */
export function activeLines(state: HaproxyImport, section: HaproxySection): readonly HaproxyLine[] {
  const isRule = ({ words }: HaproxyLine): boolean =>
    ['http-request', 'http-response', 'http-after-response', 'tcp-request', 'acl'].includes(words[0]!) ||
    (words[0] === 'option' && words[1] === 'forwardfor');
  return [...defaultsOf(state, section).filter(isRule), ...section.lines];
}

/** Sections of HAProxy itself, its peers, resolvers, mails and logs. */
const OWN_SECTIONS =
  'global peers resolvers mailers ring log-forward log-profile crt-store traces acme program userlist http-errors cache'.split(
    ' ',
  );

/** Keywords that set up HAProxy, its logs, connections and checks, and decide nothing about a request. */
const NEEDLESS = new Set(
  `mode bind acl log log-format log-format-sd log-tag error-log-format unique-id-format unique-id-header timeout clitimeout
  contimeout srvtimeout maxconn fullconn backlog retries retry-on retry_on option no default-server hash-type hash-balance-factor
  description disabled enabled id monitor-net stick-table declare capture http-check tcp-check external-check
  load-server-state-from-file server-state-file-name dispatch-state grace rate-limit bind-process persist transparent source
  email-alert http-reuse max-keep-alive-queue max-session-srv-conns force-persist ignore-persist guid clitcpka-cnt clitcpka-idle
  clitcpka-intvl srvtcpka-cnt srvtcpka-idle srvtcpka-intvl balance stats from quic-initial`.split(/\s+/),
);

/** Why well-known keywords have no equivalent. */
const REASONS: Readonly<Record<string, string>> = {
  cookie: 'no rule pins a visitor to one server of a pool',
  appsession: 'no rule pins a visitor to one server of a pool',
  stick: 'no rule pins a visitor to one server of a pool',
  errorfile: 'write the HTML of the page into a rule of type error_page',
  errorfiles: 'write the HTML of the page into a rule of type error_page',
  errorloc: 'no rule redirects by a status',
  errorloc302: 'no rule redirects by a status',
  errorloc303: 'no rule redirects by a status',
  'http-error': 'write the HTML of the page into a rule of type error_page',
  compression: 'the edge does not compress',
  filter: 'filters and agents have no equivalent',
  'use-fcgi-app': 'an origin speaks HTTP',
  'server-template': 'a pool lists its servers one by one',
  'use-server': 'a pool chooses among all its servers',
  dispatch: 'it chooses a server without a name',
  'http-send-name-header': 'no header has the name of the server',
};

/** Adds the entries of lines that no other part has reported, then orders all as in the source. */
export function reportRest(state: HaproxyImport): void {
  const ordered: DraftEntry[] = [];
  for (const section of state.sections) {
    const isOwn = OWN_SECTIONS.includes(section.kind);
    for (const line of [section.head, ...section.lines]) {
      const known = state.entries.get(line);
      if (known !== undefined) ordered.push(known);
      else if (!isOwn && line !== section.head && !isLost(state, section)) ordered.push(judge(state, line));
    }
  }
  const listed = new Set(ordered);
  const rest = state.draft.entries.filter((entry) => !listed.has(entry));
  state.draft.entries.splice(0, state.draft.entries.length, ...ordered, ...rest);
}

/** Whether the section is reported as a whole. */
function isLost({ entries }: HaproxyImport, { head }: HaproxySection): boolean {
  const outcome = entries.get(head)?.outcome;
  return outcome === 'not_carried' || outcome === 'not_needed';
}

function judge(state: HaproxyImport, line: HaproxyLine): DraftEntry {
  const entry = entryOf(state, line);
  const [keyword = ''] = line.words;
  if (keyword.startsWith('.')) markMissing(entry, 'the lines after it are read whether it holds or not');
  else if (NEEDLESS.has(keyword)) markNeedless(entry, 'it sets up HAProxy itself');
  else {
    markMissing(entry, REASONS[keyword] ?? 'edgeplan has no equivalent');
    entry.kind = keyword;
  }
  return entry;
}
