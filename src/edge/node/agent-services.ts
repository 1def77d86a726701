/**
 * What decides and counts in an agent: the request handling of a node without its listeners, its source of plans, logs and
 * traffic counts. In: the options of the agent. Out: services that one process of a folder can release and take up again.
 */
import { randomUUID } from 'node:crypto';
import { addBuildInfo } from '../../base/telemetry/metrics/process.ts';
import { PLAN_VERSION } from '../../engine/plan/layout.ts';
import type { Clearance } from '../../engine/plan/manifest.ts';
import { loadWarm } from '../../engine/waf/load/load.ts';
import { randomClearance } from '../following/secrets.ts';
import { createTrafficCounter, type TrafficCounter } from '../following/traffic/counter.ts';
import { createContextCache } from '../listeners/tls/certificate-pairs.ts';
import { addSyncMetrics, unreadySync } from '../proxy/log/metrics.ts';
import { createTrafficLog, type RequestLog } from '../proxy/log/request-log.ts';
import { type CountsRelay, createCountsRelay } from './counts-relay.ts';
import { openDecisionLog, openShippedDecisions, type ShippedDecisions } from './decision-output.ts';
import { createFeedCertificates, createFeedTokens } from './feed-certificates.ts';
import { createFollowedSource, type FollowedSource } from './followed-source.ts';
import { createClearanceSecrets, createNodeProcess, type NodeProcess } from './node-process.ts';
import { startNodeTelemetry } from './node-telemetry.ts';
import type { EdgeNodeOptions } from './options.ts';
import { followPlans } from './plan-source.ts';
import { resourceShareOf } from './resource-shares.ts';

/** Services of an agent. */
export interface AgentServices {
  readonly serving: NodeProcess;
  readonly source: FollowedSource;
  readonly relay: CountsRelay;
  /** `null`: there is no decision log. */
  readonly decisions: ReturnType<typeof openDecisionLog>;
  /** Follows the source of plans, and counts for it. Rejects as `followPlans`. */
  start(): Promise<void>;
  /** Why no traffic should be sent here; `null`: nothing. */
  unready(): string | null;
  /** Whether a host without a plan is unknown, and not one whose plan is still to come. */
  hasPlans(): boolean;
  /** The common secret of clearances. */
  clearance(): Clearance;
  /** Stops what one process of a folder may do; counts and logs on. `source.start` takes it up again. */
  release(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the services; no plans are followed yet.
 * @param clearance the secret of the process before; `null`: a new one
 */
export async function openAgentServices(
  options: EdgeNodeOptions,
  clearance: Clearance | null,
): Promise<AgentServices> {
  const { log, signatures, collector, version } = options;
  const secrets = createClearanceSecrets(clearance ?? randomClearance());
  const decisions = openDecisionLog(options);
  const shipped = shippedOf(options);
  const relay = createCountsRelay(log);
  let traffic: RequestLog | null = null;
  let counter: TrafficCounter | null = null;
  const telemetry = await startNodeTelemetry(
    collector === null ? null : { collector, version, instance: randomUUID() },
    { registry: () => serving.metrics.registry, worker: null, log },
  );
  const serving: NodeProcess = await createNodeProcess(resourceShareOf(options, 1), {
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
  });
  const { node, metrics } = serving;
  addBuildInfo(metrics.registry, { version, planFormat: PLAN_VERSION });
  const receivers = {
    plans: node.plans,
    certificates: createFeedCertificates(createContextCache()),
    challenges: createFeedTokens(),
    onSecret: secrets.set,
    atDoors: true as const,
  };
  const source = createFollowedSource(options, { relay, follow: () => followPlans(options, receivers) });
  return {
    serving,
    source,
    relay,
    decisions,
    async start() {
      await source.start();
      if (source.current()?.traffic != null) {
        counter = createTrafficCounter({ send: relay.add });
        traffic = createTrafficLog(counter);
      }
      if (source.progress() !== null) addSyncMetrics(metrics.registry, () => source.progress()!);
    },
    unready() {
      if (node.plans.size === 0) return 'no plan is served yet';
      const progress = source.progress();
      return progress === null ? null : unreadySync(progress);
    },
    hasPlans: () => node.plans.size > 0 && source.progress()?.filling !== true,
    clearance: secrets.common,
    async release() {
      await relay.to(null);
      await source.pause();
      await shipped?.release();
    },
    async close() {
      await counter?.stop();
      // Before the last shipment, which sends what is on the disk.
      await shipped?.close();
      await source.stop();
      await telemetry?.stop();
      await serving.close();
    },
  };
}

/** The queue of decisions for the control plane; `null`: none are shipped. */
function shippedOf({ plans, shipped, data, log }: EdgeNodeOptions): ShippedDecisions | null {
  if (plans.kind !== 'control' || shipped === null) return null;
  return openShippedDecisions({ data, shipped, process: 0, processes: 1, log });
}
