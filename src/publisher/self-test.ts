/**
 * The check between compiling and publishing: the sealed bytes are opened as a node opens them and asked about requests
 * made from the plan's own hosts and patterns. It finds plans that cannot be opened, that break the evaluator, or that
 * refuse a host they were made for; it does not judge what the rules say.
 */
import { createCounters, type Decision, type EdgeRequest, loadPlan } from '../evaluator/index.ts';
import type { Plan } from '../plan/layout.ts';
import { openPlan } from '../plan/open.ts';
import { probeHost, probeNames, probePaths } from '../plan/probes.ts';
import { PublishFault } from './fault.ts';

/** Octets of the rate counters of the test: a request each, thrown away afterwards. */
const COUNTER_BYTES = 65_536;

/** What the plan must be. */
export interface ExpectedDecisions {
  readonly domain: string;
  readonly revision: number;
}

/** @throws PublishFault `self_test` with the first thing that is wrong */
export function selfTest(bytes: Uint8Array, expected: ExpectedDecisions): void {
  const { plan, evaluator } = open(bytes);
  if (evaluator.domain !== expected.domain || evaluator.revision !== expected.revision) {
    const found = `\`${evaluator.domain}\` revision ${evaluator.revision}`;
    throw new PublishFault(
      'self_test',
      `the plan says it is ${found}, it was made for \`${expected.domain}\` revision ${expected.revision}`,
    );
  }
  const names = probeNames(plan);
  for (const name of names) {
    const host = probeHost(name);
    const decision = check(evaluator.evaluate(ask(host, '/')), host, '/');
    // A name below a wildcard may exist by itself, unproxied, so only a record's very own name must not be refused.
    if (decision.action === 'refuse' && decision.rule === null && host === name) {
      throw new PublishFault('self_test', `the plan refuses \`${host}\`, a host it has records for`);
    }
  }
  const [first] = names;
  if (first === undefined) return;
  const host = probeHost(first);
  for (const path of probePaths(plan)) check(evaluator.evaluate(ask(host, path)), host, path);
}

function open(bytes: Uint8Array): { plan: Plan; evaluator: ReturnType<typeof loadPlan> } {
  try {
    const counters = createCounters({ maxBytes: COUNTER_BYTES });
    return { plan: openPlan(bytes).plan, evaluator: loadPlan(bytes, { counters }) };
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new PublishFault('self_test', `the plan does not open: ${said}`, { cause });
  }
}

/** 500 is what `evaluate` answers where something in it threw. */
function check(decision: Decision, host: string, path: string): Decision {
  if (decision.status !== 500 || decision.action !== 'refuse') return decision;
  throw new PublishFault(
    'self_test',
    `the plan cannot decide a request for \`${path.slice(0, 80)}\` at \`${host}\``,
  );
}

function ask(host: string, target: string): EdgeRequest {
  return { scheme: 'https', method: 'GET', host, target, ip: '192.0.2.1', country: 'NZ', now: 0 };
}
