/** Pages of the manifest, read in one snapshot and signed. */
import {
  MANIFEST_FORMAT,
  type ManifestEntry,
  type ManifestPage,
  type SignedPage,
  type Tombstone,
} from '../plan/manifest.ts';
import type { ManifestRow } from '../store/rows.ts';
import type { ReadTransaction, Store } from '../store/store.ts';
import { clearanceOf, type Masters, readMasters } from './clearance.ts';
import { readEpoch } from './epoch.ts';
import type { Signer } from './signer.ts';

/** Names of one page: 100 to 250 KB of JSON, signed in well under a millisecond. */
export const PAGE_ENTRIES = 500;

export interface PageTools {
  readonly store: Store;
  readonly signer: Signer;
  readonly clock: () => number;
}

/**
 * The page above `since`. A `since` above every position there is (the store was restored from a backup) starts over
 * from 0, so that a node that knows more than we do is told everything.
 */
export async function readPage(since: number, { store, signer, clock }: PageTools): Promise<SignedPage> {
  const page = await store.read(async (tx): Promise<ManifestPage> => {
    const position = await tx.plans.position();
    const from = since > position ? 0 : since;
    const rows = await tx.plans.changedSince(from, PAGE_ENTRIES + 1);
    const complete = rows.length <= PAGE_ENTRIES;
    const taken = rows.slice(0, PAGE_ENTRIES);
    const entries: ManifestEntry[] = [];
    const at = clock();
    const masters = await readMasters(tx);
    for (const row of taken) entries.push(await toEntry(tx, row, { masters, at }));
    const through = complete ? position : taken.at(-1)!.position;
    const epoch = await readEpoch(tx);
    return { format: MANIFEST_FORMAT, epoch, since: from, through, complete, at, entries };
  });
  return signer.sign(page);
}

async function toEntry(
  tx: ReadTransaction,
  row: ManifestRow,
  { masters, at }: { readonly masters: Masters; readonly at: number },
): Promise<ManifestEntry> {
  const { domain, revision, digest, purge_epoch, position } = row;
  const entry = { domain, revision, digest, purge_epoch, position };
  if (digest === null) return { ...entry, tombstone: await tombstoneOf(tx, domain) };
  return { ...entry, tombstone: null, clearance: clearanceOf(masters, row, at) };
}

/**
 * Only a name that has been active owns its hosts (semantics §2). Whatever makes a name own hosts, or no longer, is
 * published, so a node's entry never keeps an outdated reason.
 */
async function tombstoneOf(tx: ReadTransaction, name: string): Promise<Tombstone> {
  const domain = await tx.domains.byName(name);
  return domain?.ever_active === true ? 'refused' : 'gone';
}
