/** The steps that the proofs about one rule set may take. */
import { MAX_TOTAL_STEPS } from './limits.ts';

/** A count of steps that ends. */
export interface StepBudget {
  /** Takes steps; false once there are no more. */
  take(steps: number): boolean;
  /** The steps taken so far. */
  used(): number;
}

/** A budget of so many steps. */
export function createBudget(most: number = MAX_TOTAL_STEPS): StepBudget {
  let used = 0;
  return {
    take(steps) {
      used += steps;
      return used <= most;
    },
    used: () => used,
  };
}
