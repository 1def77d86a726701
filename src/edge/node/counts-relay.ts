/**
 * Where the counted requests of a node go: to the batches for its control plane, or to the process that has taken over. In
 * between they wait, within a bound.
 */
import type { Logger } from 'pino';
import type { CountedSeconds } from '../following/traffic/counter.ts';

/** Receives counts. */
export type CountsSink = (counted: CountedSeconds) => Promise<void>;

/** A sink that can be changed. */
export interface CountsRelay {
  readonly add: CountsSink;
  /** Sends what waits and all further counts there; `null`: they wait. */
  to(sink: CountsSink | null): Promise<void>;
  /** Adds what the process before still counts. */
  absorb(counted: CountedSeconds): void;
}

/** Most counts that wait: those of a minute of a node with 60 workers. More are refused, and their sender repeats them. */
const MAX_WAITING = 3_600;

/** A relay without a sink. */
export function createCountsRelay(log: Pick<Logger, 'error'>): CountsRelay {
  let sink: CountsSink | null = null;
  let waiting: CountedSeconds[] = [];
  async function add(counted: CountedSeconds): Promise<void> {
    if (sink !== null) return sink(counted);
    if (waiting.length >= MAX_WAITING) throw new Error('counts wait for the next process of the node');
    waiting.push(counted);
  }
  return {
    add,
    absorb(counted) {
      add(counted).catch((error: unknown) =>
        log.error({ err: error }, 'counts of the process before are lost'),
      );
    },
    async to(next) {
      sink = next;
      if (next === null) return;
      const due = waiting;
      waiting = [];
      for (const counted of due) await next(counted);
    },
  };
}
