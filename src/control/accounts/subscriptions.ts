/** Sets and removes a domain's subscription for the command line; no key may do it over the API (API document). */
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import { nearest } from '../../rules/model/nearest.ts';
import type { WriteTransaction } from '../store/store.ts';
import { SERVICE } from '../store/tables/accounts.ts';
import type { DomainRow, SubscriptionRow } from '../store/tables/domains.ts';
import { CEILINGS } from './entitlements.ts';
import type { KeyOutcome } from './keys.ts';
import { type Allowances, TIERS, type TierSlug } from './tiers.ts';

/** One allowance that differs from the tier's; the value `undefined` removes an earlier override. */
export interface Override {
  readonly name: keyof Allowances;
  readonly value: number | boolean | null | readonly string[] | undefined;
}

/** The highest value of an allowance: far above any tier, and a safe integer. */
const MOST = 1_000_000_000_000;

/** One tier's allowances, as an example of the kind of each value. */
const KINDS: Allowances = TIERS[0]!.allowances;

/**
 * Reads one override as an operator writes it: `max_records=500`, `max_records=unlimited`, `ws_enabled=true`, `disabled_rule_types=waf,captcha` (empty after
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

/** The change of a subscription; absent fields stay as they are. */
export interface SubscriptionChange {
  readonly tier?: TierSlug;
  readonly overrides?: readonly Override[];
  /** Milliseconds since the epoch; `null`: without an end. */
  readonly until?: number | null;
}

/**
 * Creates or changes the subscription of a domain that was read in this same transaction, with its audit entry. A new
 * subscription needs a tier. The change is published, since nodes enforce some allowances.
 */
export async function changeSubscription(
  tx: WriteTransaction,
  domain: DomainRow,
  { tier, overrides = [], until, now }: SubscriptionChange & { readonly now: number },
): Promise<KeyOutcome<SubscriptionRow>> {
  const before = await tx.subscriptions.get(domain.id);
  const plan_slug = tier ?? before?.plan_slug;
  if (plan_slug === undefined) return no(`\`${domain.name}\` has no subscription yet: name its tier`);
  const merged: Record<string, unknown> = before === null ? {} : JSON.parse(before.overrides_json);
  for (const { name, value } of overrides) {
    if (value === undefined) delete merged[name];
    else merged[name] = value;
  }
  const row = {
    domain_id: domain.id,
    plan_slug,
    plan_term_id: before?.plan_term_id ?? null,
    active: true,
    started_at: before?.started_at ?? now,
    ends_at: until === undefined ? (before?.ends_at ?? null) : until,
    overrides_json: JSON.stringify(merged),
  };
  const after = await tx.subscriptions.put(row);
  const [had, has] = [before && showSubscription(before), showSubscription(after)];
  if (JSON.stringify(had) !== JSON.stringify(has))
    await record(tx, domain, { action: 'subscription.set', before: had, after: has, now });
  return { ok: true, value: after };
}

/** Removes the subscription; the server's default tier applies again. `false`: there was none. */
export async function removeSubscription(
  tx: WriteTransaction,
  domain: DomainRow,
  now: number,
): Promise<boolean> {
  const before = await tx.subscriptions.get(domain.id);
  if (before === null) return false;
  await tx.subscriptions.remove(domain.id);
  const entry = { action: 'subscription.remove', before: showSubscription(before), after: null, now };
  await record(tx, domain, entry);
  return true;
}

/** A subscription as command output and audit log show it. */
export interface ShownSubscription {
  readonly tier: string;
  readonly active: boolean;
  readonly until: string | null;
  readonly overrides: Readonly<Record<string, unknown>>;
}

/** The fields that an operator can set. */
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

/** Appends the audit entry and the outbox row of a change. */
async function record(tx: WriteTransaction, domain: DomainRow, entry: Entry): Promise<void> {
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
