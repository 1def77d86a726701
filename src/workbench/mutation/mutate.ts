/**
 * Mutation testing: would the tests notice a mistake in the rules? In: a rule set and its tests, which pass. Out: for each mutant
 * whether a test kills it, whether it is proved to decide every request alike, or a request that it decides otherwise, as a
 * test ready to be added.
 */

import { compile } from '../../engine/compiler/compile.ts';
import type { KnownPatterns } from '../../engine/compiler/patterns.ts';
import type { Trace } from '../../engine/evaluator/trace.ts';
import type { WafProgram } from '../../engine/evaluator/waf.ts';
import { seal } from '../../engine/plan/seal.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import { proveReach } from '../proofs/reach.ts';
import { requestOf, type Witness } from '../proofs/space/witness.ts';
import { readSubject } from '../proofs/subject.ts';
import type { RuleNames } from '../rule-tests/names.ts';
import type { ReadyTest } from '../rule-tests/prepare.ts';
import { findFailing, runTests, withBots } from '../rule-tests/run.ts';
import { judge, type MutantVerdict, type Original, readOriginal, type Unkilled } from './judge.ts';
import { MAX_BATCH } from './limits.ts';
import type { Mutant } from './mutant.ts';
import { mutantsOf, mutate, type Selection } from './mutants.ts';
import { testOf } from './witness-test.ts';

/** What is mutated. */
export interface MutationSubject {
  readonly ruleSet: RuleSet;
  readonly names: RuleNames;
  /** Tests that pass. */
  readonly tests: readonly ReadyTest[];
  readonly waf: WafProgram | null;
}

/** What became of a mutant. */
export interface MutantResult {
  readonly mutant: Mutant;
  readonly judged: MutantVerdict | { readonly outcome: 'killed'; readonly by: string };
}

/** A mutation run, to be advanced mutant by mutant. */
export interface MutationRun {
  /** Mutants of this run, and all that there are. */
  readonly count: number;
  readonly total: number;
  /** The results, each made when it is asked for. */
  readonly results: Iterable<MutantResult>;
}

/** Starts a run. */
export function startMutation(subject: MutationSubject, selection: Selection): MutationRun {
  const { mutants, total } = mutantsOf(subject.ruleSet, selection);
  return { count: mutants.length, total, results: resultsOf(prepare(subject), mutants) };
}

/** What the mutants of a run share. */
interface Prepared extends MutationSubject {
  readonly patterns: KnownPatterns;
  readonly bytes: Uint8Array;
  readonly original: Original;
  /** Places of tests by `<type>/<id>` of the rules that match in them. */
  readonly testsOf: ReadonlyMap<string, readonly number[]>;
  /** Requests that reach the rules, with their decisions. */
  readonly reaching: readonly { readonly witness: Witness; readonly decision: string }[];
}

function prepare(subject: MutationSubject): Prepared {
  const { ruleSet } = subject;
  const patterns: KnownPatterns = new Map();
  const bytes = seal(compile(ruleSet, { patterns }).plan, { revision: 0 });
  const tests = withBots(subject.tests, bytes);
  const original = readOriginal(ruleSet, patterns);
  const witnesses = proveReach(original.subject).flatMap(({ result }) =>
    result.kind === 'reached' ? [result.witness] : [],
  );
  const decisions = decisionsOn(bytes, witnesses);
  const reaching = witnesses.map((witness, place) => ({ witness, decision: decisions[place]! }));
  const testsOf = matchedIn(tests, { ...subject, bytes });
  return { ...subject, tests, patterns, bytes, original, testsOf, reaching };
}

/** The tests in which each rule matches. */
function matchedIn(
  tests: readonly ReadyTest[],
  { bytes, names, waf }: MutationSubject & { readonly bytes: Uint8Array },
): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  tests.forEach((test, place) => {
    const seen = new Set<string>();
    const note = ({ phases }: Trace): void => {
      for (const { rules } of phases)
        for (const { type, id, outcome } of rules) if (outcome === 'matched') seen.add(`${type}/${id}`);
    };
    const coverage = { note, noteAnswer: (_: unknown, trace: Trace) => note(trace) };
    runTests([test], { bytes, names, waf, coverage });
    for (const name of seen) places.set(name, [...(places.get(name) ?? []), place]);
  });
  return places;
}

function* resultsOf(prepared: Prepared, mutants: readonly Mutant[]): Iterable<MutantResult> {
  let waiting: Unkilled[] = [];
  const proved = (): readonly MutantResult[] => {
    const judged = judge(prepared.original, waiting);
    const results = waiting.map(({ mutant }, place) => ({ mutant, judged: judged[place]! }));
    waiting = [];
    return results;
  };
  for (const mutant of mutants) {
    const quick = quicklyJudged(prepared, mutant);
    if ('judged' in quick) yield quick;
    else waiting.push(quick);
    if (waiting.length === MAX_BATCH) yield* proved();
  }
  if (waiting.length > 0) yield* proved();
}

/** Runs the tests, and tries the requests that reach rules: they show most differences, and cost no proof. */
function quicklyJudged(prepared: Prepared, mutant: Mutant): MutantResult | Unkilled {
  const { ruleSet, patterns, names, waf, bytes, reaching } = prepared;
  const changed = seal(compile(mutate(ruleSet, mutant), { patterns }).plan, { revision: 0 });
  const tests = inOrder(prepared, mutant);
  const failing = findFailing(tests, { bytes: changed, names, waf });
  if (failing !== null) return { mutant, judged: { outcome: 'killed', by: tests[failing]!.name } };
  const plans = { ruleSet, before: { bytes, waf, names }, after: { bytes: changed, waf, names } };
  const decided = decisionsOn(
    changed,
    reaching.map(({ witness }) => witness),
  );
  for (const [place, { witness, decision }] of reaching.entries()) {
    const shown = decided[place] === decision ? null : testOf(witness, mutant, plans);
    if (shown !== null) return { mutant, judged: { outcome: 'survived', shown } };
  }
  return { mutant, plans };
}

/** The decisions of requests as text. */
function decisionsOn(bytes: Uint8Array, witnesses: readonly Witness[]): readonly string[] {
  const { evaluator, moment } = readSubject(bytes, { trusted: true });
  return witnesses.map((witness) => JSON.stringify(evaluator.evaluate(requestOf(witness, moment()))));
}

/** Tests in which the mutated rules match come first: they are the likely ones to fail. */
function inOrder({ tests, testsOf }: Prepared, { differing }: Mutant): readonly ReadyTest[] {
  const first = new Set(differing.flatMap(({ type, id }) => testsOf.get(`${type}/${id}`) ?? []));
  const rest = tests.filter((_, place) => !first.has(place));
  return [...[...first].map((place) => tests[place]!), ...rest];
}
