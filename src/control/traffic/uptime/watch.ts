/** Judges uptime regularly: the driver of `judge-due.ts`, which the API server starts and stops. */
import { pause } from '../../../base/platform/tasks.ts';
import { judgeDue, type UptimeJudgeOptions } from './judge-due.ts';
import { INCIDENTS_STORED_MS, PASS_MS } from './limits.ts';

export interface UptimeWatchOptions extends UptimeJudgeOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Called with the error of a pass; the next pass judges the same minutes. */
  readonly failed: (error: unknown) => void;
  /** Milliseconds between passes. Default: `PASS_MS`. */
  readonly everyMs?: number;
}

/** A running watch. */
export interface UptimeWatch {
  /** Ends after the pass that runs. */
  stop(): Promise<void>;
}

/** Starts to judge. */
export function watchUptime(options: UptimeWatchOptions): UptimeWatch {
  const stopping = new AbortController();
  const running = judgeRegularly(options, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function judgeRegularly(options: UptimeWatchOptions, signal: AbortSignal): Promise<void> {
  const { store, clock, failed, everyMs = PASS_MS } = options;
  while (!signal.aborted) {
    try {
      while (!signal.aborted && (await judgeDue(options, clock())));
      await store.write((tx) => tx.uptime.prune(clock() - INCIDENTS_STORED_MS));
    } catch (error) {
      failed(error);
    }
    // At another moment in each process, so that one of them finds the work and the others find it done.
    await pause(everyMs * (0.75 + Math.random() / 2), signal);
  }
}
