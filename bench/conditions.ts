/** Conditions: what they cost among many rules, and to a request whose candidates ask for headers. */
import { candidateRequests, candidates, conditional } from './data/conditions.ts';
import { POOL, QUICK_POOL } from './data/requests.ts';
import { growthOf } from './growth.ts';
import { agree, answerOf } from './harness/answer.ts';
import { evaluateSide, evaluatorOf } from './harness/evaluate.ts';
import { race, type Side, timesText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';
import { linearScan } from './subjects/linear.ts';

/** Candidates of one request that each ask for a header. */
const ASKING = 20;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const rules = 'rules with conditions on methods, headers, parameters and cookies';
  return [
    await growthOf('evaluate with conditions', rules, { make: conditional, options }),
    ...(await asking(options)),
  ];
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
