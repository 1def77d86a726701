/**
 * Compiles one paranoia level of a program: numbers its tests, builds the literal index and the classes of each value
 * source, and gives each rule its guards (the tests that must pass before the rule is run).
 */
import type {
  SignatureProgram,
  WafCondition,
  WafLevel,
  WafOperator,
  WafTargets,
  WafVariable,
} from '../../plan/signature-program.ts';
import { WAF_TRANSFORMATIONS } from '../../plan/signature-program.ts';
import { literalIndex } from '../patterns/literal-index.ts';
import { isLazy, type Matcher } from '../patterns/pattern.ts';
import { plainText } from '../request/macros.ts';
import type { ChainLink, CompiledRule, CompiledRuleSet } from '../request/rule-set.ts';
import { createExactSchedules } from '../request/schedules.ts';
import { mayDiffer } from '../request/target-classes.ts';
import { VALUE_SOURCES } from '../request/value-sources.ts';
import type { OperatorCheck, ValueTest } from '../request/value-tests.ts';
import { createValues } from '../request/values.ts';
import { type AssignmentParts, prepareAssignment } from './assignments.ts';
import { capturesNeeded } from './captures.ts';
import { type CheckParts, constantCheck, neededBy, openCheck, setOf, shortestFor } from './checks.ts';
import { constantTexts } from './constant-texts.ts';
import { type ControlParts, prepareControl } from './controls.ts';
import { evaluatesScore } from './evaluations.ts';
import { literalSets } from './literal-sets.ts';
import { scoreNames } from './score-names.ts';
import { classesOf, classMaker, lowerTarget, type TargetClassSource } from './target-classes.ts';

/** Variables that rules change, or that exist only while rules run: their conditions cannot be tested beforehand. */
const CHANGING: ReadonlySet<WafVariable> = new Set<WafVariable>([
  'ARGS_COMBINED_SIZE',
  'FILES_COMBINED_SIZE',
  'FULL_REQUEST_LENGTH',
  'MATCHED_VAR',
  'MATCHED_VAR_NAME',
  'MATCHED_VARS',
  'MATCHED_VARS_NAMES',
  'REQBODY_ERROR',
  'REQBODY_ERROR_MSG',
  'REQBODY_PROCESSOR',
  'REQBODY_PROCESSOR_ERROR',
  'REQUEST_BODY_LENGTH',
  'TX',
]);

/** Compiles a level; `paranoia` is its number, `matchers` are those of `program.patterns`. */
export function compileRuleSet(
  program: SignatureProgram,
  level: WafLevel,
  from: { readonly paranoia: number; readonly matchers: readonly Matcher[] },
): CompiledRuleSet {
  const { matchers, paranoia } = from;
  // Literals first, since operators are compiled to checks on sets of literals.
  const sets = literalSets(program, level);
  const index = literalIndex(sets.literals);
  const parts: CheckParts = {
    matchers,
    index,
    setOfPattern: sets.ofPattern,
    setOfPhrases: sets.ofPhrases,
    shortestOfSet: (set) => sets.shortest[set]!,
    constant: constantTexts(level),
  };
  const chains = program.chains.map((chain) => chain.map((name) => WAF_TRANSFORMATIONS.indexOf(name)));
  const targets = program.targets.map(({ include, exclude }) => ({
    include: include.map(lowerTarget),
    exclude: exclude.map(lowerTarget),
  }));
  // Rules next: compiling a condition registers its test.
  const tests = testTable(program, parts);
  const captured = capturesNeeded(program, level, matchers);
  const scores = scoreNames(program, paranoia);
  const evaluates = evaluatesScore(program, level, scores);
  const initial = Object.entries(level.initial).map(([name, text]) => [name.toLowerCase(), text] as const);
  const acting = { constant: parts.constant, scores, rules: level.rules, matchers };
  const rules = level.rules.map((rule, at): CompiledRule => {
    const links = rule.conditions.map((condition) =>
      linkOf(condition, { targets, parts, chains, tests, acting }),
    );
    const needed = captured[at]!;
    return {
      rule,
      links: links.map((link) => {
        // Not in a chain, since its later conditions may read MATCHED_VARS, which needs every member.
        const captures = needed && link.condition.capture;
        return { ...link, captures, repeats: links.length === 1 && !captures && mayRepeat(link) };
      }),
      guards: guardsOf(links),
      evaluates: evaluates[at]!,
    };
  });
  // Classes last, since they need all tests of each list of targets.
  const classSource: TargetClassSource = {
    targets,
    tests: program.targets.map((_, list) => tests.byTargets.get(list) ?? []),
    matchers,
    chains,
    words: index.words,
    setKinds: sets.kinds,
  };
  const make = classMaker(classSource);
  const sources = VALUE_SOURCES.map((source) => ({
    source,
    classes: classesOf(source.variables, classSource, make),
  }));
  // The rules of phase 1 come first in a level.
  const firstOfBody = level.rules.findIndex(({ phase }) => phase === 2);
  return {
    paranoia,
    rules,
    bodyRules: firstOfBody < 0 ? level.rules.length : firstOfBody,
    tests: tests.count(),
    index,
    values: createValues(),
    exact: createExactSchedules(),
    matchers,
    sources: sources.filter(({ classes }) => classes.common !== null || mayDiffer(classes)),
    start: { values: new Map(initial), selected: new Map() },
    scores,
    setOfPhrases: sets.ofPhrases,
  };
}

