/**
 * A node put together: the rooms of `edge` around one table of plans. In go settings and what other processes know
 * (certificates, plans, secrets come later, by whoever follows them); out comes a node that serves.
 */
import { steadyNow } from '../base/steady-clock.ts';
import { BODY_OCTETS, DISK_OCTETS, RATE, type RateBounds } from '../buffers/limits.ts';
import { createBufferSpace } from '../buffers/space.ts';
import type { EvaluatorOptions } from '../evaluator/index.ts';
import { createCounters, type WafProgram } from '../evaluator/index.ts';
import type { HttpCache } from '../http-cache/request.ts';
import type { MarkdownRenderer } from '../markdown/renderer.ts';
import { createPlanTable, type PlanTable } from '../sync/plan-table.ts';
import type { Classifier } from './classifier.ts';
import type { RequestLog } from './log/request-log.ts';
import type { OriginBounds } from './origin/guard.ts';
import { createOrigins } from './origin/origins.ts';
import type { Origins } from './origin/request.ts';
import { createHandler, type Handler } from './serve-request.ts';
import type { Buffers, Challenges, ProxyServices } from './services.ts';
import type { OwnTokens } from './stages/own-tokens.ts';

export interface NodeOptions {
  readonly challenges: Challenges;
  readonly classifier: Classifier;
  readonly journal: RequestLog;
  readonly cache: HttpCache | null;
  /** Renders pages of domains that serve them as Markdown; absent: they go out as they come. */
  readonly markdown?: MarkdownRenderer;
  /** The signatures of waf rules; `null`: such rules match and do nothing. */
  readonly waf: WafProgram | null;
  /** This node's number, for geo pools. */
  readonly nodeId: number | null;
  /** Connections to one origin at most. */
  readonly perOrigin: number;
  readonly anyCertificate: boolean;
  /** Where no connection to an origin may go. */
  readonly originBounds: OriginBounds;
  /** Resolvers that origins' names are asked of; absent: the system's. */
  readonly resolvers?: readonly string[];
  /** Milliseconds that a WebSocket may be idle. Default: `WEBSOCKET_IDLE_MS`. */
  readonly websocketIdleMs?: number;
  /** WebSockets at most. Default: `MAX_WEBSOCKETS`. */
  readonly maxWebsockets?: number;
  /** Passes on headers of clients with `_` in their names; absent: drops them. */
  readonly keepUnderscores?: boolean;
  /** The folder of what is stored for slow clients; absent: they are served from memory and their origins wait. */
  readonly bufferFolder?: string | null;
  /** Octets in it at most. Default: `DISK_OCTETS`. */
  readonly bufferOctets?: number;
  /** Octets of a request's body that are read before its origin is asked. Default: `BODY_OCTETS`. */
  readonly bodyOctets?: number;
  /** How slow clients may be. Default: `RATE`. */
  readonly rate?: RateBounds;
  /** Octets of opened plans kept. */
  readonly openOctets: number;
  /** The node's own answers to a certificate authority; absent: it asks none for certificates. */
  readonly ownTokens?: OwnTokens;
  /** Told of what should not happen: a bug, or a plan that cannot be read back. */
  readonly onFault: (error: unknown, about: string) => void;
}

export interface EdgeNode {
  readonly handler: Handler;
  readonly plans: PlanTable;
  readonly origins: Origins;
  /** Octets that are stored for slow clients now. */
  buffers(): { readonly memory: number; readonly disk: number };
  /** Ends what outlives requests: connections to origins, probes, the cache's files, threads. */
  close(): Promise<void>;
}

export function createNode(options: NodeOptions): EdgeNode {
  const { challenges, classifier, journal, cache, markdown = null, onFault } = options;
  const buffers: Buffers = {
    space: createBufferSpace({
      folder: options.bufferFolder ?? null,
      diskOctets: options.bufferOctets ?? DISK_OCTETS,
      onFault: (error) => onFault(error, 'a file for a slow client'),
    }),
    bodyOctets: options.bodyOctets ?? BODY_OCTETS,
    rate: options.rate ?? RATE,
  };
  const origins = createOrigins({
    space: buffers.space,
    perOrigin: options.perOrigin,
    anyCertificate: options.anyCertificate,
    bounds: options.originBounds,
    ...(options.resolvers === undefined ? {} : { resolvers: options.resolvers }),
    ...(options.websocketIdleMs === undefined ? {} : { websocketIdleMs: options.websocketIdleMs }),
    ...(options.maxWebsockets === undefined ? {} : { maxWebsockets: options.maxWebsockets }),
  });
  const counters = createCounters({ clock: steadyNow });
  const plans = createPlanTable({
    evaluatorOptions: (domain): EvaluatorOptions => ({
      counters,
      waf: options.waf,
      origins: origins.states(domain),
      nodeId: options.nodeId,
      onFault: (error) => onFault(error, `a decision of ${domain}`),
    }),
    onChange: (name, domain) => origins.updateProbes(name, domain),
    onFault: (name, error) => onFault(error, `the plan of ${name}`),
    openOctets: options.openOctets,
  });
  const { keepUnderscores = false } = options;
  const services: ProxyServices = {
    plans,
    origins,
    cache,
    markdown,
    challenges,
    classifier,
    requestLog: journal,
    buffers,
    keepUnderscores,
    ownTokens: options.ownTokens ?? null,
  };
  const handler = createHandler({
    services,
    onFault: (error) => onFault(error, 'a request'),
  });
  return {
    handler,
    plans,
    origins,
    buffers: () => ({ memory: buffers.space.memory.octets, disk: buffers.space.diskOctets() }),
    async close() {
      await origins.close();
      await cache?.close();
      await markdown?.close();
    },
  };
}
