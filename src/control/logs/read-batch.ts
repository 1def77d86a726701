/**
 * Reads and checks a batch of log entries. In: JSON lines of a node, the first of which is
 * `{"format":"edgeplan.log-batch/v1","domains":["shop.example"]}`; the others are lines of the decision log, counted lines and gaps. Out: rows
 * with what a search compares, or a LogRefusal that names the line. Unknown fields of an entry are not stored.
 */
import type { z } from 'zod';
import { formatIp, parseIp, parseIpEntry } from '../../base/addresses/ip.ts';
import { createTargetFacts, parseTarget } from '../../base/paths/path.ts';
import { isObject } from '../../base/text/json-object.ts';
import {
  checkEntry,
  LOG_COUNTED_FORMAT,
  LOG_GAP_FORMAT,
  LOG_LINE_FORMAT,
  type LoggedDecisionEntry,
  loggedCounted,
  loggedDecision,
  loggedGap,
} from './entry-schema.ts';
import {
  MAX_AHEAD_MS,
  MAX_BATCH_DOMAINS,
  MAX_BATCH_ENTRIES,
  MAX_ENTRY_OCTETS,
  MAX_ENTRY_RULES,
  MAX_HEAD_OCTETS,
  MAX_TEXT,
} from './limits.ts';
import { type LogBatch, LogRefusal, type OwnDomain } from './log-store.ts';

/** The format of a batch. */
const BATCH_FORMAT = 'edgeplan.log-batch/v1';

/** What the name of a domain has at least: databases refuse other characters, such as NUL. */
const NAME_SHAPE = /^[\x21-\x7e]{1,253}$/;

/** An entry with the columns that a search compares. */
export interface LogRow {
  readonly domainId: number;
  readonly nodeId: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly id: string;
  /** The action of the decision, or `gap`, or `counted`. */
  readonly action: string;
  /** The action of the shadow decision; `null`: the decision has no shadow. Of `counted`: the outcome of its requests. */
  readonly would: string | null;
  /** Whether the request failed. */
  readonly fault: boolean;
  /** Canonical text of the visitor's address, of `counted` of the network; `null`: unknown. */
  readonly ip: string | null;
  readonly path: string;
  /** `<type>/<id>`, each once. */
  readonly rules: readonly string[];
  /** The entry as JSON text. */
  readonly line: string;
  /** Entries that are missing where this one is not stored: the requests of a counted line. */
  readonly entries: number;
}

/** The rows of a batch, and the number of entries that are of no domain or of an earlier one. */
export interface ReadBatch {
  readonly rows: readonly LogRow[];
  readonly foreign: number;
}

type Fields = Readonly<Record<string, unknown>>;

const LF = 10;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The names that the first line lists. @throws LogRefusal */
export function readHead(bytes: Uint8Array): readonly string[] {
  const end = bytes.indexOf(LF);
  if (end < 0 || end > MAX_HEAD_OCTETS)
    throw new LogRefusal(`line 1: must list the domains in at most ${MAX_HEAD_OCTETS} octets`);
  const head = parseLine(bytes.subarray(0, end), 1);
  const { format, domains } = head;
  if (format !== BATCH_FORMAT) throw new LogRefusal(`line 1: \`format\` must be \`${BATCH_FORMAT}\``);
  if (!Array.isArray(domains) || !domains.every((name) => typeof name === 'string' && NAME_SHAPE.test(name)))
    throw new LogRefusal('line 1: `domains` must be a list of names');
  if (domains.length > MAX_BATCH_DOMAINS)
    throw new LogRefusal(`line 1: at most ${MAX_BATCH_DOMAINS} domains, found ${domains.length}`);
  return [...new Set(domains as readonly string[])];
}

/** Reads every entry. @param days how many days are stored. @throws LogRefusal */
export function readBatch({ bytes, domains, nodeId, now }: LogBatch, days: number): ReadBatch {
  const own = new Map(domains.map((domain) => [domain.name, domain]));
  const listed = new Set(readHead(bytes));
  const earliest = now - days * 86_400_000;
  const rows: LogRow[] = [];
  let foreign = 0;
  let line = 1;
  for (const octets of linesAfterHead(bytes)) {
    line++;
    if (octets.length === 0) continue;
    if (octets.length > MAX_ENTRY_OCTETS)
      throw new LogRefusal(`line ${line}: at most ${MAX_ENTRY_OCTETS} octets, found ${octets.length}`);
    if (rows.length + foreign >= MAX_BATCH_ENTRIES)
      throw new LogRefusal(`line ${line}: at most ${MAX_BATCH_ENTRIES} entries in a batch`);
    const entry = parseLine(octets, line);
    const name = textOf(entry, { field: 'domain', line });
    if (!listed.has(name)) throw new LogRefusal(`line ${line}: \`domain\` is not one that line 1 lists`);
    const at = timeOf(entry, { line, latest: now + MAX_AHEAD_MS });
    const domain = own.get(name);
    // Entries that are too old are no mistake of the node: it was cut off for long.
    if (domain === undefined || at < Math.max(domain.since, earliest)) foreign++;
    else rows.push(rowOf(entry, { line, at, domain, nodeId }));
  }
  return { rows, foreign };
}

