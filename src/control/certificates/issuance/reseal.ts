/** Encrypts the keys of accounts at CAs and of orders under way again, as `control/certificates/reseal-keys.ts` does for certificates. */

import type { Store } from '../../store/store.ts';
import type { KeyRing } from '../key-ring.ts';
import { KEYS_AT_ONCE } from '../limits.ts';
import type { Resealed } from '../reseal-keys.ts';
import { sealedUnder } from '../seal-key.ts';
import { openAccountKey, sealAccountKey } from './authority.ts';
import { openOrderKey, sealOrderKey } from './run-order.ts';

/** Encrypts what is under another key than the current one. @throws StoreFault, SecretsKeyFault */
export async function resealIssuance(store: Store, ring: KeyRing): Promise<Resealed> {
  const current = ring.current().id;
  let [resealed, lost] = [0, 0];
  for (const account of await store.latest.issuance.accounts()) {
    const { directory, sealed_key: before } = account;
    if (sealedUnder(before) === current) continue;
    const pem = openAccountKey(account, ring);
    if (pem === null) lost += 1;
    else {
      const keys = { before, after: sealAccountKey(directory, pem, ring) };
      if (await store.write((tx) => tx.issuance.resealAccount(directory, keys))) resealed += 1;
    }
  }
  for (let after = 0; ; ) {
    const orders = await store.latest.issuance.withKeys(after, KEYS_AT_ONCE);
    const last = orders.at(-1);
    if (last === undefined) return { resealed, lost };
    after = last.certificate_id;
    for (const order of orders) {
      const before = order.sealed_key!;
      if (sealedUnder(before) === current) continue;
      const pem = openOrderKey({ ...order, sealed_key: before }, ring);
      // An order without its key begins again.
      if (pem === null) continue;
      const keys = { before, after: sealOrderKey(order, pem, ring) };
      if (await store.write((tx) => tx.issuance.reseal(order.certificate_id, keys))) resealed += 1;
    }
  }
}
