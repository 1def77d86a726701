/** Plan: what 10,000 rules take up, and what it takes to open them. */
import { RULE_TYPES } from '../src/base/vocabulary/vocabulary.ts';
import { compile, seal } from '../src/engine/compiler/index.ts';
import { printPlan } from '../src/engine/compiler/print.ts';
import { loadPlan } from '../src/engine/evaluator/index.ts';
import type { EdgeRequest } from '../src/engine/evaluator/request.ts';
import { openPlan } from '../src/engine/plan/seal.ts';
import type { RuleSet } from '../src/rules/model/types.ts';
import { mixed } from './data/mixed.ts';
import { POOL, QUICK_POOL, QUICK_RULES } from './data/requests.ts';
import { agree, answerOf } from './harness/answer.ts';
import { NOW } from './harness/evaluate.ts';
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
  const count = options.quick ? QUICK_RULES : RULES;
  const { ruleSet, requests } = mixed(count, options.quick ? QUICK_POOL : POOL);
  const bytes = seal(compile(ruleSet).plan);
  const printed = JSON.stringify(printPlan(openPlan(bytes)));
  comparePrinted(printed, ruleSet);
  await compareOpenings(bytes, requests);
  const parse = repeat('JSON.parse', () => JSON.parse(printed));
  const kilo = Math.round(printed.length / 1_024);
  const octets = bytes.length / count;
  const rows: Row[] = [
    {
      name: 'plan, octets a rule',
      value: octets,
      goal: { atMost: 300 },
      unit: 'octets',
      note: `${count.toLocaleString('en-US')} mixed rules, sealed: ${Math.round(bytes.length / 1_024)} KiB; printed ${kilo} KiB`,
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
      note: `the printed plan, ${kilo} KiB; ${timesText(side, parse, result)}`,
    });
  }
  return rows;
}

/** The printed plan tells of the same rules, in the order in which they are tried. */
function comparePrinted(printed: string, ruleSet: RuleSet): void {
  const { rules } = JSON.parse(printed) as {
    readonly rules: readonly { readonly type: string; readonly id: number }[];
  };
  const ids = (list: readonly { readonly id: number }[]): string => list.map(({ id }) => id).join();
  const stored = [...ruleSet.rules].sort(
    (a, b) =>
      RULE_TYPES.indexOf(a.type) - RULE_TYPES.indexOf(b.type) || a.priority - b.priority || a.id - b.id,
  );
  if (ids(rules) !== ids(stored)) throw new Error('the printed plan has other rules than the rule set');
}

/** Bytes that were checked and bytes that were taken on trust decide alike. */
async function compareOpenings(bytes: Uint8Array, requests: readonly EdgeRequest[]): Promise<void> {
  const options = { clock: () => NOW, random: () => 0.5 };
  const checked = loadPlan(bytes, options);
  const trusted = loadPlan(bytes, { ...options, trusted: true });
  await agree(requests, {
    names: ['checked', 'trusted'],
    a: (request) => answerOf(checked.evaluate(request)),
    b: (request) => answerOf(trusted.evaluate(request)),
  });
}
