/** Allocation: what a decision leaves behind for the collector, and what a loaded plan keeps. */
import { setTimeout } from 'node:timers/promises';
import { createCounters, type Evaluator, loadPlan } from '../src/engine/evaluator/index.ts';
import type { EdgeRequest } from '../src/engine/evaluator/request.ts';
import { seeded } from '../test/support/generate-random.ts';
import { mixed } from './data/mixed.ts';
import { POOL, QUICK_POOL, QUICK_RULES, requestOf } from './data/requests.ts';
import { smallDomain } from './data/small-domains.ts';
import { agree, answerOf } from './harness/answer.ts';
import { evaluatorOf, NOW, sealed } from './harness/evaluate.ts';
import { median, sink } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';
import { linearScan } from './subjects/linear.ts';

const RULES = 10_000;
const PLANS = 2_000;
const QUICK_PLANS = 20;
/** Calls between two looks at the heap: few enough that no collection comes between. */
const CALLS = 2_048;
const ROUNDS = 21;

function collect(): void {
  if (globalThis.gc === undefined)
    throw new Error('run with `node --expose-gc`, or the heap cannot be measured');
  globalThis.gc();
}

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  return [...(await perCall(options)), ...(await perPlan(options))];
}

async function perCall({ quick }: BenchOptions): Promise<readonly Row[]> {
  const { ruleSet } = mixed(quick ? QUICK_RULES : RULES, 1);
  const evaluator = evaluatorOf(ruleSet);
  const requests = unmatched(evaluator, quick ? QUICK_POOL : POOL);
  await agree(requests, {
    names: ['evaluate', 'linear scan'],
    a: (request) => answerOf(evaluator.evaluate(request)),
    b: linearScan(ruleSet),
  });
  const taken = octetsPerCall(requests, (request) => evaluator.evaluate(request));
  const decision = evaluator.evaluate(requests[0]!);
  const own = octetsPerCall(requests, () => ({ ...decision, origin: { ...decision.origin } }));
  const note = `${requests.length} requests without a query that match none of 10,000 rules; a decision with its origin takes ${Math.round(own)}`;
  return [{ name: 'heap per evaluate, nothing matches', value: taken, goal: null, unit: 'octets', note }];
}

/** Requests that no rule matches. */
function unmatched(evaluator: Evaluator, count: number): readonly EdgeRequest[] {
  const random = seeded(11);
  const found: EdgeRequest[] = [];
  while (found.length < count) {
    const drawn = requestOf(random, {});
    if (!drawn.target.includes('?') && evaluator.evaluate(drawn).matches.length === 0) found.push(drawn);
  }
  return found;
}

/** Octets that the heap grows by per call, the median over rounds that each start from a collected heap. */
function octetsPerCall(requests: readonly EdgeRequest[], call: (request: EdgeRequest) => unknown): number {
  const grown: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (let at = 0; at < CALLS * 4; at++) sink.value = call(requests[at % requests.length]!);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < CALLS; at++) sink.value = call(requests[at % requests.length]!);
    grown.push((process.memoryUsage().heapUsed - before) / CALLS);
  }
  return median(grown);
}

async function perPlan({ quick }: BenchOptions): Promise<readonly Row[]> {
  const count = quick ? QUICK_PLANS : PLANS;
  const counters = createCounters({ random: () => 0.5 });
  const small = Array.from({ length: count }, (_, index) => smallDomain(index));
  const plans = small.map(({ ruleSet }) => sealed(ruleSet));
  const random = seeded(5);
  const requests = small.map((domain) => random.times(10, () => domain.request(random)));
  const before = await held();
  const evaluators = plans.map((bytes) => loadPlan(bytes, { counters, trusted: true, clock: () => NOW }));
  const loaded = await held();
  for (const [index, evaluator] of evaluators.entries()) {
    const scan = linearScan(small[index]!.ruleSet);
    await agree(requests[index]!, {
      names: ['evaluate', 'linear scan'],
      a: (request) => answerOf(evaluator.evaluate(request)),
      b: scan,
    });
  }
  const used = await held();
  // What was there before the first look must still be there at the last.
  sink.value = [evaluators, small, plans, requests];
  const octets = plans.reduce((sum, bytes) => sum + bytes.length, 0) / count;
  const note = `beside the plan's own ${Math.round(octets)} octets; ${count} plans of 20 rules, counters shared`;
  return [
    { name: 'memory per loaded plan', value: (loaded - before) / count, goal: null, unit: 'octets', note },
    { name: 'the same after 10 requests', value: (used - before) / count, goal: null, unit: 'octets', note },
  ];
}

/**
 * Octets on the heap and in array buffers, once what is dead is gone. Buffers are given back by another thread some time
 * after a collection, hence the wait between two of them.
 */
async function held(): Promise<number> {
  collect();
  await setTimeout(100);
  collect();
  await setTimeout(100);
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
