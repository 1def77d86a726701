/** The billing of `edgeplan serve`: the watch over wallets and traffic quotas. */
import type { Entitlements } from '../control/accounts/entitlements.ts';
import { type BillingWatch, createBillingWatch } from '../control/billing/watch.ts';
import type { DomainRow } from '../control/store/rows.ts';
import type { ReadTransaction } from '../control/store/store.ts';
import type { ServerOptions } from './server-options.ts';

/** Creates the watch; its events go to the log. */
export function watchBilling(
  { store, log, overQuota }: Pick<ServerOptions, 'store' | 'log' | 'overQuota'>,
  entitlementsOf: (tx: ReadTransaction, domain: DomainRow) => Promise<Entitlements>,
): BillingWatch {
  return createBillingWatch({
    store,
    overQuota,
    entitlementsOf,
    clock: Date.now,
    note: (note) => {
      if (note.kind === 'failed') log.warn({ domain: note.domain, err: note.error }, 'billing');
      else log.info({ ...note }, 'billing');
    },
  });
}
