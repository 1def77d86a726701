/**
 * What nodes read of the store: pages of the manifest, signed, with those entries that the groups of a node may see, and
 * purges of single responses. In: a snapshot and the epoch of its history. Out: pages, those read last from memory.
 */
import { DEFAULT_GROUP, groupNames, shareGroup } from '../../base/vocabulary/node-groups.ts';
import {
  isHttpChallenge,
  MANIFEST_FORMAT,
  type ManifestEntry,
  type ManifestPage,
  type SignedPage,
  type Tombstone,
} from '../../engine/plan/manifest.ts';
import { PURGES_FORMAT, type PurgeAnswer } from '../../engine/plan/purges.ts';
import type { ReadTransaction, Store } from '../store/store.ts';
import { freshChallenges, type ManifestRow } from '../store/tables/plans.ts';
import { clearanceOf, type Masters, readMasters } from './clearance.ts';
import { MAX_PAGE_CHALLENGES } from './limits.ts';
import type { Signer } from './signer.ts';

/** Names of one page: 100 to 250 KB of JSON, signed in well under a millisecond. */
export const PAGE_ENTRIES = 500;

export interface PageTools {
  readonly store: Store;
  readonly signer: Signer;
  readonly clock: () => number;
}

/** The groups of a page or a node in the form that is signed: `default` alone, as before there were groups, is left out. */
export function signedGroups(groups: string): { readonly groups?: readonly string[] } {
  return groups === DEFAULT_GROUP ? {} : { groups: groupNames(groups) };
}

/**
 * The pages above `since`, one for each set of groups, all through the same position. A `since` above every position there
 * is (the store was restored from a backup) starts over from 0, so that a node that is ahead of this store reads everything.
 */
export async function readPages(
  since: number,
  sets: readonly string[],
  { store, signer, clock }: PageTools,
): Promise<ReadonlyMap<string, SignedPage>> {
  const pages = await store.read(async (tx): Promise<readonly ManifestPage[]> => {
    const position = await tx.plans.position();
    const from = since > position ? 0 : since;
    const rows = await tx.plans.changedSince(from, PAGE_ENTRIES + 1);
    const taken = rows.slice(0, pageLength(rows));
    const complete = taken.length === rows.length;
    const at = clock();
    const masters = await readMasters(tx);
    const through = complete ? position : taken.at(-1)!.position;
    const epoch = await readEpoch(tx);
    const head = { format: MANIFEST_FORMAT, epoch, since: from, through, complete, at } as const;
    const made: ManifestPage[] = [];
    for (const groups of sets) {
      const entries: ManifestEntry[] = [];
      for (const row of taken) {
        if (shareGroup(row.node_groups, groups)) entries.push(await toEntry(tx, row, { masters, at }));
        else if (shareGroup(row.left_groups, groups)) entries.push(goneEntry(row));
      }
      made.push({ ...head, ...signedGroups(groups), entries });
    }
    return made;
  });
  const signed = await Promise.all(pages.map((page) => signer.sign(page)));
  return new Map(sets.map((groups, place) => [groups, signed[place]!]));
}

/** How many of the rows a page has: at least one, if there are any. */
function pageLength(rows: readonly ManifestRow[]): number {
  let characters = 0;
  const over = rows.findIndex(({ challenges }, place) => {
    characters += challenges?.length ?? 0;
    return place > 0 && characters > MAX_PAGE_CHALLENGES;
  });
  return Math.min(over < 0 ? rows.length : over, PAGE_ENTRIES);
}

/** The page above `since` for the nodes of one set of groups, see `readPages`. */
export async function readPage(since: number, groups: string, tools: PageTools): Promise<SignedPage> {
  return (await readPages(since, [groups], tools)).get(groups)!;
}

async function toEntry(
  tx: ReadTransaction,
  row: ManifestRow,
  { masters, at }: { readonly masters: Masters; readonly at: number },
): Promise<ManifestEntry> {
  const { domain, revision, digest, purge_epoch, purge_through, position } = row;
  const purges = purge_through === 0 ? {} : { purges: purge_through };
  const entry = { domain, revision, digest, purge_epoch, position, ...purges };
  // A refused name still answers by TLS, so its nodes need the certificates; one that is gone belongs to no domain.
  const certificates = row.certificates === null ? {} : { certificates: row.certificates };
  const own = { ...certificates, ...challengesOf(row, at) };
  if (digest === null) {
    const tombstone = await tombstoneOf(tx, domain);
    return { ...entry, tombstone, ...(tombstone === 'gone' ? {} : own) };
  }
  return { ...entry, tombstone: null, clearance: clearanceOf(masters, row, at), ...own };
}

