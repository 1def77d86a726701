/**
 * Authentication by API key. In: the two equivalent request headers. Out: the key's credential. Shape and checksum of a
 * key are checked before any query. The same check of the stored key runs before the handler, inside every write
 * transaction, and again before a read is answered.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import type { ReadTransaction } from '../store/store.ts';
import type { KeyWithOwner } from '../store/tables/accounts.ts';

/** A valid key: known, neither revoked nor expired, of an active account. */
export interface Credential {
  /** SHA-256 of the key, 64 lower-case hex digits. */
  readonly hash: string;
  readonly key_id: number;
  readonly account_id: number;
  readonly read_only: boolean;
  /** Milliseconds since the epoch; `null` for never. */
  readonly expires_at: number | null;
}

/** The values of the two headers that can carry a key, valid or not; at most two. */
function presented(headers: IncomingHttpHeaders): readonly string[] {
  const bearer = /^Bearer +([^ ]+) *$/i.exec(headers.authorization ?? '')?.[1];
  const plain = headers['x-api-key'];
  const named = typeof plain === 'string' ? plain.trim() : undefined;
  return [bearer, named].filter((key) => key !== undefined);
}

/** Whether a request has a value in either key header, which decides the challenge of a 401 (RFC 6750 §3). */
export function presentsKey(headers: IncomingHttpHeaders): boolean {
  return presented(headers).length > 0;
}

/**
 * The SHA-256 of the request's key; `null` when it has no key, a malformed one, or two different ones.
 */
export function presentedHash(headers: IncomingHttpHeaders): string | null {
  const [key, other = key] = presented(headers);
  return key !== undefined && key === other && isKeyText(key) ? hashKey(key) : null;
}

/** The credential of a key's hash; `null` when the key is unknown, revoked, expired, or of an inactive account. */
export async function authenticate(
  keys: Pick<ReadTransaction['keys'], 'byHash'>,
  { hash, now }: { readonly hash: string; readonly now: number },
): Promise<Credential | null> {
  const key = await keys.byHash(hash);
  if (key === null || !opens(key, now)) return null;
  const { id, account_id, read_only, expires_at } = key;
  return { hash, key_id: id, account_id, read_only, expires_at };
}

/** Whether a key may still be used. */
export function opens(key: KeyWithOwner, now: number): boolean {
  return key.revoked_at === null && !isExpired(key, now) && key.account_active;
}

/** Whether a key has ended by the clock; times in milliseconds since the epoch. */
export function isExpired({ expires_at }: Pick<Credential, 'expires_at'>, now: number): boolean {
  return expires_at !== null && expires_at <= now;
}

// The text form of API keys: `svc_`, 59 random base62 characters (351 bits), 6 characters of checksum. The checksum
// detects a mistyped or invented key without a query; only the SHA-256 of a key is stored.

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
