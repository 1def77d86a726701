/**
 * Requests that show a difference: sends them to the plan as written and to a mutant, and describes as an expectation what the
 * plan as written does and the mutant does not.
 */
import type { Witness } from '../analysis/space/witness.ts';
import { hostOfWitness } from '../analysis/space/witness.ts';
import type { Decision, ErrorPageAnswer } from '../evaluator/decision.ts';
import { loadPlan } from '../evaluator/evaluate.ts';
import type { EdgeRequest } from '../evaluator/request.ts';
import type { WafProgram } from '../evaluator/waf.ts';
import { withAssumedBody } from '../simulator/assume.ts';
import { describeDecision, describePage } from '../simulator/rule-tests/compare.ts';
import type { RuleNames } from '../simulator/rule-tests/names.ts';
import { DEFAULT_NOW } from '../simulator/rule-tests/prepare.ts';

/** The same request several times. */
export interface TrialStep {
  readonly times: number;
  /** Seconds before the first. */
  readonly after: number;
}

/** What is sent. */
export interface Trial {
  readonly witness: Witness;
  readonly steps: readonly TrialStep[];
}

/** Fields of a test file. */
export type Fields = Readonly<Record<string, unknown>>;

/** What one step expects, as a test file writes it. */
export interface Expected {
  readonly expect?: string | Fields;
  readonly would?: string | Fields;
}

/** A difference of outcomes. */
export interface TrialDifference {
  /** By step, what the plan as written does. */
  readonly expected: readonly Expected[];
  /** The outcomes of the step that differs, in words. */
  readonly was: string;
  readonly now: string;
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
  const request = withAssumedBody(requestOf(witness));
  return steps.map(({ times, after }) => {
    now += after * 1_000;
    for (let time = 1; time < times; time++) evaluator.evaluate({ ...request, now });
    const decision = evaluator.evaluate({ ...request, now });
    const page =
      witness.status === null
        ? null
        : evaluator.errorPage({ ...request, now }, witness.status, 'origin');
    return { decision, page };
  });
}

function requestOf(witness: Witness): EdgeRequest {
  const { method, url, ip, country, bot, ja4, ja4h, cleared } = witness;
  const start = url.indexOf('://') + 3;
  return {
    scheme: url.slice(0, start - 3),
    method,
    host: hostOfWitness(witness),
    target: url.slice(url.indexOf('/', start)),
    headers: {},
    bot,
    cleared,
    ...(ip === null ? {} : { ip }),
    ...(country === null ? {} : { country }),
    ...(ja4 === null ? {} : { ja4 }),
    ...(ja4h === null ? {} : { ja4h }),
  };
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
  readonly differs: Pick<TrialDifference, 'was' | 'now'> | null;
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
    differs: asWould({ was: text!, now: otherText! }),
  };
}

function asWould({ was, now }: { readonly was: string; readonly now: string }): StepPair['differs'] {
  return { was: `would: ${was}`, now: `would: ${now}` };
}

function pagePair(was: ErrorPageAnswer, now: ErrorPageAnswer, names: RuleNames): StepPair {
  const [text, other] = [was, now].map((one) => describePage(one, names));
  if (text !== other) return { expected: { expect: text! }, differs: { was: text!, now: other! } };
  const [html, otherHtml] = [was, now].map(({ page }) => page?.html ?? null);
  if (html !== otherHtml)
    return {
      expected: { expect: { kind: was.page!.kind, html } },
      differs: { was: `${text}, html ${cut(html)}`, now: `html ${cut(otherHtml)}` },
    };
  const [shadow, otherShadow] = [was.shadow, now.shadow].map((one) => describePage(one, names));
  const expected = { expect: text! };
  if (shadow === otherShadow) return { expected, differs: null };
  const differs = asWould({ was: shadow!, now: otherShadow! });
  return { expected: { ...expected, would: shadow! }, differs };
}

/** Characters of a page that a report shows. */
const MAX_SHOWN = 40;

function cut(html: string | null | undefined): string {
  const text = JSON.stringify(html ?? null);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function decisionPair(was: Decision, now: Decision, names: RuleNames): StepPair {
  const [text, other] = [was, now].map((one) => describeDecision(one, names));
  if (text !== other) return { expected: { expect: text! }, differs: { was: text!, now: other! } };
  const [fields, others] = [was, now].map((one) => fieldsOf(one, names));
  const changed = Object.keys(fields!).filter(
    (name) => JSON.stringify(fields![name]) !== JSON.stringify(others![name]),
  );
  // Which rules matched is expected only if nothing else differs.
  const chosen = changed.length > 1 ? changed.filter((name) => name !== 'matches') : changed;
  if (chosen.length === 0) return { expected: { expect: text! }, differs: null };
  const select = (all: Fields): Fields => Object.fromEntries(chosen.map((name) => [name, all[name]]));
  const shown = (all: Fields): string =>
    chosen.map((name) => `${name} ${JSON.stringify(all[name])}`).join(', ');
  return {
    expected: { expect: { action: was.action, ...select(fields!) } },
    differs: { was: `${was.action}, ${shown(fields!)}`, now: shown(others!) },
  };
}

/** The fields of a decision that its short form does not show, as a test file writes them. */
function fieldsOf(decision: Decision, names: RuleNames): Fields {
  const { origin, cache, body, retryAfter, waf, path, query, matches } = decision;
  const enforced = matches.filter(({ mode, effect }) => mode === 'enforce' && effect !== 'self_redirect');
  return {
    origin:
      origin === null
        ? null
        : {
            address: origin.address,
            port: origin.port,
            scheme: origin.scheme,
            host_header: origin.hostHeader,
            source: origin.source,
          },
    path,
    query,
    cache:
      cache === null
        ? null
        : { mode: cache.mode, edge_ttl: cache.edgeTtl, browser_ttl: cache.browserTtl, key: cache.key },
    body,
    tags: enforced.filter(({ effect }) => effect === 'tag').map((match) => names.nameOf(match)),
    retry_after: retryAfter,
    waf: waf === null ? null : { score: waf.score, ids: waf.ids },
    matches: matches.map((match) => {
      const mode = match.mode === 'dry_run' ? ' dry_run' : '';
      return `${names.nameOf(match)} ${match.effect}${mode}`;
    }),
  };
}
