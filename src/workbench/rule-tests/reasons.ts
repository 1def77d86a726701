/**
 * Explains a failed test in the trace's words: the reason of the rule that acted, and of the rule that was expected
 * to.
 */
import type { SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import type { Decision, ErrorPageAnswer, RuleRef } from '../../engine/evaluator/decision.ts';
import type { RuleTrace, Trace } from '../../engine/evaluator/trace.ts';
import type { Expectation } from './expectation.ts';
import type { RuleNames } from './names.ts';

/** One reason. */
export interface Reason {
  /** A rule with its outcome, `drop/office-only skipped`, or a phase. */
  readonly subject: string;
  readonly text: string;
  /** The place of the rule in the edge file. */
  readonly at?: SourcePlace;
}

/** A failed expectation. */
interface Failed {
  readonly trace: Trace;
  readonly got: Decision | ErrorPageAnswer | null;
  readonly expectation: Expectation;
}

/** The number of rules that are explained when the expectation names none. */
const FEW = 3;

/** Returns the relevant reasons, the expected rule first. */
export function reasonsFor({ trace, got, expectation }: Failed, names: RuleNames): readonly Reason[] {
  const rules = trace.phases.flatMap((phase) => phase.rules);
  const expectedRule = expectation.fields?.['rule'];
  const expected = isRef(expectedRule) ? [expectedRule] : candidates(expectation, rules);
  const actual = refOf(got);
  const explained = [...expected, ...(actual === null ? [] : [actual])];
  const seen = new Map(explained.map((ref) => [`${ref.type}/${ref.id}`, ref]));
  const reasons = [...seen.values()].flatMap((ref) => {
    const rule = rules.find((candidate) => candidate.type === ref.type && candidate.id === ref.id);
    return rule === undefined ? [] : [ruleReason(rule, names)];
  });
  return [...reasons, ...notes(trace, { named: actual !== null })];
}

/** The reason of one rule. */
function ruleReason(rule: RuleTrace, names: RuleNames): Reason {
  const outcome = rule.outcome.replace('_', ' ');
  const mode = rule.mode === 'dry_run' ? ' in dry_run' : '';
  const at = names.placeOf(rule);
  const subject = `${names.nameOf(rule)} ${outcome}${mode}`;
  return { subject, text: `${rule.reason.text}${foundText(rule)}`, ...(at === undefined ? {} : { at }) };
}

/** The first matched signatures of a waf rule. */
function foundText({ inspection }: RuleTrace): string {
  const texts = (inspection?.matches ?? []).slice(0, FEW).map(({ id, message, variable, value }) => {
    return `${id} ${message}${variable === '' ? '' : ` in ${variable} \`${value}\``}`;
  });
  return texts.length === 0 ? '' : ` (${texts.join('; ')})`;
}

/** Rules that could cause the expected action, if the test names none. */
function candidates({ fields }: Expectation, rules: readonly RuleTrace[]): readonly RuleRef[] {
  const types = TYPES_OF[String(fields?.['action'])] ?? [];
  return rules.filter((rule) => types.includes(rule.type) && rule.reason.code !== 'disabled').slice(0, FEW);
}

/** The rule types that can cause an action. */
const TYPES_OF: Readonly<Record<string, readonly string[]>> = {
  block: ['drop', 'rate_limit', 'waf', 'bot_route'],
  challenge: ['captcha', 'rate_limit', 'fingerprint'],
  redirect: ['redirect'],
  respond: ['bot_route'],
};

/** Whether an expected field is a rule. */
function isRef(value: unknown): value is RuleRef {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  return RULE_TYPES.some((type) => type === value.type);
}

/** The rule of a result. */
function refOf(got: Failed['got']): RuleRef | null {
  if (got === null) return null;
  return 'page' in got ? (got.page?.rule ?? null) : got.rule;
}

/** The reasons of phases: the gate's when it refused, otherwise those of phases whose outcome no rule explains. */
function notes(trace: Trace, { named }: { readonly named: boolean }): readonly Reason[] {
  const refused = trace.phases[0]?.outcome === 'final';
  return trace.phases.flatMap(({ name, outcome, note }) => {
    const relevant = refused ? name === 'gate' : outcome === 'passed' || (outcome === 'final' && !named);
    return note === null || !relevant ? [] : [{ subject: name.replace('_', ' '), text: note }];
  });
}
