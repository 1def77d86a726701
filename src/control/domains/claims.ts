/**
 * Claims: several accounts may have a domain of one name while none of them has proved it. Each claim is a row of
 * `domains` like any other, with its own challenge value, records and rules, so every answer of the API is true for each
 * claimant; a separate table of claims would need a second form of every answer. No claim is served. The first domain
 * that is proved gets the name, and the others are removed; an unproved one lapses after 14 days. A domain is a claim
 * while `unproved_since` is set, and the store allows at most one row of a name where it is `null`.
 */
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';
import { type Author, SERVICE } from '../store/tables/accounts.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { LifecycleContext } from './context.ts';
import { LAPSED_AT_ONCE, UNPROVED_MS } from './limits.ts';
import type { LifecycleEvent } from './state.ts';

/** Whether the name was unproved for so long that it is free again. `now` in milliseconds since the epoch. */
export function hasLapsed({ unproved_since }: Pick<DomainRow, 'unproved_since'>, now: number): boolean {
  return unproved_since !== null && now >= unproved_since + UNPROVED_MS;
}

/** Whether other accounts claim the name of an unproved domain too; lapsed claims do not count. */
export async function isContested(
  tx: Pick<ReadTransaction, 'domains'>,
  domain: DomainRow,
  now: number,
): Promise<boolean> {
  if (domain.unproved_since === null) return false;
  const rows = await tx.domains.named(domain.name);
  return rows.some((row) => row.id !== domain.id && !hasLapsed(row, now));
}

/** An event that happens to a domain at `now`, milliseconds since the epoch. */
export interface DomainEvent {
  readonly domain: DomainRow;
  readonly event: LifecycleEvent;
  readonly now: number;
}

/**
 * The event with what it proves of this domain: if other accounts claim the name, a delegation proves nothing, since
 * all accounts get the same nameserver sets.
 */
export async function weighEvent(
  tx: Pick<ReadTransaction, 'domains'>,
  { domain, event, now }: DomainEvent,
): Promise<LifecycleEvent> {
  if (domain.dns_mode !== 'managed' || !restsOnDelegation(event)) return event;
  if (!(await isContested(tx, domain, now))) return event;
  return event.kind === 'checked' ? { ...event, result: 'contested' } : { ...event, proof: 'absent' };
}

type DelegationEvent = Extract<LifecycleEvent, { kind: 'checked' | 'enable' | 'unban' }>;

/** Whether the delegation is the proof that the event carries. */
function restsOnDelegation(event: LifecycleEvent): event is DelegationEvent {
  if (event.kind === 'checked') return event.result === 'delegated';
  return (event.kind === 'enable' || event.kind === 'unban') && event.proof === 'holds' && !event.vouched;
}

/** Removes all other claims to the name. Call it in the transaction that marks this domain as proved, before marking it. */
export async function removeRivals(tx: WriteTransaction, domain: DomainRow, now: number): Promise<void> {
  for (const row of await tx.domains.named(domain.name)) {
    if (row.id === domain.id || row.unproved_since === null) continue;
    await removeDomain(tx, row, { author: SERVICE, now, reason: 'another account has proved the name' });
  }
}

/** Removes at most `LAPSED_AT_ONCE` lapsed claims, each in a transaction of its own. Returns how many. */
export async function removeLapsed({ store, clock, note, signal }: LifecycleContext): Promise<number> {
  let removed = 0;
  for (const { id, name } of await store.latest.domains.unproved(clock() - UNPROVED_MS, LAPSED_AT_ONCE)) {
    if (signal.aborted) break;
    const isRemoved = await store.write(async (tx) => {
      const now = clock();
      const domain = await tx.domains.get(id);
      if (domain === null || !hasLapsed(domain, now)) return false;
      const reason = 'nobody proved the name within 14 days';
      await removeDomain(tx, domain, { author: SERVICE, now, reason });
      return true;
    });
    if (!isRemoved) continue;
    note({ kind: 'lapsed', domain: name });
    removed++;
  }
  return removed;
}

// Removes a domain with its records and rules, and leaves the audit entry and the publisher's work behind.

export interface RemovalOptions {
  readonly author: Author;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Why, for the audit log, if the owner did not request it. */
  readonly reason?: string;
}

/** Removes the domain inside the caller's transaction. Returns the id of the outbox row that unpublishes its plan. */
export async function removeDomain(
  tx: WriteTransaction,
  { id, name, dns_mode }: DomainRow,
  { author, now, reason }: RemovalOptions,
): Promise<number> {
  const about = { ...author, domain_id: id, domain: name, at: now };
  await tx.audit.append({
    ...about,
    action: 'domain.delete',
    subject: '',
    before_json: JSON.stringify({ name, dns_mode }),
    after_json: reason === undefined ? null : JSON.stringify({ reason }),
  });
  const outboxReason = reason === undefined ? 'domain deleted' : `domain deleted: ${reason}`;
  const outboxId = await tx.outbox.append({ ...about, reason: outboxReason });
  await tx.domains.remove(id);
  return outboxId;
}
