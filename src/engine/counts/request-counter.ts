/**
 * Counts finished requests of one domain: what `countRequest` and `countTops` count, at two thirds of their cost. In:
 * finished requests. Out, at each drain: what was counted since the last one.
 *
 * PERF: until the drain, keys of dimensions are in cells, which the very key of the request before needs no look-up for; hits
 * are found by a number; an address and a User-Agent are hashed once, not per request; nothing is allocated for a request
 * whose rules and values have been counted before.
 */
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import { type Decision, EFFECTS, type Match } from '../evaluator/decision.ts';
import {
  addChange,
  addHits,
  addKey,
  type CountedRequest,
  createTopLists,
  createTrafficCounts,
  DIMENSIONS,
  type Dimension,
  fromEach,
  hitKey,
  MAX_HITS,
  MAX_KEYS,
  type RuleHits,
  statusKey,
  statusNumber,
  TOP_KINDS,
  type TopKind,
  type TopLists,
  type TrafficCounts,
  topValue,
} from './counts.ts';
import { countGatewayRequest } from './gateway-counts.ts';
import { addHash, hashPair, hashText } from './hyperloglog.ts';
import { record } from './log-histogram.ts';
import { shadowChanges } from './shadow-changes.ts';
import { offer, type SpaceSaving } from './space-saving.ts';
import { unknownOperation } from './unknown-operation.ts';

// Counts one finished request into traffic counts and into top lists.

/** Adds one request to counts. */
export function countRequest(counts: TrafficCounts, request: CountedRequest): void {
  const { decision } = request;
  countSums(counts, request);
  for (const dimension of DIMENSIONS)
    addKey(counts, dimension, { key: keyOf(request, dimension), requests: 1 });
  if (request.edgeMs !== null) record(counts.edgeTimes, request.edgeMs);
  if (request.originMs !== null) record(counts.originTimes, request.originMs);
  addHash(counts.visitors, hashPair(hashOf(request.ip), hashOf(request.userAgent)));
  countGateway(counts, request);
  if (decision !== null) countRules(counts, decision, request);
}

function countGateway({ gateways }: TrafficCounts, { gateway, status, at }: CountedRequest): void {
  if (gateway !== null) countGatewayRequest(gateways, gateway, { status: statusNumber(status), at });
}

function hashOf(value: string | null): number {
  return hashText(value === null ? '' : topValue(value));
}

/** Adds one request to the sums. */
function countSums({ sums }: TrafficCounts, request: CountedRequest): void {
  sums.requests++;
  sums.octets_in += request.octetsIn;
  sums.octets_out += request.octetsOut;
  if (request.gateway?.isAdmitted === true) sums.gateway_requests++;
  if (!request.originRequest) return;
  sums.origin_requests++;
  if (request.originError) sums.origin_errors++;
  if (!request.monitored) return;
  sums.monitored++;
  if (request.originError) sums.monitored_errors++;
}

/** The key of a dimension that a request is counted under. */
function keyOf(request: CountedRequest, dimension: Dimension): string {
  switch (dimension) {
    case 'action':
      return request.decision === null ? 'none' : request.decision.action;
    case 'status':
      return statusKey(request.status);
    case 'cache':
      return request.cache ?? 'none';
    case 'country':
      return request.country ?? 'unknown';
    case 'bot':
      return request.bot ?? 'none';
  }
}

/** Counts every rule once with each mode and effect, and what dry_run rules would have changed. */
function countRules(counts: TrafficCounts, decision: Decision, { at, pageMatches }: CountedRequest): void {
  const counted = new Set<string>();
  for (const match of [...decision.matches, ...pageMatches]) {
    const { type, id, mode, effect } = match satisfies Match;
    const key = hitKey(match);
    if (counted.has(key)) continue;
    counted.add(key);
    addHits(counts, { type, id, mode, effect, hits: 1, lastAt: at });
  }
  for (const change of shadowChanges(decision)) addChange(counts, change);
}

/** Adds the values of one request to top lists; what it does not have is in no list. */
export function countTops(lists: TopLists, request: CountedRequest): void {
  for (const kind of TOP_KINDS) {
    const value = topValueOf(request, kind);
    if (value !== null) offer(lists[kind], topValue(value));
  }
}

/** The value that a top list counts. */
export function topValueOf(request: CountedRequest, kind: TopKind): string | null {
  switch (kind) {
    case 'path':
      return request.path;
    case 'address':
      return request.ip;
    case 'country':
      return request.country;
    case 'user_agent':
      return request.userAgent;
    case 'ja4':
      return request.ja4;
    case 'referrer':
      return request.referrer;
    case 'unknown_operation':
      return unknownOperation(request);
  }
}

/** Counts of requests with their top lists. */
export interface CountedTraffic {
  readonly counts: TrafficCounts;
  readonly tops: TopLists;
}

/** Counts the requests of one domain. */
export interface RequestCounter {
  count(request: CountedRequest): void;
  /** What was counted since the last drain; `null`: nothing. */
  drain(): CountedTraffic | null;
}

/** The number of requests with one key. */
interface Cell {
  requests: number;
}

/** The cells of one dimension. */
interface Cells {
  readonly byKey: Map<string, Cell>;
  /** The key of the last request, and its cell. */
  lastKey: string | null;
  lastCell: Cell;
}

interface HitCell extends RuleHits {
  /** The number of the last request that it counted: a rule counts once per request. */
  request: number;
}

