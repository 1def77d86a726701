/**
 * Where a door of the agent listens. In: a server that does not listen yet, and an address on TCP or a unix socket, or a socket
 * that systemd or an earlier process of the agent has opened. Out: the server accepts connections, and the address as proxies and
 * logs name it. A socket file that no process serves is replaced.
 */
import { once } from 'node:events';
import { chmodSync, lstatSync, renameSync, rmSync, type Stats } from 'node:fs';
import { connect, type Server } from 'node:net';
import { type InheritedSocket, listenInherited, listenOn } from '../handover/sockets.ts';

/** Names of the doors' sockets, for systemd and for the next process. */
export const SPOP = 'spop';
export const FORWARD_AUTH = 'forward-auth';
export const EXT_AUTHZ = 'ext-authz';

/** Where a door listens. */
export type DoorAddress =
  | {
      /** An address of this machine, most often of the loopback: no door authenticates its proxy by itself. */
      readonly host: string;
      /** 0: any free port. */
      readonly port: number;
    }
  | {
      /** A unix socket, for the user and the group of the agent. */
      readonly path: string;
    };

/** Where a door listens: at its address, or on a socket that exists. */
export interface DoorPlace {
  readonly address: DoorAddress;
  /** Takes precedence over the address; absent or `null`: a new socket. */
  readonly socket?: InheritedSocket | null;
}

/** The listening socket of a door. */
export interface DoorSocket {
  /** `tcp://127.0.0.1:9000` or `unix:/run/edgeplan/spop.sock`. */
  readonly address: string;
  readonly server: Server;
  /** The path of a unix socket; `null`: it is one of TCP. */
  readonly path: string | null;
  /** Whether `remove` removes the file: not while another process may listen on the socket. */
  setOwned(isOwned: boolean): void;
  /** Removes the file of a unix socket that this process owns, unless another file has its name now. */
  remove(): void;
}

/** A door that accepts connections. */
export interface RunningDoor<Counts> {
  /** That of its socket. */
  readonly address: string;
  readonly socket: DoorSocket;
  /** Accepts no more connections; those that exist are served on. */
  retire(): void;
  /** Retires, lets connections end for so many milliseconds, then closes them. */
  stop(graceMs: number): Promise<void>;
  /** Plain numbers since the start, for metrics. */
  counts(): Counts;
}

/** Connections that wait for `accept`: a reloaded proxy opens all of its own at once. The kernel has a bound too. */
const BACKLOG = 4_096;
/** User and group may connect: connecting to a unix socket takes the permission to write. */
const SOCKET_MODE = 0o660;

/** Lets the server listen; rejects with the fault of the system, or for a path that something else has. */
export async function listenAt(server: Server, { address, socket = null }: DoorPlace): Promise<DoorSocket> {
  const path = socket?.path ?? (socket === null && 'path' in address ? address.path : null);
  if (path !== null) {
    if (socket === null) await bindPath(server, path);
    else await listenInherited(server, socket, BACKLOG);
    return unixSocket(server, path, socket === null);
  }
  const place = 'path' in address ? ANY : address;
  // The address of a unix socket that the system does not list is unknown.
  const bound = await listenOn(server, { ...place, socket, backlog: BACKLOG });
  const host = socket === null ? place.host : (bound?.address ?? '');
  return {
    address: bound === null ? 'unix:' : `tcp://${host.includes(':') ? `[${host}]` : host}:${bound.port}`,
    server,
    path: null,
    setOwned: () => undefined,
    remove: () => undefined,
  };
}

/** Stands for an address where the socket exists. */
const ANY = { host: '127.0.0.1', port: 0 };

function unixSocket(server: Server, path: string, isNew: boolean): DoorSocket {
  const file = lstatSync(path, { throwIfNoEntry: false });
  let owned = isNew;
  return {
    address: `unix:${path}`,
    server,
    path,
    setOwned(isOwned) {
      owned = isOwned;
    },
    remove() {
      if (!owned || file === undefined || !isSameFile(lstatSync(path, { throwIfNoEntry: false }), file))
        return;
      owned = false;
      rmSync(path, { force: true });
    },
  };
}

function isSameFile(found: Stats | undefined, { dev, ino }: Stats): boolean {
  return found?.dev === dev && found.ino === ino;
}

/**
 * Binds a unix socket under a name of this process, and renames it: a server removes the name that it has bound when it closes,
 * but the file stays for the next process on the socket. Proxies find the file with its mode, or none.
 */
async function bindPath(server: Server, path: string): Promise<void> {
  await checkFree(path);
  const bound = `${path}.${process.pid}`;
  rmSync(bound, { force: true });
  server.listen({ path: bound, backlog: BACKLOG });
  try {
    await once(server, 'listening');
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replace(bound, path);
    throw Object.assign(error as object, { address: path });
  }
  chmodSync(bound, SOCKET_MODE);
  renameSync(bound, path);
}

/** The path of a unix socket that a door cannot have. */
export class SocketPathFault extends Error {
  /** What to change. */
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.name = 'SocketPathFault';
    this.remedy = remedy;
  }
}

/** Accepts a path without a file, or with the socket file of a process that has ended. */
async function checkFree(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new SocketPathFault(`\`${path}\` is a file and no socket`, 'name another path, or remove the file');
  }
  if (await isServed(path)) {
    throw new SocketPathFault(
      `\`${path}\` is served by another process`,
      'stop that process, or name another path',
    );
  }
}

/** Whether a process accepts connections at a socket file. */
function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // EAGAIN: its backlog is full, so a process serves it. EACCES: another user's.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT');
    });
  });
}
