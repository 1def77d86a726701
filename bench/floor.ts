/** Floor: what a decision costs beside the look-ups that no evaluator can do without. */
import type { Evaluator } from '../src/engine/evaluator/index.ts';
import { type Mixed, mixed } from './data/mixed.ts';
import { POOL, QUICK_POOL, QUICK_RULES } from './data/requests.ts';
import { evaluateSide, evaluatorOf } from './harness/evaluate.ts';
import { race, timesText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';
import { floorFinder, floorSide } from './subjects/floor.ts';

const SETS = [
  { count: 100, most: 5, variety: 'hosts, paths, addresses' },
  { count: 10_000, most: 8, variety: 'hosts, paths, addresses' },
  { count: 100, most: 5, variety: 'all types' },
  { count: 10_000, most: 8, variety: 'all types' },
] as const;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { count, most, variety } of SETS) {
    const rules = options.quick ? Math.min(count, QUICK_RULES) : count;
    const set = mixed(rules, options.quick ? QUICK_POOL : POOL, variety);
    const evaluator = evaluatorOf(set.ruleSet);
    compareFinds(set, evaluator);
    const ours = evaluateSide('evaluate', evaluator, set.requests);
    const floor = floorSide(set);
    const result = await race(ours, floor, options);
    rows.push({
      name: `evaluate ÷ floor, ${count.toLocaleString('en-US')} rules, ${variety}`,
      value: result.ratio,
      goal: { atMost: most },
      unit: '×',
      note: `floor: host map, path map, IPv4 parse, interval look-up; ${timesText(ours, floor, result)}`,
    });
  }
  return rows;
}

/** The floor decides nothing, but what it finds must show in the decision. */
function compareFinds(set: Mixed, evaluator: Evaluator): void {
  const find = floorFinder(set);
  for (const request of set.requests) {
    const { listed, redirect } = find(request);
    const decision = evaluator.evaluate(request);
    const dropped = decision.action === 'block' && decision.rule?.type === 'drop';
    const redirected = decision.matches.some((match) => match.type === 'redirect' && match.id === redirect);
    const goesThrough = decision.action === 'forward' || decision.action === 'redirect';
    if ((listed && !dropped) || (redirect !== 0 && goesThrough && !redirected)) {
      throw new Error(
        `the floor and evaluate disagree on ${JSON.stringify(request)}: ${JSON.stringify(decision)}`,
      );
    }
  }
}
