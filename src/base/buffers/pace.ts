/**
 * Measures the rate at which a client sends or reads octets. In: the periods in which the node waits for the client, and the
 * octets moved. Out: a report when the rate over such periods is below the minimum.
 */
import type { RateBounds } from './limits.ts';

/** The pace of one client. */
export interface Pace {
  /** The node begins to wait for the client; ends with `rest`. */
  wait(): void;
  rest(): void;
  /** Counts octets that the client has sent or read. */
  move(octets: number): void;
  /** Milliseconds of waiting for the client so far. */
  waitedMs(): number;
  /** Octets moved so far. */
  octets(): number;
  /** Ends the measurement. */
  end(): void;
}

export interface PaceOptions {
  readonly bounds: RateBounds;
  /** Reads the octets moved so far. Absent: `move` counts them. */
  readonly octets?: () => number;
  /** Called once, with a sentence that names the rate. */
  readonly onSlow: (reason: string) => void;
}

/** A measurement that starts with the first `wait`. */
export function createPace({ bounds, octets, onSlow }: PaceOptions): Pace {
  const { minRate, graceMs, windowMs } = bounds;
  let waitingSince: number | null = null;
  let waited = 0;
  let moved = 0;
  /** `waited` and `moved` at the start of the window; `null`: the grace period has not ended. */
  let from: { readonly waited: number; readonly moved: number } | null = null;
  let timer: NodeJS.Timeout | null = null;
  let ended = minRate === 0;

  const movedOctets = octets ?? ((): number => moved);
  const waitedMs = (): number => (waitingSince === null ? waited : waited + performance.now() - waitingSince);

  /** Ends the grace period or a window. PERF: at most one timer, which octets do not restart. */
  function checkWindow(): void {
    timer = null;
    const now = waitedMs();
    const left = from === null ? graceMs - now : windowMs - (now - from.waited);
    if (left > 0) {
      arm(left);
      return;
    }
    const current = movedOctets();
    if (from !== null) {
      const seconds = (now - from.waited) / 1_000;
      if (current - from.moved < minRate * seconds) {
        ended = true;
        onSlow(`below ${minRate} octets a second for ${Math.round(seconds)} s`);
        return;
      }
    }
    from = { waited: now, moved: current };
    arm(windowMs);
  }

  function arm(ms: number): void {
    // Outside of waiting periods no timer runs; `wait` starts it.
    if (waitingSince !== null) timer = setTimeout(checkWindow, Math.ceil(ms));
  }

  return {
    wait() {
      if (waitingSince !== null) return;
      waitingSince = performance.now();
      if (!ended && timer === null) checkWindow();
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
    octets: movedOctets,
    end() {
      ended = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
