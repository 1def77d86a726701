/**
 * A node of several processes. This one, the primary, follows the plans, orders certificates, reports traffic, and
 * collects logs and metrics; its workers (`worker.ts`) serve. The protocol between them is in `src/edge/workers`.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { addBuildInfo, addProcessMetrics } from '../../base/telemetry/metrics/process.ts';
import type { Telemetry } from '../../base/telemetry/spans.ts';
import { PLAN_VERSION } from '../../engine/plan/layout.ts';
import type { Clearance } from '../../engine/plan/manifest.ts';
import { type RunningHealthListener, startHealthListener } from '../proxy/health.ts';
import type { LineWriter } from '../proxy/log/line-writer.ts';
import { addLog, addSyncMetrics, unreadySync } from '../proxy/log/metrics.ts';
import { trustProxies } from '../proxy/visitor.ts';
import { type RunningPrimary, startPrimary } from '../workers/primary.ts';
import { createSharedState, type SharedState } from '../workers/shared-state.ts';
import { collectLines } from '../workers/start-program.ts';
import { openCertificateFolder, startOrders } from './certificates.ts';
import { openLineWriter } from './decision-output.ts';
import { GRACE_MS, urlOf } from './listeners.ts';
import { randomClearance } from './node-process.ts';
import { type NodeTelemetryOptions, startNodeTelemetry } from './node-telemetry.ts';
import { type EdgeNodeOptions, type RunningNode, reportReloads } from './options.ts';
import { followPlans, type PlanSource } from './plan-source.ts';
import { removeOtherCaches, resourceShareOf } from './resource-shares.ts';
import { HTTP, HTTPS, type WorkerSettings } from './worker-settings.ts';

/** Starts the primary and `options.workers` workers; as `startNode`. */
export async function startWorkers(options: EdgeNodeOptions): Promise<RunningNode> {
  const { log, plans, collector, version } = options;
  const sharedState = createSharedState({ inFiles: plans.kind === 'control' });
  const onSecret = (clearance: Clearance): void => {
    sharedState
      .setClearance(clearance)
      .catch((error: unknown) => log.error({ err: error }, 'a worker has an old secret'));
  };
  onSecret(randomClearance());
  const lines = openLineWriter(options);
  let source: PlanSource | null = null;
  let primary: RunningPrimary | null = null;
  let orders: CertificateOrders | null = null;
  let operations: RunningHealthListener | null = null;
  let telemetry: Telemetry | null = null;
  const exported = collector === null ? null : { collector, version, instance: randomUUID() };
  async function stop(drainMs: number): Promise<void> {
    log.info({ seconds: drainMs / 1_000 }, 'the node drains');
    primary?.retire();
    await sleep(drainMs);
    orders?.stop();
    // Before the workers end: the last export has their metrics.
    await telemetry?.stop();
    await primary?.stop(GRACE_MS);
    await source?.stop();
    operations?.close();
    await lines?.close();
  }
  try {
    const { certificates, challenges } = sharedState;
    source = await followPlans(options, { plans: sharedState, certificates, challenges, onSecret });
    // Before the workers: their settings list its port, which no origin may have.
    operations = await openOperations(options, { sharedState, source, primary: () => primary });
    primary = await startProcesses(options, { sharedState, lines, source, operations, exported });
    const { registry } = primary;
    telemetry = await startNodeTelemetry(exported, { registry, worker: null, log });
    orders = await orderCertificates(options, sharedState);
  } catch (error) {
    await stop(0);
    throw error;
  }
  removeOtherCaches(options, options.workers);
  const { addresses } = primary;
  const { check } = source;
  return {
    url: urlOf('http', addresses[HTTP]!),
    tlsUrl: addresses[HTTPS] === undefined ? null : urlOf('https', addresses[HTTPS]),
    operationsUrl: operations?.url ?? null,
    reload() {
      lines?.reopen();
      reportReloads(log, [check(), sharedState.reload()]);
    },
    stop,
  };
}

interface PrimaryParts {
  readonly sharedState: SharedState;
  readonly lines: LineWriter | null;
  readonly source: PlanSource;
  readonly operations: RunningHealthListener | null;
  /** What the processes export with; `null`: no collector is configured. */
  readonly exported: NodeTelemetryOptions | null;
}

