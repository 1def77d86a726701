/**
 * The composition root of a node. In: settings, and the services that other rooms provide. Out: a handler for listeners, and
 * the table of plans, which sync fills later.
 */
import { BODY_OCTETS, DISK_OCTETS, RATE, type RateBounds } from '../../base/buffers/limits.ts';
import { createBufferSpace } from '../../base/buffers/space.ts';
import { isSignedBy, sha256 } from '../../base/platform/cryptography.ts';
import type { SpanSource } from '../../base/telemetry/spans.ts';
import { steadyNow } from '../../base/text/time.ts';
import {
  type BoundedCounters,
  createCounters,
  type EvaluatorOptions,
  type WafProgram,
} from '../../engine/evaluator/index.ts';
import type { HttpCache } from '../cache/request.ts';
import { createCertificateVerifier } from '../credentials/client-certificates.ts';
import { createCredentialVerifier } from '../credentials/verify.ts';
import type { Classifier, DecisionServices } from '../decide/request-context.ts';
import { createUnserved } from '../decide/unserved.ts';
import { createPlanTable, type PlanTable } from '../following/plan-table.ts';
import type { ServedDomain } from '../following/served-domain.ts';
import type { MarkdownRenderer } from '../markdown/renderer.ts';
import { createFirstProbes } from './health.ts';
import type { RequestLog } from './log/request-log.ts';
import type { OriginBounds } from './origin/guard.ts';
import { createOrigins } from './origin/origins.ts';
import type { Origins } from './origin/request.ts';
import { createHandler, type Handler } from './serve-request.ts';
import type { Buffers, Challenges, DomainTokens, OwnTokens, ProxyServices } from './services.ts';

export interface NodeOptions {
  readonly challenges: Challenges;
  readonly classifier: Classifier;
  readonly requestLog: RequestLog;
  /** Where spans of requests start. Default: no request has one. */
  readonly spans?: SpanSource;
  readonly cache: HttpCache | null;
  /** Renders pages of domains that serve them as Markdown; absent: pages stay HTML. */
  readonly markdown?: MarkdownRenderer;
  /** The signatures of waf rules; `null`: such rules match without an effect. */
  readonly waf: WafProgram | null;
  /** This node's number, for geo pools. */
  readonly nodeId: number | null;
  /** Connections to one origin at most. */
  readonly perOrigin: number;
  /** Accepts any certificate of an origin. */
  readonly anyCertificate: boolean;
  /** The addresses to which no connection to an origin may go. */
  readonly originBounds: OriginBounds;
  /** Resolvers for origins' names; absent: the system's. */
  readonly resolvers?: readonly string[];
  /** Milliseconds that an origin may be silent within its response, unless the record has a `timeout`. Default: `STALL_MS`. */
  readonly requestIdleMs?: number;
  /** Milliseconds that a WebSocket may be idle. Default: `WEBSOCKET_IDLE_MS`. */
  readonly websocketIdleMs?: number;
  /** WebSockets at most. Default: `MAX_WEBSOCKETS`. */
  readonly maxWebsockets?: number;
  /** Forwards client headers with `_` in their names. Default: drops them. */
  readonly keepUnderscores?: boolean;
  /** The folder of bodies of slow clients; absent: these stay in memory, and their origins are paused. */
  readonly bufferFolder?: string | null;
  /** Octets in it at most. Default: `DISK_OCTETS`. */
  readonly bufferOctets?: number;
  /** Octets of a request's body that are read before its origin is contacted. Default: `BODY_OCTETS`. */
  readonly bodyOctets?: number;
  /** The minimum rate of clients. Default: `RATE`. */
  readonly rate?: RateBounds;
  /** Octets of plans open in memory at most. */
  readonly openOctets: number;
  /** Rate counters of all domains; absent: new ones. */
  readonly counters?: BoundedCounters;
  /** The node's own answers to a certificate authority; absent: it requests no certificates. */
  readonly ownTokens?: OwnTokens;
  /** The control plane's answers to one; absent: the node follows none. */
  readonly domainTokens?: DomainTokens;
  /** Whether clients on this machine get the hosts that are served with a 421. Default: they do not. */
  readonly listsHosts?: boolean;
  /** Called with a sentence about a host that is not served, at most once a minute for each reason. */
  readonly onUnserved?: (sentence: string) => void;
  /** Called with unexpected failures: a bug, or a plan that cannot be opened again. */
  readonly onFault: (error: unknown, about: string) => void;
}

/** A running node. */
export interface EdgeNode {
  readonly handler: Handler;
  /** What decides and logs requests, for the doors of an agent. */
  readonly decisions: {
    readonly services: DecisionServices<ServedDomain>;
    readonly requestLog: RequestLog;
  };
  readonly plans: PlanTable;
  readonly origins: Origins;
  /** The rate counters of all domains. */
  readonly counters: Pick<BoundedCounters, 'parts'>;
  /** Whether first probes of pools are due, for a bounded time after the first plan: the node is not ready. */
  probing(): boolean;
  /** Octets stored for slow clients now. */
  buffers(): { readonly memory: number; readonly disk: number };
  /** Closes what outlives requests: connections to origins, probes, the cache's files, threads. */
  close(): Promise<void>;
}

/** A node without plans. */
export function createNode(options: NodeOptions): EdgeNode {
  const { challenges, classifier, requestLog, cache, markdown = null, onFault } = options;
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
    ...(options.requestIdleMs === undefined ? {} : { idleMs: options.requestIdleMs }),
    ...(options.websocketIdleMs === undefined ? {} : { websocketIdleMs: options.websocketIdleMs }),
    ...(options.maxWebsockets === undefined ? {} : { maxWebsockets: options.maxWebsockets }),
  });
  const counters = options.counters ?? createCounters({ clock: steadyNow });
  const table = createPlanTable({
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
  const { plans, underWay: probing } = createFirstProbes(table, origins);
  const { keepUnderscores = false } = options;
  const services: ProxyServices = {
    plans: table,
    origins,
    cache,
    markdown,
    challenges,
    credentials: createCredentialVerifier(sha256, createCertificateVerifier(isSignedBy)),
    classifier,
    requestLog,
    spans: options.spans ?? null,
    buffers,
    keepUnderscores,
    ownTokens: options.ownTokens ?? null,
    domainTokens: options.domainTokens ?? null,
    unserved: createUnserved({
      plans,
      listed: options.listsHosts ?? false,
      onUnserved: options.onUnserved ?? (() => undefined),
    }),
  };
  const handler = createHandler({
    services,
    onFault: (error) => onFault(error, 'a request'),
  });
  return {
    handler,
    decisions: { services, requestLog },
    plans,
    probing,
    origins,
    counters,
    buffers: () => ({ memory: buffers.space.memory.octets, disk: buffers.space.diskOctets() }),
    async close() {
      await origins.close();
      await cache?.close();
      await markdown?.close();
    },
  };
}
