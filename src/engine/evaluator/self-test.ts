/**
 * The self-test of a sealed plan, between compiling and publishing as well as between fetching and serving: the bytes
 * are the expected plan, they open, and requests for the plan's own hosts and patterns are decided without a fault.
 * What the rules of the plan do is not tested.
 */
import type { Plan } from '../plan/layout.ts';
import { probeHost, probeNames, probePaths } from '../plan/probes.ts';
import { openPlan } from '../plan/seal.ts';
import { createCounters } from '../rate-counters/counters.ts';
import type { Decision } from './decision.ts';
import { type EvaluatorOptions, loadPlan } from './evaluate.ts';
import type { EdgeRequest } from './request.ts';

/** Octets of the test's own rate counters: one request each, then discarded. */
const COUNTER_BYTES = 65_536;
/** Characters of a path that a sentence quotes. */
const QUOTED_PATH = 80;

/** What the bytes must be. */
export interface ExpectedPlan {
  readonly domain: string;
  readonly revision: number;
  /**
   * Adds the check that no host of a proxied record is refused. For the publisher, whose plans are of domains that serve.
   * Default: false, for two reasons. A node or an edge file may have the plan of a suspended domain, which refuses all
   * its hosts; and a node that rejects a plan because of one host leaves every other host of the domain without it.
   */
  readonly refusesNoHost?: boolean;
  /** As `EvaluatorOptions.lists`. */
  readonly lists?: EvaluatorOptions['lists'];
}

/** A request that the plan must be able to decide. */
interface Probe {
  readonly host: string;
  readonly target: string;
  /** The host is a record's own name. One below a wildcard may exist too, as an unproxied record that is not in the plan. */
  readonly ownName: boolean;
}

/** Tests sealed bytes. Returns what is wrong with them, in a sentence, or `null`. Never throws. */
export function selfTest(bytes: Uint8Array, expected: ExpectedPlan): string | null {
  try {
    const { plan } = openPlan(bytes);
    const faults: unknown[] = [];
    const evaluator = loadPlan(bytes, {
      // Fixed, since Workers give no randomness before the first request, and load their plans before it.
      counters: createCounters({ maxBytes: COUNTER_BYTES, random: () => 0.5 }),
      onFault: (error) => faults.push(error),
      ...(expected.lists === undefined ? {} : { lists: expected.lists }),
    });
    const { domain, revision } = evaluator;
    if (domain !== expected.domain || revision !== expected.revision) {
      const wanted = `revision ${expected.revision} of \`${expected.domain}\``;
      return `the plan is revision ${revision} of \`${domain}\`, not ${wanted}`;
    }
    evaluator.settings();
    for (const probe of probesOf(plan)) {
      const decision = evaluator.evaluate(requestOf(probe));
      if (faults.length > 0 || isRefused(decision, 500)) {
        return `the plan cannot decide a request for \`${probe.target.slice(0, QUOTED_PATH)}\` at \`${probe.host}\``;
      }
      if (expected.refusesNoHost === true && probe.ownName && isRefused(decision)) {
        return `the plan refuses \`${probe.host}\`, a host it has records for`;
      }
    }
    return null;
  } catch (error) {
    return `the plan does not open: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** `/` at each host, then the paths of the plan's patterns at the first one. */
function probesOf(plan: Plan): readonly Probe[] {
  const probes = probeNames(plan).map((name): Probe => {
    const host = probeHost(name);
    return { host, target: '/', ownName: host === name };
  });
  const [first] = probes;
  if (first === undefined) return [];
  // The target of a pattern may be invalid, and then the gate refuses it rightly.
  const paths = probePaths(plan).map((target): Probe => ({ host: first.host, target, ownName: false }));
  return [...probes, ...paths];
}

function requestOf({ host, target }: Probe): EdgeRequest {
  return { scheme: 'https', method: 'GET', host, target, ip: '192.0.2.1', country: 'NZ', now: 0 };
}

/** Whether the gate refuses the request (a rule may refuse it too), with `status` if it is given. */
function isRefused(decision: Decision, status: number | null = decision.status): boolean {
  return decision.action === 'refuse' && decision.rule === null && decision.status === status;
}
