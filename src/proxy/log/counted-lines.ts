/**
 * Counts requests that are always logged and whose lines exceed the bound of their domain. In: such a request. Out: a line of
 * `edgeplan.counted/v1` for each action, rule and network, with the exact number of requests; the queue of
 * `sync/log-queue.ts` takes them at each write. The table is bounded: beyond its bound requests are counted without their
 * network, then without their rule, so that the sums stay exact.
 */
import { randomUUID } from 'node:crypto';
import { formatIp, parseIp } from '../../base/ip.ts';
import type { Action, Decision, RuleRef } from '../../evaluator/decision.ts';
import { refText } from '../../evaluator/identity.ts';
import type { CountedSource, StatedLine } from '../../sync/log-queue.ts';
import type { Exchange } from '../exchange.ts';
import { MAX_COUNTED_ROWS, MAX_COUNTED_ROWS_OF_DOMAIN } from './limits.ts';
import { COUNTED_FORMAT, type CountedLine } from './line.ts';

/** The outcome by which a request is always logged. */
export type CountedAction = 'block' | 'challenge' | 'refuse' | 'fault' | `would-${Action}`;

const WOULD: Readonly<Record<Action, CountedAction>> = {
  forward: 'would-forward',
  block: 'would-block',
  challenge: 'would-challenge',
  redirect: 'would-redirect',
  respond: 'would-respond',
  refuse: 'would-refuse',
};

/**
 * The outcome by which a request is always logged; `null`: it is a plain one. Of several, the one that the visitor noticed. A
 * client that leaves early is no failure: visitors do that, and could fill the log with it.
 */
export function outcomeOf({ action, shadow }: Decision, fault: string | null): CountedAction | null {
  if (action === 'block' || action === 'challenge' || action === 'refuse') return action;
  if (fault !== null && fault !== 'aborted') return 'fault';
  return shadow === null ? null : WOULD[shadow.action];
}

/** The table of one process. */
export interface CountedLines extends CountedSource {
  /** Counts a request. */
  add(exchange: Exchange, action: CountedAction): void;
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
  readonly action: CountedAction;
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
  readonly ungrouped: Map<CountedAction, Row>;
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
export function createCountedLines(share: number): CountedLines {
  const table: Table = {
    domains: new Map(),
    most: MAX_COUNTED_ROWS * share,
    mostOfDomain: MAX_COUNTED_ROWS_OF_DOMAIN * share,
    rows: 0,
    requests: 0,
  };
  return {
    add({ domain, decision, request, startedAt }, action) {
      table.requests++;
      const rule = action.startsWith('would-') ? decision.shadow!.rule : decision.rule;
      const row = rowFor(table, { domain: domain.name, action, rule, key: networkKey(request.ip) });
      addTo(row, { requests: 1, from: startedAt, to: startedAt });
    },
    requests: () => table.requests,
    take: (isFull) => takeLines(table, isFull),
  };
}

/** What a row counts. */
interface RowOf {
  readonly domain: string;
  readonly action: CountedAction;
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

/** The group of an action and rule; `null`: there is none, and no room for one more. */
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
