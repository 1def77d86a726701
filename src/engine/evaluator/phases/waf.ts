/** Phase 5: the first waf rule that matches gives the settings; the request is blocked at its threshold. */
import { UNINSPECTED_MODES, type UninspectedMode } from '../../../base/vocabulary/vocabulary.ts';
import { FLAG_ACTION_SHIFT, NONE, SLOT, typeIndex, WAF_EXCLUSION, WAF_FIELDS } from '../../plan/layout.ts';
import type { InspectionExclusion, WafFinding, WafSettings } from '../../waf/request/inspection.ts';
import type { RuleExplanation, RuleReason, Settled } from '../checks.ts';
import type { Uninspected, WafVerdict } from '../decision.ts';
import { type Facts, isEdgeOwn } from '../facts.ts';
import { type LoadedPlan, patternMatches, textOf, textsAt } from '../loaded.ts';
import { bodyOf } from '../request.ts';
import {
  acts,
  type Context,
  end,
  endPhase,
  isDryRun,
  matchOf,
  nextMatch,
  type Run,
  recordMatch,
  refOf,
  slotWord,
} from '../run.ts';
import type { ReasonCode } from '../trace.ts';

// Which of a waf rule's exclusions hold for a request.

const NOTHING: readonly InspectionExclusion[] = [];

/**
 * The exclusions of the rule whose fields start at `fields`, as far as their path matches. A path with `;params` must
 * match with and without them, as for an exclude entry (semantics §1.1): parameters never widen an exclusion.
 */
function exclusionsFor(loaded: LoadedPlan, fields: number, facts: Facts): readonly InspectionExclusion[] {
  const { words } = loaded.plan;
  const at = words[fields + WAF_FIELDS.exclusions]!;
  const count = words[at]!;
  if (count === 0) return NOTHING;
  const held: InspectionExclusion[] = [];
  for (let row = at + 1; row < at + 1 + count * WAF_EXCLUSION.size; row += WAF_EXCLUSION.size) {
    const path = words[row + WAF_EXCLUSION.path]!;
    if (!patternMatches(loaded, path, facts.path)) continue;
    if (facts.pathWithoutParameters !== null && !patternMatches(loaded, path, facts.pathWithoutParameters))
      continue;
    const id = words[row + WAF_EXCLUSION.id]!;
    held.push({
      id: id === NONE ? null : id,
      tag: textOf(loaded, words[row + WAF_EXCLUSION.tag]!) || null,
      target: textOf(loaded, words[row + WAF_EXCLUSION.target]!) || null,
    });
  }
  return held;
}

const WAF = typeIndex('waf');

/** Runs the phase; true when it ended the request. */
export function waf(context: Context, run: Run): boolean {
  for (let slot = nextMatch(context, WAF); slot >= 0; slot = nextMatch(context, WAF)) {
    const verdict = inspect(context, slot);
    const blocks = verdict !== null && isBad(context, slot, verdict);
    const match = matchOf(context, slot, verdict === null ? 'unavailable' : blocks ? 'block' : 'passed');
    const isShadowOnly = verdict !== null && !acts(context, run, slot);
    recordMatch(run, isShadowOnly ? { ...match, waf: verdict } : match);
    if (!acts(context, run, slot)) continue;
    run.waf = verdict;
    endPhase(context, WAF);
    return blocks && end(run, 'block', { status: 403, rule: refOf(context, slot) });
  }
  return false;
}

/** Whether the rule blocks a request with this verdict. */
function isBad(context: Context, slot: number, verdict: WafVerdict): boolean {
  const { exhausted, denied, score } = verdict;
  if (exhausted || denied || score >= field(context, slot, WAF_FIELDS.threshold)) return true;
  return isRefusedUninspected(context, slot, verdict);
}

/** Whether `on_uninspected: block` blocks the request, whatever its score. */
function isRefusedUninspected(context: Context, slot: number, { uninspected }: WafVerdict): boolean {
  return uninspected !== null && onUninspected(context, slot) === 'block';
}

/** The rule's own answer to a body that is not inspected whole. */
export function onUninspected(context: Context, slot: number): UninspectedMode {
  return UNINSPECTED_MODES[slotWord(context, slot, SLOT.flags) >>> FLAG_ACTION_SHIFT]!;
}

function field(context: Context, slot: number, offset: number): number {
  return context.loaded.plan.words[slotWord(context, slot, SLOT.fields) + offset]!;
}

/** Inspects the request once; `null` without a program, or if it failed under dry_run. */
function inspect(context: Context, slot: number): WafVerdict | null {
  const program = context.waf;
  if (program === null) return null;
  const known = context.memo.wafs.get(slot);
  if (known !== undefined) return known;
  const { request } = context.facts;
  const cap = field(context, slot, WAF_FIELDS.bodyCap) * 1024;
  const given = cap === 0 ? null : bodyOf(request);
  const body = given === 'unread' ? null : given;
  const settings = settingsOf(context, slot);
  const truncated = body !== null && (body.length > cap || request.bodyTruncated === true);
  const input = {
    request,
    body: body === null ? null : body.subarray(0, cap),
    truncated,
    bodyError: typeof request.bodyError === 'string' ? request.bodyError : null,
  };
  const found = inspectWith(context, slot, () => program.inspect(input, settings));
  if (found === null) return null;
  const bodyError = cap === 0 ? found.bodyError : (input.bodyError ?? found.bodyError);
  const defect = uninspectedOf(input.bodyError, { ...found, truncated });
  const uninspected = cap === 0 ? null : (defect ?? (given === 'unread' ? given : null));
  const whole = { ...found, bodyError, truncated, uninspected };
  const scores = uninspected !== null && onUninspected(context, slot) === 'score';
  const verdict = scores ? scored(whole, uninspected) : whole;
  context.memo.wafs.set(slot, verdict);
  return verdict;
}