/** The tests of a level, filled while its conditions are compiled. */
interface TestTable {
  /** By list of targets, its tests. */
  readonly byTargets: Map<number, ValueTest[]>;
  /** The number of a condition's test; -1: its result does not depend on the value alone. */
  readonly numberOf: (condition: WafCondition, check: OperatorCheck | null) => number;
  /** The number of tests so far. */
  readonly count: () => number;
}

/** Creates the table; conditions with equal targets, transformations and operator share one test. */
function testTable(program: SignatureProgram, parts: CheckParts): TestTable {
  const byTargets = new Map<number, ValueTest[]>();
  const known = new Map<string, number>();
  const changing = program.targets.map(({ include }) =>
    include.some(({ variable, count }) => count || CHANGING.has(variable)),
  );
  // Registers a test when the first condition that needs it is seen; later equal conditions reuse it, so the operator's
  // exclusion criteria are computed once.
  const numberOf: TestTable['numberOf'] = (condition, check) => {
    const { targets, chain, negated, multiMatch, operator } = condition;
    if (check === null || targets < 0 || changing[targets] === true) return -1;
    const key = `${targets} ${chain} ${negated} ${multiMatch} ${JSON.stringify(operator)}`;
    let number = known.get(key);
    if (number === undefined) {
      number = known.size;
      known.set(key, number);
      const test = {
        number,
        chain,
        negated,
        multiMatch,
        set: setOf(operator, parts),
        needed: neededBy(operator, parts),
        shortest: shortestFor(operator, parts),
        check,
        lazy: lazyMatcher(operator, parts),
      };
      const list = byTargets.get(targets);
      if (list === undefined) byTargets.set(targets, [test]);
      else list.push(test);
    }
    return number;
  };
  return { byTargets, numberOf, count: () => known.size };
}

/** The pattern of an `@rx` without compiled DFA, else `null`. */
function lazyMatcher(operator: WafOperator, { matchers }: CheckParts): Matcher | null {
  const matcher = operator.kind === 'rx' ? matchers[operator.pattern]! : null;
  return matcher !== null && isLazy(matcher) ? matcher : null;
}

/** Compiles one condition; `captures` and `repeats` are set when the whole rule is known. */
function linkOf(
  condition: WafCondition,
  from: {
    readonly targets: readonly WafTargets[];
    readonly parts: CheckParts;
    readonly chains: readonly (readonly number[])[];
    readonly tests: TestTable;
    readonly acting: AssignmentParts & ControlParts;
  },
): ChainLink {
  const { operator, targets, chain } = condition;
  const constant = constantCheck(operator, from.parts);
  const check: ChainLink['check'] =
    constant === null ? openCheck(operator) : (value, { meter }) => constant(value, meter);
  return {
    condition,
    targets: targets < 0 ? null : from.targets[targets]!,
    steps: from.chains[chain]!,
    test: from.tests.numberOf(condition, constant),
    check,
    assignments: condition.setVars.map((one) => prepareAssignment(one, from.acting)),
    controls: condition.controls.map((one) => prepareControl(one, from.acting)),
    captures: false,
    repeats: false,
  };
}

/** Whether running the actions of a condition n times equals running them once with `times` = n. */
function mayRepeat({ test, condition, assignments, controls }: ChainLink): boolean {
  if (test < 0 || condition.multiMatch || controls.length > 0) return false;
  const names = new Set(condition.setVars.map(({ name }) => plainText(name)?.toLowerCase()));
  return names.size === assignments.length && assignments.every(({ repeats }) => repeats);
}

/**
 * The tests that a rule requires: those of its conditions up to the first with a side effect (capture, `setvar`, `ctl`),
 * which happens even if the rest of the chain does not match.
 */
function guardsOf(links: readonly ChainLink[]): readonly number[] {
  const guards: number[] = [];
  for (const { test, condition } of links) {
    if (test >= 0) guards.push(test);
    if (condition.capture || condition.setVars.length > 0 || condition.controls.length > 0) break;
  }
  return guards;
}
