/**
 * Limits of the concurrent connections of clients, refused TLS handshakes, and the metrics of both. A connection above a
 * limit is closed without a response, as by nginx and Envoy: a response, with TLS after a handshake, would cost what the
 * limit saves.
 */
import type { Socket } from 'node:net';
import { Counter, type Registry } from 'prom-client';
import { declared } from '../../base/telemetry/metrics/declared.ts';
import { addCount, addGauge } from '../proxy/log/metrics.ts';
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

interface ConnectionCounts {
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

// The metrics of client connections, and of bodies stored for slow clients.

/** The sources of the metrics, read at each scrape. */
export interface ConnectionSeries {
  readonly connections: () => ConnectionCounts;
  readonly websockets: () => { readonly open: number; readonly refused: number };
  readonly buffers: () => { readonly memory: number; readonly disk: number };
  readonly handshakes: RefusedHandshakes['counts'];
}

/** Adds the metrics to a registry. */
export function addConnections(
  registry: Registry,
  { connections, websockets, buffers, handshakes }: ConnectionSeries,
): void {
  addGauge(registry, {
    name: 'edgeplan_node_connections',
    read: () => connections().open,
    aggregator: 'sum',
  });
  new Counter({
    ...declared('edgeplan_node_connections_refused_total'),
    registers: [registry],
    collect() {
      this.reset();
      for (const [bound, count] of Object.entries(connections().refused)) this.inc({ bound }, count);
    },
  });
  new Counter({
    ...declared('edgeplan_node_handshakes_refused_total'),
    registers: [registry],
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(handshakes())) this.inc({ reason }, count);
    },
  });
  addGauge(registry, {
    name: 'edgeplan_node_websockets',
    read: () => websockets().open,
    aggregator: 'sum',
  });
  addCount(registry, {
    name: 'edgeplan_node_websockets_refused_total',
    read: () => websockets().refused,
  });
  addGauge(registry, {
    name: 'edgeplan_node_buffer_memory_bytes',
    read: () => buffers().memory,
    aggregator: 'sum',
  });
  addGauge(registry, {
    name: 'edgeplan_node_buffer_disk_bytes',
    read: () => buffers().disk,
    aggregator: 'sum',
  });
}

// Refused TLS handshakes: a count for each reason, and a sentence for the log, at most once a minute for each. They reach no
// request log, as no request came.

/** Why a handshake is refused; the label of the metric. */
export type HandshakeRefusal =
  | 'unknown'
  | 'suspended'
  | 'no_certificate'
  | 'no_name'
  | 'bad_name'
  | 'plain_http';

const REASONS: Readonly<Record<HandshakeRefusal, string>> = {
  unknown: 'no domain here has this name',
  suspended: 'its domain is not active, is suspended, or has a plan that cannot be opened',
  no_certificate:
    'no certificate is for it, neither of the control plane nor in --certificates; --default-certificate names one for all',
  no_name: 'the client sent no name, and there is no --default-certificate',
  bad_name: 'it is no host name',
  plain_http: 'the client sent HTTP without TLS and got a 400; its address has to begin with `https:`',
};

/** Milliseconds between two sentences of one reason. */
const REPORT_REFUSALS_MS = 60_000;
/** Characters of a name that are repeated. */
const MAX_SHOWN = 100;

/** The refused handshakes of a process. */
export interface RefusedHandshakes {
  /** Counts one. @param name as the client sent it; `null`: it sent none */
  record(reason: HandshakeRefusal, name: string | null): void;
  /** Counts by reason since the start. */
  counts(): Readonly<Record<HandshakeRefusal, number>>;
}

/** @param onReport receives the sentence */
export function createRefusedHandshakes(onReport: (sentence: string) => void): RefusedHandshakes {
  const counts = { unknown: 0, suspended: 0, no_certificate: 0, no_name: 0, bad_name: 0, plain_http: 0 };
  const reportedAt = new Map<HandshakeRefusal, number>();
  return {
    record(reason, name) {
      counts[reason]++;
      const now = performance.now();
      if (now - (reportedAt.get(reason) ?? Number.NEGATIVE_INFINITY) < REPORT_REFUSALS_MS) return;
      reportedAt.set(reason, now);
      const subject = name === null ? 'a TLS handshake' : `a TLS handshake for \`${shown(name)}\``;
      onReport(`${subject} was refused: ${REASONS[reason]} (reported at most once a minute)`);
    },
    counts: () => counts,
  };
}

/** A name of any octets, cut, in printable ASCII. */
function shown(name: string): string {
  const text = name.slice(0, MAX_SHOWN).replace(/[^\x21-\x7e]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return name.length > MAX_SHOWN ? `${text}…` : text;
}
