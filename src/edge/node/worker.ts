/** Entry of a worker process, which `start-workers.ts` starts: serves the connections that the primary sends. */
import type { Logger } from 'pino';
import { createLog } from '../../base/telemetry/redacting-log.ts';
import type { WafProgram } from '../../engine/evaluator/index.ts';
import { openSignatures } from '../../engine/plan/open-signatures.ts';
import { loadWarm } from '../../engine/waf/load/load.ts';
import { randomClearance } from '../following/secrets.ts';
import { createTrafficCounter } from '../following/traffic/counter.ts';
import type { Acceptor } from '../listeners/acceptor.ts';
import { createHttpAcceptor } from '../listeners/http.ts';
import type { AcmeTokens } from '../listeners/tls/acme.ts';
import { createContextCache } from '../listeners/tls/certificate-pairs.ts';
import { createTlsAcceptor, type HandshakeCertificates } from '../listeners/tls/listen.ts';
import { createDecisionLog } from '../proxy/log/decision-log.ts';
import { createTrafficLog } from '../proxy/log/request-log.ts';
import { trustProxies } from '../proxy/visitor.ts';
import type { SharedStateChange, WorkerStart } from '../workers/messages.ts';
import {
  createPlanTaker,
  type JoinedWorker,
  joinPrimary,
  type PlanTaker,
  type PrimaryChannel,
} from '../workers/worker.ts';
import { joinCertificates, openCertificateFolder } from './certificates.ts';
import { openShippedDecisions, type ShippedDecisions } from './decision-output.ts';
import {
  createFeedCertificates,
  createFeedTokens,
  type FeedCertificates,
  type FeedTokens,
} from './feed-certificates.ts';
import { packMemory, unpackMemory } from './handed-state.ts';
import {
  type ClearanceSecrets,
  createClearanceSecrets,
  createNodeProcess,
  type NodeProcess,
} from './node-process.ts';
import { startNodeTelemetry } from './node-telemetry.ts';
import { HTTP, HTTPS } from './options.ts';
import { startCacheReports } from './report-cache.ts';
import { type ResourceShare, workerFolder } from './resource-shares.ts';
import type { Visits } from './visit-relay.ts';
import type { WorkerSettings } from './worker-settings.ts';

/** Log level of a logger that writes nothing. */
const SILENT = { level: 'silent' } as const;

/** Creates everything that serves, applies the shared state of the start, and returns the operations of the primary. */
async function begin(
  { index, settings: sent, changes, before, isReleased }: WorkerStart,
  primary: PrimaryChannel,
): Promise<JoinedWorker> {
  const settings = sent as WorkerSettings;
  const log = createLog(settings.logLevel, writeError).child({ worker: index });
  // All workers read the same files: one of them logs what is wrong with them.
  const fileLog = index === 0 ? log : log.child({}, SILENT);
  const secrets = createClearanceSecrets(randomClearance());
  const tokens: AcmeTokens = new Map();
  const domainTokens = createFeedTokens();
  const counter = settings.counted ? createTrafficCounter({ send: primary.counted }) : null;
  // The primary exports the metrics of all processes.
  const exporting = { registry: null, worker: index, log: fileLog };
  const telemetry = await startNodeTelemetry(settings.exported, exporting);
  const shipped = shippedOf(settings, { index, log });
  if (isReleased) await shipped?.release();
  const serving = await createNodeProcess(
    isReleased ? withoutDisk(settings.share) : withOwnCache(settings.share, index),
    {
      waf: openWaf(settings.signatures),
      secrets,
      traffic: counter === null ? null : createTrafficLog(counter),
      spans: telemetry?.spans ?? null,
      tokens,
      domainTokens,
      listsHosts: settings.listsHosts,
      ownPorts: new Set(settings.ownPorts),
      decisions: openDecisions(settings.logRate, log),
      shipped,
      log,
      fileLog,
      before: before === null ? null : unpackMemory(before),
    },
  );
  const relayVisits = (): void => serving.relayVisits(primary.visited);
  if (isReleased) relayVisits();
  const { node, metrics, cache } = serving;
  const cacheReports =
    cache === null || !settings.counted
      ? null
      : startCacheReports({ cache, plans: node.plans, process: index, send: primary.cached, log });
  const { certificates: folder } = settings.share;
  const contexts = createContextCache();
  const files = folder === null ? null : await openCertificateFolder(folder, fileLog, contexts);
  const feed = createFeedCertificates(contexts);
  const acceptors = createAcceptors(settings, serving, joinCertificates(files, feed));
  const onDamaged = primary.damaged;
  const plans = createPlanTaker({ plans: node.plans, directory: settings.data, onDamaged });

  const apply = applyTo({ plans, secrets, feed, domainTokens, tokens });
  changes.forEach(apply);
  return {
    accept(listener, socket) {
      // Match what the HTTP listener sets in a single process; a socket passed from another process does not keep
      // `allowHalfOpen`.
      socket.allowHalfOpen = listener === HTTP;
      acceptors.get(listener)!.accept(socket);
    },
    registry: metrics.registry,
    isProbing: node.probing,
    prepare: (change) => (change.kind === 'plan' ? plans.prepare(change) : () => apply(change)),
    apply,
    async reload() {
      await Promise.all([files?.reload(), serving.reload()]);
    },
    async release() {
      cache?.releaseDisk();
      await shipped?.release();
      // INVARIANT: with the state, so that each hit is in one of the two.
      relayVisits();
      return packMemory(serving.state());
    },
    absorb: (visits) => serving.absorb(visits as Visits),
    reclaim() {
      serving.relayVisits(null);
      cache?.reclaimDisk();
    },
    retire() {
      for (const acceptor of acceptors.values()) acceptor.retire();
    },
    async drain(graceMs) {
      await Promise.all([...acceptors.values()].map((acceptor) => acceptor.stop(graceMs)));
      files?.close();
      await counter?.stop();
      await cacheReports?.stop();
      await telemetry?.stop();
      await serving.close();
    },
  };
}

