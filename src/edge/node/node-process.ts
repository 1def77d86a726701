/** Composes what serves requests in one process: the proxy with its classifier, cache, buffers, WAF, logs and metrics. */
import type { Logger } from 'pino';
import { RATE } from '../../base/buffers/limits.ts';
import type { SpanSource } from '../../base/telemetry/spans.ts';
import { steadyNow } from '../../base/text/time.ts';
import type { WafProgram } from '../../engine/evaluator/index.ts';
import type { Clearance } from '../../engine/plan/manifest.ts';
import { createCounters } from '../../engine/rate-counters/counters.ts';
import { restoreCounters, saveCounters } from '../../engine/rate-counters/saved.ts';
import { createChallenges, type SharedChallenges } from '../answers/challenge/challenge.ts';
import type { Secrets } from '../answers/challenge/keys.ts';
import { createCache } from '../cache/cache.ts';
import type { HttpCache } from '../cache/request.ts';
import type { Classifier } from '../decide/request-context.ts';
import type { PlanTable } from '../following/plan-table.ts';
import { secretsOf } from '../following/secrets.ts';
import {
  addConnections,
  type ConnectionBounds,
  createConnectionBounds,
  createRefusedHandshakes,
  type RefusedHandshakes,
} from '../listeners/connection-limits.ts';
import { createMarkdownRenderer } from '../markdown/renderer.ts';
import {
  type ClassificationFiles,
  createBotResolver,
  createClassifier,
  openClassificationFiles,
} from '../proxy/classifier.ts';
import { combineRequestLogs, type DecisionLog } from '../proxy/log/decision-log.ts';
import { addShippedLog, createNodeMetrics, type NodeMetrics } from '../proxy/log/metrics.ts';
import type { RequestLog } from '../proxy/log/request-log.ts';
import { createNode, type EdgeNode } from '../proxy/node.ts';
import type { DomainTokens, OwnTokens } from '../proxy/services.ts';
import { trustProxies } from '../proxy/visitor.ts';
import { FILES_MS } from './certificates.ts';
import type { ShippedDecisions } from './decision-output.ts';
import type { ProcessState } from './handed-state.ts';
import type { ResourceShare } from './resource-shares.ts';
import { createVisitRelay, type VisitRelay, type Visits, type VisitsSink } from './visit-relay.ts';

/** Request handling of one process. */
export interface NodeProcess {
  readonly node: EdgeNode;
  /** `null`: it has no cache. */
  readonly cache: HttpCache | null;
  readonly metrics: NodeMetrics;
  /** Connection limits, shared by all listeners of the process. */
  readonly connections: ConnectionBounds;
  /** Receives the TLS handshakes that the process refuses. */
  readonly handshakes: RefusedHandshakes;
  /** What it remembers of visitors, for the next process. */
  state(): ProcessState;
  /** Adds what the process before remembered; its counters only before the first request. */
  remember(before: ProcessState): void;
  /** Sends what it counts of visitors from now on there; `null`: nowhere. */
  relayVisits(sink: VisitsSink | null): void;
  /** Adds what another process of the node has counted. */
  absorb(visits: Visits): void;
  /** Reads the databases of addresses and the ranges of bots again, if they changed. */
  reload(): Promise<void>;
  /** Closes files, cache, connections to origins, and last the decision log. */
  close(): Promise<void>;
}

/** What a process of a node is made of besides its share of resources. */
export interface NodeProcessOptions {
  /** `null`: `waf` rules match and inspect nothing. */
  readonly waf: WafProgram | null;
  readonly secrets: Pick<ClearanceSecrets, 'of'>;
  /** Counts traffic; `null`: no control plane gets it. */
  readonly traffic: RequestLog | null;
  /** Where spans of requests start; `null`: no collector is configured. */
  readonly spans: SpanSource | null;
  /** Answers to HTTP-01 challenges: for the node's own certificates, and for those that its control plane orders. */
  readonly tokens: OwnTokens;
  readonly domainTokens: DomainTokens;
  /** Whether clients on this machine get the hosts that are served with a 421; not those of customers. */
  readonly listsHosts: boolean;
  /** Ports of the node's own listeners, which no origin may have; grows during the start. */
  readonly ownPorts: ReadonlySet<number>;
  /** `null`: no decision log. */
  readonly decisions: Pick<DecisionLog, 'done' | 'stats' | 'close'> | null;
  /** Queues decisions for the control plane; `null`: none are shipped. */
  readonly shipped: ShippedDecisions | null;
  readonly log: Logger;
  /** Log for files that cannot be used; silent in all processes but one, as all read the same files. */
  readonly fileLog: Logger;
  /** What the process before remembered of visitors; absent or `null`: nothing. */
  readonly before?: ProcessState | null;
}

/**
 * Opens the files and creates the services; nothing listens yet.
 * @param share what this process may use of the node's memory, disk and connections
 */
