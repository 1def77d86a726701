/** Writes what an event does to a domain: its fields, the audit entry, the work for the publisher, in one transaction. */
import type { Author, DomainRow } from '../store/rows.ts';
import type { WriteTransaction } from '../store/store.ts';
import { removeRivals, weigh } from './claims.ts';
import { type LifecycleEvent, type LifecycleFields, nextRow, type Transition } from './state.ts';

export interface ApplyOptions {
  readonly author: Author;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Why, for the audit log. */
  readonly reason?: string;
}

export interface Applied {
  readonly transition: Transition;
  /** The domain as it is afterwards. */
  readonly domain: DomainRow;
}

/** Whether a field's change is one of the domain, for its audit log and `updated_at`; what the service counts by is not. */
export function isAudited(field: keyof DomainRow): boolean {
  return field !== 'next_check_at' && field !== 'unproved_since';
}

/**
 * Applies an event to a domain read in this very transaction. A refusal writes nothing. The audit entry
 * (`domain.<event>`) holds only the fields that changed, and never the value of a challenge.
 */
export async function applyEvent(
  tx: WriteTransaction,
  domain: DomainRow,
  given: LifecycleEvent,
  { author, now, reason }: ApplyOptions,
): Promise<Applied> {
  const event = await weigh(tx, { domain, event: given, now });
  const transition = nextRow(domain, event, now);
  if (!transition.ok) return { transition, domain };
  const { changes, publish } = transition;
  const fields = Object.keys(changes) as (keyof LifecycleFields)[];
  if (fields.length === 0) return { transition, domain };
  const told = fields.filter(isAudited);
  // A check that only sets the next one is no change of the domain that anybody made.
  const touched = told.length === 0 ? changes : { ...changes, updated_at: now };
  if (changes.unproved_since === null) await removeRivals(tx, domain, now);
  const after = (await tx.domains.update(domain.id, touched)) ?? domain;
  if (told.length > 0) {
    await tx.audit.append({
      ...author,
      domain_id: domain.id,
      domain: domain.name,
      at: now,
      action: `domain.${event.kind}`,
      subject: '',
      before_json: JSON.stringify(auditedFields(domain, told)),
      after_json: JSON.stringify({ ...auditedFields(after, told), reason }),
    });
  }
  if (publish) {
    await tx.outbox.append({
      ...author,
      domain_id: domain.id,
      domain: domain.name,
      at: now,
      reason: describeChange(domain, after),
    });
  }
  return { transition, domain: after };
}

/**
 * Fields of a domain as the audit log shows them: times as texts, and the challenge's value left out, since whoever
 * reads the log may be less than its owner.
 */
export function auditedFields(
  domain: DomainRow,
  fields: readonly (keyof DomainRow)[],
): Readonly<Record<string, unknown>> {
  const shown = fields.filter((field) => field !== 'verification_token' && isAudited(field));
  return Object.fromEntries(shown.map((field) => [field, audibleValue(field, domain[field])]));
}

function audibleValue(field: string, value: unknown): unknown {
  const isTime = typeof value === 'number' && /_(?:at|since|until)$/.test(field);
  return isTime ? new Date(value).toISOString() : value;
}

function describeChange(before: DomainRow, after: DomainRow): string {
  if (before.status !== after.status) return `the domain went from ${before.status} to ${after.status}`;
  return after.suspended ? 'the domain was suspended' : 'the domain is no longer suspended';
}
