/** A node of one process: request handling, listeners, the source of plans, and the health and metrics listener. */
import { randomBytes, randomUUID } from 'node:crypto';
import { addBuildInfo } from '../../base/telemetry/metrics/process.ts';
import { PLAN_VERSION } from '../../engine/plan/layout.ts';
import { loadWarm } from '../../engine/waf/load/load.ts';
import { randomClearance } from '../following/secrets.ts';
import { createTrafficCounter, type TrafficCounter } from '../following/traffic/counter.ts';
import type { AcmeTokens } from '../listeners/tls/acme.ts';
import { createContextCache } from '../listeners/tls/certificate-pairs.ts';
import { createReadiness } from '../proxy/health.ts';
import { addSyncMetrics, unreadySync } from '../proxy/log/metrics.ts';
import { createTrafficLog, type RequestLog } from '../proxy/log/request-log.ts';
import { type CountsRelay, createCountsRelay } from './counts-relay.ts';
import { openDecisionLog, openShippedDecisions, type ShippedDecisions } from './decision-output.ts';
import { createEnding } from './ending.ts';
import { createFeedCertificates, createFeedTokens } from './feed-certificates.ts';
import { createFollowedSource, type FollowedSource } from './followed-source.ts';
import { type HandedState, handedState, memoryBefore, TICKET_KEY_OCTETS, visitsOf } from './handed-state.ts';
import { configuredPorts, type NodeListeners, openListeners } from './listeners.ts';
import { createClearanceSecrets, createNodeProcess, type NodeProcess } from './node-process.ts';
import { startNodeTelemetry } from './node-telemetry.ts';
import { createOperations, isOpenAtStart, type NodeOperations } from './operations.ts';
import { type EdgeNodeOptions, QUIET_MS, type RunningNode, reportReloads } from './options.ts';
import { followPlans } from './plan-source.ts';
import { type CacheReporter, startCacheReports } from './report-cache.ts';
import { removeOtherCaches, resourceShareOf } from './resource-shares.ts';

type Stage = 'starting' | 'serving' | 'draining';

