/** The check between being handed a plan and serving it. */
import { createCounters, loadPlan } from '../../engine/evaluator/index.ts';
import { selfTest } from '../../engine/evaluator/self-test.ts';
import { PlanFault } from '../../engine/plan/layout.ts';

/** The identity of a sealed plan. */
export interface InstalledPlan {
  readonly domain: string;
  readonly revision: number;
}

/** Size, in octets, of the rate counters used only to try a plan out; no request of a visitor is counted in them. */
const COUNTER_OCTETS = 65_536;

/**
 * Opens a sealed plan and tries it out on requests made of its own hosts and patterns.
 * @throws PlanFault when the bytes are no plan that this build reads, or one that cannot decide
 */
export function checkPlan(bytes: Uint8Array): InstalledPlan {
  const { domain, revision } = loadPlan(bytes, { counters: createCounters({ maxBytes: COUNTER_OCTETS }) });
  const wrong = selfTest(bytes, { domain, revision });
  if (wrong !== null) throw new PlanFault('layout', wrong);
  return { domain, revision };
}
