/**
 * The step budget of one inspection (semantics §5 waf). Work is counted, not timed, so that the result is the same on
 * every machine. A step takes about 2 ns: one octet read by an automaton is one step.
 */

/** The steps left to an inspection; each piece of work subtracts its cost beforehand. */
export interface Meter {
  /** Steps left; below 0: the budget is exhausted, and the inspection ends. */
  left: number;
  /** The number of the inspection, 1 and up; 0: work outside any inspection. */
  readonly inspection: number;
}

let inspections = 0;

/** Starts the meter of a new inspection with so many steps. */
export function startMeter(steps: number): Meter {
  inspections = (inspections + 1) % Number.MAX_SAFE_INTEGER;
  return { left: steps, inspection: inspections };
}