/** Starts the process; as `startNode`. */
export async function startSingleProcess(options: EdgeNodeOptions): Promise<RunningNode> {
  const { log, signatures, collector, version, handed } = options;
  const { secrets, tokens, ticketKeys, save } = openMemory(handed);
  const domainTokens = createFeedTokens();
  const contexts = createContextCache();
  const feed = createFeedCertificates(contexts);
  const ownPorts = configuredPorts(options);
  const decisions = openDecisionLog(options);
  const shipped = shippedOf(options);
  const relay = createCountsRelay(log);
  let traffic: RequestLog | null = null;
  const telemetry = await startNodeTelemetry(
    collector === null ? null : { collector, version, instance: randomUUID() },
    { registry: () => serving.metrics.registry, worker: null, log },
  );
  const serving: NodeProcess = await createNodeProcess(resourceShareOf(options, 1), {
    waf: signatures === null ? null : loadWarm(signatures.program),
    secrets,
    traffic: { done: (entry) => traffic?.done(entry) },
    spans: telemetry?.spans ?? null,
    tokens,
    domainTokens,
    listsHosts: options.plans.kind === 'file',
    ownPorts,
    decisions,
    shipped,
    log,
    fileLog: log,
    before: memoryBefore(handed, 0, 1),
  });
  addBuildInfo(serving.metrics.registry, { version, planFormat: PLAN_VERSION });
  const { plans } = serving.node;
  const receivers = { plans, certificates: feed, challenges: domainTokens, onSecret: secrets.set };
  const source = createFollowedSource(options, { relay, follow: () => followPlans(options, receivers) });
  let stage: Stage = 'starting';
  const unready = createReadiness({
    isProbing: serving.node.probing,
    reason: () => (stage === 'serving' ? unreadyNode(serving, source) : stage),
  });
  const operations = createOperations(options, { registry: () => serving.metrics.registry, unready });
  let counter: TrafficCounter | null = null;
  const reports = createReports(serving, source, log);
  async function close(): Promise<void> {
    await counter?.stop();
    await reports.stop();
    // Before the last shipment, which sends what is on the disk.
    await shipped?.close();
    await source.stop();
    await telemetry?.stop();
    operations.close();
    await serving.close();
  }
  try {
    await source.start();
    if (source.current()?.traffic != null) {
      counter = createTrafficCounter({ send: relay.add });
      traffic = createTrafficLog(counter);
    }
    reports.start();
    if (source.progress() !== null) addSyncMetrics(serving.metrics.registry, () => source.progress()!);
    if (isOpenAtStart(options)) await operations.open();
    const onListening = (port: number): void => void ownPorts.add(port);
    if (operations.port() !== null) onListening(operations.port()!);
    const opened = await openListeners(serving, options, { tokens, contexts, feed, ticketKeys, onListening });
    removeOtherCaches(options, 1);
    stage = 'serving';
    const end = createEnding(log, async (drained) => {
      stage = 'draining';
      opened.retire();
      await drained();
      await opened.stop();
      await close();
    });
    return {
      url: opened.url,
      tlsUrl: opened.tlsUrl,
      operationsUrl: operations.url,
      openOperations: operations.open,
      unready,
      reload() {
        decisions?.reopen();
        reportReloads(log, [source.check(), serving.reload(), opened.reload()]);
      },
      ...createHandOver(
        { serving, opened, operations, source, relay, shipped, end },
        { memory: save, reports },
      ),
      stop: end,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What a process of the node serves with and hands over besides its counts of visitors. */
function openMemory(handed: HandedState | null) {
  const secrets = createClearanceSecrets(handed?.clearance ?? randomClearance());
  const tokens: AcmeTokens = new Map(handed?.tokens);
  const ticketKeys =
    handed === null ? randomBytes(TICKET_KEY_OCTETS) : Buffer.from(handed.ticketKeys, 'base64');
  const save = (): Pick<HandedState, 'clearance' | 'ticketKeys' | 'tokens'> => ({
    clearance: secrets.common(),
    ticketKeys: ticketKeys.toString('base64'),
    tokens: [...tokens],
  });
  return { secrets, tokens, ticketKeys, save };
}

/** Why a process that serves is not ready for traffic; `null`: it is. */
function unreadyNode({ node }: NodeProcess, source: FollowedSource): string | null {
  if (node.plans.size === 0) return 'no plan is served yet';
  const progress = source.progress();
  return progress === null ? null : unreadySync(progress);
}

interface HandOverServices {
  readonly serving: NodeProcess;
  readonly opened: NodeListeners;
  readonly operations: NodeOperations;
  readonly source: FollowedSource;
  readonly relay: CountsRelay;
  readonly shipped: ShippedDecisions | null;
  readonly end: (drainMs: number) => Promise<void>;
}

interface HandOverState {
  /** What is handed over of the node besides its process. */
  readonly memory: () => Pick<HandedState, 'clearance' | 'ticketKeys' | 'tokens'>;
  /** The reports of the cache. */
  readonly reports: SourceReports;
}

/** The part of a node that concerns the next process and the one before. */
function createHandOver(
  { serving, opened, operations, source, relay, shipped, end }: HandOverServices,
  { memory, reports }: HandOverState,
): Pick<RunningNode, 'sockets' | 'release' | 'reclaim' | 'leave' | 'absorb'> {
  return {
    sockets: () => [...opened.sockets, ...operations.sockets()],
    async release(report) {
      opened.stopOrders();
      await relay.to(null);
      await reports.stop();
      await source.pause();
      serving.cache?.releaseDisk();
      await shipped?.release();
      // INVARIANT: with the state, so that each hit is in one of the two.
      serving.relayVisits((visits) => report({ kind: 'visits', process: 0, processes: 1, visits }));
      return handedState({ ...memory(), processes: [serving.state()], routeSeed: null });
    },
    async reclaim() {
      serving.relayVisits(null);
      serving.cache?.reclaimDisk();
      await source.start();
      reports.start();
      await opened.startOrders();
    },
    async leave(drainMs, report) {
      opened.unlisten();
      operations.unlisten();
      await relay.to((counted) => report({ kind: 'counted', counted }));
      await end(Math.max(QUIET_MS, drainMs));
    },
    absorb(report) {
      if (report.kind === 'counted') relay.absorb(report.counted);
      else serving.absorb(visitsOf(report, 0, 1));
    },
  };
}

/** The queue of decisions for the control plane; `null`: none are shipped. */
function shippedOf({ plans, shipped, data, log }: EdgeNodeOptions): ShippedDecisions | null {
  if (plans.kind !== 'control' || shipped === null) return null;
  return openShippedDecisions({ data, shipped, process: 0, processes: 1, log });
}

/** The reports of what the cache has stored. */
interface SourceReports {
  /** Reports to the source that is followed now; without an effect where there is no cache, or nobody to report to. */
  start(): void;
  stop(): Promise<void>;
}

function createReports(
  { cache, node: { plans } }: NodeProcess,
  source: FollowedSource,
  log: EdgeNodeOptions['log'],
): SourceReports {
  let running: CacheReporter | null = null;
  return {
    start() {
      const send = source.current()?.reportCache ?? null;
      running =
        cache === null || send === null ? null : startCacheReports({ cache, plans, process: 0, send, log });
    },
    stop: async () => running?.stop(),
  };
}
