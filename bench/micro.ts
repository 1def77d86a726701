/**
 * Micro: single functions in operations a second, by the `benchmark` package with its margins of error, each beside a partner
 * that the interleaved harness times too. Where the two disagree about which of a pair is faster, the row says so.
 *
 * The package times one side after the other, on inputs that are made once; the harness interleaves both, on fresh strings.
 */
import Benchmark from 'benchmark';
import { compile, seal } from '../src/engine/compiler/index.ts';
import { printPlan } from '../src/engine/compiler/print.ts';
import { loadPlan } from '../src/engine/evaluator/index.ts';
import { openPlan } from '../src/engine/plan/seal.ts';
import type { DropRule, RuleSet } from '../src/rules/model/types.ts';
import { proveChanges } from '../src/workbench/proofs/changes.ts';
import { diffPlans } from '../src/workbench/proofs/diff.ts';
import { changeInput } from '../src/workbench/proofs/differences.ts';
import { proveReach } from '../src/workbench/proofs/reach.ts';
import { readSubject } from '../src/workbench/proofs/subject.ts';
import { mixed } from './data/mixed.ts';
import { QUICK_POOL } from './data/requests.ts';
import { agree, answerOf } from './harness/answer.ts';
import { callSide, evaluateSide, evaluatorOf, sealed } from './harness/evaluate.ts';
import { race, type Side, sink } from './harness/race.ts';
import { innerPatterns } from './proofs.ts';
import type { BenchOptions, Row } from './row.ts';

/** A function, by both ways of timing it. */
interface Timed {
  readonly name: string;
  readonly work: () => unknown;
  readonly side: Side;
}

/** What the package measured. */
interface Measured {
  readonly hertz: number;
  /** Relative margin of error in percent, at 95 % confidence. */
  readonly margin: number;
  readonly samples: number;
}

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const pair of await pairs(options)) rows.push(...(await rowsOf(pair, options)));
  return rows;
}

/** The rows of both functions of a pair. */
async function rowsOf(pair: readonly [Timed, Timed], options: BenchOptions): Promise<readonly Row[]> {
  const alone = pair.map(({ work }) => measure(work, options));
  const { ratio } = await race(pair[0].side, pair[1].side, options);
  const [a, b] = [alone[0]!, alone[1]!];
  // Times, so that the ratio is that of the harness.
  const byPackage = b.hertz / a.hertz;
  const verdict = verdictOf({ byPackage, byHarness: ratio, margin: (a.margin + b.margin) / 100 });
  return pair.map(({ name }, at) => ({
    name,
    value: alone[at]!.hertz,
    goal: null,
    unit: 'ops/s',
    note:
      `± ${alone[at]!.margin.toFixed(1)} %, ${alone[at]!.samples} samples` +
      (at === 0
        ? `; ÷ ${pair[1].name}: ${byPackage.toPrecision(3)} × in time, interleaved ${ratio.toPrecision(3)} ×${verdict}`
        : ''),
  }));
}

/** Whether both ways agree about which function is faster. `margin`: of the ratio of the package. */
function verdictOf({
  byPackage,
  byHarness,
  margin,
}: {
  readonly byPackage: number;
  readonly byHarness: number;
  readonly margin: number;
}): string {
  if (Math.abs(byPackage - 1) <= margin) return ', too close for the package to say which is faster';
  return byPackage > 1 === byHarness > 1 ? '' : ', the two disagree about which is faster';
}

/** Times one function by the package. */
function measure(work: () => unknown, { quick }: BenchOptions): Measured {
  const pace = quick ? { maxTime: 0.05, minSamples: 2, minTime: 0.005, initCount: 1 } : {};
  const benchmark = new Benchmark({
    ...pace,
    fn: () => {
      sink.value = work();
    },
  });
  benchmark.run();
  if (benchmark.error !== undefined) throw benchmark.error;
  const { hz, stats } = benchmark;
  return { hertz: hz, margin: stats.rme, samples: stats.sample.length };
}

/** A function without input. */
function timed(name: string, work: () => unknown): Timed {
  return { name, work, side: callSide(name, [null], work) };
}

async function pairs(options: BenchOptions): Promise<readonly (readonly [Timed, Timed])[]> {
  const count = options.quick ? 100 : 1_000;
  const { ruleSet, requests } = mixed(count, QUICK_POOL);
  const evaluator = evaluatorOf(ruleSet);
  await agree(requests, {
    names: ['evaluate', 'explain'],
    a: (request) => answerOf(evaluator.evaluate(request)),
    b: (request) => answerOf(evaluator.explain(request).decision),
  });
  const next = turns(requests);
  const evaluate: Timed = {
    name: `evaluate, ${count} rules`,
    work: () => evaluator.evaluate(next()),
    side: evaluateSide('evaluate', evaluator, requests),
  };
  const explain: Timed = {
    name: `explain, ${count} rules`,
    work: () => evaluator.explain(next()),
    side: callSide('explain', requests, (request) => evaluator.explain(request)),
  };
  const bytes = sealed(ruleSet);
  const printed = JSON.stringify(printPlan(openPlan(bytes)));
  const written = JSON.stringify(ruleSet);
  return [
    [explain, evaluate],
    [
      timed(`loadPlan, ${count} rules`, () => loadPlan(bytes)),
      timed('JSON.parse of the printed plan', () => JSON.parse(printed)),
    ],
    [
      timed(`compile, ${count} rules`, () => compile(ruleSet)),
      timed('JSON.parse of the rule set', () => JSON.parse(written)),
    ],
    ...proofPairs(options.quick ? 20 : 50),
  ];
}

/** One sample after the other, over and over. */
function turns<Input>(sample: readonly Input[]): () => Input {
  let at = 0;
  return () => {
    at = (at + 1) % sample.length;
    return sample[at]!;
  };
}

/** A proof beside the opening of its plan, and a proved diff beside the comparison of fields. */
function proofPairs(count: number): readonly (readonly [Timed, Timed])[] {
  const { ruleSet, unreachable } = innerPatterns(count);
  const [before, after] = [ruleSet, edited(ruleSet)].map((one) => {
    const bytes = seal(compile(one).plan, { revision: 1 });
    return { bytes, opened: openPlan(bytes) };
  });
  const subject = readSubject(before!.bytes);
  const shadowed = proveReach(subject).filter(({ result }) => result.kind === 'shadowed');
  if (shadowed.length !== unreachable.length) throw new Error('the planted unreachable rules are not proved');
  const { changes, open } = proveChanges(changeInput(before!, after!));
  if (changes.length === 0 || open.length > 0) throw new Error('the edit is not proved');
  return [
    [
      timed(`proof of which of ${count} rules are reached`, () => proveReach(subject)),
      timed(`loadPlan, those ${count} rules`, () => loadPlan(before!.bytes)),
    ],
    [
      timed(`proved diff of an edit among ${count} rules`, () => proveChanges(changeInput(before!, after!))),
      timed('diff of their fields', () => diffPlans(before!, after!)),
    ],
  ];
}

/** The rule set with a pattern widened. */
function edited(ruleSet: RuleSet): RuleSet {
  const place = ruleSet.rules.findIndex(
    (rule) => rule.type === 'drop' && rule.path_match_type === 'wildcard',
  );
  const rule = ruleSet.rules[place] as DropRule;
  return { ...ruleSet, rules: ruleSet.rules.with(place, { ...rule, path_includes: ['/*-x*'] }) };
}
