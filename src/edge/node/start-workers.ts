/**
 * A node of several processes. This one, the primary, follows the plans, orders certificates, reports traffic, and
 * collects logs and metrics; its workers (`worker.ts`) serve. The protocol between them is in `src/edge/workers`.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Server } from 'node:net';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { addBuildInfo, addProcessMetrics } from '../../base/telemetry/metrics/process.ts';
import type { Telemetry } from '../../base/telemetry/spans.ts';
import { PLAN_VERSION } from '../../engine/plan/layout.ts';
import type { Clearance } from '../../engine/plan/manifest.ts';
import { randomClearance } from '../following/secrets.ts';
import type { ListenPlace, OpenSocket } from '../handover/sockets.ts';
import { createReadiness } from '../proxy/health.ts';
import type { LineWriter } from '../proxy/log/line-writer.ts';
import { addLog, addSyncMetrics, unreadySync } from '../proxy/log/metrics.ts';
import { trustProxies } from '../proxy/visitor.ts';
import { type RunningPrimary, startPrimary } from '../workers/primary.ts';
import { createSharedState, type SharedState } from '../workers/shared-state.ts';
import { collectLines } from '../workers/start-program.ts';
import { openCertificateFolder, startOrders } from './certificates.ts';
import { type CountsRelay, createCountsRelay } from './counts-relay.ts';
import { openLineWriter } from './decision-output.ts';
import { createEnding } from './ending.ts';
import { createFollowedSource, type FollowedSource } from './followed-source.ts';
import {
  handedState,
  memoryBefore,
  packMemory,
  type ReportSink,
  TICKET_KEY_OCTETS,
  unpackMemory,
  visitsOf,
} from './handed-state.ts';
import { GRACE_MS, placeOf, urlOf } from './listeners.ts';
import { type NodeTelemetryOptions, startNodeTelemetry } from './node-telemetry.ts';
import { createOperations, isOpenAtStart, type NodeOperations } from './operations.ts';
import { type EdgeNodeOptions, HTTP, HTTPS, QUIET_MS, type RunningNode, reportReloads } from './options.ts';
import { followPlans } from './plan-source.ts';
import { removeOtherCaches, resourceShareOf } from './resource-shares.ts';
import type { Visits } from './visit-relay.ts';
import type { WorkerSettings } from './worker-settings.ts';

/** Starts the primary and `options.workers` workers; as `startNode`. */
export async function startWorkers(options: EdgeNodeOptions): Promise<RunningNode> {
  const { log, plans, collector, version, handed } = options;
  const sharedState = createSharedState({ inFiles: plans.kind === 'control' });
  const onSecret = (clearance: Clearance): void => {
    sharedState
      .setClearance(clearance)
      .catch((error: unknown) => log.error({ err: error }, 'a worker has an old secret'));
  };
  onSecret(handed?.clearance ?? randomClearance());
  for (const [token, answer] of handed?.tokens ?? []) await sharedState.setToken(token, answer);
  const ticketKeys = handed?.ticketKeys ?? randomBytes(TICKET_KEY_OCTETS).toString('base64');
  const lines = openLineWriter(options);
  const relay = createCountsRelay(log);
  const { certificates, challenges } = sharedState;
  const receivers = { plans: sharedState, certificates, challenges, onSecret };
  const source = createFollowedSource(options, { relay, follow: () => followPlans(options, receivers) });
  let primary: RunningPrimary | null = null;
  let orders: CertificateOrders | null = null;
  let telemetry: Telemetry | null = null;
  const unready = createReadiness({
    isProbing: () => primary?.isProbing() === true,
    reason: () => (primary === null ? 'starting' : (primary.unready() ?? unreadyPlans(sharedState, source))),
  });
  const operations = createOperations(options, {
    registry: () => primary?.registry() ?? new Registry(),
    unwell: () => primary?.unwell() ?? null,
    unready,
  });
  const exported = collector === null ? null : { collector, version, instance: randomUUID() };
  const end = createEnding(log, async (drained) => {
    primary?.retire();
    await drained();
    orders?.stop();
    // Before the workers end: the last export has their metrics.
    await telemetry?.stop();
    await primary?.stop(GRACE_MS);
    await source.stop();
    operations.close();
    await lines?.close();
  });
  try {
    await source.start();
    // Before the workers: their settings list its port, which no origin may have.
    if (isOpenAtStart(options)) await operations.open();
    const parts = { sharedState, lines, source, relay, operations, exported, ticketKeys };
    primary = await startProcesses(options, parts);
    const { registry } = primary;
    telemetry = await startNodeTelemetry(exported, { registry, worker: null, log });
    orders = await orderCertificates(options, sharedState);
  } catch (error) {
    await end(0);
    throw error;
  }
  removeOtherCaches(options, options.workers);
  const running = primary;
  const { addresses, servers } = running;
  return {
    url: urlOf('http', addresses[HTTP]!),
    tlsUrl: addresses[HTTPS] === undefined ? null : urlOf('https', addresses[HTTPS]),
    operationsUrl: operations.url,
    openOperations: operations.open,
    unready,
    sockets: () => [...openSockets(options, servers), ...operations.sockets()],
    reload() {
      lines?.reopen();
      reportReloads(log, [source.check(), sharedState.reload()]);
    },
    async release(report) {
      orders?.stop();
      await relay.to(null);
      await source.pause();
      const memories = await running.release(visitsReporter(options, report));
      return handedState({
        clearance: sharedState.clearance() ?? randomClearance(),
        ticketKeys,
        tokens: sharedState.tokens(),
        processes: memories.map(unpackMemory),
        routeSeed: running.routeSeed,
      });
    },
    async reclaim() {
      running.reclaim();
      await source.start();
      orders = await orderCertificates(options, sharedState);
    },
    async leave(drainMs, report) {
      running.unlisten();
      operations.unlisten();
      await relay.to((counted) => report({ kind: 'counted', counted }));
      await end(Math.max(QUIET_MS, drainMs));
    },
    absorb: absorber(options, { relay, running }),
    stop: end,
  };
}

