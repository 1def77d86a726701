/**
 * Compiles one paranoia level of a program: numbers its tests, builds the literal index and the classes of each value
 * source, and gives each rule its guards (the tests that must pass before the rule is run).
 */
import { KINDS } from '../../../base/octets/octet-kinds.ts';
import {
  type SignatureProgram,
  WAF_TRANSFORMATIONS,
  type WafCondition,
  type WafDetector,
  type WafLevel,
  type WafOperator,
  type WafTargets,
  type WafText,
  type WafVariable,
} from '../../plan/signature-program.ts';
import { DETECTORS, isDetector } from '../detectors/detectors.ts';
import { lettersOf } from '../octets/octet-buffer.ts';
import { literalIndex } from '../patterns/literal-index.ts';
import { isLazy, type Matcher } from '../patterns/pattern.ts';
import {
  type ChainLink,
  type CompiledRule,
  type CompiledRuleSet,
  VALUE_SOURCES,
} from '../request/rule-set.ts';
import { createExactSchedules } from '../request/schedules.ts';
import {
  type LiteralDemand,
  mayDiffer,
  type OperatorCheck,
  type ValueTest,
} from '../request/target-classes.ts';
import { plainText } from '../request/transaction.ts';
import { THRESHOLD_NAME } from '../request/tx.ts';
import { createValues } from '../request/values.ts';
import { type AssignmentParts, type ControlParts, prepareAssignment, prepareControl } from './actions.ts';
import {
  breadthOf,
  type CheckParts,
  constantCheck,
  neededBy,
  openCheck,
  setOf,
  shortestFor,
} from './checks.ts';
import { gatedRules, gateOf } from './gates.ts';
import { capturesNeeded, evaluatesScore } from './rule-properties.ts';
import { classesOf, classMaker, lowerTarget, type TargetClassSource } from './target-classes.ts';

// Finds the TX variables in which a program sums its anomaly scores.

/**
 * Returns the first of these groups of which the program writes a variable at any level: `inbound_anomaly_score_pl1` up to
 * the paranoia level (CRS 4), `anomaly_score_pl1` up to it (CRS 3.3), else `anomaly_score` alone (older programs).
 */
function scoreNames({ levels }: SignatureProgram, paranoia: number): ReadonlySet<string> {
  // Names that the program sets initially or in any rule.
  const written = new Set(levels.flatMap(({ initial }) => Object.keys(initial)));
  for (const { conditions } of levels.flatMap(({ rules }) => rules)) {
    for (const { name } of conditions.flatMap(({ setVars }) => setVars))
      written.add(plainText(name)?.toLowerCase() ?? '');
  }
  for (const stem of ['inbound_anomaly_score_pl', 'anomaly_score_pl']) {
    const names = [1, 2, 3, 4].map((number) => `${stem}${number}`);
    if (names.some((name) => written.has(name))) return new Set(names.slice(0, paranoia));
  }
  return new Set(['anomaly_score']);
}

// Finds texts whose macros have the same value in every inspection: those over TX variables that no rule of the level
// writes. Most arguments and `setvar` values of the Core Rule Set (`%{tx.critical_anomaly_score}`) are such texts.

/** Returns a function that expands a text if it is constant at this level, and returns `null` if it is not. */
function constantTexts(level: WafLevel): (text: WafText) => string | null {
  const setVars = level.rules.flatMap(({ conditions }) => conditions.flatMap((one) => one.setVars));
  const written = new Set([THRESHOLD_NAME]);
  const prefixes: string[] = [];
  for (const { name } of setVars) {
    const whole = plainText(name);
    if (whole !== null) written.add(whole.toLowerCase());
    // A name with macros is known only up to its first macro: every name with that prefix counts as written.
    else prefixes.push(name[0]?.kind === 'literal' ? name[0].text.toLowerCase() : '');
  }
  const initial = new Map(Object.entries(level.initial).map(([name, value]) => [name.toLowerCase(), value]));
  const constantValue = (name: string): string | null => {
    if (written.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) return null;
    // Captured groups are written to the names 0 to 9.
    return name.length === 1 && name >= '0' && name <= '9' ? null : (initial.get(name) ?? '');
  };
  return (text) => {
    let out = '';
    for (const part of text) {
      if (part.kind === 'variable' && part.variable !== 'TX') return null;
      const piece = part.kind === 'literal' ? part.text : constantValue((part.name ?? '').toLowerCase());
      if (piece === null) return null;
      out += piece;
    }
    return out;
  };
}

// Collects the sets of literals that the conditions of a level search for: input of the literal index.

