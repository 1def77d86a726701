/** Runs one rule closely: every member its conditions hold for, and what the conditions leave behind. */
import type { WafTargets } from '../../plan/signature-program.ts';
import { literalOf } from '../patterns/literal-index.ts';
import { patternGroups } from '../patterns/pattern.ts';
import { targetExclusions } from './exclusions.ts';
import { gather, type RequestMember } from './gather.ts';
import { type Hits, matchingMembers } from './hits.ts';
import type { ChainLink, CompiledRule, CompiledRuleSet } from './rule-set.ts';
import { stagesOf, TRANSFORM_STEPS } from './test-value.ts';
import type { Transaction } from './transaction.ts';
import { CAPTURE_NAMES, readTx, writeTx } from './tx.ts';
import { type InspectedValue, toValue, transformed } from './values.ts';

/** Where a rule matched. */
export interface RuleMatch {
  readonly member: RequestMember;
  /** The value the operator held for. */
  readonly text: string;
  readonly link: ChainLink;
}

/** What came of a rule. */
export interface RuleRun {
  /** The last condition's last match, or that of an earlier one where the later look at what the earlier found. */
  found: RuleMatch | null;
  /** What the rule added to the score. */
  added: number;
}

export interface RuleContext {
  readonly level: CompiledRuleSet;
  readonly transaction: Transaction;
  readonly hits: Hits;
}

/** Steps that looking at a member costs beside those of its octets. */
const MEMBER_STEPS = 200;
/** Steps of a member that only adds to what another one tells. */
const REPEAT_STEPS = 20;

/** Runs a rule; `null`: it does not match. */
export function runRule(context: RuleContext, levelRule: CompiledRule): RuleRun | null {
  const { transaction } = context;
  transaction.matched.length = 0;
  const run: RuleRun = { found: null, added: 0 };
  const apart = targetExclusions(transaction.exclusions, levelRule.rule);
  for (const link of levelRule.links) {
    if (link.targets === null) {
      act(context, link, { run, times: 1 });
      continue;
    }
    const all = membersFor(context, link, link.targets);
    const members =
      apart.length === 0
        ? all
        : all.filter(({ variable, name }) => !apart.some(({ covers }) => covers(variable, name)));
    const repeated = link.repeats ? Math.max(0, members.length - 1) : 0;
    if (repeated > 0) {
      transaction.meter.left -= REPEAT_STEPS * repeated;
      act(context, link, { run, times: repeated });
    }
    let held = false;
    for (let at = repeated; at < members.length; at++) {
      const member = members[at]!;
      transaction.meter.left -= MEMBER_STEPS;
      if (tryMember(context, { link, member, run })) held = true;
      if (transaction.meter.left < 0) return null;
    }
    if (!held) return null;
  }
  return run;
}

/** The members for which the condition may hold. */
function membersFor(
  { level, transaction, hits }: RuleContext,
  { test }: ChainLink,
  targets: WafTargets,
): readonly RequestMember[] {
  const { matchers, sources } = level;
  return test < 0
    ? gather(targets, transaction, matchers)
    : matchingMembers(hits, test, { targets, sources, matchers });
}

interface Try {
  readonly link: ChainLink;
  readonly member: RequestMember;
  readonly run: RuleRun;
}

/** Whether the condition holds for a member, at any stage of its transformations where the rule asks for all. */
function tryMember(context: RuleContext, one: Try): boolean {
  const { link, member } = one;
  const { multiMatch, negated } = link.condition;
  // Only members that passed the test come here; which stage did so is all that is left to ask.
  const passed = link.test >= 0 && !multiMatch;
  if (passed && link.steps.length === 0) {
    hold(context, one, member.text);
    return true;
  }
  const { transaction, level } = context;
  const value = toValue(level.values, member.text);
  const chain = { steps: link.steps, shortest: 0, meter: transaction.meter };
  let held = false;
  for (const stage of multiMatch ? stagesOf(level.values, value, chain) : [behind(context, link, value)]) {
    if (!passed && link.check(stage, transaction) === negated) continue;
    hold(context, one, stage.text);
    held = true;
  }
  return held;
}

/** The value behind all transformations of a condition. */
function behind(
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

/** The condition holds for a text. */
function hold(context: RuleContext, { link, member, run }: Try, text: string): void {
  if (link.captures) capture(context, link, text);
  context.transaction.matched.push({ name: nameOf(member), value: text });
  if (!isDerived(member) || run.found === null) run.found = { member, text, link };
  act(context, link, { run, times: 1 });
}

/** The name a member is told by: what was found again keeps the name it was found under. */
function nameOf(member: RequestMember): string {
  return member.variable === 'MATCHED_VARS' ? member.name : member.display;
}

/** Whether a member is what an earlier condition found or noted. */
function isDerived({ variable }: RequestMember): boolean {
  return variable === 'TX' || variable.startsWith('MATCHED_VAR');
}

/** The groups of a match go to TX.0 to TX.9; of other operators what they found goes to TX.0. */
function capture({ level, transaction }: RuleContext, link: ChainLink, text: string): void {
  const { operator } = link.condition;
  if (operator.kind === 'rx') {
    const groups = patternGroups(level.matchers[operator.pattern]!, text, transaction.meter);
    if (groups !== null) leaveGroups(transaction, groups);
  } else if (operator.kind === 'pm') {
    const phrase = literalOf(level.index, level.setOfPhrases(operator.phrases), text);
    if (phrase !== null) leaveGroups(transaction, [phrase]);
  } else leaveGroups(transaction, [text]);
}

/** TX.0 to TX.9 become the groups of this match, and hold none of an earlier one (ModSecurity 2; a group without part is empty). */
function leaveGroups({ tx }: Transaction, groups: readonly (string | null)[]): void {
  for (const [group, name] of CAPTURE_NAMES.entries()) {
    if (group < groups.length) writeTx(tx, name, groups[group] ?? '');
    else if (readTx(tx, name) !== null) writeTx(tx, name, null);
  }
}

function act(
  { transaction }: RuleContext,
  link: ChainLink,
  { run, times }: { readonly run: RuleRun; readonly times: number },
): void {
  for (const assignment of link.assignments) run.added += assignment.run(transaction, times);
  for (const obey of link.controls) obey(transaction);
}
