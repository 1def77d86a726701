/**
 * Counts finished requests of one domain: what `countRequest` and `countTops` count, at a fraction of their cost. In: finished
 * requests. Out, at each drain: what was counted since the last one. A node drains every second.
 *
 * PERF: until the drain, numbers are in cells, which a request finds by a number or by the very text that the request before
 * had; the hash of an address or User-Agent is computed once per second, not per request; values of top lists are counted
 * exactly, and offered to the summaries with their numbers.
 */
import { RULE_TYPES } from '../base/vocabulary.ts';
import { EFFECTS, type Match } from '../evaluator/decision.ts';
import { countSums, keyOf } from './count-request.ts';
import { type CountedRequest, topValue } from './counted-request.ts';
import {
  addChange,
  addHits,
  addKey,
  createTopLists,
  createTrafficCounts,
  DIMENSIONS,
  type Dimension,
  fromEach,
  type RuleHits,
  TOP_KINDS,
  type TopKind,
  type TopLists,
  type TrafficCounts,
} from './counts.ts';
import { hashPair, hashText } from './hash.ts';
import { addHash } from './hyperloglog.ts';
import { MAX_CELLS, MAX_HITS } from './limits.ts';
import { record } from './log-histogram.ts';
import { ownText } from './own-text.ts';
import { shadowChanges } from './shadow-changes.ts';
import { offer } from './space-saving.ts';

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

/** The number of requests with one key of a dimension, or one value of a top list. */
interface Cell {
  requests: number;
  /** Of the value, for the visitor sketch. */
  readonly hash: number;
}

/** Cells by text. The text of the last request needs no look-up. */
interface Cells {
  readonly byText: Map<string, Cell>;
  /** Whether cells have the hashes of their texts. */
  readonly hashed: boolean;
  lastText: string | null;
  lastCell: Cell;
}

interface HitCell extends RuleHits {
  /** The number of the last request that it counted: a rule counts once per request. */
  request: number;
}

/** What is counted until the next drain. */
interface Pending extends CountedTraffic {
  readonly keys: Readonly<Record<Dimension, Cells>>;
  readonly values: Readonly<Record<TopKind, Cells>>;
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
    keys: fromEach(DIMENSIONS, () => createCells(false)),
    values: fromEach(TOP_KINDS, (kind) => createCells(kind === 'address' || kind === 'user_agent')),
    hits: new Map(),
  };
}

/** What `lastCell` is before the first text; never counted in. */
const NO_CELL: Cell = Object.freeze({ requests: 0, hash: 0 });
const HASH_OF_NONE = hashText('');

function createCells(hashed: boolean): Cells {
  return { byText: new Map(), hashed, lastText: null, lastCell: NO_CELL };
}

function countInto(pending: Pending, request: CountedRequest): void {
  const { counts } = pending;
  const { decision, edgeMs, originMs } = request;
  countSums(counts, request);
  for (const dimension of DIMENSIONS) countKey(pending, dimension, keyOf(request, dimension));
  if (edgeMs !== null) record(counts.edgeTimes, edgeMs);
  if (originMs !== null) record(counts.originTimes, originMs);
  const address = countValue(pending, 'address', request.ip);
  const userAgent = countValue(pending, 'user_agent', request.userAgent);
  addHash(counts.visitors, hashPair(address, userAgent));
  countValue(pending, 'path', request.path);
  countValue(pending, 'country', request.country);
  countValue(pending, 'ja4', request.ja4);
  countValue(pending, 'referrer', request.referrer);
  if (decision === null) return;
  countMatches(pending, decision.matches, request);
  countMatches(pending, request.pageMatches, request);
  if (decision.shadow === null) return;
  for (const change of shadowChanges(decision)) addChange(counts, change);
}

function countKey(pending: Pending, dimension: Dimension, key: string): void {
  const cells = pending.keys[dimension];
  if (key === cells.lastText) {
    cells.lastCell.requests++;
    return;
  }
  if (cells.byText.size >= MAX_CELLS) flushKeys(pending, dimension);
  cellOf(cells, key).requests++;
}

/** Counts a value of a top list. @returns its hash, for lists that visitors are told apart by */
function countValue(pending: Pending, kind: TopKind, value: string | null): number {
  if (value === null) return HASH_OF_NONE;
  const cells = pending.values[kind];
  if (value === cells.lastText) {
    cells.lastCell.requests++;
    return cells.lastCell.hash;
  }
  if (cells.byText.size >= MAX_CELLS) flushValues(pending, kind);
  const cell = cellOf(cells, topValue(value));
  cell.requests++;
  return cell.hash;
}

/** The cell of a text, which becomes the last one. */
function cellOf(cells: Cells, text: string): Cell {
  let cell = cells.byText.get(text);
  if (cell === undefined) {
    cell = { requests: 0, hash: cells.hashed ? hashText(text) : 0 };
    cells.byText.set(ownText(text), cell);
  }
  cells.lastText = text;
  cells.lastCell = cell;
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

/** Adds everything in cells to the counts and top lists. */
function flush(pending: Pending): void {
  for (const dimension of DIMENSIONS) flushKeys(pending, dimension);
  for (const kind of TOP_KINDS) flushValues(pending, kind);
  flushHits(pending);
}

function flushKeys({ counts, keys }: Pending, dimension: Dimension): void {
  for (const [key, { requests }] of keys[dimension].byText) addKey(counts, dimension, { key, requests });
  clear(keys[dimension]);
}

function flushValues({ tops, values }: Pending, kind: TopKind): void {
  for (const [value, { requests }] of values[kind].byText) offer(tops[kind], value, requests);
  clear(values[kind]);
}

function clear(cells: Cells): void {
  cells.byText.clear();
  cells.lastText = null;
  cells.lastCell = NO_CELL;
}

function flushHits({ counts, hits }: Pending): void {
  for (const { type, id, mode, effect, hits: some, lastAt } of hits.values()) {
    addHits(counts, { type, id, mode, effect, hits: some, lastAt });
  }
  hits.clear();
}
