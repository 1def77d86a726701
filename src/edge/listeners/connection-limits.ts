/**
 * Limits the concurrent connections of clients: of all together, and of each address. A connection above a limit is closed
 * without a response, as by nginx and Envoy: a response, with TLS after a handshake, would cost what the limit saves. When
 * few connections are left, those without a request are closed first, as by nginx.
 */
import type { Socket } from 'node:net';
import { networkOf } from '../proxy/network.ts';

export interface ConnectionBoundsOptions {
  /** Connections at most, over all listeners of this process. */
  readonly maxConnections: number;
  /** Connections of one client network (`networkOf`) at most. */
  readonly perAddress: number;
  /** Whether an address is a proxy of many clients, to which `perAddress` does not apply. */
  readonly isProxy: (address: string) => boolean;
  /** Called when connections are refused, at most once a minute for each limit. */
  readonly onRefused: (bound: ConnectionBound) => void;
}

/** The limit that a connection exceeds. */
export type ConnectionBound = 'all' | 'address';

export interface ConnectionCounts {
  readonly open: number;
  /** Since the start. */
  readonly refused: Readonly<Record<ConnectionBound, number>>;
}

export interface ConnectionBounds {
  /** Counts a connection until it is closed. @returns `false`: it exceeds the limit of all */
  admit(socket: Socket): boolean;
  /** Counts it for its address, once that is known; `null` unknown. @returns `false`: it exceeds the limit of the address */
  admitFrom(address: string | null, socket: Socket): boolean;
  /** Registers a function that closes connections without a request; called when few connections are left. */
  relieveBy(closeIdle: () => void): void;
  counts(): ConnectionCounts;
}

/** The part of the connections from which idle ones are closed. */
const CROWDED = 15 / 16;
/** Milliseconds between two scans of all connections for idle ones. */
const RELIEF_MS = 1_000;
/** Milliseconds between two reports of one limit. */
const REPORT_MS = 60_000;

export function createConnectionBounds(options: ConnectionBoundsOptions): ConnectionBounds {
  const { maxConnections, perAddress, isProxy, onRefused } = options;
  const refused = { all: 0, address: 0 };
  const reportedAt = { all: Number.NEGATIVE_INFINITY, address: Number.NEGATIVE_INFINITY };
  const reliefs: (() => void)[] = [];
  const byAddress = new Map<string, number>();
  let open = 0;
  let relievedAt = Number.NEGATIVE_INFINITY;

  function refuse(bound: ConnectionBound): false {
    refused[bound]++;
    const now = performance.now();
    if (now - reportedAt[bound] >= REPORT_MS) {
      reportedAt[bound] = now;
      onRefused(bound);
    }
    return false;
  }

  function relieve(): void {
    const now = performance.now();
    if (now - relievedAt < RELIEF_MS) return;
    relievedAt = now;
    for (const closeIdle of reliefs) closeIdle();
  }

  return {
    admit(socket) {
      if (open + 1 >= maxConnections * CROWDED) relieve();
      if (open >= maxConnections) return refuse('all');
      open++;
      socket.once('close', () => open--);
      return true;
    },
    admitFrom(address, socket) {
      if (address !== null && isProxy(address)) return true;
      const key = networkOf(address);
      const current = byAddress.get(key) ?? 0;
      if (current >= perAddress) return refuse('address');
      byAddress.set(key, current + 1);
      socket.once('close', () => {
        const left = byAddress.get(key)! - 1;
        if (left === 0) byAddress.delete(key);
        else byAddress.set(key, left);
      });
      return true;
    },
    relieveBy: (closeIdle) => void reliefs.push(closeIdle),
    counts: () => ({ open, refused }),
  };
}