/** Sends what workers count of visitors to the process that takes over. */
function visitsReporter({ workers, log }: EdgeNodeOptions, report: ReportSink) {
  return (process: number, visits: unknown): void => {
    report({ kind: 'visits', process, processes: workers, visits: visits as Visits }).catch(() =>
      log.warn({ worker: process }, 'hits of rate limits and proofs are unknown to the next process'),
    );
  };
}

interface AbsorbingParts {
  readonly relay: Pick<CountsRelay, 'absorb'>;
  readonly running: Pick<RunningPrimary, 'absorb'>;
}

/** Adds what the process before still counts to the batches for the control plane, or to the workers. */
function absorber({ workers }: EdgeNodeOptions, { relay, running }: AbsorbingParts): RunningNode['absorb'] {
  return (report) => {
    if (report.kind === 'counted') relay.absorb(report.counted);
    else running.absorb((index) => visitsOf(report, index, workers));
  };
}

/** Why the plans are not ready for traffic; `null`: they are. */
function unreadyPlans({ size }: SharedState, source: FollowedSource): string | null {
  if (size === 0) return 'no plan is served yet';
  const progress = source.progress();
  return progress === null ? null : unreadySync(progress);
}

/** The listening sockets of the workers. */
function openSockets(options: EdgeNodeOptions, servers: ReadonlyMap<string, Server>): readonly OpenSocket[] {
  const ports = new Map([
    [HTTP, options.port],
    [HTTPS, options.tls?.port ?? 0],
  ]);
  return [...servers].map(([name, server]) => {
    return { name, place: placeOf(options, name, ports.get(name)!), server };
  });
}

interface PrimaryParts {
  readonly sharedState: SharedState;
  readonly lines: LineWriter | null;
  readonly source: FollowedSource;
  readonly relay: CountsRelay;
  readonly operations: NodeOperations;
  /** What the processes export with; `null`: no collector is configured. */
  readonly exported: NodeTelemetryOptions | null;
  /** TLS session ticket keys in base64. */
  readonly ticketKeys: string;
}

async function startProcesses(options: EdgeNodeOptions, parts: PrimaryParts): Promise<RunningPrimary> {
  const { sharedState, lines, source, relay } = parts;
  const { host, port, tls, workers, log, handed, onWorkerEvent } = options;
  const counted = source.current()?.traffic != null;
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
  if (source.progress() !== null) addSyncMetrics(registry, () => source.progress()!);
  const place = (name: string, ofPort: number): ListenPlace => {
    return { host, port: ofPort, socket: options.sockets.get(name) ?? null };
  };
  let started = false;
  const primary = await startPrimary({
    program: { file: fileURLToPath(new URL('./worker.js', import.meta.url)), args: [], env: workerEnv() },
    workers,
    listeners: { [HTTP]: place(HTTP, port), ...(tls === null ? {} : { [HTTPS]: place(HTTPS, tls.port) }) },
    routeSeed: handed?.routeSeed ?? null,
    before: Array.from({ length: workers }, (_, index) => {
      const memory = memoryBefore(handed, index, workers);
      return memory === null ? null : packMemory(memory);
    }),
    isProxy: (address) => trusted.has(address) || proxies.has(address),
    sharedState,
    settings: (ports) => workerSettings(options, { ...parts, ports, counted }),
    onOutput: lines === null ? null : (output) => collect(output, lines),
    onCounted: (seconds) => {
      relay
        .add(seconds)
        .catch((error: unknown) => log.error({ err: error }, 'traffic counts of a worker are lost'));
    },
    onCached(report) {
      source
        .current()
        ?.reportCache?.(report)
        .catch((error: unknown) => {
          log.warn({ err: error }, 'a report of what a worker has cached is lost; a later one repeats it');
        });
    },
    registry,
    // A worker that ends before all are ready ends the start, whose fault has the reason.
    onEvent(event) {
      if (!started) return;
      if (event.kind === 'ended') source.current()?.traffic?.lostSpan();
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

interface Bound extends Pick<PrimaryParts, 'operations' | 'exported' | 'ticketKeys'> {
  /** Of the listeners, by name. */
  readonly ports: Readonly<Record<string, number>>;
  readonly counted: boolean;
}

function workerSettings(
  options: EdgeNodeOptions,
  { ports, operations, exported, counted, ticketKeys }: Bound,
): WorkerSettings {
  const { publicPort, tls, plans, signatures, decisions, data, log, workers } = options;
  const operationsPort = operations.port();
  return {
    share: resourceShareOf(options, workers),
    ports: {
      http: publicPort ?? ports[HTTP]!,
      https: tls === null ? null : (tls.publicPort ?? ports[HTTPS]!),
    },
    ownPorts: [...Object.values(ports), ...(operationsPort === null ? [] : [operationsPort])],
    data,
    listsHosts: plans.kind === 'file',
    signatures: signatures === null ? null : Buffer.from(signatures.sealed()).toString('base64'),
    ticketKeys,
    logRate: decisions === null ? null : decisions.rate,
    shipped: plans.kind === 'control' ? options.shipped : null,
    workers,
    logLevel: log.level,
    counted,
    exported,
  };
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
