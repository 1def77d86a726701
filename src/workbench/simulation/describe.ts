/** Describes decisions in one sentence: the outcome and the rule that decided. */
import { APPLICATION_HOST } from '../../base/vocabulary/vocabulary.ts';
import type { Decision, Effect, Origin } from '../../engine/evaluator/decision.ts';
import { isContentAddressed } from '../../engine/evaluator/identity.ts';
import type { PhaseTrace, RuleTrace } from '../../engine/evaluator/trace.ts';
import {
  type ActingEffect,
  type ActingRule,
  type Headline,
  refOf,
  type ShownEffect,
  type WouldHave,
} from './document.ts';

/** What is known of a rule beyond the plan: its key and its place in the edge file. */
export interface DescribedSource {
  readonly key: string | null;
  /** `file:line`; `null` if the place is unknown. */
  readonly at: string | null;
}

/** Sources by rule id. */
export type RuleSources = ReadonlyMap<number, DescribedSource>;

/** Whether the application that embeds the edge answers, as for a record without a destination. */
function isApplication({ address, source }: Origin): boolean {
  return source === 'record' && address === APPLICATION_HOST;
}

/**
 * `scheme://address:port`, the port only if the scheme does not imply it, IPv6 in brackets; `application:` for the
 * application that embeds the edge.
 */
export function originUrl(origin: Origin): string {
  if (isApplication(origin)) return 'application:';
  const address = origin.address.includes(':') ? `[${origin.address}]` : origin.address;
  const implied = origin.scheme === 'http' ? 80 : origin.scheme === 'https' ? 443 : null;
  const port = origin.port === null || origin.port === implied ? '' : `:${origin.port}`;
  return `${origin.scheme}://${address}${port}`;
}

/** The URL of the request to the origin; `null` when the request is not forwarded. */
export function forwardedUrl(decision: Decision): string | null {
  if (decision.origin === null) return null;
  const query = decision.query === null ? '' : `?${decision.query}`;
  return `${originUrl(decision.origin)}${decision.path ?? ''}${query}`;
}

/** The rule of a decision with its key; `null` without a rule. A record has no key. */
export function actingRule(ref: Decision['rule'], sources: RuleSources): ActingRule | null {
  if (ref === null) return null;
  const key = ref.type === 'record' ? null : (sources.get(ref.id)?.key ?? authorKey(ref));
  return { type: ref.type, id: ref.id, key };
}

/**
 * The author's key of a rule, read from a plan without its file; `null` when the plan has only a hash of the
 * content.
 */
export function authorKey({ key }: { readonly key?: string }): string | null {
  return key === undefined || isContentAddressed(key) ? null : key;
}

/** `drop #57`, the form in which sentences name rules. */
export function nameOf(acting: { readonly type: string; readonly id: number }): string {
  return `${acting.type} #${acting.id}`;
}

/** One sentence for a decision. `note` is the reason of a refusal without a rule. */
function sentenceFor(decision: Decision, note: string | null): string {
  const by = decision.rule === null ? '' : ` by ${nameOf(decision.rule)}`;
  switch (decision.action) {
    case 'forward':
      if (decision.origin !== null && isApplication(decision.origin)) return 'Answered by the application';
      return `Forwarded to ${forwardedUrl(decision) ?? 'the origin'}`;
    case 'block':
      return `Blocked with ${decision.status}${by}`;
    case 'challenge':
      return `Challenged with ${decision.status}${by}`;
    case 'redirect':
      return `Redirected with ${decision.status} to ${decision.location}${by}`;
    case 'respond':
      return `Answered with ${decision.status}${by === '' ? ' by the edge itself' : by}`;
    case 'refuse':
      return `Refused with ${decision.status}${by}${note === null ? '' : `: ${note}`}`;
    default:
      return decision.action satisfies never;
  }
}

/** A decision as a headline. `note` is the gate's reason, for a refusal without a rule. */
export function headline(decision: Decision, about: { sources: RuleSources; note: string | null }): Headline {
  return {
    action: decision.action,
    status: decision.status,
    by: actingRule(decision.rule, about.sources),
    text: sentenceFor(decision, decision.rule === null ? about.note : null),
  };
}

/** Effects that change neither the response nor the request to the origin. */
const OBSERVING: ReadonlySet<Effect> = new Set(['counted', 'passed', 'unavailable', 'self_redirect']);

/** Whether an effect changes what the visitor or the origin sees. */
function acts(effect: Effect): effect is ActingEffect {
  return !OBSERVING.has(effect);
}

/** A rule's effect as the document shows it: an acting effect of a dry_run rule becomes `would_…`. */
export function shownEffect(rule: RuleTrace): ShownEffect {
  const { effect } = rule;
  if (effect === 'none' || rule.mode === 'enforce' || !acts(effect)) return effect;
  return `would_${effect}`;
}

/** The status that a dry_run rule would have answered; `null` if the trace does not contain it. */
function statusOf(rule: RuleTrace, shadow: Decision | null): number | null {
  if (shadow?.rule?.type === rule.type && shadow.rule.id === rule.id) return shadow.status;
  if (rule.effect === 'block') return rule.status ?? (rule.type === 'rate_limit' ? 429 : 403);
  if (rule.effect === 'challenge') return 403;
  return null;
}

/** One sentence about what a dry_run rule would have done. */
function wouldText(rule: RuleTrace, status: number | null): string {
  const name = nameOf(rule);
  switch (rule.effect) {
    case 'block':
    case 'challenge':
    case 'respond':
    case 'redirect':
    case 'refuse':
      return status === null ? `${name} would have answered` : `${name} would have answered ${status}`;
    case 'tag':
      return `${name} would have tagged the request`;
    case 'alt_origin':
    case 'origin':
      return `${name} would have chosen the origin`;
    case 'rewrite':
      return `${name} would have rewritten the request`;
    case 'error_page':
      return `${name} would have given the page`;
    default:
      return `${name} would have acted`;
  }
}

/** One entry for each dry_run rule that matched and would have changed something, in order of evaluation. */
export function wouldHave(
  phases: readonly PhaseTrace[],
  about: { sources: RuleSources; shadow: Decision | null },
): readonly WouldHave[] {
  const entries: WouldHave[] = [];
  for (const rule of phases.flatMap((phase) => phase.rules)) {
    const { effect } = rule;
    if (rule.mode !== 'dry_run' || rule.outcome !== 'matched' || effect === 'none' || !acts(effect)) continue;
    const status = statusOf(rule, about.shadow);
    const by = { type: rule.type, id: rule.id, key: about.sources.get(rule.id)?.key ?? null };
    entries.push({ action: effect, status, by, text: wouldText(rule, status) });
  }
  return entries;
}

/** Finds a rule in a trace. */
export function ruleTrace(
  phases: readonly PhaseTrace[],
  ref: { type: string; id: number },
): RuleTrace | undefined {
  return phases.flatMap((phase) => phase.rules).find((rule) => refOf(rule) === refOf(ref));
}
