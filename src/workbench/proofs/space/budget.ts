/**
 * What the proofs about one rule set may take: steps, and the size of automata. A step is a visited state or a divided box;
 * steps count and not time, so that a proof ends alike on every machine. A proof that runs out of them is `unknown`, and
 * says which it was.
 */

/** Cells of all automata of a space (states × letters), of 4 octets: 160 MiB, which no heap limit of a thread counts. */
const MAX_SPACE_CELLS = 40_000_000;
/** Steps of patterns while the automata of all filters are built: some seconds. */
const MAX_SPACE_WORK = 200_000_000;
/** Steps of all questions about one rule set: some seconds. */
export const MAX_TOTAL_STEPS = 4_000_000;

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

/** A budget of so many steps, which also takes from the total. */
export function shareOf(total: StepBudget, most: number): StepBudget {
  const own = createBudget(most);
  return { take: (steps) => total.take(steps) && own.take(steps), used: own.used };
}

/** What the automata of a space may still take. */
export interface SpaceRoom {
  /** Takes cells of tables that are built; false, and none taken, if there are not so many. */
  takeCells(cells: number): boolean;
  /** Takes steps of patterns; false once there are no more. */
  takeWork(steps: number): boolean;
}

/** The room of one space; `most`: steps of patterns. */
export function createRoom(most: number = MAX_SPACE_WORK): SpaceRoom {
  let cells = MAX_SPACE_CELLS;
  let work = most;
  return {
    takeCells(wanted) {
      if (wanted > cells) return false;
      cells -= wanted;
      return true;
    },
    takeWork(steps) {
      work -= steps;
      return work >= 0;
    },
  };
}