async function startProcesses(
  options: EdgeNodeOptions,
  { sharedState, lines, source, operations, exported }: PrimaryParts,
): Promise<RunningPrimary> {
  const { host, port, tls, workers, log, onWorkerEvent } = options;
  const [trusted, proxies] = [trustProxies(options.trusted), trustProxies(options.proxies)];
  const collect = (output: Readable, into: LineWriter): void => {
    collectLines(output, into).catch((error: unknown) =>
      log.warn({ err: error }, 'lines of a worker are lost'),
    );
  };
  const registry = new Registry();
  addBuildInfo(registry, { version: options.version, planFormat: PLAN_VERSION });
  addProcessMetrics(registry);
  if (lines !== null) addLog(registry, lines.stats);
  if (source.progress !== null) addSyncMetrics(registry, source.progress);
  let started = false;
  const primary = await startPrimary({
    program: { file: fileURLToPath(new URL('./worker.js', import.meta.url)), args: [], env: workerEnv() },
    workers,
    listeners: { [HTTP]: { host, port }, ...(tls === null ? {} : { [HTTPS]: { host, port: tls.port } }) },
    isProxy: (address) => trusted.has(address) || proxies.has(address),
    sharedState,
    settings: (addresses) =>
      workerSettings(options, { addresses, operations, exported, counted: source.traffic !== null }),
    onOutput: lines === null ? null : (output) => collect(output, lines),
    onCounted: (counted) => {
      source.traffic
        ?.add(counted)
        .catch((error: unknown) => log.error({ err: error }, 'traffic counts of a worker are lost'));
    },
    onCached(report) {
      source.reportCache?.(report).catch((error: unknown) => {
        log.warn({ err: error }, 'a report of what a worker has cached is lost; a later one repeats it');
      });
    },
    registry,
    // A worker that ends before all are ready ends the start, whose fault has the reason.
    onEvent(event) {
      if (!started) return;
      if (event.kind === 'ended') source.traffic?.lostSpan();
      onWorkerEvent(event);
    },
  });
  started = true;
  return primary;
}

/** The environment without the node token: only the primary connects to the control plane. */
function workerEnv(): NodeJS.ProcessEnv {
  const { EDGEPLAN_NODE_TOKEN: _, ...env } = process.env;
  return env;
}

interface Bound extends Pick<PrimaryParts, 'operations' | 'exported'> {
  readonly addresses: Readonly<Record<string, AddressInfo>>;
  readonly counted: boolean;
}

function workerSettings(
  options: EdgeNodeOptions,
  { addresses, operations, exported, counted }: Bound,
): WorkerSettings {
  const { publicPort, tls, plans, signatures, decisions, data, log, workers } = options;
  return {
    share: resourceShareOf(options, workers),
    ports: {
      http: publicPort ?? addresses[HTTP]!.port,
      https: tls === null ? null : (tls.publicPort ?? addresses[HTTPS]!.port),
    },
    ownPorts: [
      ...Object.values(addresses).map(({ port }) => port),
      ...(operations === null ? [] : [Number(new URL(operations.url).port)]),
    ],
    data,
    listsHosts: plans.kind === 'file',
    signatures: signatures === null ? null : Buffer.from(signatures.sealed()).toString('base64'),
    ticketKeys: randomBytes(48).toString('base64'),
    logRate: decisions === null ? null : decisions.rate,
    shipped: plans.kind === 'control' ? options.shipped : null,
    workers,
    logLevel: log.level,
    counted,
    exported,
  };
}

interface Observed extends Pick<PrimaryParts, 'sharedState' | 'source'> {
  /** `null` until the workers are started. */
  readonly primary: () => RunningPrimary | null;
}

async function openOperations(
  { operationsPort }: EdgeNodeOptions,
  { sharedState, source: { progress }, primary }: Observed,
): Promise<RunningHealthListener | null> {
  if (operationsPort === null) return null;
  return startHealthListener({
    port: operationsPort,
    registry: () => primary()?.registry() ?? new Registry(),
    unwell: () => primary()?.unwell() ?? null,
    unready() {
      const running = primary();
      const reason = running === null ? 'starting' : running.unready();
      if (reason !== null) return reason;
      if (sharedState.size === 0) return 'no plan is served yet';
      return progress === null ? null : unreadySync(progress());
    },
  });
}

// Certificates by ACME for a node of several processes: the primary orders them; every worker answers the authority's
// challenges and serves the certificates.

/** Running ACME orders of the primary. */
interface CertificateOrders {
  stop(): void;
}

/**
 * Starts to order certificates; challenge answers travel to the workers as shared state. `null`: ACME is not configured.
 * @throws the system's error when the folder cannot be read
 */
async function orderCertificates(
  { tls, log }: EdgeNodeOptions,
  sharedState: SharedState,
): Promise<CertificateOrders | null> {
  if (tls === null || tls.acme === null || tls.folder === null) return null;
  const certificates = await openCertificateFolder(tls.folder, log);
  const acme = await startOrders(tls.folder, tls.acme, {
    certificates,
    tokens: {
      set: (token, answer) => sharedState.setToken(token, answer),
      delete: (token) => sharedState.setToken(token, null),
    },
    log,
    // Workers watch the folder too; this is sooner, and works on file systems that report no changes.
    onObtained: () => reportReloads(log, [sharedState.reload()]),
  });
  return {
    stop() {
      acme.stop();
      certificates.close();
    },
  };
}
