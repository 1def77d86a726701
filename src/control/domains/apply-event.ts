/**
 * Writes the effect of an event on a domain in one transaction: the changed fields, the audit entry, the outbox row that
 * makes the publisher compile a new plan, and the notifications of its people.
 */
import { notifyDomainChange } from '../notices/notify.ts';
import type { WriteTransaction } from '../store/store.ts';
import type { Author } from '../store/tables/accounts.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import { removeRivals, weighEvent } from './claims.ts';
import { GRACE_MS } from './limits.ts';
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
  /** The domain after the event. */
  readonly domain: DomainRow;
  /** The outbox row this event appended; `null`: what the edge does is unchanged. */
  readonly outboxId: number | null;
}

/** Fields the scheduler counts with: their change is no change of the domain, neither for audit nor `updated_at`. */
function isAudited(field: keyof DomainRow): boolean {
  return field !== 'next_check_at' && field !== 'unproved_since';
}

/**
 * Applies an event to a domain that was read in this same transaction. A refused event writes nothing. The audit entry
 * (`domain.<event>`) contains only the fields that changed, and never the value of a challenge.
 */
export async function applyEvent(
  tx: WriteTransaction,
  domain: DomainRow,
  given: LifecycleEvent,
  { author, now, reason }: ApplyOptions,
): Promise<Applied> {
  const event = await weighEvent(tx, { domain, event: given, now });
  const transition = nextRow(domain, event, now);
  if (!transition.ok) return { transition, domain, outboxId: null };
  const { changes, publish } = transition;
  const fields = Object.keys(changes) as (keyof LifecycleFields)[];
  if (fields.length === 0) return { transition, domain, outboxId: null };
  const audited = fields.filter(isAudited);
  // A check that only schedules the next one changes nothing that a customer sees.
  const update = audited.length === 0 ? changes : { ...changes, updated_at: now };
  if (changes.unproved_since === null) await removeRivals(tx, domain, now);
  const after = (await tx.domains.update(domain.id, update)) ?? domain;
  const about = { ...author, domain_id: domain.id, domain: domain.name, at: now };
  if (audited.length > 0) {
    await tx.audit.append({
      ...about,
      action: `domain.${event.kind}`,
      subject: '',
      before_json: JSON.stringify(auditedFields(domain, audited)),
      after_json: JSON.stringify({ ...auditedFields(after, audited), reason }),
    });
  }
  const outboxId = publish
    ? await tx.outbox.append({ ...about, reason: describeChange(domain, after) })
    : null;
  await notifyDomainChange(tx, {
    before: domain,
    after,
    requested: event.kind !== 'checked' && event.kind !== 'due',
    servedUntil: after.moved_since === null ? null : after.moved_since + GRACE_MS,
    reason: reason ?? null,
    actor_id: author.account_id,
    now,
  });
  return { transition, domain: after, outboxId };
}

/**
 * Fields of a domain as the audit log shows them: times as ISO 8601 texts. The challenge's value is left out, since
 * members who may read the log need not be allowed to prove the name.
 */
export function auditedFields(
  domain: DomainRow,
  fields: readonly (keyof DomainRow)[],
): Readonly<Record<string, unknown>> {
  const shown = fields.filter((field) => field !== 'verification_token' && isAudited(field));
  return Object.fromEntries(shown.map((field) => [field, auditedValue(field, domain[field])]));
}

function auditedValue(field: string, value: unknown): unknown {
  const isTime = typeof value === 'number' && /_(?:at|since|until)$/.test(field);
  return isTime ? new Date(value).toISOString() : value;
}

function describeChange(before: DomainRow, after: DomainRow): string {
  if (before.status !== after.status) return `the domain went from ${before.status} to ${after.status}`;
  return after.suspended ? 'the domain was suspended' : 'the domain is no longer suspended';
}
