/** Compile: a publication's own work beside reading its input. */
import { compile } from '../src/engine/compiler/index.ts';
import { mixed } from './data/mixed.ts';
import { QUICK_POOL, QUICK_RULES } from './data/requests.ts';
import { agree, answerOf } from './harness/answer.ts';
import { evaluatorOf } from './harness/evaluate.ts';
import { race, type Side, sink, timesText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';
import { linearScan } from './subjects/linear.ts';

const RULES = 10_000;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const { ruleSet, requests } = mixed(options.quick ? QUICK_RULES : RULES, QUICK_POOL);
  const json = JSON.stringify(ruleSet);
  const evaluator = evaluatorOf(JSON.parse(json));
  await agree(requests, {
    names: ['compiled from JSON', 'linear scan'],
    a: (request) => answerOf(evaluator.evaluate(request)),
    b: linearScan(ruleSet),
  });
  const compiling: Side = {
    name: 'compile',
    run(_from, count) {
      for (let done = 0; done < count; done++) sink.value = compile(ruleSet);
    },
  };
  const parsing: Side = {
    name: 'JSON.parse',
    run(_from, count) {
      for (let done = 0; done < count; done++) sink.value = JSON.parse(json);
    },
  };
  const result = await race(compiling, parsing, options);
  return [
    {
      name: 'compile ÷ JSON.parse, 10,000 rules',
      value: result.ratio,
      goal: { atMost: 30 },
      unit: '×',
      note: `mixed rules, ${Math.round(json.length / 1_024)} KiB of JSON; ${timesText(compiling, parsing, result)}`,
    },
  ];
}
