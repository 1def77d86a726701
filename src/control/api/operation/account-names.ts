/** Names of the accounts that rows refer to. */
import type { ReadTransaction } from '../../store/store.ts';

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
