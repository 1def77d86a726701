/**
 * Measures how fast a client sends or takes octets, in the time in which it is the client that is waited for, and reports
 * one that stays below the minimum rate.
 */
import type { RateBounds } from './limits.ts';

export interface Pace {
  /** The client is waited for, until `rest`. */
  wait(): void;
  rest(): void;
  /** The client sent or took octets. */
  move(octets: number): void;
  /** Milliseconds waited for the client so far. */
  waitedMs(): number;
  /** Octets moved so far. */
  octets(): number;
  /** Ends the measurement. */
  end(): void;
}

export interface PaceOptions {
  readonly bounds: RateBounds;
  /** Called once, with a sentence that names the rate. */
  readonly onSlow: (reason: string) => void;
}

export function createPace({ bounds, onSlow }: PaceOptions): Pace {
  const { minRate, graceMs, windowMs } = bounds;
  let waitingSince: number | null = null;
  let waited = 0;
  let moved = 0;
  /** Both at the start of the window, once the grace is over. */
  let from: { readonly waited: number; readonly moved: number } | null = null;
  let timer: NodeJS.Timeout | null = null;
  let ended = minRate === 0;

  const waitedMs = (): number => (waitingSince === null ? waited : waited + performance.now() - waitingSince);

  /** Looks at what a window brought. PERF: at most one timer, which is not changed as octets come. */
  function look(): void {
    timer = null;
    const now = waitedMs();
    const left = from === null ? graceMs - now : windowMs - (now - from.waited);
    if (left > 0) {
      arm(left);
      return;
    }
    if (from !== null) {
      const seconds = (now - from.waited) / 1_000;
      if (moved - from.moved < minRate * seconds) {
        ended = true;
        onSlow(`below ${minRate} octets a second for ${Math.round(seconds)} s`);
        return;
      }
    }
    from = { waited: now, moved };
    arm(windowMs);
  }

  function arm(ms: number): void {
    // A client that is not waited for starts the timer when it is.
    if (waitingSince !== null) timer = setTimeout(look, Math.ceil(ms));
  }

  return {
    wait() {
      if (waitingSince !== null) return;
      waitingSince = performance.now();
      if (!ended && timer === null) look();
    },
    rest() {
      if (waitingSince === null) return;
      waited += performance.now() - waitingSince;
      waitingSince = null;
    },
    move: (octets) => {
      moved += octets;
    },
    waitedMs,
    octets: () => moved,
    end() {
      ended = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
