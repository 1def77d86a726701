/**
 * Looks regularly for what no transaction reports: nodes that no longer ask for their feed, invitations whose account
 * exists, and certificates that end. Also removes old notifications. Several processes may look at once: each notification is written in the
 * transaction that claims its cause.
 *
 * An invitation is queued when it is made, whether or not its account exists, so that the answer to the inviting side and
 * its duration do not depend on that.
 */
import { isStoreFault } from '../../base/storage/fault.ts';
import { steadyNow } from '../../base/text/time.ts';
import { groupNames } from '../../base/vocabulary/node-groups.ts';
import { isNameCovered } from '../../rules/model/record-name.ts';
import type { EndingCertificate } from '../store/repositories/certificates.ts';
import type { Store, WriteTransaction } from '../store/store.ts';
import type { CertificateRow } from '../store/tables/certificates.ts';
import type { NodeRow } from '../store/tables/nodes.ts';
import type { DeliveryLog } from './deliver.ts';
import {
  ANNOUNCED_AT_ONCE,
  CERTIFICATE_END_MS,
  CERTIFICATES_AT_ONCE,
  MAX_BEFORE_STRANGERS,
  NODE_LOST_MS,
  PRUNE_EVERY_MS,
  PRUNED_AT_ONCE,
  RENEWAL_LATE_MS,
  SHARED_QUIET_MS,
  STORED_MS,
  WATCH_EVERY_MS,
} from './limits.ts';
import { notify } from './notify.ts';

/** What a watch is created with. */
export interface NotifyWatchOptions {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: DeliveryLog;
  /** Milliseconds of a monotonic clock. Default: `steadyNow`. */
  readonly steady?: () => number;
  /** Milliseconds between two looks. Default: `WATCH_EVERY_MS`. */
  readonly everyMs?: number;
}

/** The watch of one process. */
export interface NotifyWatch {
  start(): void;
  /** Resolves once the look under way has ended. */
  stop(): Promise<void>;
}

/** Creates a watch. */
export function createNotifyWatch(options: NotifyWatchOptions): NotifyWatch {
  const { store, clock, log, steady = steadyNow, everyMs = WATCH_EVERY_MS } = options;
  const began = steady();
  let pruned = began - PRUNE_EVERY_MS;
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;
  let looking: Promise<void> = Promise.resolve();
  const look = async (): Promise<void> => {
    const now = clock();
    await announceInvitations(store, now);
    await noticeCertificateEnds(store, now);
    // After a restart of this process every node was away for a while: they get the time to come back.
    if (steady() - began >= NODE_LOST_MS) await reportLostNodes(store, now);
    if (steady() - pruned < PRUNE_EVERY_MS) return;
    pruned = steady();
    await pruneNotifications(store, now);
  };
  const schedule = (): void => {
    // Spread, so that several processes do not look at the same moment.
    timer = setTimeout(
      () => {
        looking = look()
          .catch((error: unknown) => {
            if (!isStoreFault(error, 'closed')) log.warn({ err: error }, 'notifications: the store failed');
          })
          .finally(() => {
            if (!stopped) schedule();
          });
      },
      everyMs * (0.75 + Math.random() / 2),
    );
  };
  return {
    start: schedule,
    async stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      await looking;
    },
  };
}

/** Notifies accounts of invitations that were queued. Returns how many. @throws StoreFault */
export async function announceInvitations(store: Store, now: number): Promise<number> {
  const found = await store.latest.notifications.invitationsToAnnounce(ANNOUNCED_AT_ONCE);
  let announced = 0;
  for (const { id, domain_id, account_id, role, expires_at } of found) {
    const written = await store.write(async (tx) => {
      const domain = await tx.domains.get(domain_id);
      if (!(await tx.notifications.takeInvitation(id)) || domain === null || expires_at <= now) return [];
      const data = {
        event: 'invited',
        role,
        account: null,
        invitation_id: id,
        expires_at: new Date(expires_at).toISOString(),
      } as const;
      const common = { kind: 'domain.shared', data, domain, account_id, now } as const;
      return notify(tx, { ...common, most: MAX_BEFORE_STRANGERS, quietMs: SHARED_QUIET_MS });
    });
    announced += written.length;
  }
  return announced;
}

