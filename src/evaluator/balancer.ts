/**
 * Which origin of a pool a request goes to (semantics §5, origin_pool). In go the pool's numbers, what the node knows
 * about its origins, and the state that earlier picks left; out comes an origin's index. Nothing is allocated.
 *
 * The rotation is the smooth weighted round robin of nginx (`ngx_http_upstream_round_robin.c`): each pick raises
 * every candidate by its weight, takes the highest, and lowers that one by the sum. Weights 5, 1, 1 give a a b a c a a.
 */
import type { LbType } from '../base/vocabulary.ts';

/** A pool's numbers, all arrays by origin. At least one weight is above 0. */
export interface Pool {
  readonly lbType: LbType;
  /** 0 drains. */
  readonly weights: ArrayLike<number>;
  /** Edge nodes that use the origin under `geo`; empty: the nodes no origin names. */
  readonly nodeIds: ArrayLike<ArrayLike<number>>;
}

/** What the node knows as the request comes in. */
export interface Surroundings {
  /** This node; `null` when it has no number. */
  readonly nodeId: number | null;
  healthy(origin: number): boolean;
  /** Requests the origin is working on. What is not a number above 0 counts as 0. */
  inFlight(origin: number): number;
}

/** What picks leave for later picks; one per pool. */
export interface PoolState {
  /** Each origin's standing in the rotation. */
  readonly standing: Float64Array;
  /** Within one pick: which origins are candidates, and which are healthy. */
  readonly candidate: Uint8Array;
  readonly healthy: Uint8Array;
}

/** The state of a pool nobody has picked from. */
export function createPoolState(originCount: number): PoolState {
  return {
    standing: new Float64Array(originCount),
    candidate: new Uint8Array(originCount),
    healthy: new Uint8Array(originCount),
  };
}

/** Whether a pick moves the rotation on, or only looks at what it would take. */
export interface PickOptions {
  readonly advance: boolean;
}

/**
 * The index of the origin to use.
 * @param state of this pool, made for as many origins as it has
 */
// PERF: positional parameters, since callers would make an options object per request.
export function pick(pool: Pool, state: PoolState, around: Surroundings, options: PickOptions): number {
  const count = pool.weights.length;
  for (let i = 0; i < count; i++) state.healthy[i] = around.healthy(i) ? 1 : 0;
  switch (pool.lbType) {
    case 'round_robin':
      chooseHealthy(pool, state);
      return rotate(pool.weights, state, options);
    case 'least_load':
      chooseHealthy(pool, state);
      keepLeastLoaded(pool, state, around);
      return rotate(pool.weights, state, options);
    case 'geo':
      chooseGroup(pool, state, around.nodeId);
      return rotate(null, state, options);
    default: {
      const unknown: never = pool.lbType;
      return unknown;
    }
  }
}

/** What taking turns leaves: whose turn is next. */
export interface TurnState {
  next: number;
}

/** The state of a group of records nobody has picked from. */
export function createTurnState(): TurnState {
  return { next: 0 };
}

/** Takes turns among `count` equals: the host's own records in id order. */
export function pickInTurn(count: number, state: TurnState, options: PickOptions): number {
  const index = state.next < count ? state.next : 0;
  if (options.advance) state.next = index + 1 < count ? index + 1 : 0;
  return index;
}

/** Candidates: the healthy with a weight, or all with a weight when none of them is healthy. */
function chooseHealthy(pool: Pool, state: PoolState): void {
  const { candidate, healthy } = state;
  let found = false;
  for (let i = 0; i < candidate.length; i++) {
    candidate[i] = pool.weights[i]! > 0 ? healthy[i]! : 0;
    if (candidate[i] === 1) found = true;
  }
  if (found) return;
  for (let i = 0; i < candidate.length; i++) candidate[i] = pool.weights[i]! > 0 ? 1 : 0;
}

/** Leaves of the candidates those with the fewest requests in flight for their weight. */
function keepLeastLoaded(pool: Pool, state: PoolState, around: Surroundings): void {
  const { candidate } = state;
  let leastLoad = 0;
  let leastWeight = 0;
  for (let i = 0; i < candidate.length; i++) {
    if (candidate[i] === 0) continue;
    let load = around.inFlight(i);
    if (!(load > 0)) load = 0;
    const weight = pool.weights[i]!;
    // Cross-multiplied, so that equal shares compare equal: 1/3 and 2/6 as quotients need not.
    const difference = leastWeight === 0 ? -1 : load * leastWeight - leastLoad * weight;
    if (difference > 0) {
      candidate[i] = 0;
    } else if (difference < 0) {
      candidate.fill(0, 0, i);
      leastLoad = load;
      leastWeight = weight;
    }
  }
}

/** The groups of `geo`, in the order they are tried. */
const NAMES_NODE = 0;
const NAMES_NONE = 1;
const ANY = 2;

/** Candidates: the healthy of the first group that has one, or the whole first group that has a member. */
function chooseGroup(pool: Pool, state: PoolState, nodeId: number | null): void {
  const { candidate, healthy } = state;
  let firstWithMember = -1;
  for (let group = NAMES_NODE; group <= ANY; group++) {
    let found = false;
    for (let i = 0; i < candidate.length; i++) {
      const member = isInGroup(pool, i, group, nodeId);
      if (member && firstWithMember < 0) firstWithMember = group;
      candidate[i] = member ? healthy[i]! : 0;
      if (candidate[i] === 1) found = true;
    }
    if (found) return;
  }
  for (let i = 0; i < candidate.length; i++)
    candidate[i] = isInGroup(pool, i, firstWithMember, nodeId) ? 1 : 0;
}

function isInGroup(pool: Pool, origin: number, group: number, nodeId: number | null): boolean {
  if (!(pool.weights[origin]! > 0)) return false;
  const ids = pool.nodeIds[origin]!;
  if (group === ANY) return true;
  if (group === NAMES_NONE) return ids.length === 0;
  for (let i = 0; i < ids.length; i++) if (ids[i] === nodeId) return true;
  return false;
}

/** The candidate whose turn it is. @param weights `null`: all alike */
function rotate(weights: ArrayLike<number> | null, state: PoolState, options: PickOptions): number {
  const { standing, candidate } = state;
  let chosen = 0;
  let highest = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (let i = 0; i < candidate.length; i++) {
    if (candidate[i] === 0) continue;
    const weight = weights === null ? 1 : weights[i]!;
    sum += weight;
    const raised = standing[i]! + weight;
    if (options.advance) standing[i] = raised;
    if (raised <= highest) continue;
    chosen = i;
    highest = raised;
  }
  if (options.advance) standing[chosen]! -= sum;
  return chosen;
}