/** The challenges of a row. Without those that nodes do not accept: they would refuse the whole page. */
function challengesOf({ challenges }: ManifestRow, now: number): Pick<ManifestEntry, 'challenges'> {
  const accepted = freshChallenges(challenges, now).filter(isHttpChallenge);
  if (accepted.length === 0) return {};
  return { challenges: accepted.map(({ token, answer }) => ({ token, answer })) };
}

/** The entry for nodes of groups that the domain has left. The move has a new revision, so nodes apply it. */
function goneEntry({ domain, revision, purge_epoch, position }: ManifestRow): ManifestEntry {
  return { domain, revision, digest: null, purge_epoch, position, tombstone: 'gone' };
}

/**
 * Only a name that has been active owns its hosts (semantics §2). Every change by which a name owns hosts, or no longer does, is
 * published, so a node's entry never has an outdated reason.
 */
async function tombstoneOf(tx: ReadTransaction, name: string): Promise<Tombstone> {
  const domain = await tx.domains.byName(name);
  return domain?.ever_active === true ? 'refused' : 'gone';
}

// The epoch of a store's history. Revisions and positions only rise within one; a store that was restored from a backup
// has lost some of both, so it begins a new epoch, under which nodes accept lower numbers.

/** Milliseconds since 1970 at which the epoch began; 0: the store was never restored. */
export async function readEpoch(tx: Pick<ReadTransaction, 'secrets'>): Promise<number> {
  return Number((await tx.secrets.get('epoch')) ?? 0);
}

/**
 * Begins a new epoch and returns it: above the one before, and above all that earlier restores of other backups began.
 * Purge epochs rise too: answers that nodes cached before are stale. Zones get new serials, and
 * secondaries transfer them whole.
 */
export function beginEpoch(store: Store, now: number): Promise<number> {
  return store.write(async (tx) => {
    const epoch = Math.max(now, (await readEpoch(tx)) + 1);
    await tx.secrets.put('epoch', String(epoch), now);
    await tx.plans.purgeAll(Math.floor(epoch / 1_000));
    await tx.zones.renumberAll(now);
    return epoch;
  });
}

// The pages that were read last, one for each set of groups: nodes that reconnect at once share one reading.

/** Pages in memory: some 4 MB. */
const MAX_PAGES = 16;

interface CachedPage {
  readonly since: number;
  /** The newest position when the page was read. */
  readonly position: number;
  readonly page: Promise<SignedPage>;
}

export interface PageCache {
  /** The page above `since` for a set of groups, read again if `position` has moved; see `readPage` for errors. */
  page(range: { readonly since: number; readonly position: number }, groups: string): Promise<SignedPage>;
  clear(): void;
}

export function createPageCache(tools: PageTools): PageCache {
  /** By groups. */
  const pages = new Map<string, CachedPage>();
  return {
    page({ since, position }, groups) {
      const cached = pages.get(groups);
      if (cached?.since === since && cached.position === position) return cached.page;
      const fresh = { since, position, page: readPage(since, groups, tools) };
      if (pages.size >= MAX_PAGES) pages.clear();
      pages.set(groups, fresh);
      fresh.page.catch(() => {
        if (pages.get(groups) === fresh) pages.delete(groups);
      });
      return fresh.page;
    },
    clear: () => pages.clear(),
  };
}

// Purges of single responses for a node, read in one snapshot with the epoch and the entry of the manifest.

/**
 * The purges of a name above `since` for a node of these groups; `null`: no domain of the groups has the name. A node that
 * knows less than the floor, or comes from a later history, gets all of them.
 */
export async function readPurges(
  tx: ReadTransaction,
  { domain, since, groups }: { readonly domain: string; readonly since: number; readonly groups: string },
): Promise<PurgeAnswer | null> {
  const row = await tx.plans.current(domain);
  if (row === null || !shareGroup(row.node_groups, groups)) return null;
  const { purge_through: through, purge_floor: floor } = row;
  const above = since > through ? 0 : since;
  const purges = await tx.caches.purges(row.domain_id, Math.max(above, floor));
  const epoch = await readEpoch(tx);
  return { format: PURGES_FORMAT, epoch, domain, since: above, through, floor, purges };
}
