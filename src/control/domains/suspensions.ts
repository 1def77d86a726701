/**
 * Suspends and resumes a domain by cause. Several causes may suspend one domain (the operator, a wallet below zero, a traffic
 * quota that is reached); each is lifted on its own, and the domain resumes when none is left. In: a domain that was read in
 * the same transaction, and a cause. Out: the lifecycle event `suspend` or `resume` where the first cause comes or the last
 * one goes, with its audit entry and outbox row; between them an audit entry alone.
 */
import type { WriteTransaction } from '../store/store.ts';
import type { SuspensionCause } from '../store/tables/billing.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import { type Applied, type ApplyOptions, applyEvent } from './apply-event.ts';

/** How a cause is added or lifted: as any event, and by which cause. */
export interface SuspensionChange extends ApplyOptions {
  readonly cause: SuspensionCause;
}

/** The causes as sentences name them. */
const CAUSE_TEXTS: Readonly<Record<SuspensionCause, string>> = {
  operator: 'the operator has suspended it',
  wallet: "the wallet of its owner's account is below zero",
  quota: 'its traffic has reached the quota of its plan',
};

/** Why a domain is suspended, as a clause for people. */
export function causeText(cause: SuspensionCause): string {
  return CAUSE_TEXTS[cause];
}

/** Adds a cause. Writes nothing when the domain has it already. */
export async function suspendDomain(
  tx: WriteTransaction,
  domain: DomainRow,
  { cause, ...options }: SuspensionChange,
): Promise<Applied | null> {
  const { now } = options;
  if (!(await tx.suspensions.put({ domain_id: domain.id, cause, at: now }))) return null;
  const reason = options.reason ?? causeText(cause);
  if (domain.suspended) {
    await auditCause(tx, domain, { ...options, reason, action: 'domain.suspend' });
    return null;
  }
  return applyEvent(tx, domain, { kind: 'suspend' }, { ...options, reason });
}

/** Lifts a cause. The domain resumes if it was the last one. */
export async function resumeDomain(
  tx: WriteTransaction,
  domain: DomainRow,
  { cause, ...options }: SuspensionChange,
): Promise<Applied | null> {
  const had = await tx.suspensions.remove(domain.id, cause);
  const left = await tx.suspensions.list(domain.id);
  if (left.length === 0) return applyEvent(tx, domain, { kind: 'resume' }, options);
  if (had) {
    const reason = `still suspended: ${left.map((row) => causeText(row.cause)).join('; ')}`;
    await auditCause(tx, domain, { ...options, reason, action: 'domain.resume' });
  }
  return null;
}

/** Appends the audit entry of a cause that changes nothing at the edge. */
async function auditCause(
  tx: WriteTransaction,
  domain: DomainRow,
  { author, now, reason, action }: ApplyOptions & { readonly action: string },
): Promise<void> {
  await tx.audit.append({
    ...author,
    domain_id: domain.id,
    domain: domain.name,
    at: now,
    action,
    subject: '',
    before_json: JSON.stringify({ suspended: true }),
    after_json: JSON.stringify({ suspended: true, reason }),
  });
}
