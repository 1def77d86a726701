/** What answers of several operations share: response schemas, and names of the accounts that rows refer to. */
import { z } from 'zod';
import type { ReadTransaction } from '../../store/store.ts';

/** The `{ message }` object. */
export const messageShape = z.object({ message: z.string() }).meta({ id: 'Message' });

/** The page note of a long answer; each operation adds its own `next`. */
export const pageNote = z.object({
  limit: z.int(),
  /** Entries of this page, and of all pages. */
  shown: z.int(),
  of: z.int(),
});

/** The lists of an answer that were shortened, with their full lengths. */
export const shortenedList = z.array(z.object({ path: z.string(), of: z.int() }));

/** Names by account id; an account that does not exist any more is left out. One query per account. */
export async function accountNames(
  tx: ReadTransaction,
  rows: readonly { readonly account_id: number | null }[],
): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>();
  for (const id of new Set(rows.map((row) => row.account_id))) {
    const account = id === null ? null : await tx.accounts.get(id);
    if (account !== null) names.set(account.id, account.name);
  }
  return names;
}
