/**
 * The octets that a page of the manifest is about to name, sent ahead of it: a node that takes them installs a small change without
 * a request. In: a page. Out: plans, lists and registries that are named for the first time, as far as they are small; a node fetches
 * all others.
 */
import { LRUCache } from 'lru-cache';
import { digestsIn } from '../../engine/plan/list-digests.ts';
import type { SignedPage } from '../../engine/plan/manifest.ts';
import type { Store } from '../store/store.ts';
import { MAX_PUSHED_OCTETS, MAX_PUSHED_PLANS, MAX_SEEN_DIGESTS } from './limits.ts';
import { findListBlob } from './plan-lists.ts';
import type { RecentOctets } from './recent-octets.ts';
import { findBlob } from './revisions.ts';

/** A sealed plan, list or registry as an event of the feed. */
export interface OctetsEvent {
  /** The digest, a space, Base64: one buffer, which all nodes are sent. */
  readonly data: Buffer;
  /** Number of octets before they were encoded. */
  readonly size: number;
}

/** The pages of a change, or what goes ahead of each, by the sets of groups of their nodes. */
type ByGroups<T> = ReadonlyMap<string, T>;

/** Reads what goes ahead of pages; a set of groups that is missing gets nothing. @throws StoreFault */
export type OctetsPusher = (pages: ByGroups<SignedPage>) => Promise<ByGroups<readonly OctetsEvent[]>>;

export interface OctetsPusherOptions {
  readonly store: Pick<Store, 'latest'>;
  readonly octets: RecentOctets;
}

export function createOctetsPusher({ store: { latest }, octets }: OctetsPusherOptions): OctetsPusher {
  /** Digests that were named before: nodes were sent them, or have fetched them. */
  const seen = new LRUCache<string, true>({ max: MAX_SEEN_DIGESTS });

  /** A new plan with the lists and the registry that are new with it. */
  async function read(digest: string): Promise<readonly OctetsEvent[]> {
    const plan = await octets.find(digest, () => findBlob(latest, digest));
    if (plan === null) return [];
    const found = eventsOf(digest, plan);
    for (const part of digestsIn(plan)) {
      if (seen.has(part)) continue;
      seen.set(part, true);
      const bytes = await octets.find(part, () => findListBlob(latest, part));
      if (bytes !== null) found.push(...eventsOf(part, bytes));
    }
    return found;
  }

  return async (pages) => {
    const named = [...pages.values()].flatMap(({ manifest: { entries } }) =>
      entries.map(({ digest }) => digest),
    );
    const plans = new Set(named.filter((digest) => digest !== null).filter((digest) => !seen.has(digest)));
    for (const digest of plans) seen.set(digest, true);
    if (plans.size > MAX_PUSHED_PLANS) return new Map();
    const parts = new Map<string | null, readonly OctetsEvent[]>();
    for (const digest of plans) parts.set(digest, await read(digest));
    return new Map(
      [...pages].map(([groups, { manifest }]) => [
        groups,
        fitting(manifest.entries.flatMap(({ digest }) => parts.get(digest) ?? [])),
      ]),
    );
  };
}

/** The event of some octets; none of those that are too large. */
function eventsOf(digest: string, bytes: Uint8Array): OctetsEvent[] {
  const { buffer, byteOffset, length: size } = bytes;
  if (size > MAX_PUSHED_OCTETS) return [];
  const base64 = Buffer.from(buffer, byteOffset, size).toString('base64');
  return [{ data: Buffer.from(`${digest} ${base64}`, 'latin1'), size }];
}

/** Those that fit together into `MAX_PUSHED_OCTETS`. */
function fitting(parts: readonly OctetsEvent[]): readonly OctetsEvent[] {
  let room = MAX_PUSHED_OCTETS;
  return parts.filter(({ size }) => {
    if (size > room) return false;
    room -= size;
    return true;
  });
}
