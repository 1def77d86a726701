/**
 * Chooses the origin of a pool for a request (semantics §5, origin_pool). In: the pool's numbers, the health and load of
 * its origins, and the state of earlier picks. Out: the index of an origin. Allocates nothing.
 *
 * The rotation is the smooth weighted round robin of nginx (`ngx_http_upstream_round_robin.c`): each pick raises
 * every candidate by its weight, takes the highest, and lowers that one by the sum. Weights 5, 1, 1 give a a b a c a a.
 */
import type { LbType } from '../../base/vocabulary/vocabulary.ts';

/** A pool's numbers, all arrays by origin. At least one weight is above 0. */
export interface Pool {
  readonly lbType: LbType;
  /** 0 drains. */
  readonly weights: ArrayLike<number>;
  /** Edge nodes that use the origin under `geo`; empty: the nodes no origin names. */
  readonly nodeIds: ArrayLike<ArrayLike<number>>;
}

/** The node's state when a request arrives. */
export interface Surroundings {
  /** This node; `null` when it has no number. */
  readonly nodeId: number | null;
  healthy(origin: number): boolean;
  /** Requests the origin is working on. What is not a number above 0 counts as 0. */
  inFlight(origin: number): number;
}

/** The state between picks; one per pool. */
export interface PoolState {
  /** Each origin's standing in the rotation. */
  readonly standing: Float64Array;
  /** Within one pick: which origins are candidates, and which are healthy. */
  readonly candidate: Uint8Array;
  readonly healthy: Uint8Array;
}

/** The state of a pool before its first pick. */
export function createPoolState(originCount: number): PoolState {
  return {
    standing: new Float64Array(originCount),
    candidate: new Uint8Array(originCount),
    healthy: new Uint8Array(originCount),
  };
}

/** Whether a pick advances the rotation, or only returns what the next one would take. */
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

/** The state of a plain round robin: the index of the next turn. */
export interface TurnState {
  next: number;
}

/** The state of a group of records before its first pick. */
export function createTurnState(): TurnState {
  return { next: 0 };
}

/** Plain round robin over `count` equals: the host's own records in id order. */
export function pickInTurn(count: number, state: TurnState, options: PickOptions): number {
  const index = state.next < count ? state.next : 0;
  if (options.advance) state.next = index + 1 < count ? index + 1 : 0;
  return index;
}

/** Marks as candidates the healthy origins with a weight, or all with a weight when none of them is healthy. */
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

/** Reduces the candidates to those with the fewest requests in progress for their weight. */
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

/** Marks as candidates the healthy origins of the first group that has one, or the whole first group with a member. */
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

/** Whether an origin belongs to a group of `geo` for this node. */
function isInGroup(pool: Pool, origin: number, group: number, nodeId: number | null): boolean {
  if (!(pool.weights[origin]! > 0)) return false;
  const ids = pool.nodeIds[origin]!;
  if (group === ANY) return true;
  if (group === NAMES_NONE) return ids.length === 0;
  for (let i = 0; i < ids.length; i++) if (ids[i] === nodeId) return true;
  return false;
}

/** The candidate that the rotation takes next. @param weights `null`: all equal */
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
