/** Compares a result with its expectation, in the short form of tests, and explains what differs in the trace's words. */
import type { SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import type { Decision, ErrorPageAnswer, RuleRef } from '../../engine/evaluator/decision.ts';
import { netChanges } from '../../engine/evaluator/net-changes.ts';
import type { RuleTrace, Trace } from '../../engine/evaluator/trace.ts';
import { knownOf } from '../proofs/rule-types.ts';
import { forwardedUrl } from '../simulation/describe.ts';
import type { Expectation } from './expectation.ts';
import type { ExpectedFields } from './expected-fields.ts';
import type { RuleNames } from './names.ts';

/** A field that is not as expected. */
export interface Mismatch {
  /** The path of the field: `origin.hostHeader`; empty for the result as a whole. */
  readonly field: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** A decision in the short form of tests; `null` is the absent shadow. */
export function describeDecision(decision: Decision | null, names: RuleNames): string {
  if (decision === null) return 'nothing';
  const { action, status, rule, location } = decision;
  const to = action === 'forward' ? forwardedUrl(decision) : action === 'redirect' ? location : null;
  const words = [
    action,
    status,
    to === null ? null : `to ${to}`,
    rule === null ? null : `by ${names.nameOf(rule)}`,
  ];
  return words.filter((word) => word !== null).join(' ');
}

/** An error page in the short form of tests; `null`: the shadow of a request that no dry_run rule matched. */
export function describePage(answer: ErrorPageAnswer | null, names: RuleNames): string {
  if (answer === null) return 'nothing';
  const { page } = answer;
  return page === null ? 'no page' : `page ${page.kind} by ${names.nameOf(page.rule)}`;
}

/** Returns every field in which `got` differs from the expectation; empty when it meets it. */
export function compare({ fields }: Expectation, got: object | null): readonly Mismatch[] {
  if (fields !== null)
    return got === null ? [{ field: '', expected: fields, got }] : differences(fields, withHeaders(got), '');
  return got === null ? [] : [{ field: '', expected: null, got }];
}

/** The result with the headers of each message by lower-case name, as tests state them; `null`: removed. */
function withHeaders(got: object): object {
  const { requestHeaders, responseHeaders } = got as Partial<Decision>;
  if (requestHeaders === undefined && responseHeaders === undefined) return got;
  return { ...got, requestHeaders: byName(requestHeaders), responseHeaders: byName(responseHeaders) };
}

function byName(changes: Decision['requestHeaders'] = []): ExpectedFields {
  return Object.fromEntries(
    [...netChanges(changes)].map(([name, { values }]) => [
      name,
      values.length === 0 ? null : values.join(', '),
    ]),
  );
}

/** Compares the expected fields; fields that are not expected may have any value. */
function differences(expected: ExpectedFields, got: object, path: string): readonly Mismatch[] {
  const fields = got as ExpectedFields;
  return Object.entries(expected).flatMap(([key, value]): readonly Mismatch[] => {
    const field = path === '' ? key : `${path}.${key}`;
    const actual = fields[key];
    if (typeof value !== 'object' || value === null) {
      return Object.is(value, actual) ? [] : [{ field, expected: value, got: actual }];
    }
    const comparable = typeof actual === 'object' && actual !== null && sameShape(value, actual);
    return comparable
      ? differences(value as ExpectedFields, actual, field)
      : [{ field, expected: value, got: actual }];
  });
}

/** Whether both are objects, or lists of equal length. */
function sameShape(expected: object, got: object): boolean {
  if (!Array.isArray(expected)) return !Array.isArray(got);
  return Array.isArray(got) && got.length === expected.length;
}

// Explains a failed test in the trace's words: the reason of the rule that acted, and of the rule that was expected
// to.

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
  const explains = ({ type, reason }: RuleTrace): boolean =>
    reason.code !== 'disabled' && knownOf(type).explains.some((action) => action === fields?.['action']);
  return rules.filter(explains).slice(0, FEW);
}

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
