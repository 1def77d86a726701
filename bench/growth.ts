/** Growth: a request costs about as much among 10,000 rules as among 100 of which as many match it. */
import { mixed } from './data/mixed.ts';
import { POOL, QUICK_POOL, QUICK_RULES } from './data/requests.ts';
import { agree, answerOf } from './harness/answer.ts';
import { evaluateSide, evaluatorOf } from './harness/evaluate.ts';
import { race, timesText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';
import { linearScan } from './subjects/linear.ts';

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const pool = options.quick ? QUICK_POOL : POOL;
  const sides = [];
  for (const count of [options.quick ? QUICK_RULES : 10_000, 100]) {
    const { ruleSet, requests } = mixed(count, pool);
    const evaluator = evaluatorOf(ruleSet);
    const names = [`evaluate, ${count} rules`, 'linear scan'] as const;
    await agree(requests, {
      names,
      a: (request) => answerOf(evaluator.evaluate(request)),
      b: linearScan(ruleSet),
    });
    sides.push(evaluateSide(`${count.toLocaleString('en-US')} rules`, evaluator, requests));
  }
  const [many, few] = sides as [(typeof sides)[0], (typeof sides)[0]];
  const result = await race(many, few, options);
  const note = `mixed rules, half of ${pool} requests aimed at a rule; ${timesText(many, few, result)}`;
  return [
    { name: 'evaluate, 10,000 rules ÷ 100', value: result.ratio, goal: { atMost: 1.5 }, unit: '×', note },
  ];
}
