/**
 * Accepts connections for servers that do not listen themselves, since a PROXY header or a TLS handshake precedes their
 * protocol. In: connections from a listening socket, or from another process. Out: connections with their client's address,
 * within limits, and a graceful stop.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { canonicalIp, formatIp, parseIpv4 } from '../../base/addresses/ip.ts';
import { type ListenPlace, listenOn } from '../handover/sockets.ts';
import { MAX_PROXY_OCTETS, PROXY_MS } from '../proxy/limits.ts';
import { plainAddress, type TrustedProxies } from '../proxy/visitor.ts';
import type { ConnectionBounds } from './connection-limits.ts';
import {
  createSilentConnections,
  type PreambleOutcome,
  type PreambleStep,
  readPreamble,
} from './preamble.ts';

/** A listening socket with its acceptor. */
export interface RunningListener {
  readonly address: AddressInfo;
  /** The listening server, whose socket another process may get. */
  readonly server: Server;
  /** Stops accepting connections; those accepted are served on. The socket listens on in a process that has it too. */
  unlisten(): void;
  /** As `Acceptor.retire`. */
  retire(): void;
  /** Stops accepting connections, serves those accepted for up to `graceMs`, then ends them. */
  stop(graceMs: number): Promise<void>;
}

export interface Acceptor {
  /** Takes over a new connection. */
  accept(socket: Socket): void;
  /**
   * Makes clients leave while every request is still served, also on new connections: HTTP/1.1 responses close their
   * connections, HTTP/2 connections get a GOAWAY. Precedes `stop`.
   */
  retire(): void;
  /**
   * Serves the accepted connections for up to `graceMs`, also those before their first request, then ends them. The caller
   * stops passing connections first.
   */
  stop(graceMs: number): Promise<void>;
}

/** Which connections are admitted. */
export interface ConnectionAdmission {
  /** Peers that must send a PROXY header; absent or `null`: none. */
  readonly proxies?: TrustedProxies | null;
  /** Limits of concurrent connections; absent: none. */
  readonly connections?: ConnectionBounds;
}

export interface AcceptorOptions extends ConnectionAdmission {
  /** Passes a connection to its server, with the client's address; `null` unknown. */
  readonly begin: (socket: Socket, peer: string | null) => void;
  /** Makes connections end with their next response. */
  readonly retire: () => void;
  /** Ends connections that serve no request. */
  readonly closeIdle: () => void;
  /** Ends connections that serve no request, and others after the requests that they serve. */
  readonly drain: () => void;
  /** Ends the servers; called when every connection has closed. */
  readonly close: () => void;
}

/** Milliseconds between two scans for connections that have become idle during a stop. */
const SCAN_MS = 50;

/** An acceptor for one listener. */
export function createAcceptor(options: AcceptorOptions): Acceptor {
  const { proxies = null, connections, begin, retire, closeIdle, drain, close } = options;
  const all = new Set<Socket>();
  const silent = createSilentConnections();
  let stopping = false;
  let emptied: () => void = () => undefined;
  let ending: Promise<void> | null = null;

  function endIdle(): void {
    drain();
    silent.end();
  }

  /** Resolves when every connection has closed. */
  async function allClosed(): Promise<void> {
    if (all.size === 0) return;
    const empty = new Promise<void>((resolve) => {
      emptied = resolve;
    });
    const scans = setInterval(endIdle, SCAN_MS);
    await empty;
    clearInterval(scans);
  }

  connections?.relieveBy(closeIdle);
  return {
    accept(socket) {
      if (stopping || connections?.admit(socket) === false) return void socket.destroy();
      all.add(socket);
      silent.watch(socket);
      // `close` follows every error.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        all.delete(socket);
        if (all.size === 0) emptied();
      });
      readPeer(socket, {
        proxies,
        done(peer) {
          if (!peer.ok || connections?.admitFrom(peer.value, socket) === false) socket.destroy();
          else begin(socket, peer.value);
        },
      });
    },
    retire,
    async stop(graceMs) {
      stopping = true;
      endIdle();
      const timer = setTimeout(() => {
        for (const socket of all) socket.destroy();
      }, graceMs);
      // Concurrent stops wait for the same end; the shortest grace applies.
      ending ??= allClosed().then(close);
      await ending;
      clearTimeout(timer);
    },
  };
}

/** Listens, and passes connections to an acceptor. */
export async function listenWith(
  acceptor: Acceptor,
  { allowHalfOpen, ...place }: ListenPlace & { readonly allowHalfOpen: boolean },
): Promise<RunningListener> {
  const server = createServer({ allowHalfOpen, noDelay: true }, (socket) => acceptor.accept(socket));
  const address = await listenOn(server, place);
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  const unlisten = (): void => {
    if (server.listening) server.close();
  };
  return {
    address,
    server,
    unlisten,
    retire: acceptor.retire,
    async stop(graceMs) {
      unlisten();
      await acceptor.stop(graceMs);
      await closed;
    },
  };
}

// The PROXY protocol, versions 1 and 2 (haproxy.org/download/3.0/doc/proxy-protocol.txt): a proxy sends its client's address
// at the start of a connection. A peer that is trusted to send the header must send it, since a guess would let its clients
// choose their address. From other peers the header is not read, and is malformed in the protocol that follows.

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
function readPeer(socket: Socket, { proxies, done }: PeerOptions): void {
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
