/** Persistent connections to origins: one pool of them for each address, port, scheme and TLS name. */
import { type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, isIPv6, type Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher, Pool } from 'undici';
import {
  CONNECT_MS,
  LINGER_MS,
  MAX_ORIGIN_HEAD_OCTETS,
  MAX_QUEUED,
  ORIGIN_IDLE_MS,
  QUEUE_MS,
  STALL_MS,
} from '../limits.ts';
import type { OriginGuard } from './guard.ts';
import { acceptInterim } from './http1.ts';
import type { OriginNames } from './names.ts';
import type { OutgoingRequest } from './request.ts';
import { createSlots, type Slots } from './slots.ts';

/** Where a connection goes, and for TLS the name it requests. */
export interface OriginPlace {
  readonly scheme: 'http' | 'https';
  readonly address: string;
  readonly port: number;
  /** The name in the TLS handshake and on the certificate. */
  readonly serverName: string;
}

/** The connections to one place. */
export interface OpenedConnection {
  readonly pool: Pool;
  /** Whether the request that undici writes now is the first of its connection. */
  isFirst(): boolean;
  /** A connection of its own for one request; it is closed behind the response. */
  fresh(): Dispatcher;
  /**
   * The same without undici: Node's request on a connection of its own, which emits `connected` once it is written.
   * @throws Error if the place is forbidden
   */
  single(request: SingleRequest): ClientRequest;
  readonly isTls: boolean;
  /** Distributes its connections among requests. */
  readonly slots: Slots;
  /** The host name of the place; `null`: it is an address. */
  readonly name: string | null;
  /** The generation of the name's addresses (`OriginNames`) when the pool was opened. */
  readonly generation: number;
}

/** The head of a request. */
export type SingleRequest = Pick<OutgoingRequest, 'method' | 'path' | 'headers'>;

export interface Connections {
  /** The connections to a place; opens a pool for a new place, and if the name has moved to other addresses. */
  to(place: OriginPlace): OpenedConnection;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** Connections to one place at most; further requests wait for one. */
  readonly perOrigin: number;
  /** Accepts any certificate of an origin. */
  readonly anyCertificate: boolean;
  readonly names: OriginNames;
  readonly guard: OriginGuard;
}

/** Pools open at once. Beyond it the least recently used one is closed. */
const MAX_PLACES = 2_048;

export function createConnections(options: ConnectionOptions): Connections {
  const { perOrigin, anyCertificate, names, guard } = options;
  /** By place, the least recently used first. */
  const opened = new Map<string, OpenedConnection>();
  /** The last one used. PERF: most requests go to the place of the request before. */
  let last: { readonly place: OriginPlace; readonly opened: OpenedConnection } | null = null;

  function open({ scheme, address, port, serverName }: OriginPlace): OpenedConnection {
    const host = isIPv6(address) ? `[${address}]` : address;
    const dial = buildConnector({
      timeout: CONNECT_MS,
      lookup: guard.lookupFor(port),
      rejectUnauthorized: !anyCertificate,
      ...(scheme === 'https' ? { servername: serverName } : {}),
    });
    const options: Client.Options = {
      pipelining: 1,
      // The guard checks the host that is dialled: URL parsing turns names such as `2130706433` into addresses.
      connect: (to, callback) => {
        const refusal = guard.refusal(to.hostname, port);
        if (refusal !== null) return callback(refusal, null);
        dial(to, (...[error, socket]) => {
          if (error !== null) return callback(error, null);
          acceptInterim(socket);
          postponeWriteErrors(socket);
          socket.on('error', renameReset);
          callback(null, socket);
        });
      },
      // `send.ts` limits the time to the head, and its own time between pieces of a body: they differ from record to record.
      headersTimeout: 0,
      bodyTimeout: STALL_MS,
      keepAliveTimeout: ORIGIN_IDLE_MS,
      maxHeaderSize: MAX_ORIGIN_HEAD_OCTETS,
    };
    const url = `${scheme}://${host}:${port}`;
    const pool = new Pool(url, { ...options, connections: perOrigin });
    let first = false;
    // undici writes the request that waits for a connection in the same tick.
    pool.on('connect', () => {
      first = true;
      queueMicrotask(() => {
        first = false;
      });
    });
    const name = isIP(address) === 0 ? address : null;
    const slots = createSlots({ maxConnections: perOrigin, maxQueued: MAX_QUEUED, waitMs: QUEUE_MS });
    const generation = name === null ? 0 : names.generation(name);
    return {
      pool,
      isFirst: () => first,
      fresh: () => new Client(url, options),
      single(request) {
        const refusal = guard.refusal(address, port);
        if (refusal !== null) throw refusal;
        return requestAlone(
          { ...request, isTls: scheme === 'https' },
          {
            host: address,
            port,
            lookup: guard.lookupFor(port),
            ...(scheme === 'https' ? { servername: serverName, rejectUnauthorized: !anyCertificate } : {}),
          },
        );
      },
      isTls: scheme === 'https',
      slots,
      name,
      generation,
    };
  }

  /** Whether the connections go to current addresses of the place's name. */
  function isCurrent({ name, generation }: OpenedConnection): boolean {
    return name === null || names.generation(name) === generation;
  }

  return {
    to(place) {
      if (last !== null && isSame(last.place, place) && isCurrent(last.opened)) return last.opened;
      const name = place.scheme === 'https' ? place.serverName : '';
      const key = `${place.scheme} ${place.address} ${place.port} ${name}`;
      const known = opened.get(key);
      if (known !== undefined) opened.delete(key);
      const isUsable = known !== undefined && isCurrent(known);
      if (known !== undefined && !isUsable) closeWhenIdle(known);
      const connection = isUsable ? known : open(place);
      opened.set(key, connection);
      if (opened.size > MAX_PLACES) closeOldest(opened);
      last = { place, opened: connection };
      return connection;
    },
    async close() {
      const all = [...opened.values()];
      opened.clear();
      last = null;
      await Promise.all(all.map(({ pool }) => pool.destroy()));
    },
  };
}

