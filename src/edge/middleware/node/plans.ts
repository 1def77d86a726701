/** The plans of an edge inside a Node server: sealed octets in memory, opened at a domain's first request. */
import { sha256Hex } from '../../../base/platform/cryptography.ts';
import { steadyNow } from '../../../base/text/time.ts';
import { createCounters, type WafProgram } from '../../../engine/evaluator/index.ts';
import { openSignatures } from '../../../engine/plan/open-signatures.ts';
import { loadWarm } from '../../../engine/waf/load/load.ts';
import { starterProgram } from '../../../engine/waf/signatures/starter.ts';
import type { DecisionReporter } from '../../decide/verdict.ts';
import { createPlanTable, type PlanTable } from '../../following/plan-table.ts';
import { checkOctets, checkPlan, type InstalledPlan } from '../check-options.ts';
import type { NodeEdgeOptions } from './options.ts';

export interface EdgePlans {
  readonly table: PlanTable;
  /** @throws PlanFault; what was installed before stays */
  install(bytes: Uint8Array): InstalledPlan;
}

/** Default octets of opened plans: some thousands of small ones. */
const OPEN_OCTETS = 64 * 1024 * 1024;

/** @throws PlanFault when a plan or the signatures cannot be opened */
export function openPlans(options: NodeEdgeOptions, reporter: DecisionReporter): EdgePlans {
  const { counterOctets, openOctets = OPEN_OCTETS } = options;
  const counters = createCounters({
    clock: steadyNow,
    ...(counterOctets === undefined ? {} : { maxBytes: counterOctets }),
  });
  const waf = signaturesOf(options);
  const table = createPlanTable({
    evaluatorOptions: (domain) => ({
      counters,
      waf,
      onFault: (error) => reporter.fault(error, `a decision of ${domain}`),
    }),
    onChange: () => undefined,
    onFault: (name, error) => reporter.fault(error, `the plan of ${name}`),
    openOctets,
  });

  function install(bytes: Uint8Array): InstalledPlan {
    checkOctets(bytes);
    // A copy: the caller may change its buffer, and a plan must not change while it serves.
    const octets = bytes.slice();
    const plan = checkPlan(octets);
    const digest = sha256Hex(octets);
    table.set(plan.domain, { revision: plan.revision, digest, purgeEpoch: 0, read: () => octets });
    return plan;
  }

  for (const plan of options.plans ?? []) install(plan);
  return { table, install };
}

function signaturesOf({ signatures }: NodeEdgeOptions): WafProgram | null {
  if (signatures === null) return null;
  return loadWarm(signatures === undefined ? starterProgram() : openSignatures(signatures));
}
