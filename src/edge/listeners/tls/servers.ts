/**
 * TLS servers that do not listen themselves. In: connections whose ClientHello was read, with the certificate for its name.
 * Out: established connections. Clients of TLS 1.3 have one server. Those of TLS 1.2 have one for each name, with ticket keys
 * of its own: a session must not be resumed under another name than its own (RFC 6066 §3), and OpenSSL does not compare them.
 * In TLS 1.3 the name of each handshake counts, resumed or not (RFC 8446 §4.2.11).
 */
import { constants, hkdfSync } from 'node:crypto';
import type { Socket } from 'node:net';
import { createServer, type SecureVersion, type Server, type TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { HELLO_MS, MAX_TLS12_NAMES } from '../../proxy/limits.ts';
import type { CertificatePair } from './certificate-pairs.ts';
import type { HandshakeRefusal } from './refused-handshakes.ts';

export interface TlsServersOptions {
  /** The 48 octets that encrypt session tickets, shared by the processes of a node; `null`: random ones. */
  readonly ticketKeys: Buffer | null;
  /** The pair for a name that a client sent. */
  readonly certificateOf: (sent: string) => CertificatePair | HandshakeRefusal;
  /** Called with each established connection. */
  readonly onSecure: (socket: TLSSocket) => void;
}

export interface Handshake {
  /** The name in the ClientHello, canonical; `null`: none. */
  readonly serverName: string | null;
  /** The pair for that name. */
  readonly pair: CertificatePair;
  /** Whether the client offers TLS 1.3. */
  readonly version13: boolean;
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

export function createTlsServers(options: TlsServersOptions): TlsServers {
  const main = createNamed(options, 'TLSv1.3', options.ticketKeys);
  const master = main.server.getTicketKeys();
  /** By the name; empty: clients without one. An evicted server is made again with the same ticket keys. */
  const older = new LRUCache<string, NamedServer>({ max: MAX_TLS12_NAMES });

  function serverFor({ serverName, version13 }: Handshake): NamedServer {
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
): NamedServer {
  const server = createServer({
    ...SECURE,
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
  server.on('secureConnection', onSecure);
  return { server, unnamed: null };
}

/** Sets the certificate for clients without a server name, once per certificate. */
function useDefault(named: NamedServer, pair: CertificatePair): void {
  if (pair === named.unnamed) return;
  named.unnamed = pair;
  const { server } = named;
  server.setSecureContext({ cert: pair.cert, key: pair.key, ...SECURE, ticketKeys: server.getTicketKeys() });
}