function* linesAfterHead(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = bytes.indexOf(LF) + 1; from < bytes.length; ) {
    const end = bytes.indexOf(LF, from);
    const to = end < 0 ? bytes.length : end;
    yield bytes.subarray(from, to);
    from = to + 1;
  }
}

function parseLine(octets: Uint8Array, line: number): Fields {
  let value: unknown;
  try {
    value = JSON.parse(UTF8.decode(octets));
  } catch {
    throw new LogRefusal(`line ${line}: must be JSON in UTF-8`);
  }
  if (isObject(value)) return value;
  throw new LogRefusal(`line ${line}: must be a JSON object`);
}

interface Placed {
  readonly line: number;
}

interface PlacedRow extends Placed {
  readonly at: number;
  readonly domain: OwnDomain;
  readonly nodeId: number;
}

function rowOf(entry: Fields, { line, at, domain, nodeId }: PlacedRow): LogRow {
  const place = { domainId: domain.id, nodeId, at };
  switch (entry['format']) {
    case LOG_LINE_FORMAT:
      return { ...place, ...decisionColumns(checked(loggedDecision, { entry, line })) };
    case LOG_COUNTED_FORMAT:
      return { ...place, ...countedColumns(checked(loggedCounted, { entry, line })) };
    case LOG_GAP_FORMAT: {
      const gap = checked(loggedGap, { entry, line });
      const { id, dropped } = gap;
      return { ...place, ...PLAIN, id, action: 'gap', line: JSON.stringify(gap), entries: dropped };
    }
    default: {
      const known = [LOG_LINE_FORMAT, LOG_COUNTED_FORMAT, LOG_GAP_FORMAT].map((one) => `\`${one}\``);
      throw new LogRefusal(`line ${line}: \`format\` must be one of ${known.join(', ')}`);
    }
  }
}

/** The columns of an entry without its place. */
type Columns = Omit<LogRow, 'domainId' | 'nodeId' | 'at'>;

function decisionColumns(stored: LoggedDecisionEntry): Columns {
  const { id, request, decision, shadow, fault } = stored;
  return {
    id,
    action: decision.action,
    would: shadow?.action ?? null,
    fault: fault !== null,
    ip: canonicalIp(request.ip),
    path: pathOf(request.target),
    rules: rulesOf(stored),
    line: JSON.stringify(stored),
    entries: 1,
  };
}

function countedColumns(counted: z.output<typeof loggedCounted>): Columns {
  const { id, action, rule, network, requests } = counted;
  return {
    ...PLAIN,
    id,
    action: 'counted',
    would: action,
    ip: network === null ? null : canonicalNetwork(network),
    rules: rule === null ? [] : [storable(rule)],
    line: JSON.stringify(counted),
    entries: requests,
  };
}

function canonicalNetwork(text: string): string | null {
  const entry = parseIpEntry(text);
  return entry.ok ? entry.canonical : null;
}

/** The columns of an entry that is no decision. */
const PLAIN = { would: null, fault: false, ip: null, path: '', rules: [] } as const;

/** An entry with the fields of this release. @throws LogRefusal that names the field */
function checked<T>(schema: z.ZodType<T>, { entry, line }: Placed & { readonly entry: Fields }): T {
  const result = checkEntry(schema, entry);
  if (result.ok) return result.entry;
  throw new LogRefusal(`line ${line}: ${result.mistake}`);
}

/** The rules that matched, or that settled one of the decisions. */
function rulesOf({ decision, shadow, matches, page_matches = [] }: LoggedDecisionEntry): readonly string[] {
  const settled = [decision.rule, shadow?.rule ?? null].filter((rule) => rule !== null);
  const matched = [...matches, ...page_matches].map(({ rule }) => rule);
  return [...new Set([...settled, ...matched].map(storable))].slice(0, MAX_ENTRY_RULES);
}

/** The path of a target in canonical form, as rules match it; of a target that has none, what is before its query. */
function pathOf(target: string): string {
  const facts = createTargetFacts();
  if (parseTarget(target, facts) === 0) return storable(facts.path.slice(0, MAX_TEXT));
  const end = target.indexOf('?');
  return storable((end < 0 ? target : target.slice(0, end)).slice(0, MAX_TEXT));
}

/** A text that both databases store: neither NUL nor lone surrogates. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

function canonicalIp(ip: unknown): string | null {
  if (typeof ip !== 'string') return null;
  const words = new Uint32Array(4);
  const family = parseIp(ip, words);
  return family === 0 ? null : formatIp(family, words);
}

function timeOf(entry: Fields, { line, latest }: Placed & { readonly latest: number }): number {
  const text = textOf(entry, { field: 'time', line });
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw new LogRefusal(`line ${line}: \`time\` must be RFC 3339 with milliseconds, in UTC`);
  if (at <= latest) return at;
  const most = new Date(latest).toISOString();
  throw new LogRefusal(`line ${line}: \`time\` must be at most ${most} by the server's clock, found ${text}`);
}

function textOf(entry: Fields, { field, line }: Placed & { readonly field: string }): string {
  const value = entry[field];
  if (isShort(value)) return value;
  throw new LogRefusal(`line ${line}: \`${field}\` must be a text of at most ${MAX_TEXT} characters`);
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT;
}
