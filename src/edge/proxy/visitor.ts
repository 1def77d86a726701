/**
 * Finds the visitor of a request: the peer of its connection, or, if that is a trusted proxy, the last node in the
 * forwarding headers that is not a trusted proxy itself. Untrusted parties may have written everything to the left of it. A
 * node whose address cannot be read is an unknown visitor, and never the proxy that reports it: rules for the operator's
 * own network would let it in.
 */
import { BlockList, isIP } from 'node:net';
import { canonicalIp, formatIp, parseIpEntry } from '../../base/addresses/ip.ts';
import type { ClientRequest } from '../../base/http/client-messages.ts';
import {
  addressOf,
  type ForwardedHops,
  NO_NODES,
  readForwarded,
  schemeNamed,
} from '../../base/http/forwarded.ts';
import { DEFAULT_PORTS, type Visitor } from '../decide/exchange.ts';

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

/**
 * The address of a socket's peer in canonical form; `null`: unknown. IPv4 clients of a socket that accepts both families are
 * IPv4-mapped; a zone (`fe80::1%eth0`, RFC 4007) names a link of this machine and is no part of the address.
 */
export function plainAddress(address: string | undefined): string | null {
  if (address === undefined) return null;
  const zone = address.indexOf('%');
  return canonicalIp(zone < 0 ? address : address.slice(0, zone));
}

/** The visitor of a request; forwarding headers count only from a trusted proxy. */
export function readVisitor(
  message: ClientRequest,
  { listener, facts, trusted }: { listener: Listener; facts: ConnectionFacts; trusted: TrustedProxies },
): Visitor {
  const { peer, serverName } = facts;
  const { port } = listener;
  if (peer === null || !trusted.has(peer)) {
    return { ip: peer, peer, scheme: listener.scheme, port, trusted: false, hops: NO_NODES, serverName };
  }
  const reported = readForwarded(message.headers);
  const { ip, behind } = clientOf(reported, { peer, trusted });
  const scheme = schemeAt(reported, behind) ?? listener.scheme;
  const visitorPort = scheme === listener.scheme ? port : DEFAULT_PORTS[scheme];
  return { ip, peer, scheme, port: visitorPort, trusted: true, hops: reported.nodes, serverName };
}

interface FoundClient {
  readonly ip: string | null;
  /** The number of nodes behind it in the list. */
  readonly behind: number;
}

/** The last node that is not a trusted proxy, else the first one; the peer itself if no node is reported. */
function clientOf(
  { nodes }: ForwardedHops,
  { peer, trusted }: { readonly peer: string; readonly trusted: TrustedProxies },
): FoundClient {
  let ip: string | null = peer;
  let at = nodes.length;
  while (at > 0) {
    ip = addressOf(nodes[--at]!);
    if (ip === null || !trusted.has(ip)) break;
  }
  return { ip, behind: Math.max(0, nodes.length - 1 - at) };
}

/**
 * The scheme that a node was served by. Lists are aligned at their ends, where every proxy appends; a shorter list of schemes
 * is that of proxies that do not repeat it, and its first counts.
 */
function schemeAt({ schemes }: ForwardedHops, behind: number): 'http' | 'https' | null {
  const text = schemes[Math.max(0, schemes.length - 1 - behind)];
  return text === undefined ? null : schemeNamed(text);
}
