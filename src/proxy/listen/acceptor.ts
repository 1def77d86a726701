/**
 * Connections taken for servers that do not listen themselves, since something comes before their protocol: a PROXY
 * header, a TLS handshake. Who listens, or is handed connections by another process, feeds them in.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TrustedProxies } from '../visitor.ts';
import type { ConnectionBounds } from './connection-limits.ts';
import { readPeer } from './proxy-protocol.ts';
import { createSilentConnections } from './unused-connections.ts';

export interface RunningListener {
  readonly address: AddressInfo;
  /** As `Acceptor.retire`. */
  retire(): void;
  /** Stops taking connections, lets those that were made be served for `graceMs`, then ends them. */
  stop(graceMs: number): Promise<void>;
}

export interface Acceptor {
  /** Takes over a connection that was just made. */
  accept(socket: Socket): void;
  /**
   * Asks clients to leave while every request is still served, also on new connections: HTTP/1.1 answers close their
   * connections, HTTP/2 connections get a GOAWAY. Comes before `stop`.
   */
  retire(): void;
  /**
   * Lets connections that were made be served for `graceMs`, also those still before their protocol, then ends them.
   * Whoever feeds it stops first.
   */
  stop(graceMs: number): Promise<void>;
}

/** Whose connections are taken. */
export interface ConnectionAdmission {
  /** Who must say by a PROXY header whom it speaks for; absent or `null`: nobody. */
  readonly proxies?: TrustedProxies | null;
  /** How many connections there may be; absent: as many as come. */
  readonly connections?: ConnectionBounds;
}

export interface AcceptorOptions extends ConnectionAdmission {
  /** Gives a connection to its server, once it is known whose it is: the client's address, `null` unknown. */
  readonly begin: (socket: Socket, peer: string | null) => void;
  /** Has connections end with what they serve next. */
  readonly retire: () => void;
  /** Ends connections that serve no request. */
  readonly closeIdle: () => void;
  /** Ends connections that serve no request, and has others end with those they serve. */
  readonly drain: () => void;
  /** Ends the servers behind; called once every connection is gone. */
  readonly close: () => void;
}

/** Milliseconds between looks for connections that became idle while stopping. */
const LOOK_MS = 50;

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

  async function gone(): Promise<void> {
    if (all.size === 0) return;
    const empty = new Promise<void>((resolve) => {
      emptied = resolve;
    });
    const looks = setInterval(endIdle, LOOK_MS);
    await empty;
    clearInterval(looks);
  }

  connections?.relieveBy(closeIdle);
  return {
    accept(socket) {
      if (stopping || connections?.admit(socket) === false) return void socket.destroy();
      all.add(socket);
      silent.watch(socket);
      // A connection that breaks is told by `close`.
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
      const late = setTimeout(() => {
        for (const socket of all) socket.destroy();
      }, graceMs);
      // Whoever else stops it waits for the same end, which the shortest grace brings.
      ending ??= gone().then(close);
      await ending;
      clearTimeout(late);
    },
  };
}

/** Listens and feeds an acceptor. */
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