function uninspectedOf(
  codingError: string | null,
  { bodyError, truncated }: Pick<WafVerdict, 'bodyError' | 'truncated'>,
): Uninspected | null {
  if (codingError !== null) return 'coding';
  if (bodyError !== null) return 'unparsable';
  return truncated ? 'beyond_cap' : null;
}

/** The score of a body that could not be read under `on_uninspected: score`: that of a critical signature. */
const UNINSPECTED_SCORE = 5;
/** Variables by which signatures score the same defect, such as ModSecurity's 200002. */
const BODY_ERRORS: readonly string[] = ['REQBODY_ERROR', 'REQBODY_PROCESSOR_ERROR', 'REQBODY_ERROR_MSG'];

/** Adds what signatures have not scored for the same defect already, so that no body scores for it twice. */
function scored(verdict: WafVerdict, uninspected: Uninspected): WafVerdict {
  if (uninspected === 'beyond_cap') return verdict;
  const known = verdict.matches.filter(({ variable }) => BODY_ERRORS.includes(variable));
  const added = UNINSPECTED_SCORE - known.reduce((sum, { score }) => sum + score, 0);
  if (added <= 0) return verdict;
  const categories = Object.entries({ ...verdict.categories, uninspected: added }).sort(
    ([, a], [, b]) => b - a,
  );
  return { ...verdict, score: verdict.score + added, categories: Object.fromEntries(categories) };
}

/** The settings of a rule for the request of the context. */
export function settingsOf(context: Context, slot: number): WafSettings {
  const fields = slotWord(context, slot, SLOT.fields);
  return {
    paranoia: field(context, slot, WAF_FIELDS.paranoia),
    threshold: field(context, slot, WAF_FIELDS.threshold),
    excludes: textsAt(context.loaded, fields + WAF_FIELDS.excludes),
    exclusions: exclusionsFor(context.loaded, fields, context.facts),
  };
}

/** A program that fails fails the request; under dry_run it changes nothing, so there the rule is `unavailable`. */
function inspectWith(context: Context, slot: number, run: () => WafFinding): WafFinding | null {
  if (!isDryRun(context, slot)) return run();
  try {
    return run();
  } catch (error) {
    context.reportFault(error);
    return null;
  }
}

/**
 * Octets of body that the waf rules of this request need: the first one that acts, and dry_run ones before it. One more
 * than they inspect, so that a body that continues differs from one that ends there.
 */
export function wantedBody(context: Context): number {
  // The edge answers its own paths before this phase, and reads their bodies itself.
  if (isEdgeOwn(context.facts)) return 0;
  let wanted = 0;
  for (let slot = nextMatch(context, WAF); slot >= 0; slot = nextMatch(context, WAF)) {
    const cap = field(context, slot, WAF_FIELDS.bodyCap) * 1024;
    if (cap > 0) wanted = Math.max(wanted, cap + 1);
    if (!isDryRun(context, slot)) return wanted;
  }
  return wanted;
}

/** What a trace says of waf rules. */
export const wafExplanation: RuleExplanation = {
  reason: (settled, slot, effect) =>
    effect === 'unavailable'
      ? { code: 'no_signatures', text: 'no signatures are loaded, so nothing was inspected' }
      : wafReason(settled, slot, effect === 'passed' ? 'below_threshold' : 'at_threshold'),
};

function wafReason({ context, decision }: Settled, slot: number, code: ReasonCode): RuleReason {
  const threshold = field(context, slot, WAF_FIELDS.threshold);
  const verdict = context.memo.wafs.get(slot) ?? decision.waf;
  if (verdict === null || verdict === undefined) return { code, text: `threshold ${threshold}` };
  const below = verdict.score < threshold;
  const score = `anomaly score ${verdict.score} ${below ? 'is below' : 'reaches'} threshold ${threshold}`;
  const notes = [
    verdict.denied && below ? ', denied by a signature' : '',
    verdict.truncated ? ', body cut' : '',
    verdict.exhausted ? `, step budget exhausted${below ? ', which counts as reaching it' : ''}` : '',
    uninspectedText(context, slot, verdict),
    idsText(verdict.ids),
    verdict.bodyError === null ? '' : `; body not readable: ${verdict.bodyError}`,
  ];
  return { code, text: `${score}${notes.join('')}` };
}

function uninspectedText(context: Context, slot: number, verdict: WafVerdict): string {
  if (verdict.uninspected === null) return '';
  const kind = `body not inspected whole (${verdict.uninspected})`;
  if (isRefusedUninspected(context, slot, verdict)) return `, ${kind}, which on_uninspected blocks`;
  const added = verdict.categories['uninspected'];
  return added === undefined ? `, ${kind}` : `, ${kind}, which adds ${added}`;
}

/** Signatures named in a sentence, to limit its length. The trace's `inspection` lists all. */
const MAX_TOLD = 10;

function idsText(ids: readonly number[]): string {
  if (ids.length === 0) return '';
  const more = ids.length > MAX_TOLD ? ` and ${ids.length - MAX_TOLD} more` : '';
  return `: ${ids.slice(0, MAX_TOLD).join(', ')}${more}`;
}