/** The sets of one level, by number. */
export interface LiteralSets {
  /** By set, its literals in lower case; a literal may be in several sets. */
  readonly literals: readonly (readonly string[])[];
  /** The set of the literals that a pattern requires; -1: it requires none. */
  readonly ofPattern: (pattern: number) => number;
  /** The set of a list of phrases; -1: no condition of the level uses the list. */
  readonly ofPhrases: (phrases: number) => number;
  /** The set of a detector's triggers; -1: it declares none, or no condition of the level uses it. */
  readonly ofDetector: (detector: WafDetector) => number;
  /** By set, for each literal the kinds of its octets; equal combinations once. */
  readonly kinds: readonly (readonly number[])[];
  /** By set, what the octets of its literals have, each combination that demands least; `null`: too many combinations. */
  readonly demands: readonly (readonly LiteralDemand[] | null)[];
  /** By set, the length in octets of its shortest literal. */
  readonly shortest: readonly number[];
}

/** Collects the sets of a level; conditions with the same pattern or list share one. */
function literalSets(program: SignatureProgram, level: WafLevel): LiteralSets {
  const literals: (readonly string[])[] = [];
  const patterns = new Map<number, number>();
  const lists = new Map<number, number>();
  const detectors = new Map<WafDetector, number>();
  const add = (known: Map<number, number>, key: number, numbers: readonly number[] | null): void => {
    if (numbers === null || known.has(key)) return;
    known.set(key, literals.push(numbers.map((number) => program.literals[number]!)) - 1);
  };
  for (const { operator } of level.rules.flatMap(({ conditions }) => conditions)) {
    if (operator.kind === 'rx') add(patterns, operator.pattern, program.patterns[operator.pattern]!.required);
    if (operator.kind === 'pm') add(lists, operator.phrases, program.phraseLists[operator.phrases]!.phrases);
    if (!isDetector(operator.kind) || detectors.has(operator.kind)) continue;
    const { triggers } = DETECTORS[operator.kind];
    if (triggers !== undefined) detectors.set(operator.kind, literals.push(triggers) - 1);
  }
  return {
    literals,
    ofPattern: (pattern) => patterns.get(pattern) ?? -1,
    ofPhrases: (phrases) => lists.get(phrases) ?? -1,
    ofDetector: (detector) => detectors.get(detector) ?? -1,
    kinds: literals.map((set) => [...new Set(set.map(kindsOf))]),
    demands: literals.map(leastDemands),
    shortest: literals.map((set) => set.reduce((least, { length }) => Math.min(least, length), Infinity)),
  };
}

/** The most different combinations of a set of which the least are found: their number is squared. */
const MOST_COMBINATIONS = 64;

/** The kinds and letters of a set's literals, without combinations that have all of another one, and more. */
function leastDemands(literals: readonly string[]): readonly LiteralDemand[] | null {
  const all = new Map<string, LiteralDemand>();
  for (const literal of literals) {
    const demand = { kinds: kindsOf(literal), letters: lettersOf(literal) };
    all.set(`${demand.kinds},${demand.letters}`, demand);
    if (all.size > MOST_COMBINATIONS) return null;
  }
  const distinct = [...all.values()];
  return distinct.filter(
    (one) =>
      !distinct.some(
        (less) => less !== one && (less.kinds & ~one.kinds) === 0 && (less.letters & ~one.letters) === 0,
      ),
  );
}

/** The kinds of a literal's octets, a bit each. */
function kindsOf(literal: string): number {
  let kinds = 0;
  for (let at = 0; at < literal.length; at++) kinds |= KINDS[literal.charCodeAt(at)]!;
  return kinds;
}

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
    setOfDetector: sets.ofDetector,
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
  const compiled = level.rules.map((rule, at): CompiledRule => {
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
      dear: -1,
      evaluates: evaluates[at]!,
    };
  });
  // Gates then, which are tests of their own.
  const rules = [...compiled];
  for (const at of gatedRules(compiled)) {
    const { links } = compiled[at]!;
    const chain = chains.push(links.slice(0, 2).flatMap(({ steps }) => steps)) - 1;
    const condition = gateOf(compiled[at]!, chain);
    const gate = tests.numberOf(condition, constantCheck(condition.operator, parts));
    const dear = links[0]!.test;
    const guards = [gate, ...compiled[at]!.guards.filter((guard) => guard !== dear)];
    rules[at] = { ...compiled[at]!, guards, dear };
  }
  // Classes last, since they need all tests of each list of targets.
  const classSource: TargetClassSource = {
    targets,
    tests: program.targets.map((_, list) => tests.byTargets.get(list) ?? []),
    dear: new Set(rules.flatMap(({ dear }) => (dear < 0 ? [] : [dear]))),
    matchers,
    chains,
    words: index.words,
    setKinds: sets.kinds,
    setDemands: sets.demands,
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
    firstGuards: Int32Array.from(rules, ({ guards }) => guards[0] ?? -1),
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
        breadth: breadthOf(operator),
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
