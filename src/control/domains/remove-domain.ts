/** Removes a domain with its records and rules, and leaves the audit entry and the publisher's work behind. */
import type { Author, DomainRow } from '../store/rows.ts';
import type { WriteTransaction } from '../store/store.ts';

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
