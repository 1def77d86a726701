/**
 * TLS in front of HTTP. In: a TCP connection. Its start is read and put back: the client's address from a trusted proxy, then
 * the ClientHello, for the fingerprint and the requested name (SNI). Out: a refusal of a name that is not served, or a
 * handshake with the name's certificate, after which HTTP/2 or HTTP/1.1 serves the connection.
 */
import { constants, hkdfSync } from 'node:crypto';
import { METHODS } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { createServer, type SecureVersion, type Server, type TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { type HostFacts, parseHost } from '../../../base/addresses/host.ts';
import { sha256Hex } from '../../../base/platform/cryptography.ts';
import { type ClientHello, ja4, readClientHello } from '../../../engine/classification/ja4.ts';
import { plainHttpAnswer } from '../../answers/pages.ts';
import { certificateOf } from '../../credentials/client-certificates.ts';
import type { Plans } from '../../following/served-domain.ts';
import type { ListenPlace } from '../../handover/sockets.ts';
import { HELLO_MS, MAX_HELLO_OCTETS, MAX_HELLO_RECORD_OCTETS, MAX_TLS12_NAMES } from '../../proxy/limits.ts';
import type { Listener } from '../../proxy/visitor.ts';
import { answerOnSocket } from '../../proxy/write-response.ts';
import { type Acceptor, createAcceptor, listenWith, type RunningListener } from '../acceptor.ts';
import type { HandshakeRefusal, RefusedHandshakes } from '../connection-limits.ts';
import { type ConnectionOrigin, createHttpFront, type ListenOptions } from '../http.ts';
import { type PreambleStep, readPreamble } from '../preamble.ts';
import type { CertificatePair } from './certificate-pairs.ts';
import { createHttp2Front } from './http2.ts';

// TLS servers that do not listen themselves. In: connections whose ClientHello was read, with the certificate for its name.
// Out: established connections. Clients of TLS 1.3 have one server. Those of TLS 1.2 have one for each name, with ticket keys
// of its own: a session must not be resumed under another name than its own (RFC 6066 §3), and OpenSSL does not compare them.
// In TLS 1.3 the name of each handshake counts, resumed or not (RFC 8446 §4.2.11). Clients that are asked for a certificate have
// a server without tickets: a resumed session has the certificate of an earlier handshake, whose name may have been another.

export interface TlsServersOptions {
  /** The 48 octets that encrypt session tickets, shared by the processes of a node; `null`: random ones. */
  readonly ticketKeys: Buffer | null;
  /** The pair for a name that a client sent. */
  readonly certificateOf: (sent: string) => CertificatePair | HandshakeRefusal;
  /** Called with each established connection, and whether its client was asked for a certificate. */
  readonly onSecure: (socket: TLSSocket, isAsked: boolean) => void;
}

export interface Handshake {
  /** The name in the ClientHello, canonical; `null`: none. */
  readonly serverName: string | null;
  /** The pair for that name. */
  readonly pair: CertificatePair;
  /** Whether the client offers TLS 1.3. */
  readonly version13: boolean;
  /** Whether the client is asked for a certificate. */
  readonly asks: boolean;
}

export interface TlsServers {
  /** Starts the handshake of a connection. */
  shake(socket: Socket, handshake: Handshake): void;
}

/** A server with the certificate for clients without a name that it was set to last. */
interface NamedServer {
  readonly server: Server;
  unnamed: CertificatePair | null;
}

/**
 * The cipher suites of TLS 1.2 that have forward secrecy and authenticated encryption (Mozilla, "Server Side TLS",
 * intermediate, version 5.7); TLS 1.3 has no others.
 */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/**
 * The settings of every handshake. TLS 1.2 renegotiation is off: it costs the node far more than the client (CVE-2011-1473),
 * and Node itself ends a connection only at the fourth.
 */
const SECURE = {
  ciphers: CIPHERS,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

/** The settings of handshakes that ask for a certificate: any one is taken, and judged at each request. */
const ASKING = {
  requestCert: true,
  rejectUnauthorized: false,
  secureOptions: SECURE.secureOptions | constants.SSL_OP_NO_TICKET,
} as const;

function createTlsServers(options: TlsServersOptions): TlsServers {
  const main = createNamed(options, 'TLSv1.3', options.ticketKeys);
  const master = main.server.getTicketKeys();
  /** By the name; empty: clients without one. An evicted server is made again with the same ticket keys. */
  const older = new LRUCache<string, NamedServer>({ max: MAX_TLS12_NAMES });

  const asking = createNamed(options, 'TLSv1.2', null, ASKING);

  function serverFor({ serverName, version13, asks }: Handshake): NamedServer {
    if (asks) return asking;
    if (version13) return main;
    const name = serverName ?? '';
    const found = older.get(name) ?? createNamed(options, 'TLSv1.2', ticketKeysOf(master, name));
    older.set(name, found);
    return found;
  }

  return {
    shake(socket, handshake) {
      const found = serverFor(handshake);
      if (handshake.serverName === null) useDefault(found, handshake.pair);
      found.server.emit('connection', socket);
    },
  };
}

/** The ticket keys of a name. */
function ticketKeysOf(master: Buffer, name: string): Buffer {
  return Buffer.from(hkdfSync('sha256', master, '', `edgeplan TLS 1.2 tickets of ${name}`, master.length));
}

/** A server whose clients' names have been checked before. */
function createNamed(
  { certificateOf, onSecure }: TlsServersOptions,
  minVersion: SecureVersion,
  ticketKeys: Buffer | null,
  asking: typeof ASKING | null = null,
): NamedServer {
  const server = createServer({
    ...SECURE,
    ...asking,
    minVersion,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: HELLO_MS,
    ...(ticketKeys === null ? {} : { ticketKeys }),
    SNICallback: (sent, done) => {
      const pair = certificateOf(sent);
      if (typeof pair === 'string') done(new Error('the certificate is gone'));
      else done(null, pair.context());
    },
  });
  server.on('tlsClientError', (_error, socket: TLSSocket) => socket.destroy());
  server.on('secureConnection', (socket) => onSecure(socket, asking !== null));
  return { server, unnamed: null };
}

/** Sets the certificate for clients without a server name, once per certificate. */
function useDefault(named: NamedServer, pair: CertificatePair): void {
  if (pair === named.unnamed) return;
  named.unnamed = pair;
  const { server } = named;
  server.setSecureContext({ cert: pair.cert, key: pair.key, ...SECURE, ticketKeys: server.getTicketKeys() });
}

// Assembles a ClientHello from TLS records (RFC 8446 §5.1). In: the first octets of a connection. Out: the handshake message,
// which may be spread over any number of records, and each record over any number of segments.

/** Octets of a record's header: type, version, length. */
const RECORD_HEADER = 5;
const HANDSHAKE = 22;
/** Octets of a record's content at most. */
const MAX_RECORD = 16_384;
const CLIENT_HELLO = 1;
/** Octets of a handshake message's header: type, length. */
const MESSAGE_HEADER = 4;

/** A reader for one connection: returns the handshake message with its header, and uses no octet of the connection. */
export function createHelloReader(): (octets: Buffer) => PreambleStep<Uint8Array> {
  /** The start of the first record that is not assembled yet. */
  let at = 0;
  /** The message so far: the first `length` octets of the buffer. */
  let length = 0;
  let message: Buffer = Buffer.alloc(0);

  function add(content: Buffer): void {
    if (length === 0) message = content;
    else {
      if (length + content.length > message.length) {
        const room = Buffer.allocUnsafe(Math.max(2 * message.length, length + content.length));
        message.copy(room, 0, 0, length);
        message = room;
      }
      content.copy(message, length);
    }
    length += content.length;
  }

  return (octets) => {
    if (octets[0] !== HANDSHAKE) return plainMethodOf(octets) === 'more' ? 'more' : refuse('this is not TLS');
    while (octets.length - at >= RECORD_HEADER) {
      const size = octets.readUInt16BE(at + 3);
      if (octets[at] !== HANDSHAKE || octets[at + 1] !== 3) return refuse('this is not TLS');
      if (size === 0 || size > MAX_RECORD) return refuse('a TLS record has a length that none may have');
      if (octets.length - at < RECORD_HEADER + size) break;
      add(octets.subarray(at + RECORD_HEADER, at + RECORD_HEADER + size));
      at += RECORD_HEADER + size;
      if (message[0] !== CLIENT_HELLO) return refuse('the first message is no ClientHello');
      if (length < MESSAGE_HEADER) continue;
      const whole = MESSAGE_HEADER + message.readUIntBE(1, 3);
      if (whole > MAX_HELLO_OCTETS)
        return refuse(`the ClientHello is longer than ${MAX_HELLO_OCTETS} octets`);
      if (length >= whole) return { ok: true, value: message.subarray(0, whole), used: 0 };
    }
    return 'more';
  };
}

// HTTP without TLS, from clients that were given `http:` in place of `https:`. It is recognised by its first octets.

const SPACE = 0x20;
/** The octets of the longest method. */
const MAX_METHOD = Math.max(...METHODS.map((method) => method.length));
const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

/** The method at the start of a request of HTTP/1; `more`: it may follow; `null`: another text. */
function plainMethodOf(octets: Buffer): string | null {
  const end = octets.subarray(0, MAX_METHOD + 1).indexOf(SPACE);
  const text = octets.toString('latin1', 0, end < 0 ? Math.min(octets.length, MAX_METHOD + 1) : end);
  if (end < 0) return METHODS.some((method) => method.startsWith(text)) ? 'more' : null;
  if (octets.length === end + 1) return KNOWN_METHODS.has(text) ? 'more' : null;
  // A target begins with a visible octet.
  return KNOWN_METHODS.has(text) && octets[end + 1]! > SPACE && octets[end + 1]! < 0x7f ? text : null;
}

function refuse(reason: string): PreambleStep<Uint8Array> {
  return { ok: false, reason };
}

/** Where the certificates of handshakes come from. */
export interface HandshakeCertificates {
  /**
   * The pair for a canonical name; `null` as the name: the pair for clients without SNI.
   * @param domain the domain that has the name; `null` with the name
   */
  find(name: string | null, domain: string | null): CertificatePair | null;
}

export interface TlsOptions extends Omit<ListenOptions, keyof ListenPlace | 'publicPort'> {
  readonly plans: Pick<Plans, 'find'>;
  readonly certificates: HandshakeCertificates;
  /** The 48 octets that encrypt session tickets, shared by the processes of a node; `null`: random ones. */
  readonly ticketKeys: Buffer | null;
  /** Called with each handshake that is refused for its name. */
  readonly onRefused?: RefusedHandshakes['record'];
}

/** TLS 1.3 in the supported_versions extension (RFC 8446 §4.2.1). */
const TLS_1_3 = 0x0304;

/** A fatal alert unrecognized_name (RFC 6066 §3; RFC 8446 §6), in a record of its own. */
const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/** Listens for HTTPS. */
export async function listenTls(
  options: TlsOptions & Pick<ListenOptions, keyof ListenPlace | 'publicPort'>,
): Promise<RunningListener> {
  const listener = { scheme: 'https' as const, port: options.publicPort ?? options.port };
  const running = await listenWith(createTlsAcceptor(options, listener), {
    ...options,
    allowHalfOpen: false,
  });
  if (options.publicPort === null) listener.port = running.address.port;
  return running;
}

/** An acceptor for connections from another listener. */
export function createTlsAcceptor(options: TlsOptions, listener: Listener): Acceptor {
  /** The facts of connections within their handshake, by the addresses of both ends. */
  const handshakes = new Map<string, ConnectionOrigin>();
  const http1 = createHttpFront({ ...options, listener });
  const http2 = createHttp2Front({ ...options, listener });
  const servers = createTlsServers({
    ticketKeys: options.ticketKeys,
    certificateOf: (sent) => certificateFor(options, sent, nameOf(sent)),
    onSecure(socket, isAsked) {
      const arrival = handshakes.get(endsOf(socket));
      // The certificate was chosen by the name in the ClientHello, which must be the name that TLS itself has read.
      if (arrival === undefined || !isAsRead(socket, arrival.serverName)) return void socket.destroy();
      const front = socket.alpnProtocol === 'h2' ? http2 : http1;
      front.take(socket, isAsked ? { ...arrival, certificate: certificateOf(socket) } : arrival);
    },
  });

  /** Registers the facts of a connection until its handshake is over. */
  function register(socket: Socket, arrival: ConnectionOrigin): void {
    const ends = endsOf(socket);
    handshakes.set(ends, arrival);
    socket.once('close', () => {
      if (handshakes.get(ends) === arrival) handshakes.delete(ends);
    });
  }

  return createAcceptor({
    ...options,
    begin(socket, peer) {
      readHello(socket, (hello, method) => {
        if (hello === null) {
          if (method === null) return void socket.destroy();
          options.onRefused?.('plain_http', null);
          return void answerOnSocket(socket, plainHttpAnswer(method !== 'HEAD'));
        }
        const serverName = nameOf(hello.serverName);
        const pair = certificateFor(options, hello.serverName, serverName);
        if (typeof pair === 'string') {
          options.onRefused?.(pair, hello.serverName);
          return void socket.end(UNRECOGNIZED_NAME, () => socket.destroy());
        }
        register(socket, { peer, serverName, ja4: ja4(hello, sha256Hex), certificate: null });
        const version13 = hello.supportedVersions.includes(TLS_1_3);
        servers.shake(socket, { serverName, pair, version13, asks: asksOf(options, serverName) });
      });
    },
    retire() {
      http1.retire();
      http2.retire();
    },
    closeIdle() {
      http1.closeIdle();
      http2.closeIdle();
    },
    drain() {
      http1.drain();
      http2.drain();
    },
    close() {
      http1.close();
      http2.close();
    },
  });
}

/**
 * Reads the ClientHello, and puts it back; `null`: no ClientHello arrived, or a malformed one.
 * @param done gets the method if the client sent HTTP in its place
 */
function readHello(socket: Socket, done: (hello: ClientHello | null, method: string | null) => void): void {
  const read = createHelloReader();
  let method: string | null = null;
  readPreamble(socket, {
    read(octets) {
      const step = read(octets);
      if (step !== 'more' && !step.ok) method = plainMethodOf(octets);
      return step;
    },
    maxOctets: MAX_HELLO_RECORD_OCTETS,
    ms: HELLO_MS,
    done: (outcome) => done(outcome.ok ? readClientHello(outcome.value) : null, method),
  });
}

/** The certificate for the name that a client sent, or the reason of the refusal. */
function certificateFor(
  { plans, certificates }: TlsOptions,
  sent: string | null,
  name: string | null,
): CertificatePair | HandshakeRefusal {
  // An address is not a valid server name (RFC 6066 §3), and counts as none.
  if (sent === null || isIP(sent) !== 0) return certificates.find(null, null) ?? 'no_name';
  if (name === null) return 'bad_name';
  const owner = plans.find(name);
  if (owner === null) return 'unknown';
  if (owner === 'refused') return 'suspended';
  return certificates.find(name, owner.name) ?? 'no_certificate';
}

/** Whether a gateway of a name takes client certificates. On other names browsers would ask their users for one. */
function asksOf({ plans }: TlsOptions, name: string | null): boolean {
  const owner = name === null ? null : plans.find(name);
  return owner !== null && owner !== 'refused' && owner.evaluator.wantsCertificate(name!);
}

const facts: HostFacts = { host: '', port: -1, literal: false };

/** A server name in canonical form; `null`: none was sent, or it is no host name. */
function nameOf(sent: string | false | null | undefined): string | null {
  if (
    typeof sent !== 'string' ||
    isIP(sent) !== 0 ||
    !parseHost(sent, facts) ||
    facts.literal ||
    facts.port >= 0
  )
    return null;
  return facts.host;
}

/**
 * Whether TLS has read the same name as `readHello`. For a resumed session of TLS 1.2 Node reports none, whatever was sent
 * (`servername` is `false`): the name in the ClientHello counts, whose tickets no other name can use.
 */
function isAsRead(socket: TLSSocket, serverName: string | null): boolean {
  if (socket.servername === false && socket.isSessionReused()) return true;
  return nameOf(socket.servername) === serverName;
}

/** The addresses and ports of both ends, as a key. */
function endsOf(socket: Socket): string {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
