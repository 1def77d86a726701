/**
 * The text form of API keys: `svc_`, 59 random base62 characters (351 bits), 6 characters of checksum. The checksum
 * detects a mistyped or invented key without a query; only the SHA-256 of a key is stored.
 */
import { randomBytes } from 'node:crypto';
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import { sha256Hex } from '../../base/platform/cryptography.ts';

const PREFIX = 'svc_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = ALPHABET.length;
const RANDOM_CHARACTERS = 59;
/** 62⁶ > 2³², so a 32-bit checksum fits. */
const CHECKSUM_CHARACTERS = 6;
/** Fixed by the API document, "API key". */
export const KEY_CHARACTERS = PREFIX.length + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS;

const SHAPE = /^svc_[0-9A-Za-z]{65}$/;
const encoder = new TextEncoder();
const octets = new Uint8Array(KEY_CHARACTERS);

/** A new key. The returned text is its only copy. */
export function makeKey(): string {
  const body = PREFIX + randomText(RANDOM_CHARACTERS);
  return body + checksum(body);
}

/** Whether a text has the shape and the checksum of a key. */
export function isKeyText(text: string): boolean {
  if (text.length !== KEY_CHARACTERS || !SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_CHARACTERS);
  return text.endsWith(checksum(body));
}

/** The stored form of a key: its SHA-256, 64 lower-case hex digits. */
export function hashKey(key: string): string {
  return sha256Hex(key);
}

/** XXH32 of the body in base62. */
function checksum(body: string): string {
  // PERF: bodies are ASCII and of one length, so one buffer is enough for all.
  const { written } = encoder.encodeInto(body, octets);
  let rest = xxhash32(octets.subarray(0, written)) >>> 0;
  let text = '';
  for (let at = 0; at < CHECKSUM_CHARACTERS; at++) {
    text = ALPHABET[rest % BASE]! + text;
    rest = Math.floor(rest / BASE);
  }
  return text;
}

/** Uniformly random characters: octets from 248 (4 × 62) on are rejected. */
function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const octet of randomBytes(length)) {
      if (octet < 4 * BASE && text.length < length) text += ALPHABET[octet % BASE]!;
    }
  }
  return text;
}