export async function createNodeProcess(
  share: ResourceShare,
  parts: NodeProcessOptions,
): Promise<NodeProcess> {
  const { log, fileLog, decisions, traffic, shipped } = parts;
  const files = await openClassificationFiles({
    countries: share.countries,
    asns: share.asns,
    ranges: share.botRanges,
    pollMs: FILES_MS,
    onProblem: (problem) => fileLog.warn({ ...problem }, 'a file cannot be used'),
  });
  const metrics = createNodeMetrics({
    plans: () => ({ installed: node.plans.size, opened: node.plans.opened }),
    originsDown: () => node.origins.down(),
    log: decisions === null ? null : decisions.stats,
  });
  const requestLogs = [metrics, traffic, decisions, shipped].filter((one) => one !== null);
  const cache = openCache(share, log);
  const visits = createVisitRelay(createCounters({ clock: steadyNow }), log);
  const challenges = createChallenges({
    secrets: (domain) => parts.secrets.of(node.plans, domain),
    onUsed: visits.addProof,
  });
  const node: EdgeNode = createNode({
    ownTokens: parts.tokens,
    domainTokens: parts.domainTokens,
    challenges,
    classifier: classifierOf(files, share.resolvers),
    requestLog: combineRequestLogs(requestLogs, (error) =>
      log.error({ err: error }, 'a request could not be counted'),
    ),
    ...(parts.spans === null ? {} : { spans: parts.spans }),
    cache,
    markdown: createMarkdownRenderer({
      ...share.markdown,
      onFault: (error) => log.warn({ err: error }, 'a page could not be rendered as Markdown'),
    }),
    waf: parts.waf,
    nodeId: share.nodeId,
    perOrigin: share.perOrigin,
    anyCertificate: share.anyCertificate,
    originBounds: {
      allowed: share.allowedOrigins,
      ownPorts: parts.ownPorts,
      onRefused: (sentence) => log.warn(sentence),
    },
    resolvers: share.resolvers,
    requestIdleMs: share.requestIdleMs,
    websocketIdleMs: share.websocketIdleMs,
    keepUnderscores: share.keepUnderscores,
    maxWebsockets: share.maxWebsockets,
    bufferFolder: share.bufferFolder,
    bufferOctets: share.bufferOctets,
    bodyOctets: share.bodyOctets,
    rate: { ...RATE, minRate: share.minRate },
    openOctets: share.openOctets,
    counters: visits.counters,
    listsHosts: parts.listsHosts,
    onUnserved: (sentence) => log.warn(sentence),
    onFault: (error, about) => log.error({ err: error }, `a fault in ${about}`),
  });
  const memory = createMemory({ node, challenges, visits });
  if (parts.before != null) memory.remember(parts.before);
  if (shipped !== null) addShippedLog(metrics.registry, shipped);
  const connections = createBounds(share, log);
  const handshakes = createRefusedHandshakes((sentence) => log.warn(sentence));
  addConnections(metrics.registry, {
    connections: connections.counts,
    websockets: node.origins.websockets,
    buffers: node.buffers,
    handshakes: handshakes.counts,
  });
  return {
    node,
    cache,
    metrics,
    connections,
    handshakes,
    ...memory,
    reload: files.reload,
    async close() {
      files.close();
      await visits.stop();
      await node.close();
      await shipped?.close();
      await decisions?.close();
    },
  };
}

interface MemoryParts {
  readonly node: Pick<EdgeNode, 'counters'>;
  readonly challenges: SharedChallenges;
  readonly visits: VisitRelay;
}

/** What a process knows of visitors, and how another one gets it. */
function createMemory({
  node,
  challenges,
  visits,
}: MemoryParts): Pick<NodeProcess, 'state' | 'remember' | 'relayVisits' | 'absorb'> {
  return {
    state: () => ({ counters: saveCounters(node.counters), proofs: challenges.usedProofs() }),
    remember(before) {
      restoreCounters(node.counters, before.counters);
      challenges.addUsedProofs(before.proofs);
    },
    relayVisits: visits.to,
    absorb({ hits, proofs }) {
      visits.absorb(hits);
      challenges.addUsedProofs(proofs);
    },
  };
}

function createBounds(share: ResourceShare, log: Logger): ConnectionBounds {
  const { maxConnections, maxAddressConnections } = share;
  const trusted = trustProxies(share.trusted);
  const reasons = {
    all: `there are ${maxConnections} connections of clients: more are refused; --max-connections sets how many`,
    address: `there are ${maxAddressConnections} connections of one address: more are refused; --max-connections-per-address sets how many`,
  };
  return createConnectionBounds({
    maxConnections,
    perAddress: maxAddressConnections,
    isProxy: trusted.has,
    onRefused: (bound) => log.warn(reasons[bound]),
  });
}

function classifierOf(files: ClassificationFiles, resolvers: readonly string[]): Classifier {
  return createClassifier({
    countries: files.countries,
    asns: files.asns,
    ranges: files.ranges,
    resolver: createBotResolver(resolvers),
    clock: () => performance.now(),
  });
}

function openCache({ cacheOctets, cacheFolder, diskShare }: ResourceShare, log: Logger): HttpCache | null {
  if (cacheOctets === 0) return null;
  return createCache({
    memoryOctets: cacheOctets,
    directory: cacheFolder,
    diskShare,
    onFault: (error) => log.warn({ err: error }, 'the disk cache fails'),
  });
}

// The secrets that sign clearances: a domain's own, else the node's common one.

/** The common secret of a node, and the choice for a domain. */
export interface ClearanceSecrets {
  /** The secrets of a domain. */
  readonly of: (plans: Pick<PlanTable, 'clearanceOf'>, domain: string) => Secrets;
  /** Replaces the common secret. */
  readonly set: (clearance: Clearance) => void;
  /** The common secret. */
  readonly common: () => Clearance;
}

export function createClearanceSecrets(first: Clearance): ClearanceSecrets {
  let common = first;
  return {
    of: (plans, domain) => secretsOf(plans.clearanceOf(domain) ?? common),
    set(clearance) {
      common = clearance;
    },
    common: () => common,
  };
}
