/**
 * Finds the visitor of a request: the peer of its connection, or, if that is a trusted proxy, the last address in
 * `X-Forwarded-For` that is not a trusted proxy itself. Untrusted parties may have written everything to the left of it.
 */
import { BlockList, isIP } from 'node:net';
import { formatIp, parseIpEntry } from '../base/ip.ts';
import type { ClientRequest } from '../http/client-messages.ts';
import type { Visitor } from './exchange.ts';

/** The listener on which a request arrived. */
export interface Listener {
  readonly scheme: 'http' | 'https';
  /** The port under which visitors reach it. */
  readonly port: number;
}

/** What is known of a connection before its first request, by the PROXY protocol and TLS. */
export interface ConnectionFacts {
  /** The address of the client; `null` unknown. */
  readonly peer: string | null;
  /** The name in the TLS handshake (SNI); `null`: none. */
  readonly serverName: string | null;
}

/** Addresses of proxies whose forwarding headers are used. */
export interface TrustedProxies {
  has(address: string): boolean;
}

/**
 * Reads the addresses and prefixes of trusted proxies.
 * @throws Error that names an entry that is neither
 */
export function trustProxies(entries: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const entry of entries) {
    const read = parseIpEntry(entry);
    if (!read.ok) throw new Error(`\`${entry}\` is no address and no prefix: ${read.reason}`);
    const family = read.family === 6 ? 'ipv6' : 'ipv4';
    list.addRange(formatIp(read.family, read.first), formatIp(read.family, read.last), family);
  }
  const empty = entries.length === 0;
  return {
    has: (address) => !empty && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'),
  };
}

/** The prefix of IPv4 clients' addresses on a socket that accepts both families (RFC 4291 §2.5.5.2). */
const MAPPED = '::ffff:';

/** An address without the prefix of IPv4-mapped ones; `null`: unknown. */
export function plainAddress(address: string | undefined): string | null {
  if (address === undefined) return null;
  return address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
}

/** The visitor of a request; forwarding headers count only from a trusted proxy. */
export function readVisitor(
  message: ClientRequest,
  { listener, facts, trusted }: { listener: Listener; facts: ConnectionFacts; trusted: TrustedProxies },
): Visitor {
  const { peer, serverName } = facts;
  const { port } = listener;
  if (peer === null || !trusted.has(peer)) {
    return { ip: peer, peer, scheme: listener.scheme, port, trusted: false, serverName };
  }
  const forwarded = lastValue(message.headers['x-forwarded-proto']);
  const scheme = forwarded === 'https' || forwarded === 'http' ? forwarded : listener.scheme;
  const ip = clientBehind(message.headers['x-forwarded-for'], trusted) ?? peer;
  const defaultPort = scheme === 'https' ? 443 : 80;
  const visitorPort = scheme === listener.scheme ? port : defaultPort;
  return { ip, peer, scheme, port: visitorPort, trusted: true, serverName };
}

/** The last element of a list, in lower case: the one that the trusted proxy has added. */
function lastValue(header: string | readonly string[] | undefined): string {
  const text = typeof header === 'string' ? header : (header?.join(',') ?? '');
  return text
    .slice(text.lastIndexOf(',') + 1)
    .trim()
    .toLowerCase();
}

/** The last untrusted address of the list. An entry that is no address ends the search: all to its left is unreliable. */
function clientBehind(
  header: string | readonly string[] | undefined,
  trusted: TrustedProxies,
): string | null {
  if (header === undefined) return null;
  const hops = (typeof header === 'string' ? header : header.join(',')).split(',');
  let last: string | null = null;
  for (const hop of hops.reverse()) {
    const address = plainAddress(withoutPort(hop.trim()));
    if (address === null || isIP(address) === 0) return last;
    last = address;
    if (!trusted.has(address)) return address;
  }
  return last;
}

/** An address without the port that some proxies append: `203.0.113.7:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  if (hop.startsWith('[')) return hop.slice(1, Math.max(1, hop.indexOf(']')));
  const colon = hop.indexOf(':');
  return colon > 0 && colon === hop.lastIndexOf(':') ? hop.slice(0, colon) : hop;
}
