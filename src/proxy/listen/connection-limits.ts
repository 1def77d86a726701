/**
 * How many connections clients hold at a time: together, and each address. One above a bound is closed without a word, as
 * by nginx and Envoy: an answer, and for TLS a handshake before it, would cost what the bound is there to save. Where it
 * becomes crowded, connections that carry no request are ended first, as by nginx.
 */
import type { Socket } from 'node:net';
import { networkOf } from '../network.ts';

export interface ConnectionBoundsOptions {
  /** Connections at most, over all listeners of this process. */
  readonly maxConnections: number;
  /** Connections of one address at most; of IPv6 of one /64, since the rest is the client's to choose. */
  readonly perAddress: number;
  /** Peers that speak for many clients, whose own number has no bound. */
  readonly isProxy: (address: string) => boolean;
  /** Told that connections are refused, at most once a minute for each bound. */
  readonly onRefused: (bound: ConnectionBound) => void;
}

export type ConnectionBound = 'all' | 'address';

export interface ConnectionCounts {
  readonly open: number;
  /** Ever. */
  readonly refused: Readonly<Record<ConnectionBound, number>>;
}

export interface ConnectionBounds {
  /** Counts a connection until it is closed. @returns whether there is room for it */
  admit(socket: Socket): boolean;
  /** The same for whom it is from, once that is known; `null` unknown. */
  admitFrom(address: string | null, socket: Socket): boolean;
  /** Has `closeIdle` called where it becomes crowded: it is to end connections without a request. */
  relieveBy(closeIdle: () => void): void;
  counts(): ConnectionCounts;
}

/** The part of the connections from which on it is crowded. */
const CROWDED = 15 / 16;
/** Milliseconds between two rounds over all connections. */
const RELIEF_MS = 1_000;
const TELL_MS = 60_000;

export function createConnectionBounds(options: ConnectionBoundsOptions): ConnectionBounds {
  const { maxConnections, perAddress, isProxy, onRefused } = options;
  const refused = { all: 0, address: 0 };
  const toldAt = { all: Number.NEGATIVE_INFINITY, address: Number.NEGATIVE_INFINITY };
  const reliefs: (() => void)[] = [];
  const byAddress = new Map<string, number>();
  let open = 0;
  let relievedAt = Number.NEGATIVE_INFINITY;

  function refuse(bound: ConnectionBound): false {
    refused[bound]++;
    const now = performance.now();
    if (now - toldAt[bound] >= TELL_MS) {
      toldAt[bound] = now;
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
      const held = byAddress.get(key) ?? 0;
      if (held >= perAddress) return refuse('address');
      byAddress.set(key, held + 1);
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
