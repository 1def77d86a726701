/**
 * Accepts connections for servers that do not listen themselves, since a PROXY header or a TLS handshake precedes their
 * protocol. In: connections from a listening socket, or from another process. Out: connections with their client's address,
 * within limits, and a graceful stop.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TrustedProxies } from '../proxy/visitor.ts';
import type { ConnectionBounds } from './connection-limits.ts';
import { readPeer } from './proxy-protocol.ts';
import { createSilentConnections } from './unused-connections.ts';

/** A listening socket with its acceptor. */
export interface RunningListener {
  readonly address: AddressInfo;
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
  {
    host,
    port,
    allowHalfOpen,
  }: { readonly host: string; readonly port: number; readonly allowHalfOpen: boolean },
): Promise<RunningListener> {
  const server = createServer({ allowHalfOpen, noDelay: true }, (socket) => acceptor.accept(socket));
  server.listen(port, host);
  await once(server, 'listening');
  return {
    address: server.address() as AddressInfo,
    retire: acceptor.retire,
    async stop(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await acceptor.stop(graceMs);
      await closed;
    },
  };
}
