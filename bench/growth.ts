/** Growth: a request costs about as much among 10,000 rules as among 100 of which as many match it. */
import type { EdgeRequest } from '../src/engine/evaluator/request.ts';
import type { RuleSet } from '../src/rules/model/types.ts';
import { mixed } from './data/mixed.ts';
import { POOL, QUICK_POOL, QUICK_RULES } from './data/requests.ts';
import { agree, answerOf } from './harness/answer.ts';
import { evaluateSide, evaluatorOf } from './harness/evaluate.ts';
import { race, type Side, timesText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';
import { linearScan } from './subjects/linear.ts';

/** A rule set of so many rules, and a pool of requests. */
interface Sized {
  readonly ruleSet: RuleSet;
  readonly requests: readonly EdgeRequest[];
}

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  return [await growthOf('evaluate', 'mixed rules', { make: mixed, options })];
}

/** The row of 10,000 rules of a kind beside 100. */
export async function growthOf(
  name: string,
  rules: string,
  {
    make,
    options,
  }: { readonly make: (count: number, pool: number) => Sized; readonly options: BenchOptions },
): Promise<Row> {
  const pool = options.quick ? QUICK_POOL : POOL;
  const sides: Side[] = [];
  for (const count of [options.quick ? QUICK_RULES : 10_000, 100]) {
    const { ruleSet, requests } = make(count, pool);
    const evaluator = evaluatorOf(ruleSet);
    await agree(requests, {
      names: [`evaluate, ${count} rules`, 'linear scan'],
      a: (request) => answerOf(evaluator.evaluate(request)),
      b: linearScan(ruleSet),
    });
    sides.push(evaluateSide(`${count.toLocaleString('en-US')} rules`, evaluator, requests));
  }
  const [many, few] = sides as [Side, Side];
  const result = await race(many, few, options);
  const note = `${rules}, half of ${pool} requests aimed at a rule; ${timesText(many, few, result)}`;
  return { name: `${name}, 10,000 rules ÷ 100`, value: result.ratio, goal: { atMost: 1.5 }, unit: '×', note };
}
