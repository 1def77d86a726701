/**
 * The node's connections to all origins. In: a request that the evaluator routed to an origin. Out: the origin's response,
 * pushed (`failover.ts`), or a switched connection (`upgrade.ts`). Also the health of all pools, for the evaluator.
 */
import { createDrainQueue } from '../../../base/buffers/drain-queue.ts';
import type { BufferSpace } from '../../../base/buffers/space.ts';
import type { OriginStates } from '../../../engine/evaluator/index.ts';
import type { ServedDomain } from '../../following/plan-table.ts';
import { MAX_WEBSOCKETS, STALL_MS, WEBSOCKET_IDLE_MS } from '../limits.ts';
import { type ConnectionOptions, createConnections, type OriginPlace } from './connections.ts';
import { type OriginNetwork, sendToOrigins } from './failover.ts';
import { unsentFault } from './faults.ts';
import { createGuard, type OriginBounds, type OriginGuard } from './guard.ts';
import { hostOf } from './host-name.ts';
import { createOriginNames } from './names.ts';
import { createDomainPools, type DomainPools } from './pool-health.ts';
import { createProbe, createSchemeProbe, type SchemeProbe } from './probe.ts';
import type { Origins, OutgoingRequest, UpgradedClient } from './request.ts';
import { createResolve } from './resolve.ts';
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
  counts(): { readonly open: number; readonly refused: number };
}

/** The switched connections of a node, of which there may be so many at once. */
function createWebSockets(options: WebSocketsOptions): WebSockets {
  const { network, guard, anyCertificate } = options;
  const { websocketIdleMs: idleMs = WEBSOCKET_IDLE_MS, maxWebsockets = MAX_WEBSOCKETS } = options;
  const counts = { open: 0, refused: 0 };
  return {
    open(request, client) {
      // INVARIANT: only a socket whose `close` is still to come may be counted, since `close` ends the count.
      if (client.socket.destroyed) return client.done(GONE_BEFORE);
      if (counts.open >= maxWebsockets) {
        counts.refused++;
        client.fail(503);
        return;
      }
      counts.open++;
      client.socket.once('close', () => counts.open--);
      Promise.resolve(network.placeOf(request)).then(
        (place) => upgradeTo({ place, request, client, anyCertificate, guard, idleMs }),
        (error: Error) => {
          request.use.begun = true;
          request.use.result = 'failed';
          if (client.socket.destroyed) client.done(GONE_BEFORE);
          else client.fail(unsentFault(error).code === 'unreached' ? 504 : 502);
        },
      );
    },
    counts: () => counts,
  };
}
