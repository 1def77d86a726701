/**
 * Counts requests that are always logged and whose lines exceed the bound of their domain. In: such a request. Out: a line of
 * `edgeplan.counted/v1` for each action, rule and network, with the exact number of requests; the queue takes them at each write
 * (`log-queue.ts`). The table is bounded: beyond its bound requests are counted without their network, then without their
 * rule, so that the sums stay exact.
 */
import { randomUUID } from 'node:crypto';
import { formatIp, parseIp } from '../../base/addresses/ip.ts';
import type { RuleRef } from '../../engine/evaluator/decision.ts';
import { refText } from '../../engine/evaluator/identity.ts';
import { MAX_COUNTED_ROWS, MAX_COUNTED_ROWS_OF_DOMAIN } from './limits.ts';
import type { CountedSource, StatedLine } from './log-queue.ts';

/** The format of a line that counts requests. */
export const COUNTED_FORMAT = 'edgeplan.counted/v1';

/** A line that counts requests whose own lines would exceed the bound of their domain. */
export interface CountedLine {
  readonly format: typeof COUNTED_FORMAT;
  /** RFC 3339, UTC: the arrival of the first of the requests, and of the last. */
  readonly time: string;
  readonly until: string;
  readonly id: string;
  readonly domain: string;
  /** `block`, `challenge`, `refuse`, `fault`, or `would-` and an action. */
  readonly action: string;
  /** `<type>/<id>` of the rule that settled the outcome; `null`: none, or one of too many. */
  readonly rule: string | null;
  /** The /24 or /48 of the visitors; `null`: not known, or one of too many. */
  readonly network: string | null;
  readonly requests: number;
}

/** A request to count. */
export interface TableRequest {
  readonly domain: string;
  readonly action: string;
  /** The rule that settled the outcome; `null`: none. */
  readonly rule: RuleRef | null;
  readonly ip: string | null | undefined;
  /** Milliseconds since the epoch: its arrival. */
  readonly at: number;
}

/** The table of one process. */
export interface RequestTable extends CountedSource {
  /** Counts a request. */
  add(request: TableRequest): void;
  /** Requests counted since the start. */
  requests(): number;
}

/** Requests of one line. */
interface Row {
  requests: number;
  /** Milliseconds since the epoch: the first and the last arrival. */
  from: number;
  to: number;
}

/** Requests of one action and rule. */
interface Group {
  readonly action: string;
  readonly rule: RuleRef | null;
  /** By `networkKey`. */
  readonly networks: Map<number, Row>;
  /** Those of no known network, and of networks beyond the bound. */
  readonly rest: Row;
}

interface DomainCounts {
  /** By the id of the rule; `NO_RULE`: none. */
  readonly groups: Map<number, Group[]>;
  /** Those of rules beyond the bound. */
  readonly ungrouped: Map<string, Row>;
  /** Rows of `groups`. */
  rows: number;
}

interface Table {
  readonly domains: Map<string, DomainCounts>;
  /** Bounds on the rows of all domains, and of each. Half of both is for rows without a network. */
  readonly most: number;
  readonly mostOfDomain: number;
  /** Rows of all domains. */
  rows: number;
  requests: number;
}

/** No rule has this id. */
const NO_RULE = -1;
/** No network has this key. */
const UNKNOWN = 0.5;

/** Creates an empty table. @param share the part of the bounds that this process may use, 0 to 1 */
export function createRequestTable(share: number): RequestTable {
  const table: Table = {
    domains: new Map(),
    most: MAX_COUNTED_ROWS * share,
    mostOfDomain: MAX_COUNTED_ROWS_OF_DOMAIN * share,
    rows: 0,
    requests: 0,
  };
  return {
    add({ domain, action, rule, ip, at }) {
      table.requests++;
      const row = rowFor(table, { domain, action, rule, key: networkKey(ip) });
      addTo(row, { requests: 1, from: at, to: at });
    },
    requests: () => table.requests,
    take: (isFull) => takeLines(table, isFull),
  };
}

/** What a row counts. */
interface RowOf {
  readonly domain: string;
  readonly action: string;
  readonly rule: RuleRef | null;
  /** See `networkKey`. */
  readonly key: number;
}

