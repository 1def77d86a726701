/** Why a test got what it got, in the trace's own words: of the rule that acted, and of the rule that should have. */
import type { SourcePlace } from '../../base/diagnostic.ts';
import { RULE_TYPES } from '../../base/vocabulary.ts';
import type { Decision, ErrorPageAnswer, RuleRef } from '../../evaluator/decision.ts';
import type { RuleTrace, Trace } from '../../evaluator/trace.ts';
import type { Expectation } from './expectation.ts';
import type { RuleNames } from './names.ts';

export interface Reason {
  /** `drop/office-only skipped`, or the phase that speaks. */
  readonly subject: string;
  readonly text: string;
  /** Where the rule stands in the edge file. */
  readonly at?: SourcePlace;
}

interface Asked {
  readonly trace: Trace;
  readonly got: Decision | ErrorPageAnswer | null;
  readonly expectation: Expectation;
}

/** Rules that are told of when the expectation names none; more would bury the answer. */
const FEW = 3;

/** The reasons worth telling, most telling first. */
export function reasonsFor({ trace, got, expectation }: Asked, names: RuleNames): readonly Reason[] {
  const rules = trace.phases.flatMap((phase) => phase.rules);
  const wanted = expectation.fields?.['rule'];
  const expected = isRef(wanted) ? [wanted] : candidates(expectation, rules);
  const actual = refOf(got);
  const told = [...expected, ...(actual === null ? [] : [actual])];
  const seen = new Map(told.map((ref) => [`${ref.type}/${ref.id}`, ref]));
  const reasons = [...seen.values()].flatMap((ref) => {
    const rule = rules.find((one) => one.type === ref.type && one.id === ref.id);
    return rule === undefined ? [] : [ruleReason(rule, names)];
  });
  return [...reasons, ...notes(trace, { named: actual !== null })];
}

function ruleReason(rule: RuleTrace, names: RuleNames): Reason {
  const outcome = rule.outcome.replace('_', ' ');
  const mode = rule.mode === 'dry_run' ? ' in dry_run' : '';
  const at = names.placeOf(rule);
  const subject = `${names.nameOf(rule)} ${outcome}${mode}`;
  return { subject, text: `${rule.reason.text}${foundText(rule)}`, ...(at === undefined ? {} : { at }) };
}

/** What the first signatures of a waf rule found. */
function foundText({ inspection }: RuleTrace): string {
  const told = (inspection?.matches ?? []).slice(0, FEW).map(({ id, message, variable, value }) => {
    return `${id} ${message}${variable === '' ? '' : ` in ${variable} \`${value}\``}`;
  });
  return told.length === 0 ? '' : ` (${told.join('; ')})`;
}

/** Rules that could have given the expected action, where the test names none. */
function candidates({ fields }: Expectation, rules: readonly RuleTrace[]): readonly RuleRef[] {
  const types = TYPES_OF[String(fields?.['action'])] ?? [];
  return rules.filter((rule) => types.includes(rule.type) && rule.reason.code !== 'disabled').slice(0, FEW);
}

const TYPES_OF: Readonly<Record<string, readonly string[]>> = {
  block: ['drop', 'rate_limit', 'waf', 'bot_route'],
  challenge: ['captcha', 'rate_limit', 'fingerprint'],
  redirect: ['redirect'],
  respond: ['bot_route'],
};

function isRef(value: unknown): value is RuleRef {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  return RULE_TYPES.some((type) => type === value.type);
}

function refOf(got: Asked['got']): RuleRef | null {
  if (got === null) return null;
  return 'page' in got ? (got.page?.rule ?? null) : got.rule;
}

/** What phases say apart from their rules: the gate always when it refused, others where no rule speaks for the outcome. */
function notes(trace: Trace, { named }: { readonly named: boolean }): readonly Reason[] {
  const refused = trace.phases[0]?.outcome === 'final';
  return trace.phases.flatMap(({ name, outcome, note }) => {
    const telling = refused ? name === 'gate' : outcome === 'passed' || (outcome === 'final' && !named);
    return note === null || !telling ? [] : [{ subject: name.replace('_', ' '), text: note }];
  });
}
