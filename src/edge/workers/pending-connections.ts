/**
 * The connections on their way to one worker: those that wait until it is ready, and those that were sent and are not
 * accepted yet. They are never given to another worker, so that one address always meets the same one.
 */
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { MAX_WAITING } from './limits.ts';
import type { ToWorker } from './messages.ts';

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
