/** Reads the revisions of a domain for handlers: the number in the path, its row, its sealed plan. */
import { readBlob } from '../../publishing/blob.ts';
import { prunedSentence } from '../../publishing/prune.ts';
import type { FiledRevision } from '../../store/rows.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { conflict, notFound } from './refusal.ts';

/** The revision number of a path segment. @throws Refusal 404 for a text that is not one */
export function revisionOf(segment: string | undefined): number {
  if (segment === undefined || !/^[1-9]\d{0,14}$/.test(segment)) throw notFound();
  return Number(segment);
}

/** A revision of a domain. @throws Refusal 404 for an unknown one */
export async function findRevision(
  tx: ReadTransaction,
  domainId: number,
  revision: number,
): Promise<FiledRevision> {
  const row = await tx.plans.get(domainId, revision);
  if (row === null) throw notFound();
  return row;
}

/** The sealed plan of a revision; `null`: a tombstone. @throws Refusal 409 where it was pruned */
export async function planOf(tx: ReadTransaction, row: FiledRevision): Promise<Uint8Array | null> {
  if (row.pruned) throw conflict(prunedSentence(row.revision));
  return row.digest === null ? null : readBlob(tx, row.digest);
}
