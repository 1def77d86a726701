/** Parts of a trace: the facts of the request, and in a sentence why a rule that matched had its effect. */
import { formatIp } from '../../base/addresses/ip.ts';
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import { FLAG, GROUP, RATE_FIELDS, RECORD, SLOT, WAF_FIELDS } from '../plan/layout.ts';
import { botSource, botText, checksOf, countryCode, type JudgedCheck } from './checks.ts';
import type { RateResult } from './counters.ts';
import type { Decision, Effect, WafVerdict } from './decision.ts';
import { botOf, ipOf } from './facts.ts';
import { textOf } from './loaded.ts';
import { allowanceOf, windowOf } from './phases/rate-limit.ts';
import { locationOf } from './phases/redirect.ts';
import { capturesOf, rewrittenPath } from './phases/rewrite.ts';
import { isRefusedUninspected } from './phases/waf.ts';
import { type Context, slotWord } from './run.ts';
import type { FactsTrace, ReasonCode, RuleTrace } from './trace.ts';

type Reason = RuleTrace['reason'];

/** A decision whose rules are explained. */
export interface Settled {
  readonly context: Context;
  readonly decision: Decision;
  /** The results of the rate limits, by slot. */
  readonly rates: ReadonlyMap<number, RateResult>;
}

/** The reason of a rule that was recorded with `effect`. */
export function matchReason(account: Settled, slot: number, effect: Effect): Reason {
  const { context, decision } = account;
  const judged = checksOf(context, slot);
  switch (effect) {
    case 'counted':
    case 'block':
    case 'challenge': {
      const type = RULE_TYPES[slotWord(context, slot, SLOT.flags) & FLAG.type];
      if (type === 'rate_limit') return rateReason(account, slot, effect !== 'counted');
      if (type === 'waf') return wafReason(account, slot, 'at_threshold');
      if (effect === 'challenge')
        return { code: 'challenge_unsolved', text: 'this visitor has not solved its challenge' };
      return specificCheck(judged);
    }
    case 'passed': {
      const type = RULE_TYPES[slotWord(context, slot, SLOT.flags) & FLAG.type];
      if (type === 'waf') return wafReason(account, slot, 'below_threshold');
      return { code: 'challenge_solved', text: 'this visitor has solved its challenge' };
    }
    case 'unavailable':
      return { code: 'no_signatures', text: 'no signatures are loaded, so nothing was inspected' };
    case 'redirect':
      return { code: 'redirected', text: `→ ${locationOf(context, slot)}` };
    case 'self_redirect':
      return { code: 'self_redirect', text: 'it leads to this very URL, so it counts as unmatched' };
    case 'rewrite':
      return { code: 'rewritten', text: rewriteText(context, slot) };
    case 'refuse':
      return { code: 'dot_segment', text: `${rewriteText(context, slot)} holds a dot segment` };
    case 'cache': {
      const { cache } = decision;
      const text =
        cache === null || cache.key === null ? 'the cache is bypassed' : `${cache.mode}, key ${cache.key}`;
      return { code: 'cached', text };
    }
    case 'origin':
      return { code: 'chosen', text: specificCheck(judged).text };
    case 'tag':
      return { code: 'tagged', text: specificCheck(judged).text };
    case 'respond':
    case 'alt_origin':
    case 'error_page':
      return specificCheck(judged);
  }
}

/** The check to name of those that passed: that of the most specific filter of the rule. */
function specificCheck(judged: readonly JudgedCheck[]): Reason {
  const last = judged.findLast((check) => check.filters && check.check !== 'scope');
  if (last === undefined) return { code: 'all_checks_passed', text: 'the rule filters nothing out' };
  return { code: passCode(last), text: last.text };
}

function passCode({ check, entry }: JudgedCheck): ReasonCode {
  if (check === 'country') return entry === undefined ? 'country_not_listed' : 'country_listed';
  if (check === 'ip') return entry === undefined ? 'ip_not_listed' : 'ip_listed';
  return 'all_checks_passed';
}

function rateReason({ context, rates }: Settled, slot: number, over: boolean): Reason {
  const result = rates.get(slot);
  const window = windowOf(context, slot);
  const { words } = context.loaded.plan;
  const seconds = words[slotWord(context, slot, SLOT.fields) + RATE_FIELDS.window]!;
  const family = ipOf(context.facts);
  const who = family === 0 ? 'unknown addresses' : formatIp(family as 4 | 6, context.facts.ipWords);
  const allowance = allowanceOf(context, slot);
  const what = `request ${result?.count ?? 1} of ${allowance} in ${seconds} s for ${who}`;
  const where = window.perPath ? `${what} on this path` : what;
  return { code: over ? 'over_limit' : 'under_limit', text: where };
}

function wafReason({ context, decision }: Settled, slot: number, code: ReasonCode): Reason {
  const threshold = context.loaded.plan.words[slotWord(context, slot, SLOT.fields) + WAF_FIELDS.threshold]!;
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

function rewriteText(context: Context, slot: number): string {
  const { path } = context.facts;
  const target = rewrittenPath(context, slot);
  const captures = target === null ? null : capturesOf(context, slot);
  const groups = (captures?.groups ?? []).slice(1).map((group, index) => `$${index + 1} = ${group ?? ''}`);
  const noted = groups.length === 0 ? '' : ` (${groups.join(', ')})`;
  return target === null ? `${path} is kept` : `${path} → ${target}${noted}`;
}

// The facts of a request as a trace reports them.

/** The facts of `context` as plain data. `refused`: the gate's status, or 0; facts that are read after it are `null`. */
export function factsTrace(context: Context, refused: number): FactsTrace {
  const { facts, loaded } = context;
  const { request } = facts;
  const known = refused === 0;
  const family = known ? ipOf(facts) : 0;
  const bot = known && botOf(facts) >= 0 ? botText(context) : null;
  return {
    scheme: facts.https ? 'https' : 'http',
    method: typeof request.method === 'string' ? request.method : '',
    host: refused === 400 ? null : facts.host,
    path: known ? facts.path : null,
    pathWithoutParameters: known ? facts.pathWithoutParameters : null,
    query: known ? facts.query : null,
    ip: family === 0 ? null : formatIp(family as 4 | 6, facts.ipWords),
    country: known && facts.country >= 0 ? countryCode(facts.country) : null,
    bot: bot === null ? null : { kind: bot, verified: facts.botVerified, from: botSource(facts) },
    ja4: known ? facts.ja4 : null,
    ja4h: known ? facts.ja4h : null,
    records: known ? hostRecords(context, loaded.plan.words) : [],
  };
}

/** The proxied records of the host's group. */
function hostRecords(context: Context, words: Uint32Array): FactsTrace['records'] {
  const { group } = context.facts;
  const records: { id: number; name: string; destination: string }[] = [];
  for (let index = 0; index < words[group + GROUP.count]!; index++) {
    const row = group + GROUP.records + index * RECORD.size;
    records.push({
      id: words[row + RECORD.id]!,
      name: textOf(context.loaded, words[row + RECORD.name]!),
      destination: textOf(context.loaded, words[row + RECORD.destination]!),
    });
  }
  return records;
}
