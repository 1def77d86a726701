/**
 * The SPOP door: HAProxy asks the agent about every request, over a few connections with many requests at once. In: an address and
 * the function that decides. Out: a running door, whose connections another process can take over: HAProxy has no way to move to
 * another one without a failed request. The configuration of HAProxy for it is in `fixtures/proxies`.
 */
import { createServer, Socket, type SocketConstructorOpts } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { DecideForDoor } from '../door.ts';
import { type DoorPlace, listenAt, type RunningDoor } from '../listener.ts';
import type { Tickets } from '../tickets.ts';
import { type HandedConnection, type SpopConnection, serveConnection } from './connection.ts';
import { createSpopTally, type SpopCounts } from './counts.ts';
import { HAND_OVER_MS, MAX_CONNECTIONS, QUIET_MS } from './limits.ts';

export interface SpopDoorOptions extends DoorPlace {
  readonly decide: DecideForDoor;
  /** Stores the pages that HAProxy fetches at the agent's HTTP listener. */
  readonly tickets: Pick<Tickets, 'issue'>;
  /** Receives sentences for the log. */
  readonly log: (sentence: string) => void;
}

/** A running SPOP door. */
export interface SpopDoor extends RunningDoor<SpopCounts> {
  /**
   * Stops reading on all connections; resolves once nothing is under way on them, or after `HAND_OVER_MS`. What HAProxy sends
   * waits in the kernel, for this process or the next one.
   */
  pause(): Promise<void>;
  /**
   * Passes each paused connection to `send`, and closes it here; one that `send` rejects, or that is not quiet, is served on.
   * @param send resolves when another process has the handle
   */
  handOver(send: (state: HandedConnection, handle: object) => Promise<void>): Promise<void>;
  /** Serves a connection of the process before. */
  adopt(state: HandedConnection, handle: object): void;
}

/** Opens the door; rejects if the address cannot be listened at. */
export async function openSpopDoor({ decide, tickets, log, ...place }: SpopDoorOptions): Promise<SpopDoor> {
  const tally = createSpopTally(log);
  const connections = new Set<SpopConnection>();

  function accept(socket: Socket, state: HandedConnection | null = null): void {
    tally.connections++;
    tally.open++;
    const connection = serveConnection(socket, { decide, tickets, tally }, state);
    connections.add(connection);
    socket.on('close', () => {
      tally.open--;
      connections.delete(connection);
    });
  }

  const server = createServer({ noDelay: true }, (socket) => accept(socket));
  server.maxConnections = MAX_CONNECTIONS;
  server.on('drop', () => {
    tally.refusedConnections++;
    tally.report('connections', `a connection beyond ${MAX_CONNECTIONS} was refused; HAProxy opens too many`);
  });
  const listening = await listenAt(server, place);
  let closed: Promise<void> | null = null;

  function retire(): void {
    if (closed !== null) return;
    closed = new Promise((resolve) => void server.close(() => resolve()));
    listening.remove();
  }

  return {
    address: listening.address,
    socket: listening,
    retire,
    async pause() {
      for (const one of connections) one.pause();
      const deadline = performance.now() + HAND_OVER_MS;
      while ([...connections].some((one) => !one.isIdle()) && performance.now() < deadline) await delay(1);
    },
    async handOver(send) {
      for (const one of connections) {
        const state = one.isIdle() ? one.handOver() : null;
        const sent = state !== null && (await send(state, one.handle()).then(...SENT));
        if (sent) one.destroy();
        else one.resume();
      }
    },
    adopt: (state, handle) => accept(new Socket({ ...BOTH_WAYS, handle } as SocketConstructorOpts), state),
    async stop(graceMs) {
      retire();
      const deadline = performance.now() + graceMs;
      // A connection ends where nothing is under way: HAProxy fails what it has sent before AGENT-DISCONNECT arrives.
      while (connections.size > 0 && performance.now() < deadline) {
        for (const one of connections) if (one.quietMs() >= QUIET_MS) one.disconnect();
        await new Promise((resolve) => setTimeout(resolve, QUIET_MS / 5));
      }
      for (const one of connections) one.destroy();
      await closed;
    },
    counts: () => tally.counts(),
  };
}

/** Whether another process has a connection: one that has ended takes nothing, and this one serves on. */
const SENT = [() => true, () => false] as const;

/** Of a socket from a handle, which its types lack. */
const BOTH_WAYS = { readable: true, writable: true } as const;
