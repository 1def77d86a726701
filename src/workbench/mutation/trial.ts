/**
 * Requests that show a difference: sends them to the plan as written and to a mutant, and describes as an expectation what the
 * plan as written does and the mutant does not.
 */
import type { Decision, ErrorPageAnswer, Origin } from '../../engine/evaluator/decision.ts';
import { loadPlan } from '../../engine/evaluator/evaluate.ts';
import type { WafProgram } from '../../engine/waf/request/inspection.ts';
import { requestOf, type Witness } from '../proofs/witness.ts';
import { describeDecision, describePage } from '../rule-tests/compare.ts';
import type { RuleNames } from '../rule-tests/names.ts';
import { DEFAULT_NOW } from '../rule-tests/prepare.ts';
import { countAnswer, withAssumptions } from '../simulation/conditions.ts';

/** The same request several times. */
export interface TrialStep {
  readonly times: number;
  /** Seconds before the first. */
  readonly after: number;
  /** Appended to the path. */
  readonly suffix: string;
}

/** What is sent. */
export interface Trial {
  readonly witness: Witness;
  readonly steps: readonly TrialStep[];
}

/** TestFields of a test file. */
export type TestFields = Readonly<Record<string, unknown>>;

/** What one step expects, as a test file writes it. */
export interface Expected {
  readonly expect?: string | TestFields;
  readonly would?: string | TestFields;
}

/** A difference of outcomes. */
export interface TrialDifference {
  /** By step, what the plan as written does. */
  readonly expected: readonly Expected[];
  /** The outcomes of the step that differs, in words. */
  readonly was: string;
  readonly now: string;
  /** Nothing differs but which enforced rules matched. */
  readonly isWeak: boolean;
}

/** A plan that is asked. */
export interface TrialPlan {
  readonly bytes: Uint8Array;
  readonly waf: WafProgram | null;
  readonly names: RuleNames;
}

/** The last outcome of each step. */
interface Outcome {
  readonly decision: Decision;
  readonly page: ErrorPageAnswer | null;
}

/** Sends a trial to a plan, as a test would. */
export function outcomesOf({ bytes, waf }: TrialPlan, { witness, steps }: Trial): readonly Outcome[] {
  let now = DEFAULT_NOW;
  const evaluator = loadPlan(bytes, { clock: () => now, random: () => 0, waf, trusted: true });
  return steps.map(({ times, after, suffix }) => {
    now += after * 1_000;
    const request = withAssumptions(requestOf({ ...witness, url: longerUrl(witness.url, suffix) }, now));
    const send = (): Decision => {
      const decision = evaluator.evaluate({ ...request, now });
      countAnswer(evaluator, decision, witness.status);
      return decision;
    };
    for (let time = 1; time < times; time++) send();
    const decision = send();
    const page =
      witness.status === null ? null : evaluator.errorPage({ ...request, now }, witness.status, 'origin');
    return { decision, page };
  });
}

/** The URL with a longer path. */
export function longerUrl(url: string, suffix: string): string {
  const [bare = '', ...query] = url.split('?');
  return [`${bare}${suffix}`, ...query].join('?');
}

/** The difference of outcomes; `null`: no test could see one. */
export function differenceOf(
  was: readonly Outcome[],
  now: readonly Outcome[],
  names: RuleNames,
): TrialDifference | null {
  const pairs = was.map((one, step) => pairOf(one, now[step]!, names));
  const differing = pairs.find(({ differs }) => differs !== null);
  if (differing === undefined) return null;
  return { expected: pairs.map(({ expected }) => expected), ...differing.differs! };
}

/** What a step expects, and whether the outcomes differ in it. */
interface StepPair {
  readonly expected: Expected;
  readonly differs: Omit<TrialDifference, 'expected'> | null;
}

function pairOf(was: Outcome, now: Outcome, names: RuleNames): StepPair {
  if (was.page !== null) return pagePair(was.page, now.page!, names);
  const decided = decisionPair(was.decision, now.decision, names);
  if (decided.differs !== null) return decided;
  const [shadow, other] = [was.decision.shadow, now.decision.shadow];
  if (shadow === null && other === null) return decided;
  if (shadow !== null && other !== null) {
    const pair = decisionPair(shadow, other, names);
    const { expect } = pair.expected;
    return expect === undefined || pair.differs === null
      ? decided
      : { expected: { ...decided.expected, would: expect }, differs: asWould(pair.differs) };
  }
  const [text, otherText] = [shadow, other].map((one) => describeDecision(one, names));
  return {
    expected: { ...decided.expected, would: text! },
    differs: asWould({ was: text!, now: otherText!, isWeak: false }),
  };
}

function asWould({ was, now, isWeak }: NonNullable<StepPair['differs']>): StepPair['differs'] {
  return { was: `would: ${was}`, now: `would: ${now}`, isWeak };
}

