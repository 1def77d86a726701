/**
 * Encrypts every private key under the current secrets key, in steps that can be interrupted: each private key is under
 * the old key or the new one, and both decrypt while this runs.
 */
import type { Store } from '../store/store.ts';
import type { KeyRing } from './key-ring.ts';
import { KEYS_AT_ONCE } from './limits.ts';
import { openKey, sealedUnder, sealKey } from './seal-key.ts';

/** What was done. */
export interface Resealed {
  /** Private keys that are under the current key now and were under another one. */
  readonly resealed: number;
  /** Private keys that no secrets key decrypts; they are left as they are. */
  readonly lost: number;
}

/** Encrypts what is under another key than the current one. @throws StoreFault, SecretsKeyFault */
export async function resealKeys(store: Store, ring: KeyRing): Promise<Resealed> {
  const current = ring.current();
  let [resealed, lost] = [0, 0];
  for (let after = 0; ; ) {
    const rows = await store.latest.certificates.withKeys(after, KEYS_AT_ONCE);
    const last = rows.at(-1);
    if (last === undefined) return { resealed, lost };
    after = last.id;
    for (const row of rows) {
      const before = row.sealed_key!;
      if (sealedUnder(before) === current.id) continue;
      const pem = openKey(before, row, ring);
      if (pem === null) {
        lost += 1;
        continue;
      }
      const keys = { before, after: sealKey(pem, row, current) };
      // Replaced by an upload meanwhile: then it is under the current key.
      if (await store.write((tx) => tx.certificates.reseal(row, keys))) resealed += 1;
    }
  }
}
