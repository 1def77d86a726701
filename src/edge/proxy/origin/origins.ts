/**
 * The node's connections to all origins. In: a request that the evaluator routed to an origin. Out: the origin's response,
 * pushed (`failover.ts`), or a switched connection (`upgrade.ts`). Also the health of all pools, for the evaluator.
 */
import { connect } from 'node:tls';
import { createDrainQueue } from '../../../base/buffers/drain-queue.ts';
import type { BufferSpace } from '../../../base/buffers/space.ts';
import type {
  OriginStates,
  PoolHealth,
  PoolOriginAddress,
  PoolSettings,
} from '../../../engine/evaluator/index.ts';
import type { ServedDomain } from '../../following/served-domain.ts';
import { CONNECT_MS, MAX_WEBSOCKETS, STALL_MS, WEBSOCKET_IDLE_MS } from '../limits.ts';
import {
  type ConnectionOptions,
  type Connections,
  createConnections,
  type OriginPlace,
} from './connections.ts';
import { type OriginNetwork, sendToOrigins } from './failover.ts';
import { unsentFault } from './faults.ts';
import { createGuard, FORBIDDEN, type OriginBounds, type OriginGuard } from './guard.ts';
import { createOriginNames, createResolve, UNRESOLVED } from './names.ts';
import { createDomainPools, type DomainPools } from './pool-health.ts';
import type { Origins, OutgoingRequest, UpgradedClient } from './request.ts';
import type { Tunnel } from './tunnel.ts';
import { GONE_BEFORE, upgradeTo } from './upgrade.ts';

export interface OriginsOptions extends Omit<ConnectionOptions, 'names' | 'guard'> {
  /** The addresses to which no connection may go. */
  readonly bounds: OriginBounds;
  /** Where responses are stored for slow clients. */
  readonly space: BufferSpace;
  /** Resolvers for origins' names, addresses with an optional port each; none: the system's. */
  readonly resolvers?: readonly string[];
  /** Milliseconds that an origin may be silent within its response. Default: `STALL_MS`. */
  readonly idleMs?: number;
  /** Milliseconds that a WebSocket may be idle. Default: `WEBSOCKET_IDLE_MS`. */
  readonly websocketIdleMs?: number;
  /** WebSockets at most, those being opened included. Default: `MAX_WEBSOCKETS`. */
  readonly maxWebsockets?: number;
  /** Milliseconds on a monotonic clock. Default: `performance.now`. */
  readonly clock?: () => number;
}

export function createOrigins(options: OriginsOptions): Origins {
  const { space } = options;
  // Only durations are measured here: the time of day may jump.
  const clock = options.clock ?? (() => performance.now());
  const names = createOriginNames({ resolve: createResolve({ servers: options.resolvers ?? [] }), clock });
  const guard = createGuard(options.bounds, names.lookup);
  const connections = createConnections({ ...options, names, guard });
  const schemes = createSchemeProbe({ clock, guard });
  const probe = createProbe(connections);
  const domains = new Map<string, DomainPools>();

  function poolsOf(domain: string): DomainPools {
    let pools = domains.get(domain);
    if (pools === undefined) {
      pools = createDomainPools({ probe, clock });
      domains.set(domain, pools);
    }
    return pools;
  }

  const network: OriginNetwork = {
    connections,
    space,
    drains: createDrainQueue(),
    idleMs: options.idleMs ?? STALL_MS,
    placeOf: (request) => placeOf(schemes, request),
    poolsOf,
  };
  const websockets = createWebSockets({ ...options, network, guard });

  return {
    states: (domain): OriginStates => poolsOf(domain),
    send: (request, sink) => sendToOrigins(network, request, sink),
    upgrade: websockets.open,
    leaveWebsockets: websockets.leave,
    websockets: websockets.counts,
    updateProbes(name: string, domain: ServedDomain | null) {
      if (domain !== null) poolsOf(name).replace(domain.settings.pools);
      else {
        domains.get(name)?.replace([]);
        domains.delete(name);
      }
    },
    unprobed() {
      let count = 0;
      for (const pools of domains.values()) count += pools.unprobed();
      return count;
    },
    down() {
      let count = 0;
      for (const pools of domains.values()) count += pools.down().length;
      return count;
    },
    async close() {
      for (const pools of domains.values()) pools.replace([]);
      await connections.close();
    },
  };
}

