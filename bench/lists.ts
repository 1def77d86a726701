/** Lists: a request costs about as much with a list of 100,000 entries as with one of 100. */
import { type ListKind, listed } from './data/lists.ts';
import { POOL, QUICK_POOL } from './data/requests.ts';
import { agree, answerOf } from './harness/answer.ts';
import { evaluateSide, evaluatorOf } from './harness/evaluate.ts';
import { race, type Side, timesText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';

const LARGE = 100_000;
const QUICK_LARGE = 2_000;
const SMALL = 100;

const WHAT: Readonly<Record<ListKind, string>> = {
  ip: 'networks',
  path: 'paths',
  user_agent: 'User-Agents',
};

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const kind of Object.keys(WHAT) as ListKind[]) rows.push(await rowOf(kind, options));
  return rows;
}

async function rowOf(kind: ListKind, options: BenchOptions): Promise<Row> {
  const pool = options.quick ? QUICK_POOL : POOL;
  const sizes = [options.quick ? QUICK_LARGE : LARGE, SMALL];
  const { requests, written } = listed(kind, { size: SMALL, pool });
  // The same rules with the entries of the small list in the rule itself.
  const plain = evaluatorOf(written);
  const sides: Side[] = [];
  for (const size of sizes) {
    const evaluator = evaluatorOf(listed(kind, { size, pool }).ruleSet);
    await agree(requests, {
      names: [`a list of ${size}`, 'entries in the rule'],
      a: (request) => answerOf(evaluator.evaluate(request)),
      b: (request) => answerOf(plain.evaluate(request)),
    });
    sides.push(evaluateSide(size.toLocaleString('en-US'), evaluator, requests));
  }
  const [many, few] = sides as [Side, Side];
  const result = await race(many, few, options);
  const note = `100 mixed rules and one that names the list, a quarter of ${pool} requests aimed at an entry of both; ${timesText(many, few, result)}`;
  const name = `evaluate, a list of 100,000 ${WHAT[kind]} ÷ one of 100`;
  return { name, value: result.ratio, goal: { atMost: 1.2 }, unit: '×', note };
}
