/**
 * Publications in which nothing but the content of lists has changed: the current plan gets the digests of its lists, and is not
 * compiled again. In: what waits for a domain and what it has now. Out: the plan with other digests.
 */
import { PlanFault } from '../../engine/plan/layout.ts';
import {
  digestsIn,
  listDigests,
  REGISTRY_NAME,
  registryDigest,
  withListDigests,
} from '../../engine/plan/list-digests.ts';
import { openPlan } from '../../engine/plan/seal.ts';
import type { ReadTransaction } from '../store/store.ts';
import type { ListRow } from '../store/tables/lists.ts';
import type { ManifestRow, OutboxRow } from '../store/tables/plans.ts';
import { findBlob } from './revisions.ts';
import type { DigestsByName } from './seal-lists.ts';

/** The current plan of a domain in which nothing but the content of lists has changed; `null`: something else has, or it has no plan. */
export async function findUnchanged(
  tx: Pick<ReadTransaction, 'plans'>,
  domainId: number,
  { waiting, current }: { readonly waiting: readonly OutboxRow[]; readonly current: ManifestRow | null },
): Promise<Uint8Array | null> {
  if (current === null || current.domain_id !== domainId || current.digest === null) return null;
  return waiting.every(({ lists_only }) => lists_only) ? findBlob(tx, current.digest) : null;
}

/**
 * The lists that have changed since the first of the waiting rows, of those that a rolled-back plan names. The others have the
 * content that the rollback has brought back.
 */
export async function changedLists(
  tx: Pick<ReadTransaction, 'lists'>,
  domainId: number,
  { bytes, waiting }: { readonly bytes: Uint8Array; readonly waiting: readonly OutboxRow[] },
): Promise<readonly ListRow[]> {
  const times = waiting.filter(({ lists_only }) => lists_only).map(({ at }) => at);
  if (times.length === 0 || digestsIn(bytes).length === 0) return [];
  const since = Math.min(...times);
  const known = new Map(
    listDigests(openPlan(bytes, { trusted: true }).plan).map(({ name, kind }) => [name, kind]),
  );
  const named = await tx.lists.named(domainId, [...known.keys()]);
  return [...named.values()].filter((list) => list.updated_at >= since && known.get(list.name) === list.kind);
}

/** The lists that the rules name now, the digests of these and of the registry (REGISTRY_NAME), and the revision to seal. */
interface Patch {
  readonly lists: readonly ListRow[];
  readonly digests: DigestsByName;
  readonly revision: number;
}

/** The plan with these digests; `null`: its rules name other lists than it has, or this build does not read it. */
export function patchLists(bytes: Uint8Array, { lists, digests, revision }: Patch): Uint8Array | null {
  try {
    const { plan } = openPlan(bytes, { trusted: true });
    const present = listDigests(plan);
    const kinds = new Map(lists.map(({ name, kind }) => [name, kind]));
    const isSame =
      present.length === kinds.size &&
      (registryDigest(plan) !== null) === digests.has(REGISTRY_NAME) &&
      present.every(({ name, kind }) => kinds.get(name) === kind && digests.has(name));
    return isSame ? withListDigests(bytes, digests, revision) : null;
  } catch (error) {
    if (error instanceof PlanFault) return null;
    throw error;
  }
}
