/** Decisions that change in the same way, as groups with examples. The number of groups and examples is bounded. */
import type { Difference } from './difference.ts';

/** Examples per group. */
export const EXAMPLES = 3;
/** The largest number of groups; a log of attacks on a changed rule set has a few dozen. */
export const MAX_GROUPS = 1_000;

/** A request whose decision changes. */
export interface ReplayExample {
  /** The decision id; of an access log the file and the line. */
  readonly id: string;
  readonly time: string;
  readonly request: string;
  /** Of an access log, the logged status; `null`: the log has none. */
  readonly status?: number | null;
  /** The difference that varies between requests of a group, such as the path to the origin; `null`: none. */
  readonly change: string | null;
}

/** Decisions that change in the same way. */
export interface ReplayGroup {
  readonly was: string;
  readonly now: string;
  readonly lines: number;
  /** Requests that the lines represent: a sampled line represents several. */
  readonly requests: number;
  readonly examples: readonly ReplayExample[];
}

/** Groups while lines are added. */
export interface OpenGroups {
  /** `weight`: requests that the line represents. `example` is made for the first lines of a group. */
  add(difference: Difference, weight: number, example: () => Omit<ReplayExample, 'change'>): void;
  /** By frequency, descending. */
  sorted(): readonly ReplayGroup[];
  /** Changes beyond `MAX_GROUPS`. */
  ungrouped(): number;
}

/** A group while lines are added. */
interface OpenGroup {
  readonly was: string;
  readonly now: string;
  lines: number;
  requests: number;
  readonly examples: ReplayExample[];
}

/** Creates groups without any line. */
export function createGroups(): OpenGroups {
  const groups = new Map<string, OpenGroup>();
  let ungrouped = 0;
  return {
    add({ was, now, change }, weight, example) {
      const key = JSON.stringify([was, now]);
      let known = groups.get(key);
      if (known === undefined) {
        if (groups.size >= MAX_GROUPS) {
          ungrouped++;
          return;
        }
        known = { was, now, lines: 0, requests: 0, examples: [] };
        groups.set(key, known);
      }
      known.lines++;
      known.requests += weight;
      if (known.examples.length < EXAMPLES) known.examples.push({ ...example(), change });
    },
    sorted() {
      const sorted = [...groups.values()].sort((left, right) => right.lines - left.lines);
      return sorted.map((one) => ({ ...one, requests: Math.round(one.requests) }));
    },
    ungrouped: () => ungrouped,
  };
}
