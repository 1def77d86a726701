/** Cryptography of Node for all rooms: SHA-256, signatures of certificates, and sealed boxes, which only the holder of a private key can read. */
import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hash,
  hkdfSync,
  type KeyObject,
  X509Certificate,
} from 'node:crypto';

/** SHA-256 of a text in UTF-8, 32 octets. */
export function sha256(text: string): Uint8Array {
  return hash('sha256', text, 'buffer');
}

/** SHA-256 as 64 lower-case hex digits. */
export function sha256Hex(data: Uint8Array | string): string {
  return hash('sha256', data, 'hex');
}

/** Whether the key of one certificate has signed another one; both are DER. `false` also for octets that OpenSSL does not read. */
export function isSignedBy(certificate: Uint8Array, issuer: Uint8Array): boolean {
  try {
    return new X509Certificate(certificate).verify(new X509Certificate(issuer).publicKey);
  } catch {
    // Certificates of clients may be anything.
    return false;
  }
}

/** SHA-256 as 43 characters of unpadded base64url (RFC 4648 §5); 22 of them are 132 bits, enough for an entity tag. */
export function sha256Base64Url(data: Uint8Array | string): string {
  return hash('sha256', data, 'base64url');
}

// Sealed boxes: octets that only the holder of an X25519 private key can read (ECIES; RFC 7748, RFC 5869, AES-256-GCM of
// NIST SP 800-38D). A box is a version, the public key of the sender's one-time key pair, and ciphertext with its tag. The
// key of each box is used once, so its nonce is constant.

const VERSION = 1;
const KEY_OCTETS = 32;
const TAG_OCTETS = 16;
const NONCE = Buffer.alloc(12);
const LABEL = 'edgeplan sealed box/v1';
/** SubjectPublicKeyInfo of X25519 before the 32 octets of the key (RFC 8410 §4). */
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');

/** The X25519 public key of 32 octets; `null`: other octets. */
export function readBoxKey(octets: Uint8Array): KeyObject | null {
  if (octets.length !== KEY_OCTETS) return null;
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, octets]), format: 'der', type: 'spki' });
}

/** The 32 octets of an X25519 public key. */
export function boxKeyOctets(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX.length);
}

/** Seals octets for the holder of a key. `context` must be the same when the box is opened. */
export function sealBox(recipient: KeyObject, plain: Uint8Array, context: string): Buffer {
  const own = generateKeyPairSync('x25519');
  const ephemeral = boxKeyOctets(own.publicKey);
  const key = keyOf(diffieHellman({ privateKey: own.privateKey, publicKey: recipient }), [
    ephemeral,
    boxKeyOctets(recipient),
  ]);
  const cipher = createCipheriv('aes-256-gcm', key, NONCE, { authTagLength: TAG_OCTETS });
  cipher.setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), ephemeral, sealed, cipher.getAuthTag()]);
}

/** Opens a box; `null`: it is for another key or context, damaged, or of another version. */
export function openBox(own: KeyObject, box: Uint8Array, context: string): Buffer | null {
  const octets = Buffer.from(box);
  if (octets.length < 1 + KEY_OCTETS + TAG_OCTETS || octets[0] !== VERSION) return null;
  const ephemeral = octets.subarray(1, 1 + KEY_OCTETS);
  const sender = readBoxKey(ephemeral);
  if (sender === null) return null;
  try {
    const shared = diffieHellman({ privateKey: own, publicKey: sender });
    const key = keyOf(shared, [ephemeral, boxKeyOctets(createPublicKey(own))]);
    const decipher = createDecipheriv('aes-256-gcm', key, NONCE, { authTagLength: TAG_OCTETS });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(octets.subarray(-TAG_OCTETS));
    const sealed = octets.subarray(1 + KEY_OCTETS, -TAG_OCTETS);
    return Buffer.concat([decipher.update(sealed), decipher.final()]);
  } catch {
    // A wrong key, another context and damage look alike: the tag does not match.
    return null;
  }
}

function keyOf(shared: Buffer, keys: readonly Buffer[]): Buffer {
  return Buffer.from(hkdfSync('sha256', shared, Buffer.concat(keys), LABEL, KEY_OCTETS));
}