/** Node's request on a connection of its own, its time to connect limited. */
function requestAlone(
  { method, path, headers, isTls }: SingleRequest & { readonly isTls: boolean },
  to: RequestOptions,
): ClientRequest {
  const request = (isTls ? httpsRequest : httpRequest)({
    ...to,
    method,
    path,
    headers: headers as string[],
    agent: false,
    maxHeaderSize: MAX_ORIGIN_HEAD_OCTETS,
  });
  // Node would drop the headers beyond its limit silently.
  request.maxHeadersCount = 0;
  const late = setTimeout(() => {
    request.destroy(Object.assign(new Error(`no connection within ${CONNECT_MS} ms`), { code: 'ETIMEDOUT' }));
  }, CONNECT_MS);
  request.once('close', () => clearTimeout(late));
  request.once('socket', (socket) => {
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      clearTimeout(late);
      postponeWriteErrors(socket);
      request.emit('connected');
    });
  });
  return request;
}

/**
 * Renames the reset of a connection. undici takes one within a response without a length for its end, by its code and since
 * macOS reports resets after whole bodies; half a body would pass for all of it (RFC 9112 §8).
 */
function renameReset(error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET') error.code = 'EDGE_RESET';
}

function isSame(a: OriginPlace, b: OriginPlace): boolean {
  return (
    a.address === b.address && a.port === b.port && a.scheme === b.scheme && a.serverName === b.serverName
  );
}

function closeOldest(opened: Map<string, OpenedConnection>): void {
  const [oldest] = opened;
  if (oldest === undefined) return;
  opened.delete(oldest[0]);
  closeWhenIdle(oldest[1]);
}

/** Closes a pool after its requests in flight; a pool that is closed already rejects, which means the same. */
function closeWhenIdle({ pool }: OpenedConnection): void {
  pool.close().catch(() => undefined);
}

// A server that refuses an upload early responds, closes, and resets the connection for what still arrives (RFC 9112 §9.6).
// Which of the two a client finds first is a race: Node destroys a connection at the first failed write, with the response
// unread in the kernel. Here a failed write waits until the connection is read to its end.

type WriteDone = (error?: Error | null) => void;

/** The method of Node's sockets behind `write`, for one chunk and for several. */
interface GenericWriter extends Socket {
  _writeGeneric(isSeveral: boolean, data: unknown, encoding: string, done: WriteDone): void;
}

/** Postpones the write errors of a connection until its end, its own error, or a time without an octet. */
export function postponeWriteErrors(socket: Socket): void {
  const writer = socket as GenericWriter;
  const write = writer._writeGeneric;
  // PERF: Node passes one function with all writes of a socket.
  let passed: WriteDone | null = null;
  let judged: WriteDone = nothing;
  writer._writeGeneric = (isSeveral, data, encoding, done) => {
    if (done !== passed) {
      passed = done;
      judged = (error) => {
        if (error instanceof Error && !socket.readableEnded) postpone(socket, error);
        else done(error);
      };
    }
    write.call(writer, isSeveral, data, encoding, judged);
  };
}

/** The write stays pending, so that nothing more is written. The reader of the socket destroys it at its end. */
function postpone(socket: Socket, error: Error): void {
  socket.setTimeout(LINGER_MS, () => socket.destroy(error));
}

function nothing(): void {}
