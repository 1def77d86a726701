/** Plan: what 10,000 rules take up, and what it takes to open them. */
import { compile, seal } from '../src/compiler/index.ts';
import { loadPlan } from '../src/evaluator/index.ts';
import type { EdgeRequest } from '../src/evaluator/request.ts';
import { openPlan } from '../src/plan/open.ts';
import { mixed } from './data/mixed.ts';
import { POOL, QUICK_POOL } from './data/requests.ts';
import { agree, answerOf } from './harness/answer.ts';
import { evaluatorOf, NOW } from './harness/evaluate.ts';
import { race, type Side, sink, timesText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';

const RULES = 10_000;

function repeat(name: string, work: () => unknown): Side {
  return {
    name,
    run(_from, count) {
      for (let done = 0; done < count; done++) sink.value = work();
    },
  };
}

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const { ruleSet, requests } = mixed(RULES, options.quick ? QUICK_POOL : POOL);
  const bytes = seal(compile(ruleSet).plan);
  const printed = JSON.stringify(ruleSet);
  await compareForms(printed, { bytes, requests });
  const parse = repeat('JSON.parse', () => JSON.parse(printed));
  const kilo = Math.round(printed.length / 1_024);
  const octets = bytes.length / RULES;
  const rows: Row[] = [
    {
      name: 'plan, octets a rule',
      value: octets,
      goal: { atMost: 300 },
      unit: 'octets',
      note: `10,000 mixed rules, sealed: ${Math.round(bytes.length / 1_024)} KiB; as JSON ${kilo} KiB`,
    },
  ];
  const openings = [
    { name: 'open, bytes checked before', goal: 1 / 10_000, work: () => openPlan(bytes, { trusted: true }) },
    { name: 'open with checksum', goal: 1 / 20, work: () => openPlan(bytes) },
    {
      name: 'load an evaluator, bytes checked before',
      goal: null,
      work: () => loadPlan(bytes, { trusted: true }),
    },
  ];
  for (const { name, goal, work } of openings) {
    const side = repeat(name, work);
    const result = await race(side, parse, options);
    rows.push({
      name: `${name} ÷ JSON.parse`,
      value: result.ratio,
      goal: goal === null ? null : { atMost: goal },
      unit: '×',
      note: `rule set printed as JSON, ${kilo} KiB; ${timesText(side, parse, result)}`,
    });
  }
  return rows;
}

/** Both forms hold the same rules: what is compiled from the JSON decides as the opened bytes do. */
async function compareForms(
  printed: string,
  sealed: { readonly bytes: Uint8Array; readonly requests: readonly EdgeRequest[] },
): Promise<void> {
  const fromBytes = loadPlan(sealed.bytes, { clock: () => NOW, random: () => 0.5 });
  const fromJson = evaluatorOf(JSON.parse(printed));
  await agree(sealed.requests, {
    names: ['opened', 'parsed'],
    a: (request) => answerOf(fromBytes.evaluate(request)),
    b: (request) => answerOf(fromJson.evaluate(request)),
  });
}
