/** Conditions: what they cost among many rules, and to a request whose candidates ask for headers. */
import { candidateRequests, candidates, conditional } from './data/conditions.ts';
import { POOL, QUICK_POOL, QUICK_RULES } from './data/requests.ts';
import { agree, answerOf } from './harness/answer.ts';
import { evaluateSide, evaluatorOf } from './harness/evaluate.ts';
import { race, type Side, timesText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';
import { linearScan } from './subjects/linear.ts';

/** Candidates of one request that each ask for a header. */
const ASKING = 20;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  return [await growth(options), await asking(options)];
}

async function growth(options: BenchOptions): Promise<Row> {
  const pool = options.quick ? QUICK_POOL : POOL;
  const sides: Side[] = [];
  for (const count of [options.quick ? QUICK_RULES : 10_000, 100]) {
    const { ruleSet, requests } = conditional(count, pool);
    const evaluator = evaluatorOf(ruleSet);
    const names = [`evaluate, ${count} rules`, 'linear scan'] as const;
    await agree(requests, {
      names,
      a: (request) => answerOf(evaluator.evaluate(request)),
      b: linearScan(ruleSet),
    });
    sides.push(evaluateSide(`${count.toLocaleString('en-US')} rules`, evaluator, requests));
  }
  const [many, few] = sides as [Side, Side];
  const result = await race(many, few, options);
  const note = `rules with conditions on methods, headers, parameters and cookies, half of ${pool} requests aimed at a rule; ${timesText(many, few, result)}`;
  return {
    name: 'with conditions, 10,000 rules ÷ 100',
    value: result.ratio,
    goal: { atMost: 1.5 },
    unit: '×',
    note,
  };
}

async function asking(options: BenchOptions): Promise<Row> {
  const requests = candidateRequests(ASKING, options.quick ? QUICK_POOL : POOL);
  const [asks, plain] = [true, false].map((isAsking): Side => {
    const ruleSet = candidates(ASKING, isAsking);
    const evaluator = evaluatorOf(ruleSet);
    return evaluateSide(isAsking ? 'header conditions' : 'none', evaluator, requests);
  }) as [Side, Side];
  for (const isAsking of [true, false]) {
    const ruleSet = candidates(ASKING, isAsking);
    const evaluator = evaluatorOf(ruleSet);
    await agree(requests, {
      names: ['evaluate', 'linear scan'],
      a: (request) => answerOf(evaluator.evaluate(request)),
      b: linearScan(ruleSet),
    });
  }
  const result = await race(asks, plain, options);
  const note = `requests whose ${ASKING} candidates ask for a header each ÷ whose candidates ask for a country; ${timesText(asks, plain, result)}`;
  return {
    name: `${ASKING} header conditions among the candidates ÷ none`,
    value: result.ratio,
    goal: { atMost: 2 },
    unit: '×',
    note,
  };
}
