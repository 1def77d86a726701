/**
 * A node of several processes: this one, the primary, follows the plans, orders certificates, reports, and gathers logs
 * and metrics; its workers serve. What each of them does is in `src/workers`.
 */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { addProcessMetrics } from '../../metrics/process.ts';
import { type RunningHealthListener, startHealthListener } from '../../proxy/log/health-listener.ts';
import type { LineWriter } from '../../proxy/log/line-writer.ts';
import { addLog } from '../../proxy/log/metrics.ts';
import { addSyncMetrics, unreadySync } from '../../proxy/log/sync-metrics.ts';
import { trustProxies } from '../../proxy/visitor.ts';
import { collectLines } from '../../workers/collect-lines.ts';
import type { WorkerEvent } from '../../workers/events.ts';
import { type RunningPrimary, startPrimary } from '../../workers/primary.ts';
import { createSharedState, type SharedState } from '../../workers/shared-state.ts';
import { openLines } from './decisions.ts';
import { followPlans, type PlanSource } from './follow-plans.ts';
import { GRACE_MS } from './limits.ts';
import { urlOf } from './listeners.ts';
import type { NodeStart, RunningNode } from './options.ts';
import { type Ordering, orderCertificates } from './order-certificates.ts';
import { reloadFiles } from './reload.ts';
import { removeOtherCaches, resourceShareOf } from './resource-shares.ts';
import { ownClearance } from './secrets.ts';
import { HTTP, HTTPS, type WorkerSettings } from './worker-settings.ts';

export interface WorkersStart extends NodeStart {
  readonly workers: number;
  /** Told of workers once all have begun. */
  readonly onEvent: (event: WorkerEvent) => void;
}

/** Starts a node of several processes; as `startNode`. */
export async function startWorkers(options: WorkersStart): Promise<RunningNode> {
  const { log, plans } = options;
  const alike = createSharedState({ inFiles: plans.kind === 'control' });
  const onSecret = (clearance: ReturnType<typeof ownClearance>): void => {
    alike
      .setClearance(clearance)
      .catch((error: unknown) => log.error({ err: error }, 'a worker has an old secret'));
  };
  onSecret(ownClearance());
  const lines = openLines(options);
  let source: PlanSource | null = null;
  let primary: RunningPrimary | null = null;
  let ordering: Ordering | null = null;
  let operations: RunningHealthListener | null = null;
  async function stop(drainMs: number): Promise<void> {
    primary?.retire();
    await sleep(drainMs);
    ordering?.stop();
    await primary?.stop(GRACE_MS);
    await source?.stop();
    operations?.close();
    await lines?.close();
  }
  try {
    source = await followPlans(options, { plans: alike, onSecret });
    // Before the workers, which must not take its port for an origin's.
    operations = await openOperations(options, { alike, source, primary: () => primary });
    primary = await startProcesses(options, { alike, lines, source, operations });
    ordering = await orderCertificates(options, alike);
  } catch (error) {
    await stop(0);
    throw error;
  }
  removeOtherCaches(options, options.workers);
  const { addresses } = primary;
  const { look } = source;
  return {
    url: urlOf('http', addresses[HTTP]!),
    tlsUrl: addresses[HTTPS] === undefined ? null : urlOf('https', addresses[HTTPS]),
    operationsUrl: operations?.url ?? null,
    reload() {
      lines?.reopen();
      reloadFiles(log, [look(), alike.reload()]);
    },
    stop,
  };
}

interface Parts {
  readonly alike: SharedState;
  readonly lines: LineWriter | null;
  readonly source: PlanSource;
  readonly operations: RunningHealthListener | null;
}

function startProcesses(
  options: WorkersStart,
  { alike, lines, source, operations }: Parts,
): Promise<RunningPrimary> {
  const { host, port, tls, workers, log, onEvent } = options;
  const [trusted, proxies] = [trustProxies(options.trusted), trustProxies(options.proxies)];
  const gather = (output: Readable, into: LineWriter): void => {
    collectLines(output, into).catch((error: unknown) =>
      log.warn({ err: error }, 'lines of a worker are lost'),
    );
  };
  const registry = new Registry();
  addProcessMetrics(registry);
  if (lines !== null) addLog(registry, lines.stats);
  if (source.following !== null) addSyncMetrics(registry, source.following);
  return startPrimary({
    program: { file: fileURLToPath(new URL('./worker.js', import.meta.url)), args: [], env: workerEnv() },
    workers,
    listeners: { [HTTP]: { host, port }, ...(tls === null ? {} : { [HTTPS]: { host, port: tls.port } }) },
    isProxy: (address) => trusted.has(address) || proxies.has(address),
    sharedState: alike,
    settings: (addresses) =>
      workerSettings(options, { addresses, operations, counted: source.usage !== null }),
    onOutput: lines === null ? null : (output) => gather(output, lines),
    onCounted: (tally) => source.usage?.add(tally),
    registry,
    onEvent,
  });
}

/** Workers need no token: the primary alone asks the control plane. */
function workerEnv(): NodeJS.ProcessEnv {
  const { EDGEPLAN_NODE_TOKEN: _, ...env } = process.env;
  return env;
}

interface Known {
  readonly addresses: Readonly<Record<string, AddressInfo>>;
  readonly operations: RunningHealthListener | null;
  readonly counted: boolean;
}

function workerSettings(options: WorkersStart, { addresses, operations, counted }: Known): WorkerSettings {
  const { publicPort, tls, signatures, decisions, data, log, workers } = options;
  return {
    serve: resourceShareOf(options, workers),
    ports: {
      http: publicPort ?? addresses[HTTP]!.port,
      https: tls === null ? null : (tls.publicPort ?? addresses[HTTPS]!.port),
    },
    ownPorts: [
      ...Object.values(addresses).map(({ port }) => port),
      ...(operations === null ? [] : [Number(new URL(operations.url).port)]),
    ],
    data,
    signatures: signatures === null ? null : Buffer.from(signatures.sealed()).toString('base64'),
    ticketKeys: randomBytes(48).toString('base64'),
    logRate: decisions === null ? null : decisions.rate,
    logLevel: log.level,
    counted,
  };
}

interface Watched extends Pick<Parts, 'alike' | 'source'> {
  readonly primary: () => RunningPrimary | null;
}

async function openOperations(
  { operationsPort }: WorkersStart,
  { alike, source, primary }: Watched,
): Promise<RunningHealthListener | null> {
  if (operationsPort === null) return null;
  return startHealthListener({
    port: operationsPort,
    registry: () => primary()?.registry() ?? new Registry(),
    unwell: () => primary()?.unwell() ?? null,
    unready() {
      const processes = reason(primary());
      if (processes !== null) return processes;
      if (alike.size === 0) return 'no plan is served yet';
      return source.following === null ? null : unreadySync(source.following());
    },
  });
}

function reason(primary: RunningPrimary | null): string | null {
  return primary === null ? 'starting' : primary.unready();
}
