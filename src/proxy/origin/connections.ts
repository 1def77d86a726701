/** Connections to origins, kept open and used again: one pool for each place and name that is spoken to there. */
import { isIP, isIPv6 } from 'node:net';
import { buildConnector, Pool } from 'undici';
import {
  CONNECT_MS,
  MAX_ORIGIN_HEAD_OCTETS,
  MAX_QUEUED,
  ORIGIN_IDLE_MS,
  QUEUE_MS,
  STALL_MS,
} from '../limits.ts';
import type { OriginGuard } from './guard.ts';
import { allowContinue } from './interim.ts';
import type { OriginNames } from './names.ts';
import { createSlots, type Slots } from './slots.ts';

/** Where a connection goes, and for TLS whom it asks for. */
export interface OriginPlace {
  readonly scheme: 'http' | 'https';
  readonly address: string;
  readonly port: number;
  /** The name in the TLS handshake and on the certificate. */
  readonly serverName: string;
}

/** What is open towards one place. */
export interface OpenedConnection {
  readonly pool: Pool;
  /** Who may use its connections. */
  readonly slots: Slots;
  /** The name it is known by; `null`: by its address. */
  readonly name: string | null;
  /** That of the name's addresses when it was opened. */
  readonly generation: number;
}

export interface Connections {
  to(place: OriginPlace): OpenedConnection;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** Connections to one place at most; what comes above waits for one. */
  readonly perOrigin: number;
  /** Takes any certificate of an origin. */
  readonly anyCertificate: boolean;
  readonly names: OriginNames;
  readonly guard: OriginGuard;
}

/** Places kept open. A node with more origins than that opens the least recently used anew. */
const MAX_PLACES = 2_048;

export function createConnections(options: ConnectionOptions): Connections {
  const { perOrigin, anyCertificate, names, guard } = options;
  /** In the order of their last use. */
  const opened = new Map<string, OpenedConnection>();
  /** The last of them. PERF: most requests go where the one before went. */
  let last: { readonly place: OriginPlace; readonly opened: OpenedConnection } | null = null;

  function open({ scheme, address, port, serverName }: OriginPlace): OpenedConnection {
    const host = isIPv6(address) ? `[${address}]` : address;
    const dial = buildConnector({
      timeout: CONNECT_MS,
      lookup: guard.lookupFor(port),
      rejectUnauthorized: !anyCertificate,
      ...(scheme === 'https' ? { servername: serverName } : {}),
    });
    const pool = new Pool(`${scheme}://${host}:${port}`, {
      connections: perOrigin,
      pipelining: 1,
      // Judged here is the host that is dialled: an URL makes addresses of names like `2130706433`.
      connect: (to, callback) => {
        const refusal = guard.refusal(to.hostname, port);
        if (refusal !== null) return callback(refusal, null);
        dial(to, (...[error, socket]) => {
          if (error !== null) return callback(error, null);
          allowContinue(socket);
          callback(null, socket);
        });
      },
      // The head's time is ours to measure: it differs from record to record.
      headersTimeout: 0,
      bodyTimeout: STALL_MS,
      keepAliveTimeout: ORIGIN_IDLE_MS,
      maxHeaderSize: MAX_ORIGIN_HEAD_OCTETS,
    });
    const name = isIP(address) === 0 ? address : null;
    const slots = createSlots({ maxConnections: perOrigin, maxQueued: MAX_QUEUED, waitMs: QUEUE_MS });
    return { pool, slots, name, generation: name === null ? 0 : names.generation(name) };
  }

  /** Whether connections go where the place's name points now. */
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
      const isKept = known !== undefined && isCurrent(known);
      if (known !== undefined && !isKept) closeSoon(known);
      const found = isKept ? known : open(place);
      opened.set(key, found);
      if (opened.size > MAX_PLACES) closeOldest(opened);
      last = { place, opened: found };
      return found;
    },
    async close() {
      const all = [...opened.values()];
      opened.clear();
      last = null;
      await Promise.all(all.map(({ pool }) => pool.destroy()));
    },
  };
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
  closeSoon(oldest[1]);
}

/** Requests in flight end first; a pool that is closed already has nothing to say. */
function closeSoon({ pool }: OpenedConnection): void {
  pool.close().catch(() => undefined);
}
