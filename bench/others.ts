/** Others: general rule engines on the same 1,000 drop rules, each through the fastest interface it offers. */
import { drops } from './data/drops.ts';
import { POOL, QUICK_POOL, QUICK_RULES } from './data/requests.ts';
import { agree, answerOf } from './harness/answer.ts';
import { callSide, evaluateSide, evaluatorOf } from './harness/evaluate.ts';
import { race, type Side, sink, timesText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';
import { API as CEDAR_API, cedar } from './subjects/cedar.ts';
import { API as JSON_RULES_API, jsonRulesEngine } from './subjects/json-rules-engine.ts';

const RULES = 1_000;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const { ruleSet, rules, requests } = drops(
    options.quick ? QUICK_RULES / 5 : RULES,
    options.quick ? QUICK_POOL : POOL,
  );
  const evaluator = evaluatorOf(ruleSet);
  const ours = evaluateSide('evaluate', evaluator, requests);
  const engine = jsonRulesEngine(rules);
  const authorize = cedar(rules);
  const rivals = [
    { side: asyncSide('json-rules-engine', requests, engine), answer: engine, api: JSON_RULES_API },
    { side: callSide('cedar-wasm', requests, authorize), answer: authorize, api: CEDAR_API },
  ];
  const rows: Row[] = [];
  for (const { side, answer, api } of rivals) {
    await agree(requests, {
      names: [side.name, 'evaluate'],
      a: answer,
      b: (request) => answerOf(evaluator.evaluate(request)),
    });
    const result = await race(side, ours, options);
    rows.push({
      name: `${side.name} ÷ evaluate, 1,000 rules`,
      value: result.ratio,
      goal: { atLeast: 5_000 },
      unit: '×',
      note: `${api}; ${timesText(side, ours, result)}`,
    });
  }
  return rows;
}

function asyncSide<Input>(
  name: string,
  sample: readonly Input[],
  call: (input: Input) => Promise<unknown>,
): Side {
  return {
    name,
    async run(from, count) {
      for (let done = 0; done < count; done++)
        sink.value = await call(sample[(from + done) % sample.length]!);
    },
  };
}
