/** Decisions in one sentence: who settled the request and what comes of it. */
import type { Decision, Effect, Origin } from '../evaluator/decision.ts';
import { isContentAddressed } from '../evaluator/identity.ts';
import type { PhaseTrace, RuleTrace } from '../evaluator/trace.ts';
import type { ActingEffect, Asker, Headline, ShownEffect, WouldHave } from './document.ts';
import { refOf } from './document.ts';

/** What is known of a rule beyond the plan: its name in the edge file and the place it stands there. */
export interface DescribedSource {
  readonly key: string | null;
  /** `file:line`. */
  readonly at: string | null;
}

/** By rule id. */
export type RuleSources = ReadonlyMap<number, DescribedSource>;

/** `scheme://address:port`, the port only where the scheme does not imply it, IPv6 in brackets. */
export function originUrl(origin: Origin): string {
  const address = origin.address.includes(':') ? `[${origin.address}]` : origin.address;
  const implied = origin.scheme === 'http' ? 80 : origin.scheme === 'https' ? 443 : null;
  const port = origin.port === null || origin.port === implied ? '' : `:${origin.port}`;
  return `${origin.scheme}://${address}${port}`;
}

/** The URL the origin is asked for; `null` when the request is not forwarded. */
export function forwardedUrl(decision: Decision): string | null {
  if (decision.origin === null) return null;
  const query = decision.query === null ? '' : `?${decision.query}`;
  return `${originUrl(decision.origin)}${decision.path ?? ''}${query}`;
}

/** The decision's rule with its name; a host's own record carries none. */
export function askerOf(ref: Decision['rule'], sources: RuleSources): Asker | null {
  if (ref === null) return null;
  const key = ref.type === 'record' ? null : (sources.get(ref.id)?.key ?? authorKey(ref));
  return { type: ref.type, id: ref.id, key };
}

/** The key that the rule's author wrote, as a plan without its file says. */
export function authorKey({ key }: { readonly key?: string }): string | null {
  return key === undefined || isContentAddressed(key) ? null : key;
}

/** `drop #57`, the way rules are named in sentences. */
export function nameOf(asker: { readonly type: string; readonly id: number }): string {
  return `${asker.type} #${asker.id}`;
}

function sentenceFor(decision: Decision, note: string | null): string {
  const by = decision.rule === null ? '' : ` by ${nameOf(decision.rule)}`;
  switch (decision.action) {
    case 'forward':
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

/** A decision as a headline. `note` is what the gate said, for a refusal that no rule caused. */
export function headline(decision: Decision, about: { sources: RuleSources; note: string | null }): Headline {
  return {
    action: decision.action,
    status: decision.status,
    by: askerOf(decision.rule, about.sources),
    text: sentenceFor(decision, decision.rule === null ? about.note : null),
  };
}

const OBSERVING: ReadonlySet<Effect> = new Set(['counted', 'passed', 'unavailable', 'self_redirect']);

function acts(effect: Effect): effect is ActingEffect {
  return !OBSERVING.has(effect);
}

/** A rule's effect as the document tells it: a dry_run rule only would have acted. */
export function shownEffect(rule: RuleTrace): ShownEffect {
  const { effect } = rule;
  if (effect === 'none' || rule.mode === 'enforce' || !acts(effect)) return effect;
  return `would_${effect}`;
}

function statusOf(rule: RuleTrace, shadow: Decision | null): number | null {
  if (shadow?.rule?.type === rule.type && shadow.rule.id === rule.id) return shadow.status;
  if (rule.effect === 'block') return rule.type === 'rate_limit' ? 429 : 403;
  if (rule.effect === 'challenge') return 403;
  return null;
}

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

/** The trace's entry of one rule. */
export function ruleTrace(
  phases: readonly PhaseTrace[],
  ref: { type: string; id: number },
): RuleTrace | undefined {
  return phases.flatMap((phase) => phase.rules).find((rule) => refOf(rule) === refOf(ref));
}
