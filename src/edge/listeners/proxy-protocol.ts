/**
 * The PROXY protocol, versions 1 and 2 (haproxy.org/download/3.0/doc/proxy-protocol.txt): a proxy sends its client's address
 * at the start of a connection. A peer that is trusted to send the header must send it, since a guess would let its clients
 * choose their address. From other peers the header is not read, and is malformed in the protocol that follows.
 */
import type { Socket } from 'node:net';
import { canonicalIp, formatIp, parseIpv4 } from '../../base/addresses/ip.ts';
import { MAX_PROXY_OCTETS, PROXY_MS } from '../proxy/limits.ts';
import { plainAddress, type TrustedProxies } from '../proxy/visitor.ts';
import { type PreambleOutcome, type PreambleStep, readPreamble } from './preamble.ts';

/**
 * The address in a header; `null`: it has none, or none of a TCP connection (LOCAL, UNKNOWN, UNSPEC, UDP, a UNIX socket), and
 * the connection's own peer counts.
 */
export type ProxiedPeer = string | null;

const V1_START = Buffer.from('PROXY ', 'latin1');
/** The longest header of version 1 (§2.1), its line end included. */
const V1_MOST = 107;
const V2_START = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const V2_HEAD = V2_START.length + 4;

/** Reads a header of either version at the start of a connection. */
export function readProxyHeader(octets: Buffer): PreambleStep<ProxiedPeer> {
  if (startsAlike(octets, V1_START)) return octets.length < V1_START.length ? 'more' : readVersion1(octets);
  if (startsAlike(octets, V2_START)) return octets.length < V2_HEAD ? 'more' : readVersion2(octets);
  return refuse('a trusted proxy sent no PROXY header');
}

/** Whether the octets so far are the start, or a part of it. */
function startsAlike(octets: Buffer, start: Buffer): boolean {
  const length = Math.min(octets.length, start.length);
  return octets.compare(start, 0, length, 0, length) === 0;
}

function readVersion1(octets: Buffer): PreambleStep<ProxiedPeer> {
  const end = octets.subarray(0, V1_MOST).indexOf('\r\n');
  if (end < 0) return octets.length < V1_MOST ? 'more' : refuse(`the line is longer than ${V1_MOST} octets`);
  const used = end + 2;
  const [, family, source, destination, sourcePort, destinationPort, ...more] = octets
    .toString('latin1', 0, end)
    .split(' ');
  if (family === 'UNKNOWN') return { ok: true, value: null, used };
  const parse = family === 'TCP4' ? readIpv4 : family === 'TCP6' ? readIpv6 : null;
  if (parse === null) return refuse('the protocol is none of TCP4, TCP6, UNKNOWN');
  const from = parse(source);
  if (from === null || parse(destination) === null) return refuse('an address is none');
  if (!isPort(sourcePort) || !isPort(destinationPort)) return refuse('a port is none');
  return more.length > 0 ? refuse('the line goes on after the ports') : { ok: true, value: from, used };
}

function readIpv4(text: string | undefined): string | null {
  const address = parseIpv4(text ?? '');
  return address < 0 ? null : formatIp(4, [address]);
}

/** IPv4-mapped addresses are IPv4. */
function readIpv6(text: string | undefined): string | null {
  return text?.includes(':') === true ? canonicalIp(text) : null;
}

function isPort(text: string | undefined): boolean {
  return text !== undefined && /^(?:0|[1-9][0-9]{0,4})$/.test(text) && Number(text) <= 65_535;
}

const LOCAL = 0;
const PROXY = 1;
const TCP_IPV4 = 0x11;
const TCP_IPV6 = 0x21;
/** The highest family and protocol (§2.2): UNIX sockets, datagrams. */
const MAX_FAMILY = 3;
const MAX_TRANSPORT = 2;

function readVersion2(octets: Buffer): PreambleStep<ProxiedPeer> {
  const [command, family] = [octets[V2_START.length]!, octets[V2_START.length + 1]!];
  const length = octets.readUInt16BE(V2_START.length + 2);
  const used = V2_HEAD + length;
  if (command >> 4 !== 2) return refuse(`the version is ${command >> 4}, not 2`);
  if (used > MAX_PROXY_OCTETS) return refuse(`the header is longer than ${MAX_PROXY_OCTETS} octets`);
  if (octets.length < used) return 'more';
  const kind = command & 0x0f;
  if (kind === LOCAL) return { ok: true, value: null, used };
  if (kind !== PROXY) return refuse('the command is neither LOCAL nor PROXY');
  const addresses = octets.subarray(V2_HEAD, used);
  if (family === TCP_IPV4 && length >= 12) {
    return { ok: true, value: formatIp(4, [addresses.readUInt32BE(0)]), used };
  }
  if (family === TCP_IPV6 && length >= 36) {
    const words = [0, 4, 8, 12].map((at) => addresses.readUInt32BE(at));
    return { ok: true, value: canonicalIp(formatIp(6, words)), used };
  }
  if (family === TCP_IPV4 || family === TCP_IPV6) return refuse('the addresses are cut short');
  if (family >> 4 > MAX_FAMILY || (family & 0x0f) > MAX_TRANSPORT) {
    return refuse('the family or the protocol is unknown');
  }
  // A receiver treats families that it does not support as UNSPEC (§2.2).
  return { ok: true, value: null, used };
}

function refuse(reason: string): PreambleStep<ProxiedPeer> {
  return { ok: false, reason: `PROXY protocol: ${reason}` };
}

export interface PeerOptions {
  /** Peers that must send a PROXY header; `null`: none. */
  readonly proxies: TrustedProxies | null;
  readonly done: (outcome: PreambleOutcome<string | null>) => void;
}

/** Finds the client of a connection: its peer, or the address that a trusted proxy sends. Calls back at once for the former. */
export function readPeer(socket: Socket, { proxies, done }: PeerOptions): void {
  const own = plainAddress(socket.remoteAddress);
  if (own === null || proxies === null || !proxies.has(own)) {
    done({ ok: true, value: own });
    return;
  }
  readPreamble(socket, {
    read: readProxyHeader,
    maxOctets: MAX_PROXY_OCTETS,
    ms: PROXY_MS,
    done: (outcome) => done(outcome.ok ? { ok: true, value: outcome.value ?? own } : outcome),
  });
}
