/**
 * Where a door of the agent listens. In: a server that does not listen yet, and an address on TCP or a unix socket. Out: the
 * server accepts connections, and the address as proxies and logs name it. A socket file that no process serves is replaced.
 */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { type AddressInfo, connect, type ListenOptions, type Server } from 'node:net';

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

/** A door that accepts connections. */
export interface RunningDoor<Counts> {
  /** `tcp://127.0.0.1:9000` or `unix:/run/edgeplan/spop.sock`. */
  readonly address: string;
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
export async function listenAt(server: Server, address: DoorAddress): Promise<string> {
  if (!('path' in address)) {
    await listening(server, { host: address.host, port: address.port, backlog: BACKLOG });
    const { port } = server.address() as AddressInfo;
    return `tcp://${address.host.includes(':') ? `[${address.host}]` : address.host}:${port}`;
  }
  const { path } = address;
  await removeStale(path);
  await listening(server, { path, backlog: BACKLOG });
  chmodSync(path, SOCKET_MODE);
  return `unix:${path}`;
}

function listening(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Removes the socket file of a process that has ended; one that is served, and any other file, stays. */
async function removeStale(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new Error(`\`${path}\` is a file and no socket; name another path, or remove the file`);
  }
  if (await isServed(path)) {
    throw new Error(`\`${path}\` is served by another process; stop it, or name another path`);
  }
  unlinkSync(path);
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
