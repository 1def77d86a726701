/**
 * Who a request speaks for. The key comes from one of two equivalent headers; its shape and checksum are judged before
 * the store is asked, and what the store says is judged here, the same way at the door, inside every write, and again
 * before a read is answered.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { KeyWithOwner } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import { hashKey, isKeyText } from './key.ts';

/** A key that opens something. */
export interface Credential {
  readonly hash: string;
  readonly key_id: number;
  readonly account_id: number;
  readonly read_only: boolean;
  /** Milliseconds since the epoch; `null` for never. */
  readonly expires_at: number | null;
}

/** What was sent where a key belongs, key or not. */
function presented(headers: IncomingHttpHeaders): readonly string[] {
  const bearer = /^Bearer +([^ ]+) *$/i.exec(headers.authorization ?? '')?.[1];
  const plain = headers['x-api-key'];
  const named = typeof plain === 'string' ? plain.trim() : undefined;
  return [bearer, named].filter((key) => key !== undefined);
}

/** Whether a request brings anything that may be meant as a key. */
export function presentsKey(headers: IncomingHttpHeaders): boolean {
  return presented(headers).length > 0;
}

/**
 * The SHA-256 of the key that was sent; `null` when there is none or it is malformed. Two different keys in one
 * request are as good as none.
 */
export function presentedHash(headers: IncomingHttpHeaders): string | null {
  const [key, other = key] = presented(headers);
  return key !== undefined && key === other && isKeyText(key) ? hashKey(key) : null;
}

/** The credential behind a key's hash; `null` when it is unknown, revoked, expired, or its account is inactive. */
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
