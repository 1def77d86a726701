/**
 * What clearance cookies are signed with. The store has master secrets, one current and those before it that are still
 * accepted; no node gets them. A node gets a secret for each domain, derived by HKDF (RFC 5869) with SHA-256, in that
 * domain's entry of the manifest. Exempt are secrets of releases before, which all nodes shared: every node has them, so
 * they are sent as they are, until the cookies that they signed have expired.
 */
import { hkdfSync, randomBytes } from 'node:crypto';
import type { Clearance } from '../../engine/plan/manifest.ts';
import type { ReadTransaction, Store, WriteTransaction } from '../store/store.ts';
import type { ManifestRow } from '../store/tables/plans.ts';
import { CLEARANCE_OVERLAP_MS, MAX_PREVIOUS_SECRETS } from './limits.ts';

/** 32 octets in base64, and when it was made, milliseconds since the epoch. */
export interface Master {
  readonly secret: string;
  readonly since: number;
}

export interface PreviousMaster extends Master {
  /** Accepted before this. */
  readonly until: number;
  /** Nodes sign with it as it is: it is of a release before secrets of domains. */
  readonly shared: boolean;
}

export interface Masters {
  readonly current: Master;
  /** The newest first; those that are not accepted any more may be among them. */
  readonly previous: readonly PreviousMaster[];
}

const FORMAT = 'edgeplan.clearance-masters/v1';
const DOMAIN_LABEL = 'edgeplan clearance of a domain/v1';
const SHARED_LABEL = 'edgeplan clearance of all domains/v1';
const SECRET_OCTETS = 32;

/** Makes the first master; a secret of a release before is accepted until its cookies have expired. */
export async function openClearance(store: Store, now: number): Promise<void> {
  if ((await store.latest.secrets.get('clearance_masters')) !== null) return;
  await store.write(async (tx) => {
    const shared = await tx.secrets.get('clearance');
    const previous: PreviousMaster[] =
      shared === null
        ? []
        : [{ secret: shared, since: now, until: now + CLEARANCE_OVERLAP_MS, shared: true }];
    await tx.secrets.putOnce('clearance_masters', textOf({ current: newMaster(now), previous }), now);
    // Else nothing was ever published.
    if (shared !== null) await tx.plans.renewAll();
  });
}

/** @throws Error if `openClearance` was never called */
export async function readMasters(tx: Pick<ReadTransaction, 'secrets'>): Promise<Masters> {
  const text = await tx.secrets.get('clearance_masters');
  if (text === null) throw new Error('bug: the store has no master secret of clearance');
  const { format, ...masters } = JSON.parse(text) as Masters & { readonly format: string };
  if (format === FORMAT) return masters;
  throw new Error(
    `the master secrets of clearance have the format \`${format}\`, this release reads \`${FORMAT}\``,
  );
}

export type Rotation =
  | { readonly ok: true; readonly masters: Masters }
  /** As many as can be are still accepted; `until`: the first of them is not from then on. */
  | { readonly ok: false; readonly until: number };

/**
 * Makes a new master, and every node read every entry again. The one before is accepted for `overlapMs` more; 0 ends all
 * that were accepted.
 */
export async function rotateClearance(
  tx: WriteTransaction,
  { now, overlapMs }: { readonly now: number; readonly overlapMs: number },
): Promise<Rotation> {
  const { current, previous } = await readMasters(tx);
  const accepted = overlapMs === 0 ? [] : acceptedAt(previous, now);
  if (accepted.length >= MAX_PREVIOUS_SECRETS) {
    return { ok: false, until: Math.min(...accepted.map(({ until }) => until)) };
  }
  const last = { ...current, until: now + overlapMs, shared: false };
  const masters = { current: newMaster(now), previous: overlapMs === 0 ? [] : [last, ...accepted] };
  await tx.secrets.put('clearance_masters', textOf(masters), now);
  await tx.plans.renewAll();
  return { ok: true, masters };
}

/** What nodes get for a domain. Its id is part of it: who registers a name that was free gets a secret of its own. */
export function clearanceOf(
  { current, previous }: Masters,
  { domain, domain_id }: Pick<ManifestRow, 'domain' | 'domain_id'>,
  now: number,
): Clearance {
  const info = JSON.stringify([DOMAIN_LABEL, domain_id, domain]);
  return {
    current: derive(current, info),
    previous: acceptedAt(previous, now).map((master) => ({
      secret: master.shared ? master.secret : derive(master, info),
      until: master.until,
    })),
  };
}

/** What nodes of a release before get for all domains; other nodes accept none but the one that such a release made. */
export function sharedClearance({ current, previous }: Masters, now: number): string {
  const made = acceptedAt(previous, now).find(({ shared }) => shared);
  return made?.secret ?? derive(current, JSON.stringify([SHARED_LABEL]));
}

export function acceptedAt(previous: readonly PreviousMaster[], now: number): readonly PreviousMaster[] {
  return previous.filter(({ until }) => now < until);
}

function derive({ secret }: Master, info: string): string {
  const key = hkdfSync('sha256', Buffer.from(secret, 'base64'), '', info, SECRET_OCTETS);
  return Buffer.from(key).toString('base64');
}

function newMaster(now: number): Master {
  return { secret: randomBytes(SECRET_OCTETS).toString('base64'), since: now };
}

function textOf(masters: Masters): string {
  return JSON.stringify({ format: FORMAT, ...masters });
}
