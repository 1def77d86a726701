/** Reads opened logs in order of time: as lines of decision logs, or as requests whatever the format. */
import { countedMistake, decisionMistake } from '../../control/logs/entry-schema.ts';
import { COUNTED_FORMAT, type CountedLine } from '../../edge/following/counted-requests.ts';
import { type DecisionLine, GAP_FORMAT, LINE_FORMAT } from '../../edge/proxy/log/line.ts';
import type { Evaluator } from '../../engine/evaluator/index.ts';
import { sizeText } from '../../rules/files/size.ts';
import { isMapping } from '../../rules/files/yaml.ts';
import {
  type AccessEntry,
  createFactCounts,
  type FactCounts,
  type LineReader,
  type ReaderContext,
} from '../../workbench/access-logs/entry.ts';
import { readerOf } from '../../workbench/access-logs/format.ts';
import { inOrder, type TimedSource } from '../../workbench/access-logs/in-order.ts';
import {
  countedReader,
  countUnreadable,
  createHostCache,
  createSource,
  createTally,
  type LogTally,
} from '../../workbench/access-logs/source.ts';
import { createAgentClassifier } from '../../workbench/replay/replay-requests.ts';
import { type Bytes, LONGEST_LINE, linesOf, requestMistake } from '../../workbench/simulation/requests.ts';
import { usageFault } from '../exit.ts';
import { readChunks } from '../input/read-file.ts';
import { addressFinder, openAddressFile } from '../open-signatures.ts';
import type { OpenedLog } from './open-logs.ts';

/** What the lines of logs lack. */
export interface LogDefaults {
  /** The host of requests whose line has none; absent: the only host of the rules. */
  readonly host: string | undefined;
  readonly scheme: 'http' | 'https';
  readonly captures: readonly string[];
  /** The country of an address; `null`: no database is at hand. */
  readonly countryOf: ((ip: string) => string | null) | null;
  /** The autonomous system of an address; `null`: no database is at hand. */
  readonly asnOf: ((ip: string) => number | null) | null;
}

/**
 * Opens the databases of `--countries` and `--asns`; one of countries may have autonomous systems too.
 * @throws CommandFault that names the option
 */
export async function openAddressFacts(files: {
  readonly countries?: string;
  readonly asns?: string;
}): Promise<Pick<LogDefaults, 'countryOf' | 'asnOf'>> {
  const countries = await openAddressFile('--countries', files.countries);
  const asns = (await openAddressFile('--asns', files.asns)) ?? countries;
  return {
    countryOf: countries === null ? null : addressFinder(countries.country),
    asnOf: asns === null ? null : addressFinder(asns.asn),
  };
}

/** What reading came to. */
export interface ReadLogs {
  readonly tally: LogTally;
  /** Requests of access logs by the facts that they lack. */
  readonly lacks: FactCounts;
  /** Lines out of order beyond the window. */
  late: number;
  /** Lines that decision logs report as dropped. */
  missing: number;
  /** Requests that decision logs have only as numbers. */
  counted: number;
  /** Requests of access logs. */
  requests: number;
  /** The host that was assumed; empty: none. */
  host: string;
}

/** Counters of a replay that has read nothing yet. */
export function createReadLogs(): ReadLogs {
  const counts = { late: 0, missing: 0, counted: 0, requests: 0 };
  return { tally: createTally(), lacks: createFactCounts(), ...counts, host: '' };
}

/** A decision with the time it is put in order by. */
interface TimedDecision {
  readonly entry: DecisionEntry;
  time: number;
}

/** Takes the entries of decision logs in order of time; what is no decision is taken when it is read. */
export async function takeDecisions(
  logs: readonly OpenedLog[],
  read: ReadLogs,
  take: (entry: LogEntry) => void,
): Promise<void> {
  const sources = logs.map(({ file, chunks }) =>
    createSource<TimedDecision>({
      file,
      chunks,
      read(line, number) {
        const entry = readDecisionLine(line, `${file}:${number}`);
        if (entry === null) return null;
        read.tally.lines++;
        if (entry.kind === 'decision') return { entry, time: timeOfLine(entry) };
        take(entry);
        return null;
      },
      onUnreadable: (at, reason) => take({ kind: 'unreadable', at, reason }),
    }),
  );
  read.late = await inOrder(sources, ({ entry }) => take(entry));
}

