/** Parts of a trace: the checks of a rule, in a sentence why a rule that matched had its effect, the facts of the request. */
import { formatIp } from '../../base/addresses/ip.ts';
import { FLAG, GROUP, RECORD, ruleTypeOf, SLOT } from '../plan/layout.ts';
import {
  botSource,
  botText,
  countryCode,
  hostCheck,
  type JudgedCheck,
  judged,
  pathCheck,
  type RuleExplanation,
  type RuleReason,
  type Settled,
  scopeCheck,
} from './checks.ts';
import { conditionChecks } from './condition-checks.ts';
import type { Effect } from './decision.ts';
import { botOf, ipOf } from './facts.ts';
import { textOf } from './loaded.ts';
import { EXPLANATIONS } from './phases.ts';
import { type Context, slotWord } from './run.ts';
import type { FactsTrace, ReasonCode } from './trace.ts';

/** The checks of the rule in `slot`, in the order of CHECKS. */
export function checksOf(context: Context, slot: number): readonly JudgedCheck[] {
  const { hasPaths = true, checks } = explanationOf(context, slot);
  const isEnabled = (slotWord(context, slot, SLOT.flags) & FLAG.enabled) !== 0;
  return [
    ...(isEnabled ? [] : [judged('enabled', false, 'the rule is disabled', 'disabled')]),
    scopeCheck(context, slot),
    hostCheck(context, slot),
    ...(hasPaths ? [pathCheck(context, slot)] : []),
    ...(checks?.(context, slot) ?? []),
    ...conditionChecks(context, slot),
  ];
}

/** What is said of rules of the type of a slot's. */
function explanationOf(context: Context, slot: number): RuleExplanation {
  return EXPLANATIONS[ruleTypeOf(slotWord(context, slot, SLOT.flags))];
}

/** The reason of a rule that was recorded with `effect`. */
export function matchReason(account: Settled, slot: number, effect: Effect): RuleReason {
  const own = explanationOf(account.context, slot).reason?.(account, slot, effect) ?? null;
  if (own !== null) return own;
  const specific = specificCheck(checksOf(account.context, slot));
  switch (effect) {
    case 'challenge':
      return { code: 'challenge_unsolved', text: 'this visitor has not solved its challenge' };
    case 'passed':
      return { code: 'challenge_solved', text: 'this visitor has solved its challenge' };
    case 'origin':
      return { code: 'chosen', text: specific.text };
    case 'tag':
      return { code: 'tagged', text: specific.text };
    default:
      return specific;
  }
}

/** The check to name of those that passed: that of the most specific filter of the rule. */
function specificCheck(judged: readonly JudgedCheck[]): RuleReason {
  const last = judged.findLast((check) => check.filters && check.check !== 'scope');
  if (last === undefined) return { code: 'all_checks_passed', text: 'the rule filters nothing out' };
  return { code: passCode(last), text: last.text };
}

function passCode({ check, entry }: JudgedCheck): ReasonCode {
  if (check === 'country') return entry === undefined ? 'country_not_listed' : 'country_listed';
  if (check === 'ip') return entry === undefined ? 'ip_not_listed' : 'ip_listed';
  return 'all_checks_passed';
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
    asn: known && facts.asn > 0 ? facts.asn : null,
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
