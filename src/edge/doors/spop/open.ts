/**
 * The SPOP door: HAProxy asks the agent about every request, over a few connections with many requests at once. In: an address and
 * the function that decides. Out: a running door. The configuration of HAProxy for it is in `fixtures/proxies`.
 */
import { createServer, type Socket } from 'node:net';
import type { DecideForDoor } from '../door.ts';
import { type DoorAddress, listenAt, type RunningDoor } from '../listener.ts';
import type { Tickets } from '../tickets.ts';
import { type SpopConnection, serveConnection } from './connection.ts';
import { createSpopTally, type SpopCounts } from './counts.ts';
import { MAX_CONNECTIONS, QUIET_MS } from './limits.ts';

export interface SpopDoorOptions {
  readonly address: DoorAddress;
  readonly decide: DecideForDoor;
  /** Stores the pages that HAProxy fetches at the agent's HTTP listener. */
  readonly tickets: Pick<Tickets, 'issue'>;
  /** Receives sentences for the log. */
  readonly log: (sentence: string) => void;
}

/** Opens the door; rejects if the address cannot be listened at. */
export async function openSpopDoor({
  address,
  decide,
  tickets,
  log,
}: SpopDoorOptions): Promise<RunningDoor<SpopCounts>> {
  const tally = createSpopTally(log);
  const connections = new Set<SpopConnection>();

  function accept(socket: Socket): void {
    tally.connections++;
    tally.open++;
    const connection = serveConnection(socket, { decide, tickets, tally });
    connections.add(connection);
    socket.on('close', () => {
      tally.open--;
      connections.delete(connection);
    });
  }

  const server = createServer({ noDelay: true }, accept);
  server.maxConnections = MAX_CONNECTIONS;
  server.on('drop', () => {
    tally.refusedConnections++;
    tally.report('connections', `a connection beyond ${MAX_CONNECTIONS} was refused; HAProxy opens too many`);
  });
  const where = await listenAt(server, address);
  let closed: Promise<void> | null = null;

  function retire(): void {
    closed ??= new Promise((resolve) => void server.close(() => resolve()));
  }

  return {
    address: where,
    retire,
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
