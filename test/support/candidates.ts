/** What the indexes of a plan let through, read off the evaluator's own parts. */
import { createCandidates, gather, nextCandidate } from '../../src/engine/evaluator/candidates.ts';
import { createFacts, readFacts } from '../../src/engine/evaluator/facts.ts';
import { createLoaded } from '../../src/engine/evaluator/loaded.ts';
import { slotMatches } from '../../src/engine/evaluator/predicates.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { META, type Plan } from '../../src/engine/plan/layout.ts';

export interface Gathered {
  /** Candidate slots, ascending. */
  readonly slots: readonly number[];
  /** Those whose filters all hold. */
  readonly matching: readonly number[];
  /** There were too many to sort, so lists were merged by window and the characters of the path were read. */
  readonly windowed: boolean;
}

/** A function that gathers the candidates of a request; `null` where the gate refuses it. */
export function candidateReader(plan: Plan): (request: EdgeRequest) => Gathered | null {
  const loaded = createLoaded(plan, 0);
  const candidates = createCandidates(loaded);
  const facts = createFacts();
  const input = { loaded, known: new Map(), clock: () => 0 };
  return (request) => {
    if (readFacts(facts, request, input) !== 0) return null;
    gather(candidates, facts);
    const slots: number[] = [];
    const end = plan.meta[META.slots]!;
    for (let slot = nextCandidate(candidates, end); slot >= 0; slot = nextCandidate(candidates, end)) {
      slots.push(slot);
    }
    const matching = slots.filter((slot) => slotMatches(loaded, slot, facts));
    return { slots, matching, windowed: candidates.fewCount < 0 };
  };
}