/** The row of a request: its own, or the next coarser one that there is room for. */
function rowFor(table: Table, { domain, action, rule, key }: RowOf): Row {
  const counts = countsOf(table, domain);
  const group = groupOf(table, counts, { action, rule });
  if (group === null) {
    const row = counts.ungrouped.get(action) ?? emptyRow();
    if (row.requests === 0) counts.ungrouped.set(action, row);
    return row;
  }
  if (key === UNKNOWN) return group.rest;
  const known = group.networks.get(key);
  if (known !== undefined) return known;
  if (counts.rows >= table.mostOfDomain / 2 || table.rows >= table.most / 2) return group.rest;
  const row = emptyRow();
  group.networks.set(key, row);
  counts.rows++;
  table.rows++;
  return row;
}

/** The counts of a domain. Their number is not bounded here: a name is that of a plan, not what a client sent. */
function countsOf({ domains }: Table, domain: string): DomainCounts {
  const known = domains.get(domain);
  if (known !== undefined) return known;
  const counts: DomainCounts = { groups: new Map(), ungrouped: new Map(), rows: 0 };
  domains.set(domain, counts);
  return counts;
}

/** The group of an action and rule, a new one if it is absent; `null`: the table has no room for a new one. */
function groupOf(
  table: Table,
  counts: DomainCounts,
  { action, rule }: Pick<RowOf, 'action' | 'rule'>,
): Group | null {
  const id = rule?.id ?? NO_RULE;
  const sameId = counts.groups.get(id);
  for (const group of sameId ?? []) if (group.action === action && isSameRule(group.rule, rule)) return group;
  if (counts.rows >= table.mostOfDomain || table.rows >= table.most) return null;
  const group: Group = { action, rule, networks: new Map(), rest: emptyRow() };
  if (sameId === undefined) counts.groups.set(id, [group]);
  else sameId.push(group);
  counts.rows++;
  table.rows++;
  return group;
}

function isSameRule(a: RuleRef | null, b: RuleRef | null): boolean {
  return a === b || (a !== null && b !== null && a.type === b.type && a.id === b.id && a.key === b.key);
}

function emptyRow(): Row {
  return { requests: 0, from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
}

function addTo(row: Row, { requests, from, to }: Row): void {
  row.requests += requests;
  row.from = Math.min(row.from, from);
  row.to = Math.max(row.to, to);
}

const words = new Uint32Array(4);

/** The network of an address as a number: of IPv4 the first 24 bits, below zero, of IPv6 the first 48; `UNKNOWN`: no address. */
function networkKey(ip: string | null | undefined): number {
  const family = typeof ip === 'string' ? parseIp(ip, words) : 0;
  if (family === 0) return UNKNOWN;
  return family === 4 ? -1 - (words[0]! >>> 8) : words[0]! * 0x10000 + (words[1]! >>> 16);
}

/** `192.0.2.0/24` or `2001:db8:1::/48` of a key. */
function networkText(key: number): string | null {
  if (key === UNKNOWN) return null;
  if (key < 0) return `${formatIp(4, [(-1 - key) * 0x100])}/24`;
  return `${formatIp(6, [Math.floor(key / 0x10000), (key % 0x10000) * 0x10000, 0, 0])}/48`;
}

/** The lines of all domains that have room for them, whose counts then start again. */
function takeLines(table: Table, isFull: (domain: string) => boolean): readonly StatedLine[] {
  const lines: StatedLine[] = [];
  for (const [domain, counts] of table.domains) {
    if (isFull(domain)) continue;
    table.domains.delete(domain);
    table.rows -= counts.rows;
    for (const group of [...counts.groups.values()].flat()) {
      const { action, rule } = group;
      for (const [key, row] of [...group.networks, [UNKNOWN, group.rest] as const])
        if (row.requests > 0) lines.push(stated(table, { domain, action, rule, key }, row));
    }
    for (const [action, row] of counts.ungrouped)
      lines.push(stated(table, { domain, action, rule: null, key: UNKNOWN }, row));
  }
  return lines;
}

/** A row as a line; one that cannot be written is counted again. */
function stated(table: Table, of: RowOf, row: Row): StatedLine {
  const { domain, action, rule, key } = of;
  const line: CountedLine = {
    format: COUNTED_FORMAT,
    time: new Date(row.from).toISOString(),
    until: new Date(row.to).toISOString(),
    id: randomUUID(),
    domain,
    action,
    rule: rule === null ? null : refText(rule),
    network: networkText(key),
    requests: row.requests,
  };
  return { domain, line: JSON.stringify(line), undo: () => addTo(rowFor(table, of), row) };
}
