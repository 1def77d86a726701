/** Makes keys of consumers, for the command of file users and for the control plane. */
import { randomBytes } from 'node:crypto';
import { sha256Hex } from '../../../base/platform/cryptography.ts';
import { KEY_OCTETS, KEY_PREFIX } from './key-text.ts';

/** A key and what is stored of it. */
export interface MintedKey {
  /** Shown once. */
  readonly text: string;
  /** SHA-256 of the text, 64 lower-case hex digits. */
  readonly sha256: string;
}

/** Makes a key. */
export function mintKey(): MintedKey {
  const text = KEY_PREFIX + randomBytes(KEY_OCTETS).toString('base64url');
  return { text, sha256: sha256Hex(text) };
}
