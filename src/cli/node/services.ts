/** What serves requests, wired together: the node, what it finds out about visitors, its cache, its journals. */
import type { Logger } from 'pino';
import { createChallenges } from '../../answers/challenge/challenge.ts';
import { RATE } from '../../buffers/limits.ts';
import type { WafProgram } from '../../evaluator/index.ts';
import { createCache } from '../../http-cache/cache.ts';
import type { HttpCache } from '../../http-cache/request.ts';
import { createMarkdownRenderer } from '../../markdown/renderer.ts';
import { type ClassificationFiles, openClassificationFiles } from '../../proxy/classification-files.ts';
import type { Classifier } from '../../proxy/classifier.ts';
import { createBotResolver, createClassifier } from '../../proxy/classifier.ts';
import { type ConnectionBounds, createConnectionBounds } from '../../proxy/listen/connection-limits.ts';
import { addConnections } from '../../proxy/log/connection-metrics.ts';
import { combineRequestLogs, type DecisionLog } from '../../proxy/log/decision-log.ts';
import { createNodeMetrics, type NodeMetrics } from '../../proxy/log/metrics.ts';
import type { RequestLog } from '../../proxy/log/request-log.ts';
import { createNode, type EdgeNode } from '../../proxy/node.ts';
import type { OwnTokens } from '../../proxy/services.ts';
import { trustProxies } from '../../proxy/visitor.ts';
import { FILES_MS } from './limits.ts';
import type { ResourceShare } from './resource-shares.ts';
import type { SecretBox } from './secrets.ts';

export interface NodeProcess {
  readonly node: EdgeNode;
  readonly metrics: NodeMetrics;
  /** For all listeners of the process. */
  readonly connections: ConnectionBounds;
  /** Looks at the files that classification reads. */
  reload(): Promise<void>;
  /** Ends what outlives requests, the decision log at last. */
  close(): Promise<void>;
}

export interface NodeProcessOptions {
  readonly waf: WafProgram | null;
  readonly secrets: Pick<SecretBox, 'of'>;
  /** Counts what each domain was asked. */
  readonly usage: RequestLog;
  readonly tokens: OwnTokens;
  /** The ports of the node's own listeners; may grow while it starts. */
  readonly ownPorts: ReadonlySet<number>;
  /** `null`: none is written. */
  readonly decisions: Pick<DecisionLog, 'done' | 'stats' | 'close'> | null;
  readonly log: Logger;
  /** Told of files that cannot be used, which is the same for every process. */
  readonly fileLog: Logger;
}

export async function createNodeProcess(
  settings: ResourceShare,
  parts: NodeProcessOptions,
): Promise<NodeProcess> {
  const { log, fileLog, decisions, usage } = parts;
  const files = await openClassificationFiles({
    database: settings.countries,
    ranges: settings.botRanges,
    pollMs: FILES_MS,
    onProblem: (problem) => fileLog.warn({ ...problem }, 'a file cannot be used'),
  });
  const metrics = createNodeMetrics({
    plans: () => ({ held: node.plans.size, opened: node.plans.opened }),
    originsDown: () => node.origins.down(),
    log: decisions === null ? null : decisions.stats,
  });
  const journal = [metrics, usage, ...(decisions === null ? [] : [decisions])];
  const node: EdgeNode = createNode({
    ownTokens: parts.tokens,
    challenges: createChallenges({ secrets: (domain) => parts.secrets.of(node.plans, domain) }),
    classifier: classifierOf(files, settings.resolvers),
    requestLog: combineRequestLogs(journal, (error) =>
      log.error({ err: error }, 'a request could not be counted'),
    ),
    cache: openCache(settings, log),
    markdown: createMarkdownRenderer({
      ...settings.markdown,
      onFault: (error) => log.warn({ err: error }, 'a page could not be rendered as Markdown'),
    }),
    waf: parts.waf,
    nodeId: settings.nodeId,
    perOrigin: settings.perOrigin,
    anyCertificate: settings.anyCertificate,
    originBounds: {
      allowed: settings.allowedOrigins,
      ownPorts: parts.ownPorts,
      onRefused: (sentence) => log.warn(sentence),
    },
    resolvers: settings.resolvers,
    websocketIdleMs: settings.websocketIdleMs,
    keepUnderscores: settings.keepUnderscores,
    maxWebsockets: settings.maxWebsockets,
    bufferFolder: settings.bufferFolder,
    bufferOctets: settings.bufferOctets,
    bodyOctets: settings.bodyOctets,
    rate: { ...RATE, minRate: settings.minRate },
    openOctets: settings.openOctets,
    onFault: (error, about) => log.error({ err: error }, `a fault in ${about}`),
  });
  const connections = openBounds(settings, log);
  addConnections(metrics.registry, {
    connections: connections.counts,
    websockets: node.origins.websockets,
    buffers: node.buffers,
  });
  return {
    node,
    metrics,
    connections,
    reload: files.reload,
    async close() {
      files.close();
      await node.close();
      await decisions?.close();
    },
  };
}

function openBounds(settings: ResourceShare, log: Logger): ConnectionBounds {
  const { maxConnections, maxAddressConnections } = settings;
  const trusted = trustProxies(settings.trusted);
  const why = {
    all: `there are ${maxConnections} connections of clients: more are refused; --max-connections sets how many`,
    address: `there are ${maxAddressConnections} connections of one address: more are refused; --max-connections-per-address sets how many`,
  };
  return createConnectionBounds({
    maxConnections: maxConnections,
    perAddress: maxAddressConnections,
    isProxy: trusted.has,
    onRefused: (bound) => log.warn(why[bound]),
  });
}

function classifierOf(files: ClassificationFiles, resolvers: readonly string[]): Classifier {
  return createClassifier({
    countries: files.countries,
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
