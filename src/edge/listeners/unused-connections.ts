/**
 * Connections without any octet from the client: browsers and load balancers open some before they have a request. Node
 * counts them as connections within a request, so that a graceful stop would wait for them.
 */
import type { Socket } from 'node:net';

/** The connections of a listener from which no octet of a request has arrived. */
export interface SilentConnections {
  /** Adds a connection; octets that were read and put back before this call do not count. */
  watch(socket: Socket): void;
  /** Ends the connections that have been silent for `SILENT_MS`. */
  end(): void;
}

/** Milliseconds in which the first octets of a distant client arrive, once it is connected. */
const SILENT_MS = 500;

/** An empty set. */
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
