/**
 * Private keys as the store has them: AES-256-GCM (NIST SP 800-38D) under a secrets key. The octets are a version, the id
 * of the secrets key, a random nonce, and ciphertext with its tag. The associated data are domain and certificate, so a
 * key that is copied to another row does not open there.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { KEY_ID_DIGITS, type KeyRing, type SecretsKey } from './key-ring.ts';

const VERSION = 1;
const ID_OCTETS = KEY_ID_DIGITS / 2;
const NONCE_OCTETS = 12;
const TAG_OCTETS = 16;
const HEAD_OCTETS = 1 + ID_OCTETS + NONCE_OCTETS;
const LABEL = 'edgeplan private key/v1';

/** The certificate that a private key belongs to. */
export interface KeyPlace {
  readonly domain_id: number;
  /** SHA-256 of the leaf, lower-case hex. */
  readonly sha256: string;
}

/** Encrypts a private key, given as PEM. */
export function sealKey(pem: string, place: KeyPlace, { id, key }: SecretsKey): Uint8Array {
  const nonce = randomBytes(NONCE_OCTETS);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_OCTETS });
  cipher.setAAD(dataOf(place));
  const sealed = Buffer.concat([cipher.update(pem, 'utf8'), cipher.final()]);
  const octets = [Buffer.of(VERSION), Buffer.from(id, 'hex'), nonce, sealed, cipher.getAuthTag()];
  return Uint8Array.from(Buffer.concat(octets));
}

/** The id of the secrets key that encrypts a private key; `null`: the octets are of another version. */
export function sealedUnder(sealed: Uint8Array): string | null {
  if (sealed[0] !== VERSION || sealed.length < HEAD_OCTETS + TAG_OCTETS) return null;
  return Buffer.from(sealed.subarray(1, 1 + ID_OCTETS)).toString('hex');
}

/**
 * Decrypts a private key to PEM; `null`: its secrets key is not there, or the octets are damaged or of another row.
 * @throws SecretsKeyFault
 */
export function openKey(sealed: Uint8Array, place: KeyPlace, ring: KeyRing): string | null {
  const id = sealedUnder(sealed);
  const found = id === null ? null : ring.find(id);
  if (found === null) return null;
  const octets = Buffer.from(sealed);
  const nonce = octets.subarray(1 + ID_OCTETS, HEAD_OCTETS);
  try {
    const decipher = createDecipheriv('aes-256-gcm', found.key, nonce, { authTagLength: TAG_OCTETS });
    decipher.setAAD(dataOf(place));
    decipher.setAuthTag(octets.subarray(-TAG_OCTETS));
    const pem = Buffer.concat([decipher.update(octets.subarray(HEAD_OCTETS, -TAG_OCTETS)), decipher.final()]);
    return pem.toString('utf8');
  } catch {
    // Another row's key and damage look alike: the tag does not match.
    return null;
  }
}

function dataOf({ domain_id, sha256 }: KeyPlace): Buffer {
  return Buffer.from(JSON.stringify([LABEL, domain_id, sha256]));
}
