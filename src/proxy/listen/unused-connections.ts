/**
 * Connections whose clients have said nothing yet: browsers and balancers make some before they have anything to ask.
 * Node counts them among those within a request, and would have a stop wait for them.
 */
import type { Socket } from 'node:net';

export interface SilentConnections {
  /** Listens for octets beyond those that were read and not put back by now. */
  watch(socket: Socket): void;
  /** Ends connections that have been silent for a while. */
  end(): void;
}

/** Milliseconds for a client that is far away to say something, once it is connected. */
const SILENT_MS = 500;

export function createSilentConnections(): SilentConnections {
  const watched = new Map<Socket, { readonly since: number; readonly octets: number }>();
  return {
    watch(socket) {
      const octets = socket.bytesRead - socket.readableLength;
      watched.set(socket, { since: performance.now(), octets });
      socket.once('close', () => watched.delete(socket));
    },
    end() {
      const now = performance.now();
      for (const [socket, { since, octets }] of watched) {
        if (socket.bytesRead > octets) watched.delete(socket);
        else if (now - since >= SILENT_MS) socket.destroy();
      }
    },
  };
}
