/**
 * Which answers are taken from their origins while their clients take nothing. All at once and as fast as they come, the
 * event loop would read from hundreds of sockets in each pass, origins and disk would be busy with what nobody reads, and
 * connections to the origin would become free at the very end. So a few are taken at a time, each for a turn, origins in
 * turn, and 64 MiB/s in all unless requests wait for the connections. How many at a time is found by additive increase and
 * multiplicative decrease (Chiu and Jain, 1989): more while there are octets left and the event loop is on time, so that
 * slow origins do not wait for each other.
 */
import { first } from '../base/first.ts';

/** An answer whose client takes nothing. */
export interface Drain {
  /** Takes octets from the origin, until `stop`. */
  start(): void;
  /** Takes none for now. It starts again, unless it leaves the queue. */
  stop(): void;
}

/** An origin with connections that requests wait for. */
export interface DrainOrigin {
  counts(): { readonly waiting: number };
}

/** The place of one answer in the queue. */
export interface DrainPlace {
  /** Octets came from the origin. */
  took(octets: number): void;
  leave(): void;
}

export interface DrainQueue {
  /** Asks for turns, one after another; none starts before this returns. */
  join(origin: DrainOrigin, drain: Drain): DrainPlace;
}

/** Milliseconds between two looks. */
const LOOK_MS = 5;
/** Looks that a turn lasts while others wait. */
const TURN_LOOKS = 20;
/** Octets between two looks while no request waits for a connection: 64 MiB/s. PERF: at twice that others' p99 doubles. */
const LOOK_OCTETS = 320 * 1024;
/** Milliseconds that a look may be late while more answers are taken at a time. */
const ON_TIME_MS = 4;
/** Milliseconds late from which on fewer are. */
const LATE_MS = 8;

interface Member {
  readonly origin: DrainOrigin;
  readonly drain: Drain;
  /** Looks since its turn started; `null`: it waits. */
  looks: number | null;
}

export function createDrainQueue(): DrainQueue {
  /** Those that wait, of each origin in order; the origins in the order of their turns. */
  const queues = new Map<DrainOrigin, Set<Member>>();
  /** Those that have their turn, the oldest first. */
  const active = new Set<Member>();
  /** Turns at a time. */
  let most = 1;
  /** Octets left until the next look; negative: all rest. */
  let octets = LOOK_OCTETS;
  let timer: NodeJS.Timeout | null = null;
  let due = 0;

  function enqueue(member: Member): void {
    const queue = queues.get(member.origin);
    if (queue === undefined) queues.set(member.origin, new Set([member]));
    else queue.add(member);
  }

  /** Takes a member out of those that wait. */
  function dequeue(member: Member): void {
    const queue = queues.get(member.origin);
    queue?.delete(member);
    if (queue?.size === 0) queues.delete(member.origin);
  }

  /** Starts turns, as many as there may be. */
  function fill(): void {
    while (active.size < most && queues.size > 0) {
      const [origin, queue] = first(queues)!;
      const member = first(queue)!;
      // Its origin goes to the end.
      queues.delete(origin);
      queue.delete(member);
      if (queue.size > 0) queues.set(origin, queue);
      member.looks = 0;
      active.add(member);
      if (octets > 0) member.drain.start();
    }
    if (active.size > 0) arm();
  }

  function endTurn(member: Member): void {
    active.delete(member);
    member.looks = null;
    enqueue(member);
    if (octets > 0) member.drain.stop();
  }

  function isWanted(): boolean {
    for (const { origin } of active) if (origin.counts().waiting > 0) return true;
    for (const origin of queues.keys()) if (origin.counts().waiting > 0) return true;
    return false;
  }

  function look(): void {
    timer = null;
    const lateMs = performance.now() - due;
    const isSpent = octets <= 0;
    if (lateMs > LATE_MS || isSpent) most = Math.max(1, most >> 1);
    else if (lateMs < ON_TIME_MS && queues.size > 0) most++;
    octets = isWanted() ? Number.POSITIVE_INFINITY : Math.min(octets, 0) + LOOK_OCTETS;
    if (isSpent && octets > 0) for (const { drain } of active) drain.start();
    for (const member of active) {
      member.looks!++;
      if (active.size > most || (queues.size > 0 && member.looks! >= TURN_LOOKS)) endTurn(member);
    }
    fill();
  }

  function arm(): void {
    if (timer !== null) return;
    due = performance.now() + LOOK_MS;
    timer = setTimeout(look, LOOK_MS).unref();
  }

  return {
    join(origin, drain) {
      const member: Member = { origin, drain, looks: null };
      enqueue(member);
      queueMicrotask(fill);
      return {
        took(count) {
          if (octets <= 0) return;
          octets -= count;
          if (octets <= 0) for (const one of active) one.drain.stop();
        },
        leave() {
          if (member.looks === null) dequeue(member);
          else active.delete(member);
          member.looks = null;
          queueMicrotask(fill);
        },
      };
    },
  };
}
