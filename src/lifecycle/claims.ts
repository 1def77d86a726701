/**
 * Claims: several accounts may have a domain of one name while nobody has proved it. Each is a row of `domains` like any
 * other, with its own value to publish, records and rules, because that keeps every answer of the API true for each of
 * them: a table of challengers beside the domains would need a second form of every answer. None of them is served. The
 * first that is proved has the name, and the others are removed; one that nobody proves lapses after 14 days. Whatever
 * may be unproved is `unproved_since`, and the store has at most one row of a name where that is `null`.
 */
import type { Author, DomainRow } from '../store/rows.ts';
import { type ReadTransaction, SERVICE, type WriteTransaction } from '../store/store.ts';
import type { LifecycleContext } from './context.ts';
import { LAPSED_AT_ONCE, UNPROVED_MS } from './limits.ts';
import type { LifecycleEvent } from './state.ts';

/** Whether nobody has proved the name for so long that it is free again. */
export function hasLapsed({ unproved_since }: Pick<DomainRow, 'unproved_since'>, now: number): boolean {
  return unproved_since !== null && now >= unproved_since + UNPROVED_MS;
}

/** Whether other accounts, too, have an unproved domain of the name. */
export async function isContested(
  tx: Pick<ReadTransaction, 'domains'>,
  domain: DomainRow,
  now: number,
): Promise<boolean> {
  if (domain.unproved_since === null) return false;
  const rows = await tx.domains.named(domain.name);
  return rows.some((row) => row.id !== domain.id && !hasLapsed(row, now));
}

/**
 * What an event proves of this domain: where others have the name as well, a delegation proves nothing, since all
 * accounts are given the same nameserver sets.
 */
export async function weigh(
  tx: Pick<ReadTransaction, 'domains'>,
  {
    domain,
    event,
    now,
  }: { readonly domain: DomainRow; readonly event: LifecycleEvent; readonly now: number },
): Promise<LifecycleEvent> {
  if (domain.dns_mode !== 'managed' || !byDelegation(event)) return event;
  if (!(await isContested(tx, domain, now))) return event;
  return event.kind === 'checked' ? { ...event, result: 'contested' } : { ...event, proof: 'absent' };
}

type Delegated = Extract<LifecycleEvent, { kind: 'checked' | 'enable' | 'unban' }>;

/** Whether a delegation is what the event rests on. */
function byDelegation(event: LifecycleEvent): event is Delegated {
  if (event.kind === 'checked') return event.result === 'delegated';
  return (event.kind === 'enable' || event.kind === 'unban') && event.proof === 'holds' && !event.vouched;
}

/** Removes the other domains of a name that this one has proved, before it is stored as proved. */
export async function removeRivals(tx: WriteTransaction, domain: DomainRow, now: number): Promise<void> {
  for (const row of await tx.domains.named(domain.name)) {
    if (row.id === domain.id || row.unproved_since === null) continue;
    await removeDomain(tx, row, { author: SERVICE, now, reason: 'another account has proved the name' });
  }
}

/** What a DELETE does, for the service. */
async function removeDomain(
  tx: WriteTransaction,
  { id, name, dns_mode }: DomainRow,
  { author, now, reason }: { readonly author: Author; readonly now: number; readonly reason: string },
): Promise<void> {
  const about = { ...author, domain_id: id, domain: name, at: now };
  await tx.audit.append({
    ...about,
    action: 'domain.delete',
    subject: '',
    before_json: JSON.stringify({ name, dns_mode }),
    after_json: JSON.stringify({ reason }),
  });
  await tx.outbox.append({ ...about, reason: `domain deleted: ${reason}` });
  await tx.domains.remove(id);
}

/** Removes domains whose claim has lapsed, each in a transaction of its own; answers how many. */
export async function removeLapsed({ store, clock, note, signal }: LifecycleContext): Promise<number> {
  let removed = 0;
  for (const { id, name } of await store.latest.domains.unproved(clock() - UNPROVED_MS, LAPSED_AT_ONCE)) {
    if (signal.aborted) break;
    const gone = await store.write(async (tx) => {
      const now = clock();
      const domain = await tx.domains.get(id);
      if (domain === null || !hasLapsed(domain, now)) return false;
      await removeDomain(tx, domain, {
        author: SERVICE,
        now,
        reason: 'nobody proved the name within 14 days',
      });
      return true;
    });
    if (!gone) continue;
    note({ kind: 'lapsed', domain: name });
    removed++;
  }
  return removed;
}
