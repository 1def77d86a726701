/** End-to-end and hop-by-hop header fields (RFC 9110 §7.6.1). */
import type { HeaderList } from './answer.ts';
import { lowerName } from './header-names.ts';

/** Lower-case names listed in `Connection`, which are for this connection as well. */
export function namedInConnection(raw: HeaderList): ReadonlySet<string> | null {
  let named: Set<string> | null = null;
  for (let at = 0; at < raw.length; at += 2) {
    const sent = raw[at]!;
    if (sent.length !== 10 || sent.toLowerCase() !== 'connection') continue;
    const value = raw[at + 1]!;
    if (value === 'keep-alive' || value === 'close') continue;
    named ??= new Set();
    for (const name of value.split(',')) named.add(name.trim().toLowerCase());
  }
  return named;
}

/**
 * The headers of an answer without those for the connection to its origin.
 * @param isDropped by lower-case names, which others are left out
 */
export function endToEnd(headers: HeaderList, isDropped: (name: string) => boolean = isNone): string[] {
  const named = namedInConnection(headers);
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = lowerName(headers[at]!);
    if (ORIGIN_HOP.has(name) || named?.has(name) === true || isDropped(name)) continue;
    kept.push(headers[at]!, headers[at + 1]!);
  }
  return kept;
}

/**
 * Whether an answer of this status goes out without Content-Length (RFC 9110 §8.6). One to HEAD and 304 may have it: the
 * length of what a GET would have got.
 */
export function hasNoLength(status: number): boolean {
  return status < 200 || status === 204;
}

export function isNone(): boolean {
  return false;
}

export const ORIGIN_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
