/** The pending work of one worker: connections on their way to it, and requests that wait for their replies. */
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { ToWorker } from './messages.ts';

/** Maximum number of connections that wait per worker while it starts or is slow: Linux's default `somaxconn`. */
const MAX_WAITING = 4_096;

/** A connection that no worker has accepted yet. */
export interface PendingConnection {
  readonly socket: Socket;
  /** Name of the listener it came to. */
  readonly listener: string;
  /** When it came, in milliseconds of `performance.now()`. */
  readonly since: number;
}

/** The connections of one worker. */
export interface PendingConnections {
  waiting: PendingConnection[];
  /** Sent connections by number; the primary's copy of the socket stays open until the worker accepts it. */
  readonly sent: Map<number, PendingConnection>;
  lastNumber: number;
  /** Connections closed since the last report. */
  refused: number;
}

export function createPendingConnections(): PendingConnections {
  return { waiting: [], sent: new Map(), lastNumber: 0, refused: 0 };
}

/** Lets a connection wait until the worker is ready; closes it when `MAX_WAITING` wait already. */
export function enqueue(connections: PendingConnections, connection: PendingConnection): void {
  if (connections.waiting.length < MAX_WAITING) connections.waiting.push(connection);
  else refuse(connections, connection);
}

/** Sends a connection to the process, or closes it if that is not possible. */
export function send(
  connections: PendingConnections,
  connection: PendingConnection,
  child: ChildProcess | null,
): void {
  const { socket, listener } = connection;
  const { sent } = connections;
  if (child === null || socket.destroyed || sent.size >= MAX_WAITING) {
    refuse(connections, connection);
    return;
  }
  const number = ++connections.lastNumber;
  sent.set(number, connection);
  const message: ToWorker = { kind: 'connection', listener, number };
  // INVARIANT: kept open. Node (seen in 20.20) leaks the socket when a process ends before it has received it. An error
  // here is followed by the end of the process, which puts back what it has not accepted.
  child.send(message, socket, { keepOpen: true }, () => undefined);
}

/** Sends everything that waits to a process that is ready now. */
export function sendWaiting(connections: PendingConnections, child: ChildProcess | null): void {
  const { waiting } = connections;
  connections.waiting = [];
  for (const connection of waiting) send(connections, connection, child);
}

/** The worker has the socket: closes the copy of this process only. */
export function accepted({ sent }: PendingConnections, number: number): void {
  sent.get(number)?.socket.destroy();
  sent.delete(number);
}

/** The process has ended: what it has not accepted waits for the next one. */
export function putBack({ waiting, sent }: PendingConnections): void {
  waiting.push(...sent.values());
  sent.clear();
}

export function refuse(connections: PendingConnections, { socket }: PendingConnection): void {
  connections.refused++;
  socket.destroy();
}

/** Closes what has waited since `until` or longer, in milliseconds of `performance.now()`. */
export function dropExpired(connections: PendingConnections, until: number): void {
  connections.waiting = connections.waiting.filter((connection) => {
    if (connection.socket.destroyed) return false;
    if (connection.since > until) return true;
    refuse(connections, connection);
    return false;
  });
}

// Requests to another process that wait for their replies, matched by number.

/** Requests with replies of type `T`. */
export interface PendingRequests<T> {
  /** Sends a request under a new number; resolves with its reply, or with `late.value()`. */
  send(send: (number: number) => void): Promise<T>;
  /** Resolves a request; unknown numbers are ignored. */
  answer(number: number, value: T): void;
  /** Resolves all open requests, as the other process has ended. */
  end(value: T): void;
}

export interface PendingRequestsOptions<T> {
  /** Milliseconds until a request is resolved without a reply, and with what; `null`: no time limit. */
  readonly late: { readonly ms: number; readonly value: () => T } | null;
}

export function createPendingRequests<T>({ late }: PendingRequestsOptions<T>): PendingRequests<T> {
  const open = new Map<number, (value: T) => void>();
  let last = 0;
  return {
    send(send) {
      const number = ++last;
      return new Promise<T>((resolve) => {
        const timer = late === null ? undefined : setTimeout(() => settle(late.value()), late.ms);
        function settle(value: T): void {
          clearTimeout(timer);
          open.delete(number);
          resolve(value);
        }
        open.set(number, settle);
        send(number);
      });
    },
    answer: (number, value) => open.get(number)?.(value),
    end(value) {
      for (const settle of [...open.values()]) settle(value);
    },
  };
}