/** What is counted until the next drain. */
interface Pending extends CountedTraffic {
  readonly keys: Readonly<Record<Dimension, Cells>>;
  /** By `hitNumber`. */
  readonly hits: Map<number, HitCell>;
}

/** A counter of nothing. */
export function createRequestCounter(): RequestCounter {
  let pending = createPending();
  return {
    count: (request) => countInto(pending, request),
    drain: () => {
      if (pending.counts.sums.requests === 0) return null;
      const { counts, tops } = pending;
      flush(pending);
      pending = createPending();
      return { counts, tops };
    },
  };
}

function createPending(): Pending {
  return {
    counts: createTrafficCounts(),
    tops: createTopLists(),
    keys: fromEach(DIMENSIONS, createCells),
    hits: new Map(),
  };
}

/** What `lastCell` is before the first key; nothing is counted in it. */
const NO_CELL: Cell = Object.freeze({ requests: 0 });
const HASH_OF_NONE = hashText('');

function createCells(): Cells {
  return { byKey: new Map(), lastKey: null, lastCell: NO_CELL };
}

function countInto(pending: Pending, request: CountedRequest): void {
  const { counts, tops } = pending;
  const { decision, edgeMs, originMs } = request;
  countSums(counts, request);
  for (const dimension of DIMENSIONS) countKey(pending, dimension, keyOf(request, dimension));
  if (edgeMs !== null) record(counts.edgeTimes, edgeMs);
  if (originMs !== null) record(counts.originTimes, originMs);
  const address = countAndHash(tops.address, request.ip);
  const userAgent = countAndHash(tops.user_agent, request.userAgent);
  addHash(counts.visitors, hashPair(address, userAgent));
  countGateway(counts, request);
  countValue(tops.path, request.path);
  countValue(tops.country, request.country);
  countValue(tops.ja4, request.ja4);
  countValue(tops.referrer, request.referrer);
  countValue(tops.unknown_operation, unknownOperation(request));
  if (decision === null) return;
  countMatches(pending, decision.matches, request);
  countMatches(pending, request.pageMatches, request);
  if (decision.shadow === null) return;
  for (const change of shadowChanges(decision)) addChange(counts, change);
}

function countValue(list: SpaceSaving, value: string | null): void {
  if (value !== null) offer(list, topValue(value));
}

/** @returns the hash of the value, which distinguishes visitors */
function countAndHash(list: SpaceSaving, value: string | null): number {
  if (value === null) return HASH_OF_NONE;
  const text = topValue(value);
  const entry = offer(list, text);
  if (entry.hash < 0) entry.hash = hashText(text);
  return entry.hash;
}

function countKey(pending: Pending, dimension: Dimension, key: string): void {
  const cells = pending.keys[dimension];
  if (key !== cells.lastKey) {
    cells.lastCell = cells.byKey.get(key) ?? addCell(pending, dimension, key);
    cells.lastKey = key;
  }
  cells.lastCell.requests++;
}

function addCell(pending: Pending, dimension: Dimension, key: string): Cell {
  if (pending.keys[dimension].byKey.size >= MAX_KEYS[dimension]) flushKeys(pending, dimension);
  const cell = { requests: 0 };
  pending.keys[dimension].byKey.set(key, cell);
  return cell;
}

const TYPE_NUMBERS = numbersOf(RULE_TYPES);
const EFFECT_NUMBERS = numbersOf(EFFECTS);
/** Effects, each in both modes. */
const EFFECT_SPAN = EFFECTS.length * 2;
const TYPE_SPAN = RULE_TYPES.length;

function numbersOf<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  return fromEach(names, (name) => names.indexOf(name));
}

/** The rule, mode and effect of a match as one number. PERF: `hitKey` makes a text. */
function hitNumber({ type, id, mode, effect }: Match): number {
  const variant = EFFECT_NUMBERS[effect] * 2 + (mode === 'dry_run' ? 1 : 0);
  return (id * TYPE_SPAN + TYPE_NUMBERS[type]) * EFFECT_SPAN + variant;
}

function countMatches(pending: Pending, matches: readonly Match[], { at }: CountedRequest): void {
  const { hits, counts } = pending;
  for (const match of matches) {
    const number = hitNumber(match);
    const cell = hits.get(number);
    if (cell === undefined) addHitCell(pending, number, { match, at });
    else if (cell.request !== counts.sums.requests) {
      cell.request = counts.sums.requests;
      cell.hits++;
      if (at > cell.lastAt) cell.lastAt = at;
    }
  }
}

function addHitCell(
  pending: Pending,
  number: number,
  { match, at }: { readonly match: Match; readonly at: number },
): void {
  if (pending.hits.size >= MAX_HITS) flushHits(pending);
  const { type, id, mode, effect } = match;
  const request = pending.counts.sums.requests;
  pending.hits.set(number, { type, id, mode, effect, hits: 1, lastAt: at, request });
}

/** Adds everything in cells to the counts. */
function flush(pending: Pending): void {
  for (const dimension of DIMENSIONS) flushKeys(pending, dimension);
  flushHits(pending);
}

function flushKeys({ counts, keys }: Pending, dimension: Dimension): void {
  const cells = keys[dimension];
  for (const [key, { requests }] of cells.byKey) addKey(counts, dimension, { key, requests });
  cells.byKey.clear();
  cells.lastKey = null;
  cells.lastCell = NO_CELL;
}

function flushHits({ counts, hits }: Pending): void {
  for (const { type, id, mode, effect, hits: some, lastAt } of hits.values()) {
    addHits(counts, { type, id, mode, effect, hits: some, lastAt });
  }
  hits.clear();
}