/** Notifies operators of nodes that are lost at `now`, once for each loss. Returns their names. @throws StoreFault */
export async function reportLostNodes(store: Store, now: number): Promise<readonly string[]> {
  const lost = (await store.latest.nodes.list()).filter((node) => isLost(node, now));
  const reported: string[] = [];
  for (const { id, name, node_groups } of lost) {
    const isNew = await store.write(async (tx) => {
      // Read again: it may have come back, or been revoked.
      const node = await tx.nodes.get(id);
      if (node === null || !isLost(node, now)) return false;
      const seen = node.last_seen_at ?? 0;
      if (!(await tx.notifications.recordLoss(id, seen))) return false;
      const data = {
        node: name,
        node_groups: [...groupNames(node_groups)],
        last_seen_at: new Date(seen).toISOString(),
      };
      await notify(tx, { kind: 'node.lost', data, domain: null, now });
      return true;
    });
    if (isNew) reported.push(name);
  }
  return reported;
}

/** Whether a node has asked for nothing for `NODE_LOST_MS`. One that never did was not started yet. */
function isLost({ revoked_at, last_seen_at }: NodeRow, now: number): boolean {
  return revoked_at === null && last_seen_at !== null && now - last_seen_at >= NODE_LOST_MS;
}

/** Removes notifications that are older than `STORED_MS`, in short transactions. @throws StoreFault */
export async function pruneNotifications(store: Store, now: number): Promise<void> {
  for (;;) {
    const removed = await store.write((tx) => tx.notifications.prune(now - STORED_MS, PRUNED_AT_ONCE));
    if (removed < PRUNED_AT_ONCE) return;
  }
}

// Notifies the members of domains of certificates that expire in 14 days, and of those that have expired; once each. A
// certificate needs no replacement if others cover its names for longer, and an obtained one only where it is not renewed.

const DAY_MS = 86_400_000;

/**
 * Writes the notifications that are due at a time, milliseconds since the epoch. Returns how many certificates had one.
 * @throws StoreFault
 */
export async function noticeCertificateEnds(store: Store, now: number): Promise<number> {
  let noticed = 0;
  for (const [noticing, before] of [
    ['expired', now],
    ['expiring', now + CERTIFICATE_END_MS],
  ] as const) {
    const ask = { before, late: now - RENEWAL_LATE_MS, noticed: noticing, limit: CERTIFICATES_AT_ONCE };
    for (const row of await store.latest.certificates.ending(ask)) {
      if (await store.write((tx) => notice(tx, row, { noticing, now }))) noticed += 1;
    }
  }
  return noticed;
}

interface Noticing {
  readonly noticing: 'expiring' | 'expired';
  readonly now: number;
}

/** Whether a notification was written. A certificate that is gone or noticed by now, or replaced by others, has none. */
async function notice(
  tx: WriteTransaction,
  { id, domain_id, noticed }: EndingCertificate,
  { noticing, now }: Noticing,
): Promise<boolean> {
  const domain = await tx.domains.get(domain_id);
  const rows = await tx.certificates.list(domain_id);
  const row = rows.find((one) => one.id === id);
  if (domain === null || row === undefined || row.noticed !== noticed || row.status !== 'active')
    return false;
  await tx.certificates.setNoticed({ id, domain_id, noticed: noticing });
  const names = JSON.parse(row.names_json) as string[];
  if (names.length === 0 || isReplaced(names, rows, now)) return false;
  const common = { names, source: row.source, not_after: new Date(row.not_after).toISOString() };
  if (noticing === 'expired') await notify(tx, { kind: 'certificate.expired', data: common, domain, now });
  else {
    const days = Math.max(0, Math.floor((row.not_after - now) / DAY_MS));
    await notify(tx, { kind: 'certificate.expiring', data: { ...common, days }, domain, now });
  }
  return true;
}

/** Whether certificates that end later than those to notice cover all names. */
function isReplaced(names: readonly string[], rows: readonly CertificateRow[], now: number): boolean {
  const later = rows.filter(
    ({ status, not_after }) => status === 'active' && not_after > now + CERTIFICATE_END_MS,
  );
  const covered = new Set(later.flatMap(({ names_json }) => JSON.parse(names_json) as string[]));
  return names.every((name) => isNameCovered(name, covered));
}
