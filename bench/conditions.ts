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
  return [await growth(options), ...(await asking(options))];
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

async function asking(options: BenchOptions): Promise<readonly Row[]> {
  const requests = candidateRequests(ASKING, options.quick ? QUICK_POOL : POOL);
  const sideBy = async (by: 'header' | 'path' | 'country'): Promise<Side> => {
    const ruleSet = candidates(ASKING, by);
    const evaluator = evaluatorOf(ruleSet);
    await agree(requests, {
      names: ['evaluate', 'linear scan'],
      a: (request) => answerOf(evaluator.evaluate(request)),
      b: linearScan(ruleSet),
    });
    return evaluateSide(by, evaluator, requests);
  };
  const [header, path, country] = [await sideBy('header'), await sideBy('path'), await sideBy('country')];
  const rows: Row[] = [];
  for (const [other, what, goal] of [
    [path, 'none: they exclude the path', { atMost: 2 }],
    [country, 'none: a country rejects them', null],
  ] as const) {
    const result = await race(header, other, options);
    const name = `${ASKING} candidates with a header condition each ÷ ${what}`;
    rows.push({ name, value: result.ratio, goal, unit: '×', note: timesText(header, other, result) });
  }
  return rows;
}