interface ChangedState {
  readonly plans: PlanTaker;
  readonly secrets: Pick<ClearanceSecrets, 'set'>;
  readonly feed: FeedCertificates;
  readonly domainTokens: FeedTokens;
  readonly tokens: AcmeTokens;
}

/** Makes changes of the shared state in this process. */
function applyTo({ plans, secrets, feed, domainTokens, tokens }: ChangedState) {
  return (change: SharedStateChange): void => {
    switch (change.kind) {
      case 'plan':
        plans.apply(change);
        return;
      case 'clearance':
        secrets.set(change.clearance);
        return;
      case 'certificates':
        if (change.pairs === null) feed.delete(change.domain);
        else feed.set(change.domain, change.pairs);
        return;
      case 'challenges':
        domainTokens.set(change.domain, change.challenges);
        return;
      case 'token':
        if (change.answer === null) tokens.delete(change.token);
        else tokens.set(change.token, change.answer);
        return;
      default:
        change satisfies never;
    }
  };
}

/** Another process of the node has the cache's folder. */
function withoutDisk(share: ResourceShare): ResourceShare {
  return { ...share, cacheFolder: null };
}

function withOwnCache(share: ResourceShare, index: number): ResourceShare {
  const { cacheFolder } = share;
  return { ...share, cacheFolder: cacheFolder === null ? null : workerFolder(cacheFolder, index) };
}

function openWaf(signatures: string | null): WafProgram | null {
  if (signatures === null) return null;
  return loadWarm(openSignatures(new Uint8Array(Buffer.from(signatures, 'base64'))));
}

/** The decision log of a worker: its lines go to stdout, which the primary collects and counts as written. */
function openDecisions(rate: number | null, log: Logger) {
  if (rate === null) return null;
  const onFault = (error: unknown): void => log.warn({ err: error }, 'the decision log cannot be written');
  const decisions = createDecisionLog({ file: null, rate, onFault });
  return { ...decisions, stats: () => ({ ...decisions.stats(), written: 0 }) };
}

/** The queue of decisions for the control plane; `null`: none are shipped. */
function shippedOf(
  { shipped, data, workers: processes }: WorkerSettings,
  { index: process, log }: { readonly index: number; readonly log: Logger },
): ShippedDecisions | null {
  return shipped === null ? null : openShippedDecisions({ data, shipped, process, processes, log });
}

/** One acceptor per listener, by the listener's name. */
function createAcceptors(
  { share, ports, ticketKeys }: WorkerSettings,
  { node, connections, handshakes }: Pick<NodeProcess, 'node' | 'connections' | 'handshakes'>,
  certificates: HandshakeCertificates,
): ReadonlyMap<string, Acceptor> {
  const { handler, plans } = node;
  const shared = {
    handler,
    trusted: trustProxies(share.trusted),
    proxies: share.proxies.length === 0 ? null : trustProxies(share.proxies),
    connections,
    stallMs: share.requestIdleMs,
  };
  const http = createHttpAcceptor({ ...shared, listener: { scheme: 'http', port: ports.http } });
  if (ports.https === null) return new Map([[HTTP, http]]);
  const https = createTlsAcceptor(
    {
      ...shared,
      plans,
      certificates,
      ticketKeys: Buffer.from(ticketKeys, 'base64'),
      onRefused: handshakes.record,
    },
    { scheme: 'https', port: ports.https },
  );
  return new Map([
    [HTTP, http],
    [HTTPS, https],
  ]);
}

function writeError(text: string): void {
  process.stderr.write(text);
}

// A closed stderr cannot be reported anywhere, and is no reason to stop serving.
process.stderr.on('error', () => undefined);
joinPrimary({
  begin,
  onFault: (error) =>
    writeError(`edgeplan: a worker: ${error instanceof Error ? error.message : String(error)}\n`),
});
