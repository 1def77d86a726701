/**
 * Finds certificates whose private key cannot be decrypted, at the start of a server: a database that was copied without
 * its secrets key. They fail with an error until the key is back or they are uploaded or obtained again. Nodes that have
 * them serve them on: the manifest does not change.
 */
import type { CertificateOnFile } from '../store/rows.ts';
import type { Store, WriteTransaction } from '../store/store.ts';
import type { KeyRing } from './key-ring.ts';
import { KEYS_AT_ONCE } from './limits.ts';
import { renewSet } from './make-set.ts';
import { openKey } from './seal-key.ts';

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
