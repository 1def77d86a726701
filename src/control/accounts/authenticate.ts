/**
 * Authentication by API key. In: the two equivalent request headers. Out: the key's credential. Shape and checksum of a
 * key are checked before any query. The same check of the stored key runs before the handler, inside every write
 * transaction, and again before a read is answered.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { KeyWithOwner } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import { hashKey, isKeyText } from './key.ts';

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
