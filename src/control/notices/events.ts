/** What other rooms call when something happens: one function for each event that has more to decide than its data. */
import type { DomainRow, KeyRow, NotificationRow } from '../store/rows.ts';
import type { Store, WriteTransaction } from '../store/store.ts';
import { PUBLICATION_QUIET_MS } from './limits.ts';
import { notify } from './notify.ts';

/** A domain before and after a change of its lifecycle. */
export interface DomainChange {
  readonly before: DomainRow;
  readonly after: DomainRow;
  /** The event was requested by its owner or by an operator; otherwise the service found it. */
  readonly requested: boolean;
  /** Until when a domain is served that has moved, milliseconds since the epoch; `null`: no end is set. */
  readonly servedUntil: number | null;
  readonly reason: string | null;
  /** The account that made the change; `null`: the service or its operator. */
  readonly actor_id: number | null;
  readonly now: number;
}

/** Notifies the people of a domain of its new status and of its suspension. A change of neither notifies nobody. */
export async function notifyDomainChange(tx: WriteTransaction, change: DomainChange): Promise<void> {
  const { before, after: domain, actor_id, reason, now } = change;
  const common = { domain, actor_id, now };
  if (domain.status !== before.status) await notifyStatus(tx, change);
  if (domain.suspended === before.suspended) return;
  if (domain.suspended) await notify(tx, { ...common, kind: 'domain.suspended', data: { reason } });
  else await notify(tx, { ...common, kind: 'domain.resumed', data: { reason } });
}

/** Notifies of a new status; `pending` and `unverified` are where a domain begins, which its owner has requested. */
async function notifyStatus(tx: WriteTransaction, change: DomainChange): Promise<void> {
  const { before, after: domain, requested, servedUntil, actor_id, reason, now } = change;
  const common = { domain, actor_id, now };
  switch (domain.status) {
    case 'active': {
      const data = { previous_status: before.status, reason };
      await notify(tx, { ...common, kind: 'domain.activated', data });
      return;
    }
    case 'moved': {
      const disabled_at = new Date(servedUntil ?? now).toISOString();
      await notify(tx, { ...common, kind: 'domain.moved', data: { dns_mode: domain.dns_mode, disabled_at } });
      return;
    }
    case 'disabled': {
      const cause = requested ? 'request' : 'grace_period';
      await notify(tx, { ...common, kind: 'domain.disabled', data: { cause, reason } });
      return;
    }
    case 'banned':
      await notify(tx, { ...common, kind: 'domain.banned', data: { reason } });
      return;
    default:
      return;
  }
}

/** Notifies an account of a new API key. */
export async function notifyKeyCreated(tx: WriteTransaction, key: KeyRow): Promise<void> {
  const { id: key_id, account_id, name, read_only, created_at: now, expires_at } = key;
  const end = expires_at === null ? null : new Date(expires_at).toISOString();
  const data = { key_id, name, read_only, expires_at: end };
  await notify(tx, { kind: 'key.created', data, domain: null, account_id, now });
}

/** Notifies an account that one of its API keys was revoked. */
export async function notifyKeyRevoked(tx: WriteTransaction, key: KeyRow, now: number): Promise<void> {
  const { id: key_id, account_id, name, read_only } = key;
  await notify(tx, { kind: 'key.revoked', data: { key_id, name, read_only }, domain: null, account_id, now });
}

/** A publication that has failed several times in a row. */
export interface FailedPublication {
  readonly domain_id: number;
  /** When the oldest change that waits was made, milliseconds since the epoch. */
  readonly since: number;
  readonly attempts: number;
  /** The code of the fault. */
  readonly code: string;
  readonly now: number;
}

/** Notifies the people of a domain that its changes are not published, at most once in `PUBLICATION_QUIET_MS`. */
export function notifyPublicationFailed(
  store: Store,
  { domain_id, since, attempts, code, now }: FailedPublication,
): Promise<readonly NotificationRow[]> {
  return store.write(async (tx) => {
    const domain = await tx.domains.get(domain_id);
    if (domain === null) return [];
    const data = { since: new Date(since).toISOString(), attempts, code };
    return notify(tx, { kind: 'publication.failed', data, domain, quietMs: PUBLICATION_QUIET_MS, now });
  });
}
