/**
 * Starts an agent in a folder of its own: the decisions of a node without its listeners, behind the doors that proxies ask at.
 * In: plain options. Out: the running agent and the way to stop it; signals and printing are the caller's.
 */
import { randomUUID } from 'node:crypto';
import { takeFolder } from '../../base/storage/sqlite.ts';
import { addBuildInfo } from '../../base/telemetry/metrics/process.ts';
import { PLAN_VERSION } from '../../engine/plan/layout.ts';
import { loadWarm } from '../../engine/waf/load/load.ts';
import { createTrafficCounter, type TrafficCounter } from '../following/traffic/counter.ts';
import { createContextCache } from '../listeners/tls/certificate-pairs.ts';
import {
  MAX_ADDRESS_CONNECTIONS,
  MAX_CONNECTIONS,
  MAX_WEBSOCKETS,
  STALL_MS,
  WEBSOCKET_IDLE_MS,
} from '../proxy/limits.ts';
import { addSyncMetrics, unreadySync } from '../proxy/log/metrics.ts';
import { createTrafficLog, type RequestLog } from '../proxy/log/request-log.ts';
import { type DoorSettings, openDoors } from './agent-doors.ts';
import { openDecisionLog, openShippedDecisions, type ShippedDecisions } from './decision-output.ts';
import { createEnding } from './ending.ts';
import { createFeedCertificates, createFeedTokens } from './feed-certificates.ts';
import { GRACE_MS } from './listeners.ts';
import { createClearanceSecrets, createNodeProcess, randomClearance } from './node-process.ts';
import { startNodeTelemetry } from './node-telemetry.ts';
import { createOperations } from './operations.ts';
import { type EdgeNodeOptions, reportReloads } from './options.ts';
import { followPlans, type PlanSource } from './plan-source.ts';
import { resourceShareOf } from './resource-shares.ts';

/** The options that an agent has in common with a node. */
type SharedOptions = Pick<
  EdgeNodeOptions,
  | 'data'
  | 'plans'
  | 'signatures'
  | 'decisions'
  | 'shipped'
  | 'operationsPort'
  | 'operationsAddress'
  | 'collector'
  | 'log'
  | 'version'
  | 'countries'
  | 'botRanges'
  | 'nodeId'
  | 'resolvers'
  | 'allowedOrigins'
  | 'onCaughtUp'
  | 'onTokenRefused'
>;

/** Everything that `startAgent` needs. */
export interface AgentOptions extends SharedOptions {
  readonly doors: DoorSettings;
}

/** An agent that answers proxies. */
export interface RunningAgent {
  /** A line for each door. */
  readonly doors: readonly string[];
  /** `null` without a health and metrics listener. */
  operationsUrl(): string | null;
  /** As `RunningNode.reload`. */
  reload(): void;
  /** Reports itself not ready and answers on for `drainMs`, then ends its connections where they are quiet. */
  stop(drainMs: number): Promise<void>;
}

/** What a node has and an agent does not use: listeners, connections of clients and to origins, a cache. */
const UNUSED = {
  host: '127.0.0.1',
  port: 0,
  publicPort: null,
  tls: null,
  trusted: [],
  proxies: [],
  cacheOctets: 0,
  diskCache: false,
  perOrigin: 1,
  anyCertificate: false,
  maxConnections: MAX_CONNECTIONS,
  maxAddressConnections: MAX_ADDRESS_CONNECTIONS,
  maxWebsockets: MAX_WEBSOCKETS,
  requestIdleMs: STALL_MS,
  websocketIdleMs: WEBSOCKET_IDLE_MS,
  keepUnderscores: false,
  bodyOctets: 0,
  bufferOctets: 0,
  minRate: 0,
  workers: 1,
  sockets: new Map(),
  handed: null,
  onWorkerEvent: () => undefined,
} as const;

type Stage = 'starting' | 'serving' | 'draining';

/**
 * Locks the folder and starts the agent; its doors are open when this resolves.
 * @throws StoreFault when another process has the folder; the system's errors for addresses, files and folders; TrustFault when
 * the configured key and the stored one differ; what an edge file is refused for
 */
export async function startAgent({ doors: wanted, ...shared }: AgentOptions): Promise<RunningAgent> {
  const options: EdgeNodeOptions = { ...UNUSED, ...shared };
  const { log, signatures, collector, version } = options;
  const unlock = takeFolder(options.data);
  const secrets = createClearanceSecrets(randomClearance());
  const decisions = openDecisionLog(options);
  const shipped = shippedOf(options);
  let traffic: RequestLog | null = null;
  let counter: TrafficCounter | null = null;
  let source: PlanSource | null = null;
  let stage: Stage = 'starting';
  const telemetry = await startNodeTelemetry(
    collector === null ? null : { collector, version, instance: randomUUID() },
    { registry: () => serving.metrics.registry, worker: null, log },
  );
  const serving = await createNodeProcess(resourceShareOf(options, 1), {
    waf: signatures === null ? null : loadWarm(signatures.program),
    secrets,
    traffic: { done: (entry) => traffic?.done(entry) },
    spans: null,
    tokens: new Map(),
    domainTokens: createFeedTokens(),
    listsHosts: false,
    ownPorts: new Set(),
    decisions,
    shipped,
    log,
    fileLog: log,
    before: null,
  });
  const { node, metrics } = serving;
  addBuildInfo(metrics.registry, { version, planFormat: PLAN_VERSION });
  const hasPlans = (): boolean => node.plans.size > 0 && source?.progress?.().filling !== true;
  const unready = (): string | null => {
    if (stage !== 'serving') return stage;
    if (node.plans.size === 0) return 'no plan is served yet';
    const progress = source?.progress ?? null;
    return progress === null ? null : unreadySync(progress());
  };
  const operations = createOperations(options, { registry: () => metrics.registry, unready });
  async function close(): Promise<void> {
    await counter?.stop();
    // Before the last shipment, which sends what is on the disk.
    await shipped?.close();
    await source?.stop();
    await telemetry?.stop();
    operations.close();
    await serving.close();
    unlock();
  }
  try {
    source = await followPlans(options, {
      plans: node.plans,
      certificates: createFeedCertificates(createContextCache()),
      challenges: createFeedTokens(),
      onSecret: secrets.set,
    });
    if (source.traffic !== null) {
      counter = createTrafficCounter({ send: source.traffic.add });
      traffic = createTrafficLog(counter);
    }
    if (source.progress !== null) addSyncMetrics(metrics.registry, source.progress);
    await operations.open();
    const { check } = source;
    const opened = await openDoors(wanted, {
      ...node.decisions,
      registry: metrics.registry,
      log: (sentence) => log.warn(sentence),
      isServing: () => unready() === null,
      hasPlans,
      onFault: (error) => log.error({ err: error }, 'a fault in a decision'),
    });
    stage = 'serving';
    return {
      doors: opened.lines,
      operationsUrl: operations.url,
      reload() {
        decisions?.reopen();
        reportReloads(log, [check(), serving.reload()]);
      },
      stop: createEnding(log, async (drained) => {
        stage = 'draining';
        await drained();
        opened.retire();
        await opened.stop(GRACE_MS);
        await close();
      }),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The queue of decisions for the control plane; `null`: none are shipped. */
function shippedOf({ plans, shipped, data, log }: EdgeNodeOptions): ShippedDecisions | null {
  if (plans.kind !== 'control' || shipped === null) return null;
  return openShippedDecisions({ data, shipped, process: 0, processes: 1, log });
}
