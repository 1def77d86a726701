/**
 * Private keys in the store, all of them: found at the start of a server where they cannot be decrypted (a database that
 * was copied without its secrets key), and encrypted again under the current secrets key. Certificates without their key
 * fail with an error until it is back or they are uploaded or obtained again.
 */
import type { Store, WriteTransaction } from '../store/store.ts';
import type { CertificateOnFile } from '../store/tables/certificates.ts';
import { openAccountKey, openOrderKey, sealAccountKey, sealOrderKey } from './issuance/sealed-keys.ts';
import { type KeyRing, openKey, sealedUnder, sealKey } from './key-ring.ts';
import { KEYS_AT_ONCE } from './limits.ts';
import { renewSet } from './make-set.ts';

const LOST = 'its private key cannot be decrypted, since the server has another secrets key';
/** The errors of certificates without a key, by where they are from. */
export const LOST_KEY = {
  custom: `${LOST}; upload the certificate with its key again`,
  acme: `${LOST}; the certificate is obtained again`,
} as const;

/** What was found. */
export interface KeyCheck {
  /** Certificates whose key cannot be decrypted, and their domains. */
  readonly lost: number;
  readonly domains: number;
  /** Certificates that had failed for that reason and are active again. */
  readonly recovered: number;
}

/** Checks every private key and notes in its certificate whether it can be decrypted. @throws StoreFault, SecretsKeyFault */
export async function checkKeys(store: Store, ring: KeyRing, now: number): Promise<KeyCheck> {
  const domains = new Set<number>();
  let [lost, recovered] = [0, 0];
  for (let after = 0; ; ) {
    const rows = await store.latest.certificates.withKeys(after, KEYS_AT_ONCE);
    const last = rows.at(-1);
    if (last === undefined) return { lost, domains: domains.size, recovered };
    after = last.id;
    for (const row of rows) {
      const isThere = openKey(row.sealed_key!, row, ring) !== null;
      if (!isThere) {
        lost += 1;
        domains.add(row.domain_id);
      }
      const isFailed = row.status === 'failed' && row.error === LOST_KEY[row.source];
      if (isThere === !isFailed) continue;
      if (isThere) recovered += 1;
      await store.write((tx) => note(tx, { row, isThere, ring, now }));
    }
  }
}

interface Noted {
  readonly row: CertificateOnFile;
  readonly isThere: boolean;
  readonly ring: KeyRing;
  readonly now: number;
}

/** Fails a certificate or makes it active again, then with a set that has it. */
async function note(tx: WriteTransaction, { row, isThere, ring, now }: Noted): Promise<void> {
  const state = isThere
    ? ({ status: 'active', error: '' } as const)
    : ({ status: 'failed', error: LOST_KEY[row.source] } as const);
  await tx.certificates.setState({ id: row.id, domain_id: row.domain_id, ...state });
  if (!isThere && row.source === 'acme') await tx.issuance.hasten(row.id, now);
  const domain = isThere ? await tx.domains.get(row.domain_id) : null;
  if (domain !== null) await renewSet(tx, domain, { ring, now });
}

// Encrypts every private key under the current secrets key, in steps that can be interrupted: each private key is under
// the old key or the new one, and both decrypt while this runs.

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

// Encrypts the keys of accounts at CAs and of orders under way again, as those of certificates.

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
