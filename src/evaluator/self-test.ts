/**
 * The check between fetching a plan and serving it: it is what it should be, it opens, and it decides requests made of
 * its own hosts and patterns. What the rules say is not judged.
 */

import { openPlan } from '../plan/open.ts';
import { probeHost, probeNames, probePaths } from '../plan/probes.ts';
import { createCounters } from './counters.ts';
import { loadPlan } from './evaluate.ts';

/** Octets of the rate counters of the test: a request each, thrown away afterwards. */
const COUNTER_BYTES = 65_536;

/** What the plan must be. */
export interface ExpectedPlan {
  readonly domain: string;
  readonly revision: number;
}

/** What is wrong with a plan, in a sentence; `null`: nothing. */
export function selfTest(bytes: Uint8Array, { domain, revision }: ExpectedPlan): string | null {
  try {
    const { plan } = openPlan(bytes);
    let thrown: unknown = null;
    const evaluator = loadPlan(bytes, {
      // Platforms that keep randomness for requests load plans before the first one.
      counters: createCounters({ maxBytes: COUNTER_BYTES, random: () => 0.5 }),
      onFault: (error) => {
        thrown = error;
      },
    });
    if (evaluator.domain !== domain || evaluator.revision !== revision) {
      return `the plan says it is revision ${evaluator.revision} of \`${evaluator.domain}\``;
    }
    evaluator.settings();
    const hosts = probeNames(plan).map(probeHost);
    const asked = [
      ...hosts.map((host) => ({ host, target: '/' })),
      ...(hosts.length === 0 ? [] : probePaths(plan).map((target) => ({ host: hosts[0]!, target }))),
    ];
    for (const { host, target } of asked) {
      evaluator.evaluate({
        scheme: 'https',
        method: 'GET',
        host,
        target,
        ip: '192.0.2.1',
        country: 'NZ',
        now: 0,
      });
      if (thrown !== null)
        return `the plan cannot decide a request for \`${target.slice(0, 80)}\` at \`${host}\``;
    }
    return null;
  } catch (error) {
    return `the plan does not open: ${error instanceof Error ? error.message : String(error)}`;
  }
}
