/** Stores an uploaded certificate with its encrypted key. The caller appends the audit entry, then renews the set. */
import type { WriteTransaction } from '../store/store.ts';
import type { CertificateRow } from '../store/tables/certificates.ts';
import type { UsableCertificate } from './judge.ts';
import { type KeyRing, sealKey } from './key-ring.ts';
import { MAX_CERTIFICATES } from './limits.ts';

/** A certificate to store. */
export interface Upload {
  readonly domainId: number;
  readonly certificate: UsableCertificate;
  readonly ring: KeyRing;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The stored certificate, and the one of the same leaf before; or why it is not stored. */
export type UploadOutcome =
  | { readonly ok: true; readonly before: CertificateRow | null; readonly row: CertificateRow }
  | { readonly ok: false; readonly reason: string };

/**
 * Stores a certificate. One with the same leaf is replaced under its id, so that an upload can be repeated, correct a
 * chain, and bring back a key that was lost. @throws StoreFault, SecretsKeyFault
 */
export async function storeUpload(
  tx: WriteTransaction,
  { domainId, certificate, ring, now }: Upload,
): Promise<UploadOutcome> {
  const { chainPem, keyPem, names, issuer, key_type, sha256, not_before, not_after } = certificate;
  const rows = await tx.certificates.list(domainId);
  const before = rows.find((row) => row.sha256 === sha256) ?? null;
  const sealed_key = sealKey(keyPem, { domain_id: domainId, sha256 }, ring.current());
  if (before !== null) {
    await tx.certificates.replace({ id: before.id, domain_id: domainId, chain: chainPem, sealed_key });
    return { ok: true, before, row: { ...before, status: 'active', error: '' } };
  }
  if (rows.length >= MAX_CERTIFICATES) {
    const reason = `a domain has at most ${MAX_CERTIFICATES} certificates; delete one first`;
    return { ok: false, reason };
  }
  const row = await tx.certificates.insert({
    domain_id: domainId,
    source: 'custom',
    names_json: JSON.stringify(names),
    ...{ issuer, key_type, sha256, not_before, not_after },
    status: 'active',
    error: '',
    renew_at: null,
    noticed: '',
    created_at: now,
    chain: chainPem,
    sealed_key,
  });
  return { ok: true, before: null, row };
}
