/**
 * The private keys of accounts at CAs and of orders under way, encrypted as the store has them. In: a key, PEM, and what it
 * belongs to. Out: its encrypted form, which only the same place opens.
 */
import { sha256Hex } from '../../../base/platform/cryptography.ts';
import type { ClaimedOrder } from '../../store/tables/certificates.ts';
import { type KeyRing, openKey, sealKey } from '../key-ring.ts';

/** What the encrypted key of an account is bound to. */
function accountPlace(directory: string) {
  return { domain_id: 0, sha256: sha256Hex(`ACME account ${directory}`) };
}

/** Decrypts the key of an account; `null`: its secrets key is not there. @throws SecretsKeyFault */
export function openAccountKey(
  { directory, sealed_key }: { readonly directory: string; readonly sealed_key: Uint8Array },
  ring: KeyRing,
): string | null {
  return openKey(sealed_key, accountPlace(directory), ring);
}

/** Encrypts the key of an account. @throws SecretsKeyFault */
export function sealAccountKey(directory: string, pem: string, ring: KeyRing): Uint8Array {
  return sealKey(pem, accountPlace(directory), ring.current());
}

/** What the encrypted key of an order is bound to: it has no leaf yet. */
function orderPlace({ certificate_id, domain_id }: Pick<ClaimedOrder, 'certificate_id' | 'domain_id'>) {
  return { domain_id, sha256: sha256Hex(`order of certificate ${certificate_id}`) };
}

/** Decrypts the key of an order; `null`: its secrets key is not there. @throws SecretsKeyFault */
export function openOrderKey(
  order: Pick<ClaimedOrder, 'certificate_id' | 'domain_id'> & { readonly sealed_key: Uint8Array },
  ring: KeyRing,
): string | null {
  return openKey(order.sealed_key, orderPlace(order), ring);
}

/** Encrypts the key of an order. @throws SecretsKeyFault */
export function sealOrderKey(
  order: Pick<ClaimedOrder, 'certificate_id' | 'domain_id'>,
  pem: string,
  ring: KeyRing,
): Uint8Array {
  return sealKey(pem, orderPlace(order), ring.current());
}
