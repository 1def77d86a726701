/**
 * Decides which responses are read from their origins while their clients read nothing. Reading all at once, the event loop
 * would read from hundreds of sockets in each pass, origins and disk would be busy with octets that no client reads yet, and
 * connections to origins would become free at the very end. So a few responses are read at a time, each for a turn, by round
 * robin over the origins, at 64 MiB/s in all unless requests wait for the connections. Their number follows additive
 * increase and multiplicative decrease (Chiu and Jain, 1989): it rises while octets are left and the event loop is on time,
 * so that slow origins do not wait for each other.
 */
import { first } from '../text/first.ts';

/** A response whose client reads nothing. */
export interface Drain {
  /** Reads from the origin, until `stop`. */
  start(): void;
  /** Reads nothing for now. It starts again, unless it leaves the queue. */
  stop(): void;
}

/** An origin with connections that requests may wait for. */
export interface DrainOrigin {
  counts(): { readonly waiting: number };
}

/** The place of one response in the queue. */
export interface DrainPlace {
  /** Counts octets that came from the origin. */
  took(octets: number): void;
  leave(): void;
}

export interface DrainQueue {
  /** Adds a response, which gets turns until it leaves; none starts before this returns. */
  join(origin: DrainOrigin, drain: Drain): DrainPlace;
}

/** Milliseconds between two ticks of the queue. */
const TICK_MS = 5;
/** Ticks that a turn lasts while others wait. */
const TURN_TICKS = 20;
/** Octets a tick while no request waits for a connection: 64 MiB/s. PERF: at twice that others' p99 doubles. */
const TICK_OCTETS = 320 * 1024;
/** Milliseconds by which a tick may be late for the number of turns to rise. */
const ON_TIME_MS = 4;
/** Milliseconds by which a tick is late for the number of turns to fall. */
const LATE_MS = 8;

interface Member {
  readonly origin: DrainOrigin;
  readonly drain: Drain;
  /** Ticks since its turn started; `null`: it waits. */
  ticks: number | null;
}

interface QueueState {
  /** Waiting members by origin, in order of arrival; the origins in the order of their turns. */
  readonly queues: Map<DrainOrigin, Set<Member>>;
  /** Members that have their turn, the oldest first. */
  readonly active: Set<Member>;
  /** Turns at a time. */
  turns: number;
  /** Octets left until the next tick; none or fewer: all members pause. */
  octets: number;
  timer: NodeJS.Timeout | null;
  /** When the next tick is due (`performance.now()`). */
  due: number;
}

export function createDrainQueue(): DrainQueue {
  const state: QueueState = {
    queues: new Map(),
    active: new Set(),
    turns: 1,
    octets: TICK_OCTETS,
    timer: null,
    due: 0,
  };
  return {
    join(origin, drain) {
      const member: Member = { origin, drain, ticks: null };
      enqueue(state, member);
      queueMicrotask(() => startTurns(state));
      return {
        took: (octets) => countOctets(state, octets),
        leave: () => leave(state, member),
      };
    },
  };
}

function countOctets(state: QueueState, octets: number): void {
  if (state.octets <= 0) return;
  state.octets -= octets;
  if (state.octets <= 0) for (const { drain } of state.active) drain.stop();
}

function leave(state: QueueState, member: Member): void {
  if (member.ticks === null) dequeue(state, member);
  else state.active.delete(member);
  member.ticks = null;
  queueMicrotask(() => startTurns(state));
}

function enqueue({ queues }: QueueState, member: Member): void {
  const queue = queues.get(member.origin);
  if (queue === undefined) queues.set(member.origin, new Set([member]));
  else queue.add(member);
}

/** Removes a waiting member. */
function dequeue({ queues }: QueueState, member: Member): void {
  const queue = queues.get(member.origin);
  queue?.delete(member);
  if (queue?.size === 0) queues.delete(member.origin);
}

/** Starts turns until there are as many as allowed. */
function startTurns(state: QueueState): void {
  const { queues, active } = state;
  while (active.size < state.turns && queues.size > 0) {
    const [origin, queue] = first(queues)!;
    const member = first(queue)!;
    // The origin moves to the end of the order.
    queues.delete(origin);
    queue.delete(member);
    if (queue.size > 0) queues.set(origin, queue);
    member.ticks = 0;
    active.add(member);
    if (state.octets > 0) member.drain.start();
  }
  if (active.size > 0) scheduleTick(state);
}

function endTurn(state: QueueState, member: Member): void {
  state.active.delete(member);
  member.ticks = null;
  enqueue(state, member);
  if (state.octets > 0) member.drain.stop();
}

function scheduleTick(state: QueueState): void {
  if (state.timer !== null) return;
  state.due = performance.now() + TICK_MS;
  state.timer = setTimeout(tick, TICK_MS, state).unref();
}

/** Adjusts the number of turns, refills the octets, and ends and starts turns. */
function tick(state: QueueState): void {
  const { queues, active } = state;
  state.timer = null;
  const lateMs = performance.now() - state.due;
  const isSpent = state.octets <= 0;
  if (lateMs > LATE_MS || isSpent) state.turns = Math.max(1, state.turns >> 1);
  else if (lateMs < ON_TIME_MS && queues.size > 0) state.turns++;
  state.octets = isConnectionWanted(state)
    ? Number.POSITIVE_INFINITY
    : Math.min(state.octets, 0) + TICK_OCTETS;
  if (isSpent && state.octets > 0) for (const { drain } of active) drain.start();
  for (const member of active) {
    member.ticks!++;
    if (active.size > state.turns || (queues.size > 0 && member.ticks! >= TURN_TICKS)) endTurn(state, member);
  }
  startTurns(state);
}

/** Whether a request waits for a connection to an origin that a member reads from. */
function isConnectionWanted({ active, queues }: QueueState): boolean {
  for (const { origin } of active) if (origin.counts().waiting > 0) return true;
  for (const origin of queues.keys()) if (origin.counts().waiting > 0) return true;
  return false;
}
