/**
 * Inspects one request with the signatures of one paranoia level. In: the request, its body, the settings of the WAF
 * rule. Out: the score, and which signatures matched where.
 *
 * Each phase tests values first and runs rules second. Every member of the request is tested once for all rules
 * (`test-value.ts`); equal texts share one result. Only a rule whose tests have hits is run (`rules.ts`).
 */
import { WAF_FIXED_STEPS, WAF_OCTET_STEPS } from '../../../base/vocabulary/limits.ts';
import { releaseOctets } from '../octets/octet-buffer.ts';
import { numberOf } from '../operators/operators.ts';
import {
  exclusionsOf,
  isExcluded,
  type WafFinding,
  type WafInput,
  type WafMatch,
  type WafSettings,
} from './inspection.ts';
import { createHits, type Hits, memberNumber } from './members.ts';
import { reportedConstruct, reportedMessage, reportedValue, reportedVariable } from './report.ts';
import type { CompiledRule, CompiledRuleSet } from './rule-set.ts';
import { type RuleContext, type RuleRun, runRule } from './rules.ts';
import { type Bucket, classOf, mayDiffer, type ValueClass } from './target-classes.ts';
import { testDear, testValue } from './test-value.ts';
import { hasMore, openBody, openTransaction } from './transaction.ts';
import { readTx, THRESHOLD_NAME, type Tx, writeTx } from './tx.ts';
import { endRequest, toValue } from './values.ts';
import { textOf } from './variables.ts';

/** Maximum number of matches reported per inspection, the first ones; the score includes all. */
const MAX_REPORTED_MATCHES = 100;

/** The state of an inspection. */
interface Inspection extends RuleContext {
  readonly matches: WafMatch[];
  /** The rules that matched and are reported. */
  readonly ids: Set<number>;
  /** The rules of `ids` that only compare the score with a threshold. */
  readonly evaluations: Set<number>;
  /** By category, the score. */
  readonly categories: Map<string, number>;
  /** The dear tests that have run. */
  readonly dear: Set<number>;
  /** Whether a rule of the program denied the request. */
  denied: boolean;
  /** Whether no further rule runs: denied, allowed, engine off, or step budget exhausted. */
  stopped: boolean;
}

/** Inspects a request. Never throws for a program that `loadSignatures` accepts. */
export function inspectWith(level: CompiledRuleSet, input: WafInput, settings: WafSettings): WafFinding {
  const transaction = openTransaction(input, {
    start: level.start,
    exclusions: exclusionsOf(settings),
    steps: stepsFor(input),
  });
  writeTx(transaction.tx, THRESHOLD_NAME, String(settings.threshold));
  const inspection: Inspection = {
    level,
    transaction,
    hits: createHits(),
    matches: [],
    ids: new Set(),
    evaluations: new Set(),
    categories: new Map(),
    dear: new Set(),
    denied: false,
    stopped: false,
  };
  testMembers(inspection, 1);
  runRules(inspection, 0, level.bodyRules);
  if (!inspection.stopped) {
    openBody(transaction);
    if (hasMore(transaction)) testMembers(inspection, 2);
    runRules(inspection, level.bodyRules, level.rules.length);
  }
  endRequest(level.values);
  releaseOctets();
  return findingOf(inspection, settings.threshold);
}

/** The step budget of an inspection: a fixed number, and a number for each octet of the request. */
function stepsFor({ request, body }: WafInput): number {
  let octets = textOf(request.target).length + (body?.length ?? 0);
  const headers = request.headers ?? {};
  for (const name of Object.keys(headers)) octets += name.length + lengthOf(headers[name]);
  return WAF_FIXED_STEPS + WAF_OCTET_STEPS * octets;
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value) ? value.reduce<number>((sum, one) => sum + lengthOf(one), 0) : 0;
}

/** Tests every member of the value sources of a phase. */
function testMembers({ level, transaction, hits }: Inspection, phase: 1 | 2): void {
  const { values, sources } = level;
  const { meter } = transaction;
  // PERF: one object for all members.
  const using = { meter, hits, member: 0 };
  for (let at = 0; at < sources.length; at++) {
    const { source, classes } = sources[at]!;
    if (source.phase !== phase) continue;
    const members = source.members(transaction);
    if (members.length === 0) continue;
    hits.members[at] = members;
    const { names } = source;
    const common = mayDiffer(classes) ? null : classes.common;
    using.member = memberNumber(at, 0);
    for (let place = 0; place < members.length; place++, using.member++) {
      const { name, value } = members[place]!;
      const valueClass = common ?? classOf(classes, name);
      if (valueClass === null) continue;
      testValue(level, valueClass, toValue(values, names ? name : value), using);
      if (meter.left < 0) return;
    }
  }
}

