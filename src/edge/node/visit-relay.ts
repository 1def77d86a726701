/**
 * What a process counts of visitors after its state went to the next process of the node: hits of rate limits and used proofs,
 * so that a limit holds across the drain. In: hits as the evaluator counts them. Out: the same counts and, while there is a sink,
 * batches of them; a batch of another process adds to the own counts.
 */
import type { Logger } from 'pino';
import type { BoundedCounters, RateKey, RateWindow } from '../../engine/rate-counters/counters.ts';
import type { UsedProof } from '../answers/challenge/proof.ts';

/** Hits of one key of a rate limit. */
export interface CountedHits extends RateWindow, Pick<RateKey, 'family' | 'path'> {
  /** The words of the key's address. */
  readonly words: readonly number[];
  /** Number of hits. */
  readonly times: number;
}

/** What was counted since the last batch; JSON-safe. */
export interface Visits {
  readonly hits: readonly CountedHits[];
  readonly proofs: readonly UsedProof[];
}

/** Receives a batch. Rejects when the other process has ended. */
export type VisitsSink = (visits: Visits) => Promise<void>;

/** Counts that another process can get. */
export interface VisitRelay {
  /** The counters for evaluators. */
  readonly counters: BoundedCounters;
  /** Notes a proof that was handed in. */
  readonly addProof: (proof: UsedProof) => void;
  /** Sends what is counted from now on there; `null`: nowhere. */
  to(sink: VisitsSink | null): void;
  /** Adds hits of another process. */
  absorb(hits: Visits['hits']): void;
  /** Sends what waits, and ends. */
  stop(): Promise<void>;
}

/** Milliseconds that a hit waits for others: for so long the next process allows what it does not know of. */
const SEND_MS = 50;
/** Most keys and proofs of a batch, and characters of their paths: a batch is a message of some hundred kilobytes. */
const MAX_ENTRIES = 5_000;
const MAX_CHARACTERS = 256_000;

/** A `CountedHits` that grows. */
type GrowingHits = Omit<CountedHits, 'times'> & { times: number };

/** Counters without a sink, over `own`. */
export function createVisitRelay(own: BoundedCounters, log: Pick<Logger, 'warn'>): VisitRelay {
  let sink: VisitsSink | null = null;
  let hits = new Map<string, GrowingHits>();
  let proofs: UsedProof[] = [];
  let characters = 0;
  /** Hits and proofs that the other process does not get. */
  let lost = 0;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | null = null;

  function hasRoom(path: string): boolean {
    return hits.size + proofs.length < MAX_ENTRIES && characters + path.length <= MAX_CHARACTERS;
  }
  function note(window: RateWindow, key: RateKey): void {
    const { space = 0, slot, capacity, doubled, windowMs, perPath, parts, shared = false } = window;
    const { family, path } = key;
    const words = [...key.words.subarray(0, family === 6 ? 2 : 1)];
    const id = `${space} ${slot} ${capacity} ${doubled} ${windowMs} ${perPath} ${parts} ${family} ${words} ${path}`;
    const known = hits.get(id);
    if (known !== undefined) known.times++;
    else if (hasRoom(path)) {
      const keyed = parts === undefined ? {} : { parts, shared };
      const counted = { space, slot, capacity, doubled, windowMs, perPath, ...keyed };
      hits.set(id, { ...counted, family, words, path, times: 1 });
      characters += path.length;
    } else lost++;
    sendSoon();
  }
  function sendSoon(): void {
    if (sending === null) timer ??= setTimeout(() => void send(), SEND_MS).unref();
  }
  /** Sends what waits. Never rejects: a process that has ended allows nothing. */
  async function send(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    await sending;
    if (sink === null || hits.size + proofs.length === 0) return;
    const due = { hits: [...hits.values()], proofs };
    clear();
    const count = due.proofs.length + due.hits.reduce((sum, { times }) => sum + times, 0);
    sending = sink(due).catch(() => {
      lost += count;
    });
    await sending;
    sending = null;
    if (hits.size + proofs.length > 0) sendSoon();
  }
  function clear(): void {
    hits = new Map();
    proofs = [];
    characters = 0;
  }
  return {
    counters: {
      ...own,
      hit(window, key, now, allowance, out) {
        own.hit(window, key, now, allowance, out);
        if (sink !== null) note(window, key);
      },
    },
    addProof(proof) {
      if (sink === null) return;
      if (hasRoom('')) proofs.push(proof);
      else lost++;
      sendSoon();
    },
    to(next) {
      sink = next;
      lost = 0;
      clear();
    },
    absorb(arrived) {
      const out = { breached: false, count: 0, retryAfter: 0 };
      for (const { family, words, path, times, ...window } of arrived) {
        const key: RateKey = { family, words: Uint32Array.from(words), path };
        // A key's history is bounded by its capacity: more hits than that change nothing.
        const most = Math.min(times, 2 * window.capacity + 1);
        for (let hit = 0; hit < most; hit++) own.hit(window, key, Date.now(), window.capacity, out);
      }
    },
    async stop() {
      await send();
      clearTimeout(timer);
      if (lost > 0) log.warn({ lost }, 'hits of rate limits and proofs are unknown to the next process');
      sink = null;
    },
  };
}
