/** Linear: what indexes are for, beside a scan of compiled matchers and beside one of nothing prepared at all. */
import { mixed } from './data/mixed.ts';
import { POOL, QUICK_POOL, QUICK_RULES } from './data/requests.ts';
import { agree, answerOf } from './harness/answer.ts';
import { callSide, evaluateSide, evaluatorOf } from './harness/evaluate.ts';
import { race, timesText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';
import { linearScan } from './subjects/linear.ts';
import { naiveScan } from './subjects/naive.ts';

const CONTESTS = [
  { name: 'linear scan', note: 'compiled closures, same parsers', scan: linearScan, count: 1_000, least: 50 },
  {
    name: 'linear scan',
    note: 'compiled closures, same parsers',
    scan: linearScan,
    count: 10_000,
    least: 500,
  },
  { name: 'naive scan', note: 'micromatch.isMatch, ipaddr.js', scan: naiveScan, count: 1_000, least: 1_000 },
] as const;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { name, note, scan, count, least } of CONTESTS) {
    const { ruleSet, requests } = mixed(
      options.quick ? QUICK_RULES : count,
      options.quick ? QUICK_POOL : POOL,
    );
    const evaluator = evaluatorOf(ruleSet);
    const answer = scan(ruleSet);
    await agree(requests, {
      names: [name, 'evaluate'],
      a: answer,
      b: (request) => answerOf(evaluator.evaluate(request)),
    });
    const theirs = callSide(name, requests, answer);
    const ours = evaluateSide('evaluate', evaluator, requests);
    const result = await race(theirs, ours, options);
    rows.push({
      name: `${name} ÷ evaluate, ${count.toLocaleString('en-US')} rules`,
      value: result.ratio,
      goal: { atLeast: least },
      unit: '×',
      note: `${note}; ${timesText(theirs, ours, result)}`,
    });
  }
  return rows;
}