/** Runs the rules from one place in `rules` up to another, in order, with the skips and ends that rules cause. */
function runRules(inspection: Inspection, from: number, to: number): void {
  const { level, transaction, hits } = inspection;
  const { firstGuards } = level;
  const { byTest } = hits;
  for (let at = from; at < to; ) {
    // PERF: hardly any rule goes further, so that the others cost one look into a flat array.
    const guard = firstGuards[at]!;
    if (guard >= 0 && byTest[guard] === undefined) {
      at++;
      continue;
    }
    const levelRule = level.rules[at++]!;
    if (!mayMatch(levelRule, hits) || isExcluded(transaction.exclusions, levelRule.rule)) continue;
    if (levelRule.dear >= 0 && !hasDearHit(inspection, levelRule.dear)) continue;
    if (transaction.meter.left < 0) {
      inspection.stopped = true;
      return;
    }
    const run = runRule(inspection, levelRule);
    if (run !== null) recordRule(inspection, levelRule, run);
    if (inspection.stopped || transaction.engine === 'Off') {
      inspection.stopped = true;
      return;
    }
    if (run === null) continue;
    if (levelRule.rule.disruption === 'allowPhase' && transaction.engine === 'On') return;
    if (levelRule.rule.skipTo > at) at = levelRule.rule.skipTo;
  }
}

/** Runs a dear test on all members, once for each inspection; `false`: it has no hit. Always `true` without steps left. */
function hasDearHit({ level, transaction, hits, dear }: Inspection, test: number): boolean {
  const { meter } = transaction;
  if (dear.has(test) || meter.left < 0) return meter.left < 0 || hits.byTest[test] !== undefined;
  dear.add(test);
  const { values, sources } = level;
  const using = { meter, hits, member: 0 };
  for (let at = 0; at < sources.length; at++) {
    const { source, classes } = sources[at]!;
    const members = hits.members[at] ?? [];
    for (let place = 0; place < members.length; place++) {
      const { name, value } = members[place]!;
      const bucket = dearBucket(classOf(classes, name), test);
      if (bucket === null) continue;
      using.member = memberNumber(at, place);
      testDear(level, bucket, toValue(values, source.names ? name : value), using);
      if (meter.left < 0) return true;
    }
  }
  return hits.byTest[test] !== undefined;
}

/** The bucket of a dear test in a class; `null`: it is not one of the class. */
function dearBucket(valueClass: ValueClass | null, test: number): Bucket | null {
  if (valueClass === null) return null;
  for (const one of valueClass.dear) if (one.test === test) return one.bucket;
  return null;
}

/** Whether every guard of a rule has a hit. */
function mayMatch({ guards }: CompiledRule, { byTest }: Hits): boolean {
  for (let i = 0; i < guards.length; i++) if (byTest[guards[i]!] === undefined) return false;
  return true;
}

/** Records a rule that matched: its score, its report, its disruptive action. */
function recordRule(inspection: Inspection, { rule, evaluates }: CompiledRule, run: RuleRun): void {
  const { transaction, categories } = inspection;
  if (run.added !== 0 && rule.category !== '') {
    categories.set(rule.category, (categories.get(rule.category) ?? 0) + run.added);
  }
  if (rule.reported) report(inspection, rule, run);
  if (evaluates) inspection.evaluations.add(rule.id);
  if (transaction.engine !== 'On') return;
  if (rule.disruption === 'deny') inspection.denied = true;
  if (rule.disruption === 'deny' || rule.disruption === 'allow') inspection.stopped = true;
}

/** Adds a rule to the reported matches: once, and at most `MAX_REPORTED_MATCHES` rules. */
function report(
  { level, transaction, matches, ids }: Inspection,
  rule: CompiledRule['rule'],
  run: RuleRun,
): void {
  if (ids.has(rule.id) || ids.size >= MAX_REPORTED_MATCHES) return;
  ids.add(rule.id);
  const { found } = run;
  const variable = found === null ? '' : reportedVariable(found, transaction);
  const value = found === null ? '' : reportedValue(found, level, transaction);
  const message = reportedMessage(rule.message, { variable, value }, transaction);
  const construct = found === null ? null : reportedConstruct(found);
  matches.push({
    id: rule.id,
    message: construct === null ? message : `${message}: ${construct}`,
    severity: rule.severity,
    category: rule.category,
    score: run.added,
    variable,
    value,
  });
}

function findingOf(inspection: Inspection, threshold: number): WafFinding {
  const { level, transaction, categories, denied, evaluations } = inspection;
  const score = scoreOf(transaction.tx, level.scores);
  // At the threshold the score explains the decision. Below it, a rule that compares the score is the only explanation.
  const isReported = (id: number): boolean => score < threshold || !evaluations.has(id);
  return {
    score,
    ids: [...inspection.ids].filter(isReported).sort((a, b) => a - b),
    matches: inspection.matches.filter(({ id }) => isReported(id)).sort((a, b) => a.id - b.id),
    categories: Object.fromEntries([...categories].sort((a, b) => b[1] - a[1])),
    denied,
    bodyError: transaction.body?.parsed.error ?? null,
    exhausted: transaction.meter.left < 0,
  };
}

// The score of an inspection: the sum of the TX variables that the rules add to.

/** Sums the variables; one that is not set counts as 0. */
function scoreOf(tx: Tx, names: ReadonlySet<string>): number {
  let sum = 0;
  for (const name of names) sum += numberOf(readTx(tx, name) ?? '');
  return sum;
}