/** The place a request connects to; a promise only if the scheme has to be probed. */
function placeOf(schemes: SchemeProbe, { origin }: OutgoingRequest): OriginPlace | Promise<OriginPlace> {
  const serverName = hostOf(origin.hostHeader);
  const { address, port, scheme } = origin;
  if (scheme !== 'auto') return { scheme, address, port: port ?? defaultPort(scheme), serverName };
  return schemes
    .schemeOf(address, port, serverName)
    .then((probed) => ({ scheme: probed, address, port: port ?? defaultPort(probed), serverName }));
}

function defaultPort(scheme: 'http' | 'https'): number {
  return scheme === 'https' ? 443 : 80;
}

interface WebSocketsOptions
  extends Pick<OriginsOptions, 'anyCertificate' | 'websocketIdleMs' | 'maxWebsockets'> {
  readonly network: OriginNetwork;
  readonly guard: OriginGuard;
}

interface WebSockets {
  /** Connects a client to its origin; answers it with 502, 503 or 504 if that is impossible. */
  open(request: OutgoingRequest, client: UpgradedClient): void;
  leave(): void;
  counts(): { readonly open: number; readonly refused: number };
}

/** The switched connections of a node, of which there may be so many at once. */
function createWebSockets(options: WebSocketsOptions): WebSockets {
  const { network, guard, anyCertificate } = options;
  const { websocketIdleMs: idleMs = WEBSOCKET_IDLE_MS, maxWebsockets = MAX_WEBSOCKETS } = options;
  const counts = { open: 0, refused: 0 };
  const tunnels = new Set<Tunnel>();
  let leaving = false;
  const opened = (tunnel: Tunnel): void => {
    tunnels.add(tunnel);
    if (leaving) tunnel.leave();
  };
  return {
    open(request, upgraded) {
      const { socket } = upgraded.client;
      // INVARIANT: only a socket whose `close` is still to come may be counted, since `close` ends the count.
      if (socket.destroyed) return upgraded.done(GONE_BEFORE);
      if (counts.open >= maxWebsockets) {
        counts.refused++;
        upgraded.fail(503);
        return;
      }
      counts.open++;
      socket.once('close', () => counts.open--);
      const ended = (tunnel: Tunnel): void => void tunnels.delete(tunnel);
      Promise.resolve(network.placeOf(request)).then(
        (place) => upgradeTo({ place, request, upgraded, anyCertificate, guard, idleMs, opened, ended }),
        (error: Error) => {
          request.use.begun = true;
          request.use.result = 'failed';
          if (socket.destroyed) upgraded.done(GONE_BEFORE);
          else upgraded.fail(unsentFault(error).code === 'unreached' ? 504 : 502);
        },
      );
    },
    leave() {
      if (leaving) return;
      leaving = true;
      for (const tunnel of tunnels) tunnel.leave();
    },
    counts: () => counts,
  };
}

// Probes origins: the health check of a pool's origin, and whether an origin of scheme `auto` offers TLS.

/** Returns the health check: whether an origin answers its probe path in time with a status below 400. Never rejects. */
function createProbe(connections: Connections) {
  return async (origin: PoolOriginAddress, pool: PoolSettings, health: PoolHealth): Promise<boolean> => {
    const host = health.host || pool.hostHeader || origin.address;
    try {
      const { pool: connection } = connections.to({ ...origin, serverName: hostOf(host) });
      const { statusCode, body } = await connection.request({
        method: 'GET',
        path: health.path,
        headers: { host, 'user-agent': 'edgeplan-probe' },
        signal: AbortSignal.timeout(health.timeoutSec * 1_000),
      });
      // undici reports an error for a body that is not read to its end, even if all of it has arrived.
      body.on('error', () => undefined).destroy();
      return statusCode < 400;
    } catch {
      // Any failure means that the origin is not healthy.
      return false;
    }
  };
}

/** Milliseconds for which the scheme of an origin is used without another probe. */
const REMEMBERED_MS = 10 * 60_000;
/** The same for `http`: TLS may have failed by chance, so it is probed again in the background. */
const DOUBTED_MS = 30_000;
/** Origins whose scheme is remembered; beyond it all are probed again. */
const MAX_REMEMBERED = 10_000;

