/**
 * The secrets key, which encrypts private keys in the store, and the one before it, which still decrypts them. In: a text
 * with one or two keys, the current one first, each 32 octets in Base64 on a line of its own. Out: keys by id. The text is
 * read again for each encryption and for each unknown id, so that a server follows a rotation without a restart.
 */
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { sha256Hex } from '../../base/platform/cryptography.ts';

const KEY_OCTETS = 32;
/** Base64 of 32 octets (RFC 4648 §4), with padding. */
const KEY_SHAPE = /^[A-Za-z0-9+/]{43}=$/;
/** The current key and the one before: a rotation re-encrypts everything before it replaces the older one. */
const MAX_KEYS = 2;
const ID_LABEL = 'edgeplan secrets key/v1';
/** Hex digits of an id. */
export const KEY_ID_DIGITS = 16;

/** A secrets key. */
export interface SecretsKey {
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
