/** Domains: a node that serves 2,000 small domains beside one that serves a single hot one. */
import { createDomains } from '../src/engine/evaluator/domains.ts';
import { createCounters, type Evaluator } from '../src/engine/evaluator/index.ts';
import type { EdgeRequest } from '../src/engine/evaluator/request.ts';
import { seeded } from '../test/support/generate-random.ts';
import { POOL, QUICK_POOL } from './data/requests.ts';
import { type SmallDomain, smallDomain } from './data/small-domains.ts';
import { agree, answerOf } from './harness/answer.ts';
import { evaluatorOf, freshRequests } from './harness/evaluate.ts';
import { race, type Side, sink, timesText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';
import { linearScan } from './subjects/linear.ts';

const DOMAINS = 2_000;
const QUICK_DOMAINS = 50;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const count = options.quick ? QUICK_DOMAINS : DOMAINS;
  const pool = options.quick ? QUICK_POOL : POOL;
  const domains = createDomains();
  const counters = createCounters({ random: () => 0.5 });
  const small = Array.from({ length: count }, (_, index) => smallDomain(index));
  for (const { ruleSet } of small) domains.set(ruleSet.domain.name, evaluatorOf(ruleSet, counters));
  const random = seeded(3);
  const drawn = random.times(pool * 4, () => random.pick(small));
  const spread = drawn.map((domain) => domain.request(random));
  const hot = random.times(pool, () => small[0]!.request(random));
  await compare(small, { find: domains.find, requests: [...spread, ...hot] });
  const cold = findSide('random domain', domains.find, spread);
  const warm = findSide('hot domain', domains.find, hot);
  const result = await race(cold, warm, options);
  return [
    {
      name: `random of ${count.toLocaleString('en-US')} domains ÷ one hot domain`,
      value: result.ratio,
      goal: { atMost: 3 },
      unit: '×',
      note: `20 rules and a plan each, host → domain included; ${timesText(cold, warm, result)}`,
    },
  ];
}

type Find = (host: string) => Evaluator | null;

interface Served {
  readonly find: Find;
  readonly requests: readonly EdgeRequest[];
}

/** Each request must get what a linear scan of its own domain's rules says. */
async function compare(small: readonly SmallDomain[], { find, requests }: Served): Promise<void> {
  const scans = new Map(small.map(({ ruleSet }) => [ruleSet.domain.name, linearScan(ruleSet)]));
  await agree(requests, {
    names: ['evaluate', 'linear scan'],
    a: (request) => answerOf(find(request.host as string)!.evaluate(request)),
    b: (request) => {
      const host = request.host as string;
      return scans.get(host.slice(host.indexOf('.') + 1))!(request);
    },
  });
}

function findSide(name: string, find: Find, requests: readonly EdgeRequest[]): Side {
  const fresh = freshRequests(requests);
  return {
    name,
    fresh,
    run(from, count) {
      const { requests: sample, size } = fresh;
      for (let left = count, at = from % size; left > 0; left--) {
        const request = sample[at]!;
        sink.value = find(request.host as string)!.evaluate(request);
        if (++at === size) at = 0;
      }
    },
  };
}
