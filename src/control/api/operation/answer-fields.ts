/**
 * Fields of answers: the id of the request, the budget of its key, entity tags with the conditions made with them (RFC
 * 9110 §8.8.3, §13.1), and gzip for clients that accept it (§12.5.3).
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sha256Base64Url } from '../../../base/platform/cryptography.ts';
import { type RequestBudget, WINDOW_MS } from '../../accounts/request-budget.ts';
import { COMPRESS_FROM } from './limits.ts';

/** The client's `X-Request-Id` where it is 1 to 128 harmless characters, else a new UUID. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  return requestIdOf(request.headers['x-request-id']);
}

/** As `requestId`, for the value of the header. */
export function requestIdOf(given: string | readonly string[] | undefined): string {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

// `RateLimit` and `RateLimit-Policy` on every answer to a key (draft-ietf-httpapi-ratelimit-headers-10): the budget, the
// requests left of it, and the seconds until more are. With several processes on one database, each reports its own
// count.

/** The policy's name in both fields. */
const POLICY = '"requests"';

/** The two headers. `now` in milliseconds since the epoch. */
export function rateLimitHeaders(
  budget: RequestBudget,
  keyId: number,
  now: number,
): Readonly<Record<string, string>> {
  const { requests, seconds } = budget.left(keyId, now);
  return {
    'ratelimit-policy': `${POLICY};q=${budget.limit};w=${WINDOW_MS / 1_000}`,
    ratelimit: `${POLICY};r=${requests};t=${seconds}`,
  };
}

/** The strong tag of a text or of octets: 22 characters of their SHA-256 are 132 bits. */
export function tagOf(text: string | Uint8Array): string {
  return `"${sha256Base64Url(text).slice(0, 22)}"`;
}

/** Whether an `If-Match` or `If-None-Match` has a tag or is `*`; `W/` is ignored, since every tag here is strong. */
export function namesTag(condition: string, tag: string): boolean {
  if (condition.trim() === '*') return true;
  return condition.split(',').some((listed) => listed.trim().replace(/^W\//, '') === tag);
}

// Compresses answers with gzip for clients that accept it (RFC 9110 §12.5.3), in Node's thread pool.

const compress = promisify(gzip);

/** Whether a text, or octets, is long enough to compress, see `COMPRESS_FROM`. */
export function isWorthCompressing(text: string | Uint8Array): boolean {
  return text.length >= COMPRESS_FROM;
}

/** Whether an `Accept-Encoding` lists gzip, by name or by `*`, with a weight above 0. */
export function takesGzip(accepted: string | undefined): boolean {
  if (accepted === undefined) return false;
  let star = false;
  for (const element of accepted.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = element.split(';').map((part) => part.trim());
    const refused = parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    if (coding === 'gzip' || coding === 'x-gzip') return !refused;
    if (coding === '*') star = !refused;
  }
  return star;
}

/** A text or octets in gzip. */
export function gzipped(text: string | Uint8Array): Promise<Buffer> {
  return compress(text, { level: 6 });
}
