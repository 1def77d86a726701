/** A node of one process: request handling, listeners, the source of plans, and the health and metrics listener. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { addBuildInfo } from '../../base/telemetry/metrics/process.ts';
import { PLAN_VERSION } from '../../engine/plan/layout.ts';
import { loadWarm } from '../../engine/waf/load/load.ts';
import { createTrafficCounter, type TrafficCounter } from '../following/traffic/counter.ts';
import type { AcmeTokens } from '../listeners/tls/acme.ts';
import { createContextCache } from '../listeners/tls/certificate-pairs.ts';
import { PROBES_DUE, type RunningHealthListener, startHealthListener } from '../proxy/health.ts';
import { addSyncMetrics, unreadySync } from '../proxy/log/metrics.ts';
import { createTrafficLog, type RequestLog } from '../proxy/log/request-log.ts';
import { openDecisionLog, openShippedDecisions, type ShippedDecisions } from './decision-output.ts';
import { createFeedCertificates, createFeedTokens } from './feed-certificates.ts';
import { configuredPorts, openListeners } from './listeners.ts';
import {
  createClearanceSecrets,
  createNodeProcess,
  type NodeProcess,
  randomClearance,
} from './node-process.ts';
import { startNodeTelemetry } from './node-telemetry.ts';
import { type EdgeNodeOptions, type RunningNode, reportReloads } from './options.ts';
import { followPlans, type PlanSource } from './plan-source.ts';
import { type CacheReporter, startCacheReports } from './report-cache.ts';
import { removeOtherCaches, resourceShareOf } from './resource-shares.ts';

type Stage = 'starting' | 'serving' | 'draining';

/** Starts the process; as `startNode`. */
export async function startSingleProcess(options: EdgeNodeOptions): Promise<RunningNode> {
  const { log, signatures, collector, version } = options;
  const secrets = createClearanceSecrets(randomClearance());
  const tokens: AcmeTokens = new Map();
  const domainTokens = createFeedTokens();
  const contexts = createContextCache();
  const feed = createFeedCertificates(contexts);
  const ownPorts = configuredPorts(options);
  const decisions = openDecisionLog(options);
  const shipped = shippedOf(options);
  let source: PlanSource | null = null;
  let counter: TrafficCounter | null = null;
  let traffic: RequestLog | null = null;
  let cacheReports: CacheReporter | null = null;
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
  });
  addBuildInfo(serving.metrics.registry, { version, planFormat: PLAN_VERSION });
  let operations: RunningHealthListener | null = null;
  let stage: Stage = 'starting';
  try {
    const { plans } = serving.node;
    const receivers = { plans, certificates: feed, challenges: domainTokens, onSecret: secrets.set };
    source = await followPlans(options, receivers);
    if (source.traffic !== null) {
      counter = createTrafficCounter({ send: source.traffic.add });
      traffic = createTrafficLog(counter);
    }
    cacheReports = reportsOf(serving, source, log);
    operations = await openOperations(options, { serving, source, stage: () => stage });
    if (operations !== null) ownPorts.add(Number(new URL(operations.url).port));
    const onListening = (port: number): void => void ownPorts.add(port);
    const opened = await openListeners(serving, options, { tokens, contexts, feed, onListening });
    const { stop: stopListening, retire, reload, ...urls } = opened;
    const { check, stop: stopFollowing } = source;
    removeOtherCaches(options, 1);
    stage = 'serving';
    return {
      ...urls,
      operationsUrl: operations?.url ?? null,
      reload() {
        decisions?.reopen();
        reportReloads(log, [check(), serving.reload(), reload()]);
      },
      async stop(drainMs) {
        stage = 'draining';
        log.info({ seconds: drainMs / 1_000 }, 'the node drains');
        retire();
        await sleep(drainMs);
        await stopListening();
        await counter?.stop();
        await cacheReports?.stop();
        // Before the last shipment, which sends what is on the disk.
        await shipped?.close();
        await stopFollowing();
        await telemetry?.stop();
        operations?.close();
        await serving.close();
      },
    };
  } catch (error) {
    await counter?.stop();
    await cacheReports?.stop();
    await source?.stop();
    operations?.close();
    await serving.close();
    throw error;
  }
}

/** The queue of decisions for the control plane; `null`: none are shipped. */
function shippedOf({ plans, shipped, data, log }: EdgeNodeOptions): ShippedDecisions | null {
  if (plans.kind !== 'control' || shipped === null) return null;
  return openShippedDecisions({ data, shipped, process: 0, processes: 1, log });
}

/** Starts to report what the cache has stored; `null`: it has no cache, or nobody to report to. */
function reportsOf(
  { cache, node: { plans } }: NodeProcess,
  { reportCache: send }: PlanSource,
  log: EdgeNodeOptions['log'],
): CacheReporter | null {
  if (cache === null || send === null) return null;
  return startCacheReports({ cache, plans, process: 0, send, log });
}

interface Observed {
  readonly serving: Pick<NodeProcess, 'node' | 'metrics'>;
  readonly source: PlanSource;
  readonly stage: () => Stage;
}

/** Adds the metrics of sync and opens the health and metrics listener; `null`: none is configured. */
async function openOperations(
  { operationsPort }: EdgeNodeOptions,
  { serving: { node, metrics }, source: { progress }, stage }: Observed,
): Promise<RunningHealthListener | null> {
  if (progress !== null) addSyncMetrics(metrics.registry, progress);
  if (operationsPort === null) return null;
  return startHealthListener({
    port: operationsPort,
    registry: () => metrics.registry,
    unready() {
      if (stage() !== 'serving') return stage();
      if (node.plans.size === 0) return 'no plan is served yet';
      if (node.probing()) return PROBES_DUE;
      return progress === null ? null : unreadySync(progress());
    },
  });
}
