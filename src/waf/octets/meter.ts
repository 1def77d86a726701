/** The step budget of one inspection (semantics §5 waf): work is counted, not timed, so the answer is the same anywhere. */

/** A step takes some 2 ns: an octet read by an automaton is one. */
export interface Meter {
  /** Below 0: the budget has run out. */
  left: number;
  /** Which inspection this is; 0: none. */
  readonly inspection: number;
}

let inspections = 0;

export function startMeter(steps: number): Meter {
  inspections = (inspections + 1) % Number.MAX_SAFE_INTEGER;
  return { left: steps, inspection: inspections };
}
