/**
 * Distributes the connections to one origin. A request takes a slot before it is sent and releases it when its response has
 * arrived. A client network may use as many slots as it leaves free (Choudhury and Hahne, "Dynamic queue length
 * thresholds", 1998), so that a newcomer finds one. If all are in use, networks with less than a quarter of them go
 * first, by round robin. If requests wait because of clients that send or read next to nothing, those are ended.
 */
import { first } from '../../../base/text/first.ts';

/** A request that uses a slot. */
export interface SlotUse {
  /** Milliseconds in which it waited for its client so far, and octets that the client sent and took. */
  flow(): { readonly waitedMs: number; readonly octets: number };
  /** Other requests wait: releases the slot as soon as possible. */
  hurry(): void;
  /** Ends the request: its client is too slow while others wait. */
  end(): void;
}

export interface SlotRequest {
  readonly network: string;
  /** Called once with the slot, which `release` gives back; at once if one is free. */
  begin(release: () => void): SlotUse;
  /** Called instead if no slot becomes free in time. */
  refuse(reason: string): void;
}

export interface Slots {
  /** @returns leaves the queue; without effect once the request has begun */
  take(request: SlotRequest): () => void;
  /** Slots in use, and requests that wait for one. */
  counts(): { readonly used: number; readonly waiting: number };
}

export interface SlotsOptions {
  readonly maxConnections: number;
  /** Requests that wait at most. */
  readonly maxQueued: number;
  /** Milliseconds that a request waits at most. */
  readonly waitMs: number;
  /** Milliseconds between two measurements of slow clients while requests wait. Default: `MEASURE_MS`. */
  readonly measureMs?: number;
}

/** The part of the slots up to which a network goes first. */
const SHARE = 1 / 4;
/** Milliseconds between two measurements. */
const MEASURE_MS = 1_000;
/** Consecutive measurements after which a slow client is ended. */
const SLOW_MEASUREMENTS = 5;
/** Octets a second below which a client is slow. */
const SLOW_RATE = 16 * 1024;
/** The part of the time between two measurements in which the request waited for its client, for that to be slow. */
const WAITED_SHARE = 0.9;

interface Waiter {
  readonly request: SlotRequest;
  /** Refuses the request after `waitMs`. */
  readonly timer: NodeJS.Timeout;
}

/** The last measurement of one use. */
interface Measurement {
  waitedMs: number;
  octets: number;
  /** Consecutive measurements by which its client was slow. */
  slow: number;
}

interface SlotState {
  readonly options: Required<SlotsOptions>;
  /** Slots up to which a network goes first. */
  readonly quarter: number;
  /** Slots in use, by network. */
  readonly used: Map<string, number>;
  readonly uses: Set<SlotUse>;
  /** The uses that were measured. PERF: most end before a measurement. */
  readonly measured: Map<SlotUse, Measurement>;
  /** Waiting requests by network, in order of arrival; the networks in the order of their turns. */
  readonly queues: Map<string, Set<Waiter>>;
  free: number;
  waiting: number;
  /** Runs while requests wait. */
  measuring: NodeJS.Timeout | null;
}

export function createSlots(options: SlotsOptions): Slots {
  const { maxConnections } = options;
  const state: SlotState = {
    options: { measureMs: MEASURE_MS, ...options },
    quarter: Math.ceil(maxConnections * SHARE),
    used: new Map(),
    uses: new Set(),
    measured: new Map(),
    queues: new Map(),
    free: maxConnections,
    waiting: 0,
    measuring: null,
  };
  return {
    take: (request) => take(state, request),
    counts: () => ({ used: maxConnections - state.free, waiting: state.waiting }),
  };
}

function take(state: SlotState, request: SlotRequest): () => void {
  const { network } = request;
  if (mayBegin(state, network)) {
    begin(state, request);
    return nothing;
  }
  if (state.waiting >= state.options.maxQueued && !makeRoom(state, network)) {
    queueMicrotask(() => request.refuse(fullReason(state)));
    return nothing;
  }
  return enqueue(state, request);
}

/** Gives a slot to a request. */
function begin(state: SlotState, { network, begin: start }: SlotRequest): void {
  const { used, uses, measured } = state;
  state.free--;
  used.set(network, usedBy(state, network) + 1);
  let use: SlotUse | null = null;
  let released = false;
  use = start(() => {
    if (released) return;
    released = true;
    if (use !== null) {
      uses.delete(use);
      if (measured.size > 0) measured.delete(use);
    }
    const left = used.get(network)! - 1;
    if (left === 0) used.delete(network);
    else used.set(network, left);
    state.free++;
    if (state.waiting > 0) fillSlots(state);
  });
  // A request may fail, and release its slot, before `start` has returned.
  if (!released) uses.add(use);
}

