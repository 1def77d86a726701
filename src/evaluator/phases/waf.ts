/** Phase 5: the first waf rule that matches gives the settings; the request is blocked at its threshold. */
import { utf8Bytes } from '../../base/octets.ts';
import { WAF_FIELDS } from '../../plan/fields.ts';
import { SLOT, typeIndex } from '../../plan/layout.ts';
import type { WafVerdict } from '../decision.ts';
import { textsAt } from '../loaded.ts';
import {
  acts,
  type Context,
  end,
  endPhase,
  isDryRun,
  nextMatch,
  type Run,
  record,
  refOf,
  slotWord,
} from '../run.ts';
import { isEdgeOwn } from '../special-paths.ts';
import type { WafFinding, WafSettings } from '../waf.ts';
import { exclusionsFor } from '../waf-exclusions.ts';

const WAF = typeIndex('waf');

export function waf(context: Context, run: Run): boolean {
  for (let slot = nextMatch(context, WAF); slot >= 0; slot = nextMatch(context, WAF)) {
    const verdict = inspect(context, slot);
    const blocks = verdict !== null && isBad(verdict, field(context, slot, WAF_FIELDS.threshold));
    record(context, run, slot, verdict === null ? 'unavailable' : blocks ? 'block' : 'passed');
    if (!acts(context, run, slot)) continue;
    run.waf = verdict;
    endPhase(context, WAF);
    return blocks && end(run, 'block', { status: 403, rule: refOf(context, slot) });
  }
  return false;
}

function isBad({ exhausted, denied, score }: WafVerdict, threshold: number): boolean {
  return exhausted || denied || score >= threshold;
}

function field(context: Context, slot: number, offset: number): number {
  return context.loaded.plan.words[slotWord(context, slot, SLOT.fields) + offset]!;
}

function inspect(context: Context, slot: number): WafVerdict | null {
  const program = context.waf;
  if (program === null) return null;
  const known = context.memo.wafs.get(slot);
  if (known !== undefined) return known;
  const { request } = context.facts;
  const cap = field(context, slot, WAF_FIELDS.bodyCap) * 1024;
  const body = cap === 0 ? null : bodyBytes(request.body);
  const settings = settingsOf(context, slot);
  const truncated = body !== null && body.length > cap;
  const input = {
    request,
    body: body === null ? null : body.subarray(0, cap),
    truncated,
    bodyError: typeof request.bodyError === 'string' ? request.bodyError : null,
  };
  const found = inspectWith(context, slot, () => program.inspect(input, settings));
  if (found === null) return null;
  const verdict: WafVerdict = { ...found, truncated };
  context.memo.wafs.set(slot, verdict);
  return verdict;
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
    context.tellFault(error);
    return null;
  }
}

function bodyBytes(body: unknown): Uint8Array | null {
  if (typeof body === 'string') return utf8Bytes(body);
  return body instanceof Uint8Array ? body : null;
}

/**
 * Octets of body that the waf rules of this request want to see: the first one that acts, and dry_run ones before it.
 * One more than they inspect, so that a body that goes on can be told from one that ends there.
 */
export function wantedBody(context: Context): number {
  // Answered before this phase, by a reader of its own.
  if (isEdgeOwn(context.facts)) return 0;
  let wanted = 0;
  for (let slot = nextMatch(context, WAF); slot >= 0; slot = nextMatch(context, WAF)) {
    const cap = field(context, slot, WAF_FIELDS.bodyCap) * 1024;
    if (cap > 0) wanted = Math.max(wanted, cap + 1);
    if (!isDryRun(context, slot)) return wanted;
  }
  return wanted;
}
