/** Adversarial: rule sets made to leave an index nothing to work with. */
import { ADVERSARIES, adversarial } from './data/adversarial.ts';
import { POOL, QUICK_POOL, QUICK_RULES } from './data/requests.ts';
import { agree, answerOf } from './harness/answer.ts';
import { callSide, evaluateSide, evaluatorOf } from './harness/evaluate.ts';
import { race, timesText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';
import { linearScan } from './subjects/linear.ts';

const RULES = 10_000;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const adversary of ADVERSARIES) {
    const count = options.quick ? QUICK_RULES : RULES;
    const { ruleSet, requests } = adversarial(adversary, count, options.quick ? QUICK_POOL : POOL);
    const evaluator = evaluatorOf(ruleSet);
    const answer = linearScan(ruleSet);
    let matching = 0;
    await agree(requests, {
      names: ['linear scan', 'evaluate'],
      a: answer,
      b: (request) => {
        const decision = evaluator.evaluate(request);
        if (decision.matches.length > 0) matching++;
        return answerOf(decision);
      },
    });
    const linear = callSide('linear', requests, answer);
    const ours = evaluateSide('evaluate', evaluator, requests);
    const result = await race(linear, ours, options);
    const share = `${Math.round((100 * matching) / requests.length)}% of requests match`;
    rows.push({
      name: `${adversary.name}: linear ÷ evaluate`,
      value: result.ratio,
      goal: adversary.promised ? { atLeast: 10 } : null,
      unit: '×',
      note: `${count.toLocaleString('en-US')} rules, ${share}; ${timesText(linear, ours, result)}`,
    });
  }
  return rows;
}
