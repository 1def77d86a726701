/**
 * Listening sockets that outlive a process: those that systemd or an earlier process of the node passes, and those of this
 * process that the next one may get. In: a server, and an address or a socket. Out: the server listening.
 */
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** A socket that listens already. */
export interface InheritedSocket {
  /** What `server.listen` takes: `{ fd }` of a descriptor, or a handle of the IPC channel. */
  readonly handle: object;
  /** The port that it is bound to; `null`: it is known once a server listens. */
  readonly port: number | null;
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
}

/** A listening socket of this process, to be handed over. */
export interface OpenSocket {
  readonly name: string;
  /** The address as configured; `null`: the socket came from systemd, which knows its address. */
  readonly place: Pick<ListenPlace, 'host' | 'port'> | null;
  readonly server: Server;
}

/** A socket that an earlier process of the node has handed over. */
export interface HandedSocket extends Pick<OpenSocket, 'name' | 'place'> {
  readonly port: number;
  readonly handle: SocketHandle;
}

/** Node's own object of a listening socket. */
export interface SocketHandle {
  close(): void;
}

/** Sockets by the name of their listener. */
export type InheritedSockets = ReadonlyMap<string, InheritedSocket>;

/** Listens, and resolves with the bound address. @throws the system's error, such as of a port that is taken */
export async function listenOn(server: Server, { host, port, socket }: ListenPlace): Promise<AddressInfo> {
  if (socket === null || socket === undefined) server.listen(port, host);
  else server.listen(socket.handle);
  await once(server, 'listening');
  return server.address() as AddressInfo;
}

/** The handle of a listening server, as `process.send` takes it without any wrapper; `null`: it does not listen. */
export function handleOf(server: Server): unknown {
  // Node documents `server.listen(handle)` with "any member `_handle`". A `net.Server` that is sent would accept
  // connections at its arrival, before the receiver is ready.
  return (server as Server & { readonly _handle?: unknown })._handle ?? null;
}

/**
 * The handed sockets that a process uses with its own settings: those whose configured address is the same, and all of
 * systemd's. The others are closed, so that no connection waits in their queues.
 * @param wanted the addresses of this process's listeners, by name
 */
export function chooseSockets(
  handed: readonly HandedSocket[],
  wanted: ReadonlyMap<string, Pick<ListenPlace, 'host' | 'port'>>,
): InheritedSockets {
  const chosen = new Map<string, InheritedSocket>();
  for (const { name, place, port, handle } of handed) {
    const own = wanted.get(name);
    const isSame =
      own !== undefined &&
      (place === null || (place.host === own.host && [place.port, port].includes(own.port)));
    if (isSame) chosen.set(name, { handle, port, isFixed: place === null });
    else handle.close();
  }
  return chosen;
}