type DecisionEntry = Extract<LogEntry, { readonly kind: 'decision' }>;

function timeOfLine({ line }: DecisionEntry): number {
  return line.request?.now ?? Date.parse(line.time);
}

/** Takes the requests of logs of any format in order of time. */
export async function takeRequests(
  logs: readonly OpenedLog[],
  { read, context }: { readonly read: ReadLogs; readonly context: ReaderContext },
  take: (entry: AccessEntry) => void,
): Promise<void> {
  const sources = logs.flatMap((log) => {
    const { format } = log;
    if (format === null) return [];
    return format === 'decision'
      ? decisionSource(log, read)
      : accessSource(log, readerOf(format, context), read);
  });
  read.late = await inOrder(sources, take);
}

function accessSource(
  { file, chunks }: OpenedLog,
  lines: LineReader,
  read: ReadLogs,
): TimedSource<AccessEntry> {
  const { tally } = read;
  const reader = countedReader(lines, { file, tally });
  return createSource({
    file,
    chunks,
    read(line, number) {
      const entry = reader(line, number);
      if (entry !== null) read.requests++;
      return entry;
    },
    onUnreadable: (at, reason) => countUnreadable(tally, at, reason),
  });
}

/** The requests of a decision log, without its decisions. */
function decisionSource({ file, chunks }: OpenedLog, read: ReadLogs): TimedSource<AccessEntry> {
  const { tally } = read;
  return createSource({
    file,
    chunks,
    read(line, number) {
      const entry = readDecisionLine(line, `${file}:${number}`);
      if (entry === null) return null;
      if (entry.kind === 'unreadable') {
        countUnreadable(tally, entry.at, entry.reason);
        return null;
      }
      tally.lines++;
      if (entry.kind === 'gap') read.missing += entry.dropped;
      else if (entry.kind === 'counted') read.counted += entry.line.requests;
      else if (entry.line.request === null) tally.noRequest++;
      else return requestEntry(entry, file, number);
      return null;
    },
    onUnreadable: (at, reason) => countUnreadable(tally, at, reason),
  });
}

function requestEntry(entry: DecisionEntry, file: string, line: number): AccessEntry {
  const { request, sampled, status, decision, fault } = entry.line;
  const time = timeOfLine(entry);
  const weight = typeof sampled === 'number' && sampled > 0 ? 1 / sampled : 1;
  return {
    kind: 'request',
    time,
    weight,
    status,
    source: decision?.action !== 'forward' ? 'proxy' : fault === null ? 'origin' : 'failure',
    location: decision?.location ?? '',
    request: { ...request!, body: null, now: time },
    file,
    line,
  };
}

/** The context of readers: facts that lines lack are those of the flags, or of the rules. */
export function readerContext(
  defaults: LogDefaults,
  read: ReadLogs,
  rules: Pick<Evaluator, 'hosts' | 'domain'>,
): ReaderContext {
  const { host, scheme, captures, countryOf, asnOf } = defaults;
  let assumed = host ?? '';
  return {
    hostOf: () => {
      if (assumed === '') assumed = onlyHost(rules);
      read.host = assumed;
      return assumed;
    },
    sameHost: createHostCache(),
    scheme,
    captures,
    botOf: createAgentClassifier(),
    countryOf: countryOf ?? (() => null),
    asnOf: asnOf ?? (() => null),
    lacks: read.lacks,
  };
}

/** Hosts that a message lists. */
const HOSTS_LISTED = 3;

