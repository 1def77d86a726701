/** The newest change of a domain: what a publication has to cover for nothing to be left waiting. */
import type { ReadTransaction } from '../store/store.ts';

/**
 * The id of the domain's newest outbox row, waiting or covered; 0: it never had one. It rises with every change, a
 * deletion too; call it inside one snapshot or write, since a publication moves rows from the one to the other.
 */
export async function newestChange(tx: ReadTransaction, domainId: number): Promise<number> {
  const waiting = (await tx.outbox.list(domainId)).at(-1)?.id;
  if (waiting !== undefined) return waiting;
  const [last] = await tx.plans.list(domainId, { limit: 1 });
  return last?.through ?? 0;
}
