/**
 * API keys as text: `svc_`, 59 random base62 characters (351 bits), 6 characters of checksum. The checksum tells a
 * mistyped or made-up key without a question to the database; only the SHA-256 of a key is ever stored.
 */
import { randomBytes } from 'node:crypto';
import { xxhash32 } from '../base/xxhash32.ts';
import { sha256Hex } from '../platform/sha256.ts';

const PREFIX = 'svc_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = ALPHABET.length;
const RANDOM_CHARACTERS = 59;
/** 62⁶ > 2³², so a 32-bit checksum fits. */
const CHECKSUM_CHARACTERS = 6;
/** Given (API document, "API key"). */
export const KEY_CHARACTERS = PREFIX.length + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS;

const SHAPE = /^svc_[0-9A-Za-z]{65}$/;
const encoder = new TextEncoder();
const octets = new Uint8Array(KEY_CHARACTERS);

/** A new key. Its text exists here and in the hands of whoever asked, nowhere else. */
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

/** What is stored of a key: 64 lower-case hex digits. */
export function hashKey(key: string): string {
  return sha256Hex(key);
}

/** Enough of a key to tell it from others, and not enough to use it: for logs. */
export function redactKeys(text: string): string {
  // PERF: most texts have none, and looking for a literal is ten times faster.
  if (!text.includes(PREFIX)) return text;
  return text.replace(/svc_[0-9A-Za-z]{4,}/g, (key) => `${key.slice(0, 8)}…`);
}

function checksum(body: string): string {
  // PERF: bodies are ASCII and of one length, so one buffer serves them all.
  const { written } = encoder.encodeInto(body, octets);
  let rest = xxhash32(octets.subarray(0, written)) >>> 0;
  let text = '';
  for (let at = 0; at < CHECKSUM_CHARACTERS; at++) {
    text = ALPHABET[rest % BASE]! + text;
    rest = Math.floor(rest / BASE);
  }
  return text;
}

/** Characters drawn evenly: octets from 248 (4 × 62) on are drawn again. */
function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const octet of randomBytes(length)) {
      if (octet < 4 * BASE && text.length < length) text += ALPHABET[octet % BASE]!;
    }
  }
  return text;
}
