/**
 * Who asks. The connection's peer, unless that is a trusted proxy: then the last address in `X-Forwarded-For` that is
 * not a trusted proxy itself, since everything left of it was written by somebody else.
 */
import { BlockList, isIP } from 'node:net';
import { formatIp, parseIpEntry } from '../base/ip.ts';
import type { ClientRequest } from '../http/client-messages.ts';
import type { Visitor } from './exchange.ts';

/** Where a request came in. */
export interface Listener {
  readonly scheme: 'http' | 'https';
  /** The port as visitors know it. */
  readonly port: number;
}

/** What a connection told before its first request: PROXY protocol, TLS. */
export interface ConnectionFacts {
  readonly peer: string | null;
  readonly serverName: string | null;
}

/** Addresses of proxies whose forwarding headers are believed. */
export interface TrustedProxies {
  has(address: string): boolean;
}

/**
 * Reads the addresses and prefixes of trusted proxies.
 * @throws Error naming the entry that is none
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

/** Addresses of an IPv4 client on a socket that takes both families. */
const MAPPED = '::ffff:';

export function plainAddress(address: string | undefined): string | null {
  if (address === undefined) return null;
  return address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
}

export function readVisitor(
  message: ClientRequest,
  { listener, facts, trusted }: { listener: Listener; facts: ConnectionFacts; trusted: TrustedProxies },
): Visitor {
  const { peer, serverName } = facts;
  const { port } = listener;
  if (peer === null || !trusted.has(peer)) {
    return { ip: peer, peer, scheme: listener.scheme, port, trusted: false, serverName };
  }
  const told = lastValue(message.headers['x-forwarded-proto']);
  const scheme = told === 'https' || told === 'http' ? told : listener.scheme;
  const ip = clientBehind(message.headers['x-forwarded-for'], trusted) ?? peer;
  const seen = scheme === 'https' ? 443 : 80;
  return { ip, peer, scheme, port: scheme === listener.scheme ? port : seen, trusted: true, serverName };
}

function lastValue(header: string | readonly string[] | undefined): string {
  const text = typeof header === 'string' ? header : (header?.join(',') ?? '');
  return text
    .slice(text.lastIndexOf(',') + 1)
    .trim()
    .toLowerCase();
}

/** What is no address ends the walk: whoever wrote it, nothing left of it can be believed. */
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

/** `203.0.113.7:4711`, `[2001:db8::1]:4711`, as some proxies write. */
function withoutPort(hop: string): string {
  if (hop.startsWith('[')) return hop.slice(1, Math.max(1, hop.indexOf(']')));
  const colon = hop.indexOf(':');
  return colon > 0 && colon === hop.lastIndexOf(':') ? hop.slice(0, colon) : hop;
}
