/**
 * The set of a domain's certificates as nodes get it, with decrypted keys. In: stored rows and the secrets keys. Out: the
 * JSON text of the set and its digest. The text exists while it is sealed for a node, and nothing stores or logs it.
 */
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { CERTIFICATE_SET_FORMAT, type CertificateSet } from '../../engine/plan/manifest.ts';
import type { CertificateOnFile, DomainRow } from '../store/rows.ts';
import type { WriteTransaction } from '../store/store.ts';
import type { KeyRing } from './key-ring.ts';
import { openKey } from './seal-key.ts';

/** A set in the form that nodes read. */
export interface MadeSet {
  readonly text: string;
  /** SHA-256 of the UTF-8 of the text, lower-case hex. */
  readonly digest: string;
}

/**
 * The set of those certificates whose keys can be decrypted, expired ones too: what a node serves changes with an upload or
 * a removal, not with time. `null`: there are none. @throws SecretsKeyFault
 */
export function makeSet(domain: string, rows: readonly CertificateOnFile[], ring: KeyRing): MadeSet | null {
  const certificates = rows.flatMap((row) => {
    const { id, source, chain, sealed_key: sealed, status } = row;
    if (chain === null || sealed === null || status === 'revoked') return [];
    const key = openKey(sealed, row, ring);
    return key === null ? [] : [{ id, source, chain, key }];
  });
  if (certificates.length === 0) return null;
  const set: CertificateSet = { format: CERTIFICATE_SET_FORMAT, domain, certificates };
  const text = JSON.stringify(set);
  return { text, digest: sha256Hex(text) };
}

/**
 * Gives nodes the certificates that a domain has now. Last in a transaction: publications of all domains wait from here to
 * the commit. @throws SecretsKeyFault
 */
export async function renewSet(
  tx: WriteTransaction,
  domain: Pick<DomainRow, 'id' | 'name'>,
  { ring, now }: { readonly ring: KeyRing; readonly now: number },
): Promise<void> {
  const set = makeSet(domain.name, await tx.certificates.onFile(domain.id), ring);
  if ((await tx.certificates.digest(domain.id)) === (set?.digest ?? null)) return;
  await tx.plans.setCertificates(domain, { digest: set?.digest ?? null, at: now });
}
