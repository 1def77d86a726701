/** What serves requests, wired together: the node, what it finds out about visitors, its cache, its journals. */
import type { Logger } from 'pino';
import { createChallenges } from '../../answers/challenge/challenge.ts';
import { RATE } from '../../edge/buffers/limits.ts';
import { createCache } from '../../edge/cache/cache.ts';
import { type ClassificationFiles, openClassificationFiles } from '../../edge/classification-files.ts';
import { createBotResolver, createClassifier } from '../../edge/classifier.ts';
import { type ConnectionBounds, createConnectionBounds } from '../../edge/connection-bounds.ts';
import { addConnections } from '../../edge/log/connections.ts';
import { type DecisionLog, journals } from '../../edge/log/journal.ts';
import { createNodeMetrics, type NodeMetrics } from '../../edge/log/metrics.ts';
import { createMarkdownRenderer } from '../../edge/markdown/renderer.ts';
import { createNode, type EdgeNode } from '../../edge/node.ts';
import type { OwnTokens } from '../../edge/own-tokens.ts';
import type { Classifier, EdgeCache, Journal } from '../../edge/services.ts';
import { trustProxies } from '../../edge/visitor.ts';
import type { WafProgram } from '../../evaluator/index.ts';
import { FILES_MS } from './limits.ts';
import type { SecretBox } from './secrets.ts';
import type { ServeSettings } from './share.ts';

export interface Serving {
  readonly node: EdgeNode;
  readonly metrics: NodeMetrics;
  /** For all listeners of the process. */
  readonly connections: ConnectionBounds;
  /** Looks at the files that classification reads. */
  reload(): Promise<void>;
  /** Ends what outlives requests, the decision log at last. */
  close(): Promise<void>;
}

export interface ServingParts {
  readonly waf: WafProgram | null;
  readonly secrets: Pick<SecretBox, 'of'>;
  /** Counts what each domain was asked. */
  readonly usage: Journal;
  readonly tokens: OwnTokens;
  /** The ports of the node's own listeners; may grow while it starts. */
  readonly ownPorts: ReadonlySet<number>;
  /** `null`: none is written. */
  readonly decisions: Pick<DecisionLog, 'done' | 'stats' | 'close'> | null;
  readonly log: Logger;
  /** Told of files that cannot be used, which is the same for every process. */
  readonly fileLog: Logger;
}

export async function createServing(settings: ServeSettings, parts: ServingParts): Promise<Serving> {
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
    journal: journals(journal, (error) => log.error({ err: error }, 'a request could not be counted')),
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

function openBounds(settings: ServeSettings, log: Logger): ConnectionBounds {
  const { maxConnections, maxAddressConnections } = settings;
  const trusted = trustProxies(settings.trusted);
  const why = {
    all: `there are ${maxConnections} connections of clients: more are refused; --max-connections sets how many`,
    address: `there are ${maxAddressConnections} connections of one address: more are refused; --max-connections-per-address sets how many`,
  };
  return createConnectionBounds({
    most: maxConnections,
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

function openCache({ cacheOctets, cacheFolder, diskShare }: ServeSettings, log: Logger): EdgeCache | null {
  if (cacheOctets === 0) return null;
  return createCache({
    memoryOctets: cacheOctets,
    directory: cacheFolder,
    diskShare,
    onFault: (error) => log.warn({ err: error }, 'the disk cache fails'),
  });
}
