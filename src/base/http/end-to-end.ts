/** End-to-end and hop-by-hop header fields (RFC 9110 §7.6.1). */
import type { HeaderList } from './answer.ts';
import { lowerName } from './header-names.ts';

/** Lower-case names listed in `Connection`, which are hop-by-hop as well; `null`: none. */
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
 * The headers of a response without the hop-by-hop ones of the connection to its origin.
 * @param isDropped whether to leave out another header, by its lower-case name
 */
export function endToEnd(headers: HeaderList, isDropped: (name: string) => boolean = isNone): string[] {
  const named = namedInConnection(headers);
  const forwarded: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = lowerName(headers[at]!);
    if (ORIGIN_HOP.has(name) || named?.has(name) === true || isDropped(name)) continue;
    forwarded.push(headers[at]!, headers[at + 1]!);
  }
  return forwarded;
}

/**
 * Whether a response of this status has no Content-Length (RFC 9110 §8.6). A response to HEAD and a 304 may have one: the length
 * of the body that a GET would get.
 */
export function hasNoLength(status: number): boolean {
  return status < 200 || status === 204;
}

/** Drops no header. */
export function isNone(): boolean {
  return false;
}

/** The hop-by-hop headers of responses, lower case (RFC 9110 §7.6.1). */
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
