/** Sealed plans under their digest. */
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { openPlan, seal } from '../../engine/plan/seal.ts';
import type { ReadTransaction } from '../store/store.ts';
import { PublishFault } from './fault.ts';

/**
 * The sealed plan of that digest, `null` when the store has none.
 * @throws PublishFault `blob` when the stored bytes are not those the digest was made of
 */
export async function findBlob(
  tx: Pick<ReadTransaction, 'plans'>,
  digest: string,
): Promise<Uint8Array | null> {
  const bytes = await tx.plans.blob(digest);
  if (bytes === null || sha256Hex(bytes) === digest) return bytes;
  const found = sha256Hex(bytes);
  throw new PublishFault('blob', `the stored plan \`${digest}\` is damaged: its digest is \`${found}\``);
}

/** As `findBlob`, for a plan that must be there. */
export async function readBlob(tx: Pick<ReadTransaction, 'plans'>, digest: string): Promise<Uint8Array> {
  const bytes = await findBlob(tx, digest);
  if (bytes === null) throw new PublishFault('blob', `the store has no plan \`${digest}\``);
  return bytes;
}

/**
 * The same content under another revision: every section as it was, a new header.
 * @throws PlanFault when this build does not read the plan's version
 */
export function reseal(bytes: Uint8Array, revision: number): Uint8Array {
  return seal(openPlan(bytes).plan, { revision });
}
