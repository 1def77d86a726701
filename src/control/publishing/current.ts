/** The current revision of a domain, by the manifest. */
import type { ManifestRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';

/**
 * The revision that nodes should serve for this domain; `null`: none is published. Manifest rows belong to a name, so
 * before the first publication the row may be that of an earlier domain of the name, possibly of another account.
 */
export async function currentOf(
  tx: ReadTransaction,
  { id, name }: { readonly id: number; readonly name: string },
): Promise<ManifestRow | null> {
  const current = await tx.plans.current(name);
  return current?.domain_id === id ? current : null;
}
