/**
 * The secrets key, which encrypts private keys in the store, and the one before it, which still decrypts them. In: a text
 * with one or two keys, the current one first, each 32 octets in Base64 on a line of its own. Out: keys by id. The text is
 * read again for each encryption and for each unknown id, so that a server follows a rotation without a restart.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { sha256Hex } from '../../base/platform/cryptography.ts';

const KEY_OCTETS = 32;
/** Base64 of 32 octets (RFC 4648 §4), with padding. */
const KEY_SHAPE = /^[A-Za-z0-9+/]{43}=$/;
/** The current key and the one before: a rotation re-encrypts everything before it replaces the older one. */
const MAX_KEYS = 2;
const ID_LABEL = 'edgeplan secrets key/v1';
/** Hex digits of an id. */
const KEY_ID_DIGITS = 16;

/** A secrets key. */
interface SecretsKey {
  /** 16 hex digits that identify it and say nothing about it. */
  readonly id: string;
  readonly key: KeyObject;
}

/** The secrets keys of a process. */
export interface KeyRing {
  /** The key that encrypts. @throws SecretsKeyFault */
  current(): SecretsKey;
  /** The key with an id; `null`: no key has it. @throws SecretsKeyFault */
  find(id: string): SecretsKey | null;
  /** The place of the keys, for people. */
  readonly where: string;
}

/** The secrets keys cannot be used now. The message names the place and never the content. */
export class SecretsKeyFault extends Error {
  readonly code = 'secrets_key';
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SecretsKeyFault';
  }
}

/** Where keys are read from. `read` throws the system's error. */
export interface KeySource {
  readonly where: string;
  readonly read: () => string;
}

/** The keys of a text, the current one first; or a sentence that says what is wrong and repeats nothing of it. */
export function parseKeys(text: string): readonly SecretsKey[] | string {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return 'has no key';
  if (words.length > MAX_KEYS) return `has more than ${MAX_KEYS} keys`;
  const wrong = words.findIndex((word) => !KEY_SHAPE.test(word));
  if (wrong >= 0) return `has a key ${wrong + 1} that is not Base64 of ${KEY_OCTETS} octets`;
  return words.map((word) => toKey(Buffer.from(word, 'base64')));
}

/** A new key as the text has it. */
export function newKeyText(): string {
  return randomBytes(KEY_OCTETS).toString('base64');
}

/** Reads the keys once, and again as above. @throws SecretsKeyFault */
export function openKeyRing({ where, read }: KeySource): KeyRing {
  const load = (): readonly SecretsKey[] => {
    let keys: readonly SecretsKey[] | string;
    try {
      keys = parseKeys(read());
    } catch (error) {
      throw new SecretsKeyFault(`the secrets key in ${where} cannot be read`, error);
    }
    if (typeof keys === 'string') throw new SecretsKeyFault(`the secrets key: ${where} ${keys}`);
    return keys;
  };
  let known = load();
  return {
    where,
    current() {
      known = load();
      return known[0]!;
    },
    find(id) {
      const found = known.find((key) => key.id === id);
      if (found !== undefined) return found;
      known = load();
      return known.find((key) => key.id === id) ?? null;
    },
  };
}

function toKey(octets: Buffer): SecretsKey {
  const id = sha256Hex(Buffer.concat([Buffer.from(ID_LABEL), octets])).slice(0, KEY_ID_DIGITS);
  return { id, key: createSecretKey(octets) };
}

// Private keys as the store has them: AES-256-GCM (NIST SP 800-38D) under a secrets key. The octets are a version, the id
// of the secrets key, a random nonce, and ciphertext with its tag. The associated data are domain and certificate, so a
// key that is copied to another row does not open there.

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
