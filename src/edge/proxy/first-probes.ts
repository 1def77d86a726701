/**
 * Starts the probes of a node with the node. In: the table of plans, whose plans are opened at their first request. Out: a table
 * that opens each plan with probed pools soon after its installation, and whether their first round is under way: a visitor
 * before it may reach an origin that is down.
 */
import { hasProbes } from '../../engine/evaluator/index.ts';
import type { Installed, PlanTable } from '../following/plan-table.ts';
import { FIRST_PROBES_MS } from './limits.ts';
import type { Origins } from './origin/request.ts';

/** Why a node is not ready while `FirstProbes.underWay`. */
export const PROBES_DUE = 'the first probes of origin pools are due';

export interface FirstProbes {
  /** The same table, to find the installed plans that have probes. */
  readonly plans: PlanTable;
  /** Whether first probes are due; `false` at the latest `FIRST_PROBES_MS` after the first plan. */
  underWay(): boolean;
}

export function createFirstProbes(table: PlanTable, origins: Pick<Origins, 'unprobed'>): FirstProbes {
  const due = new Map<string, Installed>();
  let until: number | null = null;

  /** PERF: one plan a turn of the event loop. */
  function next(): void {
    const [first] = due;
    if (first === undefined) return;
    const [name, entry] = first;
    due.delete(name);
    if (isProbed(entry)) table.find(name);
    if (due.size > 0) setImmediate(next);
  }

  function add(name: string, entry: Installed | 'refused'): void {
    if (entry === 'refused') return void due.delete(name);
    until ??= performance.now() + FIRST_PROBES_MS;
    if (due.size === 0) setImmediate(next);
    due.set(name, entry);
  }

  const plans: PlanTable = Object.create(table, {
    set: {
      value(name: string, entry: Installed | 'refused') {
        table.set(name, entry);
        add(name, entry);
      },
    },
    prepare: {
      value(name: string, entry: Installed) {
        const install = table.prepare(name, entry);
        return () => {
          install();
          add(name, entry);
        };
      },
    },
  });
  return {
    plans,
    underWay: () => until !== null && performance.now() < until && (due.size > 0 || origins.unprobed() > 0),
  };
}

function isProbed(entry: Installed): boolean {
  try {
    return hasProbes(entry.read());
  } catch {
    // Opening the plan reports that it is damaged.
    return true;
  }
}
