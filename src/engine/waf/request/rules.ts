/**
 * Runs one rule: finds every member that its conditions match, and executes their actions (capture, `setvar`, `ctl`) for
 * each match.
 */
import type { WafTargets } from '../../plan/signature-program.ts';
import { literalOf } from '../patterns/literal-index.ts';
import { patternGroups } from '../patterns/pattern.ts';
import { targetExclusions } from './inspection.ts';
import { gather, type Hits, matchingMembers, type RequestMember } from './members.ts';
import type { ChainLink, CompiledRule, CompiledRuleSet } from './rule-set.ts';
import { stagesOf, TRANSFORM_STEPS } from './test-value.ts';
import type { Transaction } from './transaction.ts';
import { CAPTURE_NAMES, readTx, writeTx } from './tx.ts';
import { type InspectedValue, toValue, transformed } from './values.ts';

/** A match of one condition. */
export interface RuleMatch {
  readonly member: RequestMember;
  /** The value that the operator matched, after transformations. */
  readonly text: string;
  readonly link: ChainLink;
}

/** The result of a rule. */
export interface RuleRun {
  /**
   * The match to report: the last one of the last condition that inspects the request itself, not TX or MATCHED_VAR;
   * `null`: no condition has targets.
   */
  found: RuleMatch | null;
  /** The points that the rule added to the score. */
  added: number;
}

/** The inspection that a rule runs in. */
export interface RuleContext {
  readonly level: CompiledRuleSet;
  readonly transaction: Transaction;
  readonly hits: Hits;
}

/** Steps for a member, besides those for its octets. */
const MEMBER_STEPS = 200;
/** Steps for a member that only repeats the effect of another one (`ChainLink.repeats`). */
const REPEAT_STEPS = 20;

/** Runs a rule; `null`: it does not match, or the step budget is exhausted. */
export function runRule(context: RuleContext, levelRule: CompiledRule): RuleRun | null {
  const { transaction } = context;
  transaction.matched.length = 0;
  const run: RuleRun = { found: null, added: 0 };
  const exclusions = targetExclusions(transaction.exclusions, levelRule.rule);
  for (const link of levelRule.links) {
    if (link.targets === null) {
      runActions(context, link, { run, times: 1 });
      continue;
    }
    const all = candidatesOf(context, link, link.targets);
    const members =
      exclusions.length === 0
        ? all
        : all.filter(({ variable, name }) => !exclusions.some(({ covers }) => covers(variable, name)));
    const repeated = link.repeats ? Math.max(0, members.length - 1) : 0;
    if (repeated > 0) {
      transaction.meter.left -= REPEAT_STEPS * repeated;
      runActions(context, link, { run, times: repeated });
    }
    let matched = false;
    for (let at = repeated; at < members.length; at++) {
      const member = members[at]!;
      transaction.meter.left -= MEMBER_STEPS;
      if (matchMember(context, { link, member, run })) matched = true;
      if (transaction.meter.left < 0) return null;
    }
    if (!matched) return null;
  }
  return run;
}

/** The members that a condition can match: those with a hit of its test, or all its targets if it has no test. */
function candidatesOf(
  { level, transaction, hits }: RuleContext,
  { test }: ChainLink,
  targets: WafTargets,
): readonly RequestMember[] {
  const { matchers, sources } = level;
  return test < 0
    ? gather(targets, transaction, matchers)
    : matchingMembers(hits, test, { targets, sources, matchers });
}

/** A condition to match against a member. */
interface Candidate {
  readonly link: ChainLink;
  readonly member: RequestMember;
  readonly run: RuleRun;
}

/** Matches a condition against a member, with `multiMatch` at every stage of its transformations. */
function matchMember(context: RuleContext, candidate: Candidate): boolean {
  const { link, member } = candidate;
  const { multiMatch, negated } = link.condition;
  // A member with a hit has passed the test; only with `multiMatch` it is open at which stages.
  const passed = link.test >= 0 && !multiMatch;
  if (passed && link.steps.length === 0) {
    recordMatch(context, candidate, member.text);
    return true;
  }
  const { transaction, level } = context;
  const value = toValue(level.values, member.text);
  const chain = { steps: link.steps, shortest: 0, meter: transaction.meter };
  let matched = false;
  const stages = multiMatch ? stagesOf(level.values, value, chain) : [transformedByAll(context, link, value)];
  for (const stage of stages) {
    if (!passed && link.check(stage, transaction) === negated) continue;
    recordMatch(context, candidate, stage.text);
    matched = true;
  }
  return matched;
}

/** The value after all transformations of a condition. */
function transformedByAll(
  { level, transaction }: RuleContext,
  { steps }: ChainLink,
  value: InspectedValue,
): InspectedValue {
  let last = value;
  for (const step of steps) {
    transaction.meter.left -= TRANSFORM_STEPS + last.text.length;
    last = transformed(level.values, last, step);
  }
  return last;
}

/** Records a match: captures groups, appends to MATCHED_VARS, runs the actions. */
function recordMatch(context: RuleContext, { link, member, run }: Candidate, text: string): void {
  if (link.captures) capture(context, link, text);
  context.transaction.matched.push({ name: nameOf(member), value: text });
  if (!isDerived(member) || run.found === null) run.found = { member, text, link };
  runActions(context, link, { run, times: 1 });
}

/** The name of a member in MATCHED_VARS_NAMES; a member of MATCHED_VARS has its original name. */
function nameOf(member: RequestMember): string {
  return member.variable === 'MATCHED_VARS' ? member.name : member.display;
}

/** Whether a member was produced by an earlier condition. */
function isDerived({ variable }: RequestMember): boolean {
  return variable === 'TX' || variable.startsWith('MATCHED_VAR');
}

/** Writes the groups of an `@rx` to TX.0 to TX.9; of `@pm` the phrase, of other operators the value, to TX.0. */
function capture({ level, transaction }: RuleContext, link: ChainLink, text: string): void {
  const { operator } = link.condition;
  if (operator.kind === 'rx') {
    const groups = patternGroups(level.matchers[operator.pattern]!, text, transaction.meter);
    if (groups !== null) writeGroups(transaction, groups);
  } else if (operator.kind === 'pm') {
    const phrase = literalOf(level.index, level.setOfPhrases(operator.phrases), text);
    if (phrase !== null) writeGroups(transaction, [phrase]);
  } else writeGroups(transaction, [text]);
}

/** Sets TX.0 to TX.9 to these groups and unsets the rest, as ModSecurity 2 does; a group that took no part is empty. */
function writeGroups({ tx }: Transaction, groups: readonly (string | null)[]): void {
  for (const [group, name] of CAPTURE_NAMES.entries()) {
    if (group < groups.length) writeTx(tx, name, groups[group] ?? '');
    else if (readTx(tx, name) !== null) writeTx(tx, name, null);
  }
}

/** Runs the assignments and controls of a condition. */
function runActions(
  { transaction }: RuleContext,
  link: ChainLink,
  { run, times }: { readonly run: RuleRun; readonly times: number },
): void {
  for (const assignment of link.assignments) run.added += assignment.run(transaction, times);
  for (const control of link.controls) control(transaction);
}