function usedBy({ used }: SlotState, network: string): number {
  return used.get(network) ?? 0;
}

/** Whether a network may have one of the free slots. Below a quarter none waits while a slot is free. */
function mayBegin(state: SlotState, network: string): boolean {
  const own = usedBy(state, network);
  return state.free > 0 && (own < state.quarter || own <= state.free);
}

/** Gives the free slots to waiting requests. */
function fillSlots(state: SlotState): void {
  for (let network = nextNetwork(state); network !== null; network = nextNetwork(state)) {
    const waiter = first(state.queues.get(network)!)!;
    leave(state, waiter);
    begin(state, waiter.request);
  }
}

/** The next network by round robin; `null`: none may begin. Passes over four networks at most: no more have a quarter. */
function nextNetwork(state: SlotState): string | null {
  const { queues } = state;
  let aboveQuarter: string | null = null;
  for (let left = queues.size; left > 0; left--) {
    const [network, queue] = first(queues)!;
    queues.delete(network);
    queues.set(network, queue);
    if (state.free > 0 && usedBy(state, network) < state.quarter) return network;
    if (aboveQuarter === null && mayBegin(state, network)) aboveQuarter = network;
    if (state.free === 0) return null;
  }
  return aboveQuarter;
}

function enqueue(state: SlotState, request: SlotRequest): () => void {
  const { waitMs, measureMs } = state.options;
  const { queues, uses } = state;
  const reason = `no connection to this origin was free within ${waitMs} ms`;
  const waiter: Waiter = { request, timer: setTimeout(() => refuse(state, waiter, reason), waitMs) };
  const queue = queues.get(request.network);
  if (queue === undefined) queues.set(request.network, new Set([waiter]));
  else queue.add(waiter);
  if (state.waiting++ === 0) for (const use of uses) use.hurry();
  state.measuring ??= setInterval(() => endSlowest(state), measureMs).unref();
  return () => leave(state, waiter);
}

/** Removes a request from the queue, if it is in it. */
function leave(state: SlotState, waiter: Waiter): void {
  const { network } = waiter.request;
  const queue = state.queues.get(network);
  if (queue?.delete(waiter) !== true) return;
  clearTimeout(waiter.timer);
  if (queue.size === 0) state.queues.delete(network);
  if (--state.waiting > 0 || state.measuring === null) return;
  clearInterval(state.measuring);
  state.measuring = null;
}

function refuse(state: SlotState, waiter: Waiter, reason: string): void {
  leave(state, waiter);
  waiter.request.refuse(reason);
}

/**
 * Makes room in a full queue for a network that has fewer requests in it than another, by refusing one of that.
 * @returns `false`: no network has more
 */
function makeRoom(state: SlotState, network: string): boolean {
  let longest: ReadonlySet<Waiter> = new Set();
  for (const queue of state.queues.values()) if (queue.size > longest.size) longest = queue;
  if ((state.queues.get(network)?.size ?? 0) + 1 >= longest.size) return false;
  refuse(state, first(longest)!, fullReason(state));
  return true;
}

function fullReason({ options }: SlotState): string {
  return `${options.maxQueued} requests wait for a connection to this origin already`;
}

/** The last measurement of a use; at first that of its beginning. */
function measurementOf({ measured }: SlotState, use: SlotUse): Measurement {
  let found = measured.get(use);
  if (found === undefined) {
    found = { waitedMs: 0, octets: 0, slow: 0 };
    measured.set(use, found);
  }
  return found;
}

/** Ends the requests whose clients have been slow for several measurements, the slowest first, as many as others wait. */
function endSlowest(state: SlotState): void {
  const { measureMs } = state.options;
  const slowest: { readonly use: SlotUse; readonly rate: number }[] = [];
  for (const use of state.uses) {
    const before = measurementOf(state, use);
    const { waitedMs, octets } = use.flow();
    const rate = ((octets - before.octets) * 1_000) / measureMs;
    const isSlow = waitedMs - before.waitedMs >= measureMs * WAITED_SHARE && rate < SLOW_RATE;
    before.slow = isSlow ? before.slow + 1 : 0;
    before.waitedMs = waitedMs;
    before.octets = octets;
    if (before.slow >= SLOW_MEASUREMENTS) slowest.push({ use, rate });
  }
  slowest.sort((a, b) => a.rate - b.rate);
  for (const { use } of slowest.slice(0, state.waiting)) use.end();
}

function nothing(): void {}