function pagePair(was: ErrorPageAnswer, now: ErrorPageAnswer, names: RuleNames): StepPair {
  const [text, other] = [was, now].map((one) => describePage(one, names));
  if (text !== other) return plainPair(text!, other!);
  const [html, otherHtml] = [was, now].map(({ page }) => page?.html ?? null);
  if (html !== otherHtml)
    return {
      expected: { expect: { kind: was.page!.kind, html } },
      differs: { was: `${text}, html ${cut(html)}`, now: `html ${cut(otherHtml)}`, isWeak: false },
    };
  const [shadow, otherShadow] = [was.shadow, now.shadow].map((one) => describePage(one, names));
  const expected = { expect: text! };
  if (shadow === otherShadow) return { expected, differs: null };
  const differs = asWould({ was: shadow!, now: otherShadow!, isWeak: false });
  return { expected: { ...expected, would: shadow! }, differs };
}

/** Characters of a page that a report shows. */
const MAX_SHOWN = 40;

/** The end of a page, where the page of a mutant differs. */
function cut(html: string | null | undefined): string {
  const text = JSON.stringify(html ?? null);
  return text.length > MAX_SHOWN ? `…${text.slice(-MAX_SHOWN)}` : text;
}

/** Outcomes whose short forms differ. */
function plainPair(was: string, now: string): StepPair {
  return { expected: { expect: was }, differs: { was, now, isWeak: false } };
}

function decisionPair(was: Decision, now: Decision, names: RuleNames): StepPair {
  const [text, other] = [was, now].map((one) => describeDecision(one, names));
  if (text !== other) return plainPair(text!, other!);
  const [fields, others] = [was, now].map((one) => fieldsOf(one, names));
  const changed = differing(fields!, others!);
  if (Object.keys(changed.was).length > 0) {
    return {
      expected: { expect: { action: was.action, ...changed.was } },
      differs: {
        was: `${was.action}, ${fieldsText(changed.was)}`,
        now: fieldsText(changed.now),
        isWeak: false,
      },
    };
  }
  const [acting, otherActing] = [was, now].map((one) => actingText(one, names));
  if (acting === otherActing) return { expected: { expect: text! }, differs: null };
  return {
    expected: { expect: { action: was.action, matches: matchTexts(was, now, names) } },
    differs: { was: `${was.action}, acting: ${acting}`, now: `acting: ${otherActing}`, isWeak: true },
  };
}

/** The fields that differ, and of objects their fields that differ. */
function differing(was: TestFields, now: TestFields): { readonly was: TestFields; readonly now: TestFields } {
  const found: { was: Record<string, unknown>; now: Record<string, unknown> } = { was: {}, now: {} };
  for (const [name, value] of Object.entries(was)) {
    const other = now[name];
    if (JSON.stringify(value) === JSON.stringify(other)) continue;
    const inner = isFields(value) && isFields(other) ? differing(value, other) : { was: value, now: other };
    found.was[name] = inner.was;
    found.now[name] = inner.now;
  }
  return found;
}

function isFields(value: unknown): value is TestFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** TestFields in words: `cache mode bypass, tags []`. */
function fieldsText(fields: TestFields): string {
  const texts = Object.entries(fields).map(([name, value]) =>
    isFields(value) ? `${name} ${fieldsText(value)}` : `${name} ${JSON.stringify(value)}`,
  );
  return texts.join(', ');
}

/** The enforced rules that act, in words. */
function actingText({ matches }: Decision, names: RuleNames): string {
  const acting = matches.filter(({ mode, effect }) => mode === 'enforce' && effect !== 'self_redirect');
  return acting.length === 0 ? 'no rule' : acting.map((match) => matchText(match, names)).join(', ');
}

/** The matches, with the mode of those that another decision has in another mode. */
function matchTexts(was: Decision, now: Decision, names: RuleNames): readonly string[] {
  return was.matches.map((match) => {
    const { type, id, mode } = match;
    const isFlipped = now.matches.some((one) => one.type === type && one.id === id && one.mode !== mode);
    return `${matchText(match, names)}${isFlipped && mode === 'enforce' ? ' enforce' : ''}`;
  });
}

/** A match as a test file writes it. */
function matchText(match: Decision['matches'][number], names: RuleNames): string {
  return `${names.nameOf(match)} ${match.effect}${match.mode === 'dry_run' ? ' dry_run' : ''}`;
}

/** The fields of a decision that its short form does not show, as a test file writes them. */
function fieldsOf(decision: Decision, names: RuleNames): TestFields {
  const { origin, cache, body, retryAfter, waf, path, query, matches } = decision;
  const tagging = matches.filter(({ mode, effect }) => mode === 'enforce' && effect === 'tag');
  return {
    origin: origin === null ? null : originFields(origin),
    path,
    query,
    cache:
      cache === null
        ? null
        : { mode: cache.mode, edge_ttl: cache.edgeTtl, browser_ttl: cache.browserTtl, key: cache.key },
    body,
    tags: tagging.map((match) => names.nameOf(match)),
    retry_after: retryAfter,
    waf: waf === null ? null : { score: waf.score, ids: waf.ids },
  };
}

function originFields({ address, port, scheme, hostHeader, source }: Origin): TestFields {
  return { address, port, scheme, host_header: hostHeader, source };
}
