/**
 * Who may use the connections to one origin. A request takes a slot before it is sent and gives it back when its answer
 * has come. A client network may take as many as it leaves free (Choudhury and Hahne, "Dynamic queue length thresholds",
 * 1998), so that there is one for whoever comes next. Where all are in use, networks that have less than a quarter go
 * first, in turn. Where slots are out because of clients that send or take next to nothing, those are ended.
 */
import { first } from '../../base/first.ts';

/** One that uses a slot. */
export interface SlotUse {
  /** Milliseconds in which it waited for its client so far, and octets that the client sent and took. */
  flow(): { readonly waitedMs: number; readonly octets: number };
  /** Others wait: gives its slot back as soon as it can. */
  hurry(): void;
  /** Ends it: its client is too slow to be waited for while others wait. */
  end(): void;
}

export interface SlotRequest {
  readonly network: string;
  /** Called once with the slot, which `release` gives back; at once where one is free. */
  begin(release: () => void): SlotUse;
  /** Called instead where there will be none in time. */
  refuse(reason: string): void;
}

export interface Slots {
  /** @returns leaves the queue; without effect once it has begun */
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
  /** Milliseconds between two looks at slow clients while requests wait. */
  readonly lookMs?: number;
}

/** The part of the slots up to which a network goes first. */
const SHARE = 1 / 4;
/** Milliseconds between two looks at who is slow. */
const LOOK_MS = 1_000;
/** Looks in a row after which a slow client is ended. */
const SLOW_LOOKS = 5;
/** Octets a second below which a client that is waited for is slow. */
const SLOW_RATE = 16 * 1024;
/** The part of the time between two looks in which a slow client was waited for. */
const WAITED_SHARE = 0.9;

interface Waiter {
  readonly request: SlotRequest;
  readonly late: NodeJS.Timeout;
}

/** What the last look found of one use. */
interface Looked {
  waitedMs: number;
  octets: number;
  slow: number;
}

export function createSlots({ maxConnections, maxQueued, waitMs, lookMs = LOOK_MS }: SlotsOptions): Slots {
  const quarter = Math.ceil(maxConnections * SHARE);
  /** Slots in use of each network. */
  const used = new Map<string, number>();
  const uses = new Map<SlotUse, Looked>();
  /** Those that wait, of each network in order; the networks in the order of their turns. */
  const queues = new Map<string, Set<Waiter>>();
  let free = maxConnections;
  let waiting = 0;
  let looks: NodeJS.Timeout | null = null;

  function begin({ network, begin: start }: SlotRequest): void {
    free--;
    used.set(network, (used.get(network) ?? 0) + 1);
    let use: SlotUse | null = null;
    let released = false;
    use = start(() => {
      if (released) return;
      released = true;
      if (use !== null) uses.delete(use);
      const left = used.get(network)! - 1;
      if (left === 0) used.delete(network);
      else used.set(network, left);
      free++;
      if (waiting > 0) next();
    });
    if (!released) uses.set(use, { waitedMs: 0, octets: 0, slow: 0 });
  }

  const usedBy = (network: string): number => used.get(network) ?? 0;

  /** Whether a network may have one of the free slots. Nobody below a quarter waits while there are any. */
  function mayBegin(network: string): boolean {
    return free > 0 && (usedBy(network) < quarter || usedBy(network) <= free);
  }

  /** Gives free slots to those who wait. */
  function next(): void {
    for (let network = nextNetwork(); network !== null; network = nextNetwork()) {
      const waiter = first(queues.get(network)!)!;
      leave(waiter);
      begin(waiter.request);
    }
  }

  /** Whose turn it is; `null`: nobody's. At most four networks are passed over, since no more have a quarter. */
  function nextNetwork(): string | null {
    let above: string | null = null;
    for (let left = queues.size; left > 0; left--) {
      const [network, queue] = first(queues)!;
      queues.delete(network);
      queues.set(network, queue);
      if (free > 0 && usedBy(network) < quarter) return network;
      if (above === null && mayBegin(network)) above = network;
      if (free === 0) return null;
    }
    return above;
  }

  function leave(waiter: Waiter): void {
    const { network } = waiter.request;
    const queue = queues.get(network);
    if (queue?.delete(waiter) !== true) return;
    clearTimeout(waiter.late);
    if (queue.size === 0) queues.delete(network);
    if (--waiting > 0 || looks === null) return;
    clearInterval(looks);
    looks = null;
  }

  function refuse(waiter: Waiter, reason: string): void {
    leave(waiter);
    waiter.request.refuse(reason);
  }

  /** Makes room in a full queue for a network that has less in it than another. @returns `false`: there is none */
  function makeRoom(network: string): boolean {
    let longest: ReadonlySet<Waiter> = new Set();
    for (const queue of queues.values()) if (queue.size > longest.size) longest = queue;
    if ((queues.get(network)?.size ?? 0) + 1 >= longest.size) return false;
    refuse(first(longest)!, fullReason);
    return true;
  }
  const fullReason = `${maxQueued} requests wait for a connection to this origin already`;

  /** Ends those whose clients have been slow for a while: as many as wait. */
  function look(): void {
    const slowest: { readonly use: SlotUse; readonly rate: number }[] = [];
    for (const [use, before] of uses) {
      const { waitedMs, octets } = use.flow();
      const rate = ((octets - before.octets) * 1_000) / lookMs;
      const isSlow = waitedMs - before.waitedMs >= lookMs * WAITED_SHARE && rate < SLOW_RATE;
      before.slow = isSlow ? before.slow + 1 : 0;
      before.waitedMs = waitedMs;
      before.octets = octets;
      if (before.slow >= SLOW_LOOKS) slowest.push({ use, rate });
    }
    slowest.sort((a, b) => a.rate - b.rate);
    for (const { use } of slowest.slice(0, waiting)) use.end();
  }

  return {
    take(request) {
      const { network } = request;
      if (mayBegin(network)) {
        begin(request);
        return nothing;
      }
      if (waiting >= maxQueued && !makeRoom(network)) {
        queueMicrotask(() => request.refuse(fullReason));
        return nothing;
      }
      const reason = `no connection to this origin was free within ${waitMs} ms`;
      const waiter: Waiter = { request, late: setTimeout(() => refuse(waiter, reason), waitMs) };
      const queue = queues.get(network);
      if (queue === undefined) queues.set(network, new Set([waiter]));
      else queue.add(waiter);
      if (waiting++ === 0) for (const use of uses.keys()) use.hurry();
      looks ??= setInterval(look, lookMs).unref();
      return () => leave(waiter);
    },
    counts: () => ({ used: maxConnections - free, waiting }),
  };
}

function nothing(): void {}
