/**
 * Listening sockets that outlive a process: those that systemd or an earlier process of the node or agent passes, and those of
 * this process that the next one may get. In: a server, and an address or a socket. Out: the server listening.
 */
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** A socket that listens already. */
export interface InheritedSocket {
  /** What `server.listen` takes: `{ fd }` of a descriptor, or a handle of the IPC channel. */
  readonly handle: object;
  /** The port that it is bound to; `null`: it is known once a server listens, or it is a unix socket. */
  readonly port: number | null;
  /** The path of a unix socket; `null`: it is one of TCP, or the path is unknown. */
  readonly path: string | null;
  /** Whether its address is that of a unit of systemd, whatever the process's own settings are. */
  readonly isFixed: boolean;
}

/** Where a listener listens: at an address, or on a socket that exists. */
export interface ListenPlace {
  readonly host: string;
  /** TCP port; 0: any free one. */
  readonly port: number;
  /** Takes precedence over the address; absent or `null`: a new socket. */
  readonly socket?: InheritedSocket | null;
  /** Connections that wait for `accept`; absent: Node's default. */
  readonly backlog?: number | undefined;
}

/** An address as configured: on TCP, or a unix socket. */
export type SocketAddress = Pick<ListenPlace, 'host' | 'port'> | { readonly path: string };

/** A listening socket of this process, to be handed over. */
export interface OpenSocket {
  readonly name: string;
  /** The address as configured; `null`: the socket came from systemd, which knows its address. */
  readonly place: SocketAddress | null;
  readonly server: Server;
  /** The path of a unix socket; absent or `null`: it is one of TCP. */
  readonly path?: string | null;
}

/** A socket that an earlier process has handed over. */
export interface HandedSocket
  extends Pick<InheritedSocket, 'port' | 'path'>,
    Pick<OpenSocket, 'name' | 'place'> {
  readonly handle: SocketHandle;
}

/** Node's own object of a socket. */
export interface SocketHandle {
  close(): void;
  /** The descriptor. */
  readonly fd: number;
}

/** Sockets by the name of their listener. */
export type InheritedSockets = ReadonlyMap<string, InheritedSocket>;

/** Listens, and resolves with the bound address. @throws the system's error, such as of a port that is taken */
export async function listenOn(
  server: Server,
  { host, port, socket, backlog }: ListenPlace,
): Promise<AddressInfo> {
  if (socket !== null && socket !== undefined) {
    await listenInherited(server, socket, backlog);
  } else {
    server.listen(port, host, backlog);
    await once(server, 'listening');
  }
  return server.address() as AddressInfo;
}

/** Listens on a socket that exists, on TCP or a unix one. @param backlog as `ListenPlace` has it */
export async function listenInherited(
  server: Server,
  { handle }: InheritedSocket,
  backlog?: number,
): Promise<void> {
  server.listen(handle, backlog);
  await once(server, 'listening');
}

/** The handle of a listening server, as `process.send` takes it without any wrapper; `null`: it does not listen. */
export function handleOf(server: Server): unknown {
  // Node documents `server.listen(handle)` with "any member `_handle`". A `net.Server` that is sent would accept
  // connections at its arrival, before the receiver is ready.
  return (server as Server & { readonly _handle?: unknown })._handle ?? null;
}

/** The port of a listening server; `null`: it is on a unix socket. */
export function portOf(server: Server): number | null {
  // A server on a descriptor of a unix socket has no address at all.
  const address = server.address();
  return address === null || typeof address === 'string' ? null : address.port;
}

/**
 * The handed sockets that a process uses with its own settings: those whose configured address is the same, and all of
 * systemd's. The others are closed, so that no connection waits in their queues.
 * @param wanted the addresses of this process's listeners, by name
 */
export function chooseSockets(
  handed: readonly HandedSocket[],
  wanted: ReadonlyMap<string, SocketAddress>,
): InheritedSockets {
  const chosen = new Map<string, InheritedSocket>();
  for (const socket of handed) {
    const { name, place, port, path, handle } = socket;
    const own = wanted.get(name);
    if (own !== undefined && (place === null || isAt(socket, own))) {
      chosen.set(name, { handle: listenable(socket), port, path, isFixed: place === null });
    } else {
      handle.close();
    }
  }
  return chosen;
}

/** Whether a socket with an address has this one; the port of a socket may have been any. */
function isAt({ place, port, path }: HandedSocket, own: SocketAddress): boolean {
  if ('path' in own) return path === own.path;
  return (
    place !== null && 'host' in place && place.host === own.host && [place.port, port].includes(own.port)
  );
}

/** What `server.listen` takes: of bare handles those of TCP alone, and any descriptor. */
function listenable({ handle, port }: HandedSocket): object {
  return port === null ? { fd: handle.fd } : handle;
}
