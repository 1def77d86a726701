/** Setting what a domain has bought: what the command line does for operators, since no key may do it (API document). */
import { RULE_TYPES } from '../base/vocabulary.ts';
import { nearest } from '../model/nearest.ts';
import type { DomainRow, SubscriptionRow } from '../store/rows.ts';
import { SERVICE, type WriteTransaction } from '../store/store.ts';
import { CEILINGS } from './entitlements.ts';
import type { KeyOutcome } from './keys.ts';
import { type Allowances, TIERS, type TierSlug } from './tiers.ts';

/** One allowance that differs from the tier's; `undefined` takes an earlier one away. */
export interface Override {
  readonly name: keyof Allowances;
  readonly value: number | boolean | null | readonly string[] | undefined;
}

/** Most an allowance can be: far above any tier, and exact as a number. */
const MOST = 1_000_000_000_000;

/** The allowances, with values of their kinds. */
const KINDS: Allowances = TIERS[0]!.allowances;

/**
 * Reads `max_records=500`, `max_records=unlimited`, `ws_enabled=true`, `disabled_rule_types=waf,captcha` (empty after
 * `none`), and `max_records=` for the tier's own value.
 */
export function readOverride(text: string): KeyOutcome<Override> {
  const at = text.indexOf('=');
  const name = at < 0 ? text : text.slice(0, at);
  const value = text.slice(at + 1);
  if (at < 0) return no(`\`${text}\` must be written feature=value`);
  if (!Object.hasOwn(KINDS, name)) {
    const meant = nearest(name, Object.keys(KINDS));
    return no(`there is no feature \`${name}\`${meant === null ? '' : `; did you mean \`${meant}\`?`}`);
  }
  const feature = name as keyof Allowances;
  if (value === '') return yes({ name: feature, value: undefined });
  const usual = KINDS[feature];
  if (typeof usual === 'boolean') {
    if (value === 'true' || value === 'false') return yes({ name: feature, value: value === 'true' });
    return no(`\`${name}\` is true or false, found \`${value}\``);
  }
  return feature === 'disabled_rule_types' ? readTypes(feature, value) : readLimit(feature, value);
}

function readTypes(name: keyof Allowances, value: string): KeyOutcome<Override> {
  const types = value === 'none' ? [] : value.split(',');
  const odd = types.find((type) => !(RULE_TYPES as readonly string[]).includes(type));
  if (odd === undefined) return yes({ name, value: types });
  return no(`\`${name}\` lists rule types with commas, or is none, found \`${odd}\``);
}

function readLimit(name: keyof Allowances, value: string): KeyOutcome<Override> {
  const bounded = CEILINGS.includes(name);
  if (value === 'unlimited' && !bounded) return yes({ name, value: null });
  if (/^\d{1,13}$/.test(value) && Number(value) <= MOST) return yes({ name, value: Number(value) });
  const choices = bounded ? `a whole number up to ${MOST}` : `a whole number up to ${MOST}, or unlimited`;
  return no(`\`${name}\` is ${choices}, found \`${value}\``);
}

function yes(value: Override): KeyOutcome<Override> {
  return { ok: true, value };
}

function no(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}

/** What is to be different; what is left out stays. */
export interface SubscriptionChange {
  readonly tier?: TierSlug;
  readonly overrides?: readonly Override[];
  /** Milliseconds since the epoch; `null`: without an end. */
  readonly until?: number | null;
}

/**
 * Makes or changes the subscription of a domain read in this very transaction, with its audit entry. Where there is
 * none, it needs a tier. It is published: nodes enforce some of what a domain may use.
 */
export async function changeSubscription(
  tx: WriteTransaction,
  domain: DomainRow,
  { tier, overrides = [], until, now }: SubscriptionChange & { readonly now: number },
): Promise<KeyOutcome<SubscriptionRow>> {
  const before = await tx.subscriptions.get(domain.id);
  const plan_slug = tier ?? before?.plan_slug;
  if (plan_slug === undefined) return no(`\`${domain.name}\` has no subscription yet: name its tier`);
  const kept: Record<string, unknown> = before === null ? {} : JSON.parse(before.overrides_json);
  for (const { name, value } of overrides) {
    if (value === undefined) delete kept[name];
    else kept[name] = value;
  }
  const row = {
    domain_id: domain.id,
    plan_slug,
    plan_term_id: before?.plan_term_id ?? null,
    active: true,
    started_at: before?.started_at ?? now,
    ends_at: until === undefined ? (before?.ends_at ?? null) : until,
    overrides_json: JSON.stringify(kept),
  };
  const after = await tx.subscriptions.put(row);
  const [had, has] = [before && showSubscription(before), showSubscription(after)];
  if (JSON.stringify(had) !== JSON.stringify(has))
    await tell(tx, domain, { action: 'subscription.set', before: had, after: has, now });
  return { ok: true, value: after };
}

/** Ends what a domain has bought: it is on the server's own tier again. False when it had nothing. */
export async function removeSubscription(
  tx: WriteTransaction,
  domain: DomainRow,
  now: number,
): Promise<boolean> {
  const before = await tx.subscriptions.get(domain.id);
  if (before === null) return false;
  await tx.subscriptions.remove(domain.id);
  const entry = { action: 'subscription.remove', before: showSubscription(before), after: null, now };
  await tell(tx, domain, entry);
  return true;
}

/** A subscription as people and the audit log see it. */
export interface ShownSubscription {
  readonly tier: string;
  readonly active: boolean;
  readonly until: string | null;
  readonly overrides: Readonly<Record<string, unknown>>;
}

/** The fields an operator sets. */
export function showSubscription({
  plan_slug,
  active,
  ends_at,
  overrides_json,
}: SubscriptionRow): ShownSubscription {
  return {
    tier: plan_slug,
    active,
    until: ends_at === null ? null : new Date(ends_at).toISOString(),
    overrides: JSON.parse(overrides_json),
  };
}

interface Entry {
  readonly action: string;
  readonly before: object | null;
  readonly after: object | null;
  readonly now: number;
}

async function tell(tx: WriteTransaction, domain: DomainRow, entry: Entry): Promise<void> {
  const author = { ...SERVICE, domain_id: domain.id, domain: domain.name, at: entry.now };
  await tx.audit.append({
    ...author,
    action: entry.action,
    subject: '',
    before_json: entry.before && JSON.stringify(entry.before),
    after_json: entry.after && JSON.stringify(entry.after),
  });
  await tx.outbox.append({ ...author, reason: 'the subscription changed' });
}
