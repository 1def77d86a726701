/** Proves which outcomes two sealed plans decide differently, as values of an answer. */

import { servesNow } from '../../engine/evaluator/facts.ts';
import { openPlan } from '../../engine/plan/open.ts';
import { proveChanges } from '../../workbench/proofs/changes.ts';
import { changeInput } from '../../workbench/proofs/compare.ts';
import { describedChanges } from '../../workbench/simulation/render-changes.ts';

/** What was proved. */
interface ProvedOutcomes {
  /** The changed outcomes, each with a request that shows it. */
  readonly changes: readonly object[];
  readonly summary: {
    /** Hosts and rules decide every request alike. */
    readonly equivalent: boolean;
    /** Everything is proved: no pair of outcomes is left open. */
    readonly complete: boolean;
    readonly outcomes: number;
    /** Pairs of rules that are proved neither way, at most `MAX_OPEN`. */
    readonly open: readonly object[];
  };
}

/** Open pairs of an answer: the remedy is the same for all, to compare with requests. */
const MAX_OPEN = 50;

/** Proves the changes; `null`: one of the plans is a tombstone, or serves nothing. @throws PlanFault */
export function proveOutcomes(before: Uint8Array | null, after: Uint8Array | null): ProvedOutcomes | null {
  if (before === null || after === null) return null;
  const sides = [before, after].map((bytes) => ({ opened: openPlan(bytes), bytes }));
  const input = changeInput(sides[0]!, sides[1]!);
  const subjects = { before: input.before.subject, after: input.after.subject };
  if (![subjects.before, subjects.after].every(({ loaded }) => servesNow(loaded.plan))) return null;
  const proved = proveChanges(input);
  const { changes, open } = describedChanges(proved, subjects);
  const complete = !proved.isIncomplete && open.length === 0;
  const equivalent = changes.length === 0 && complete;
  return {
    changes,
    summary: { equivalent, complete, outcomes: changes.length, open: open.slice(0, MAX_OPEN) },
  };
}