type Scheme = 'http' | 'https';

interface SchemeProbe {
  /**
   * The scheme for an `Auto` record's origin: TLS on 443 if a handshake works there, else HTTP on 80. Rejects with the error
   * of the lookup, the guard or the connection if no server answers and the scheme is not known: a server that answers a
   * moment later may offer TLS, and the request must not reach it in clear text.
   */
  schemeOf(address: string, port: number | null, serverName: string): Promise<Scheme>;
}

interface ProbedScheme {
  scheme: Promise<Scheme>;
  /** The time of the probe, on the clock. */
  readonly at: number;
  /** Milliseconds after which the scheme is probed again. */
  validMs: number;
}

export interface SchemeProbeOptions {
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
  readonly guard: OriginGuard;
}

export function createSchemeProbe({ clock, guard }: SchemeProbeOptions): SchemeProbe {
  /** By address and port. */
  const probed = new Map<string, ProbedScheme>();
  return {
    schemeOf(address, port, serverName) {
      const key = `${address} ${port}`;
      const before = probed.get(key);
      const age = before === undefined ? Number.POSITIVE_INFINITY : clock() - before.at;
      if (before !== undefined && age < before.validMs) return before.scheme;
      const to = { host: address, port: port ?? 443, servername: serverName };
      const probe = probeScheme(to, { guard, hasHttpPort: port === null });
      const result = before === undefined ? probe : probe.catch(() => before.scheme);
      // Requests use the previous scheme until the probe ends, unless that is too old.
      const scheme = before !== undefined && age < REMEMBERED_MS ? before.scheme : result;
      const next: ProbedScheme = { scheme, at: clock(), validMs: REMEMBERED_MS };
      probe.then(
        (answer) => {
          next.scheme = result;
          if (answer === 'http') next.validMs = DOUBTED_MS;
        },
        () => {
          // The probe has failed: the next request waits for a probe of its own.
          next.scheme = result;
          next.validMs = 0;
          if (before === undefined && probed.get(key) === next) probed.delete(key);
        },
      );
      if (probed.size >= MAX_REMEMBERED) probed.clear();
      probed.set(key, next);
      return scheme;
    },
  };
}

interface SchemeProbing {
  readonly guard: OriginGuard;
  /** HTTP has a port of its own (80), so that a closed TLS port means HTTP. */
  readonly hasHttpPort: boolean;
}

/** Tries a TLS handshake. Rejects if the origin has no address that is allowed, or accepts no connection. */
function probeScheme(
  to: { readonly host: string; readonly port: number; readonly servername: string },
  { guard, hasHttpPort }: SchemeProbing,
): Promise<Scheme> {
  const refusal = guard.refusal(to.host, to.port);
  if (refusal !== null) return Promise.reject(refusal);
  return new Promise((resolve, reject) => {
    const lookup = guard.lookupFor(to.port);
    const socket = connect({ ...to, lookup, rejectUnauthorized: false, timeout: CONNECT_MS });
    let isConnected = false;
    const settle = (scheme: Scheme): void => {
      socket.destroy();
      resolve(scheme);
    };
    // An origin that has accepted the connection, or whose HTTP has a port of its own, counts as one of HTTP.
    const fail = (error: NodeJS.ErrnoException): void => {
      const hasAddress = error.code !== UNRESOLVED && error.code !== FORBIDDEN;
      if (isConnected || (hasAddress && hasHttpPort)) {
        settle('http');
        return;
      }
      socket.destroy();
      reject(error);
    };
    socket.once('connect', () => {
      isConnected = true;
    });
    socket.once('secureConnect', () => settle('https'));
    socket.once('error', fail);
    socket.once('timeout', () =>
      fail(Object.assign(new Error(`no connection within ${CONNECT_MS} ms`), { code: 'ETIMEDOUT' })),
    );
  });
}

/** The host of a Host value: `example.com:8080` → `example.com`, `[2001:db8::1]:80` → `2001:db8::1`. */
export function hostOf(host: string): string {
  if (host.startsWith('[')) return host.slice(1, Math.max(1, host.indexOf(']')));
  const colon = host.indexOf(':');
  return colon < 0 ? host : host.slice(0, colon);
}