/** The host of rules that serve a single one. @throws CommandFault when there are more */
function onlyHost(rules: Pick<Evaluator, 'hosts' | 'domain'>): string {
  const hosts = rules.hosts(HOSTS_LISTED + 1);
  const [only] = hosts;
  if (hosts.length === 1 && only !== undefined && !only.startsWith('*')) return only;
  const listed = [...hosts]
    .sort()
    .slice(0, HOSTS_LISTED)
    .map((one) => `\`${one}\``);
  const more = hosts.length > HOSTS_LISTED ? ' and more' : '';
  throw usageFault(
    `the log has no hosts, and the rules serve ${listed.length === 0 ? 'none' : `${listed.join(', ')}${more}`}`,
    `name the host of its requests: --host ${hosts.find((one) => !one.startsWith('*')) ?? rules.domain}`,
  );
}

// Reads decision logs of nodes. Every line is checked; a line that is no decision is returned with its number and
// the reason.

/** A decision, a number of requests, a note of dropped lines, or a line that cannot be read. */
export type LogEntry =
  | { readonly kind: 'decision'; readonly line: DecisionLine }
  | { readonly kind: 'counted'; readonly line: CountedLine }
  | { readonly kind: 'gap'; readonly dropped: number }
  | { readonly kind: 'unreadable'; readonly at: string; readonly reason: string };

/** Yields the entries of one log in order; `-` is stdin. Memory is constant. @throws CommandFault */
export async function* readLog(file: string): AsyncGenerator<readonly LogEntry[]> {
  for await (const lines of linesOf(readChunks(file))) {
    yield lines.flatMap((line) => readEntry(line, file) ?? []);
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

const NOT_JSON = 'the line is not JSON; a write was cut short, or this is another file';

/** Parses a line of octets; `null` for an empty one. */
function readEntry({ line, bytes }: Bytes, file: string): LogEntry | null {
  const at = `${file}:${line}`;
  if (bytes === null)
    return { kind: 'unreadable', at, reason: `the line is longer than ${sizeText(LONGEST_LINE)}` };
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return { kind: 'unreadable', at, reason: NOT_JSON };
  }
  return readDecisionLine(text, at);
}

/** Parses a line; `null` for an empty one. `at`: its file and number. */
function readDecisionLine(text: string, at: string): LogEntry | null {
  const unreadable = (reason: string): LogEntry => ({ kind: 'unreadable', at, reason });
  if (text === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unreadable(NOT_JSON);
  }
  if (!isMapping(value)) return unreadable('the line is JSON but not an object');
  if (value['format'] === GAP_FORMAT) return { kind: 'gap', dropped: Number(value['dropped']) || 0 };
  if (value['format'] === COUNTED_FORMAT) {
    const mistake = countedMistake(value);
    return mistake === null
      ? { kind: 'counted', line: value as unknown as CountedLine }
      : unreadable(mistake);
  }
  if (value['format'] !== LINE_FORMAT) {
    return unreadable(`the line is not \`${LINE_FORMAT}\`, which is what this version reads`);
  }
  const mistake = mistakeOf(value);
  if (mistake !== null) return unreadable(mistake);
  return { kind: 'decision', line: value as unknown as DecisionLine };
}

type Fields = Readonly<Record<string, unknown>>;

/** The first mistake in the fields of a decision; `null`: no mistake. */
function mistakeOf(line: Fields): string | null {
  for (const name of ['id', 'time'] as const) {
    if (typeof line[name] !== 'string') return `\`${name}\` must be text`;
  }
  for (const name of ['matches', 'withheld'] as const) {
    if (!Array.isArray(line[name])) return `\`${name}\` must be a list`;
  }
  const { request, decision } = line;
  if (request === null && decision === null) return decisionMistake(line, 'file');
  if (!isMapping(request)) return '`request` must be an object, or null together with `decision`';
  if (!isMapping(decision) || typeof decision['action'] !== 'string') return '`decision` must be an object';
  return requestMistake(request) ?? decisionMistake(line, 'file');
}
