/** A worker of a node, a process that `start-workers.ts` starts: serves the connections it is handed. */
import type { Logger } from 'pino';
import type { WafProgram } from '../../evaluator/index.ts';
import { openSignatures } from '../../plan/open-signatures.ts';
import type { Acceptor } from '../../proxy/listen/acceptor.ts';
import { createHttpAcceptor } from '../../proxy/listen/http.ts';
import { createDecisionLog } from '../../proxy/log/decision-log.ts';
import type { AcmeTokens } from '../../proxy/tls/acme.ts';
import type { Certificates } from '../../proxy/tls/certificates.ts';
import { createTlsAcceptor } from '../../proxy/tls/listen.ts';
import { trustProxies } from '../../proxy/visitor.ts';
import { loadWarm } from '../../waf/load/load.ts';
import { createCounts } from '../../workers/counts.ts';
import { createPlanTaker } from '../../workers/install-shared-plans.ts';
import type { Beginning, SharedStateChange } from '../../workers/messages.ts';
import { type JoinedWorker, joinPrimary, type PrimaryChannel } from '../../workers/worker.ts';
import { createLog } from '../create-log.ts';
import { openFolder } from './certificates.ts';
import { type ResourceShare, workerFolder } from './resource-shares.ts';
import { createSecrets, ownClearance } from './secrets.ts';
import { createNodeProcess, type NodeProcess } from './services.ts';
import { HTTP, HTTPS, type WorkerSettings } from './worker-settings.ts';

/** Another worker tells the same. */
const UNSAID = { level: 'silent' } as const;

async function begin(
  { index, settings: sent, changes }: Beginning,
  link: PrimaryChannel,
): Promise<JoinedWorker> {
  const settings = sent as WorkerSettings;
  const log = createLog(settings.logLevel, say).child({ worker: index });
  const fileLog = index === 0 ? log : log.child({}, UNSAID);
  const secrets = createSecrets(ownClearance());
  const tokens: AcmeTokens = new Map();
  const counts = settings.counted ? createCounts(link.counted) : null;
  const serving = await createNodeProcess(shareOf(settings.serve, index), {
    waf: openWaf(settings.signatures),
    secrets,
    usage: { done: (entry) => counts?.done(entry) },
    tokens,
    ownPorts: new Set(settings.ownPorts),
    decisions: openDecisions(settings.logRate, log),
    log,
    fileLog,
  });
  const { node, metrics, connections } = serving;
  const { certificates: folder } = settings.serve;
  const certificates = folder === null ? null : await openFolder(folder, fileLog);
  const acceptors = createAcceptors(settings, { node, connections, certificates });
  const plans = createPlanTaker({ plans: node.plans, directory: settings.data, onDamaged: link.damaged });

  function hold(made: SharedStateChange): void {
    switch (made.kind) {
      case 'plan':
        plans.hold(made);
        return;
      case 'clearance':
        secrets.set(made.clearance);
        return;
      case 'token':
        if (made.answer === null) tokens.delete(made.token);
        else tokens.set(made.token, made.answer);
        return;
      default:
        made satisfies never;
    }
  }

  for (const held of changes) hold(held);
  return {
    accept(listener, socket) {
      // As the listeners of a node of one process have it; sockets from another process come without.
      socket.allowHalfOpen = listener === HTTP;
      acceptors.get(listener)!.accept(socket);
    },
    registry: metrics.registry,
    prepare: (change) => (change.kind === 'plan' ? plans.prepare(change) : () => hold(change)),
    hold,
    async reload() {
      await Promise.all([certificates?.reload(), serving.reload()]);
    },
    retire() {
      for (const acceptor of acceptors.values()) acceptor.retire();
    },
    async drain(graceMs) {
      await Promise.all([...acceptors.values()].map((acceptor) => acceptor.stop(graceMs)));
      certificates?.close();
      await counts?.stop();
      await serving.close();
    },
  };
}

function shareOf(serve: ResourceShare, index: number): ResourceShare {
  const { cacheFolder } = serve;
  return { ...serve, cacheFolder: cacheFolder === null ? null : workerFolder(cacheFolder, index) };
}

function openWaf(signatures: string | null): WafProgram | null {
  if (signatures === null) return null;
  return loadWarm(openSignatures(new Uint8Array(Buffer.from(signatures, 'base64'))));
}

/** Lines go to the primary by way of stdout, and count as written there. */
function openDecisions(rate: number | null, log: Logger) {
  if (rate === null) return null;
  const onFault = (error: unknown): void => log.warn({ err: error }, 'the decision log cannot be written');
  const journal = createDecisionLog({ file: null, rate, onFault });
  return { ...journal, stats: () => ({ ...journal.stats(), written: 0 }) };
}

function createAcceptors(
  { serve, ports, ticketKeys }: WorkerSettings,
  {
    node,
    connections,
    certificates,
  }: Pick<NodeProcess, 'node' | 'connections'> & {
    readonly certificates: Certificates | null;
  },
): ReadonlyMap<string, Acceptor> {
  const { handler, plans } = node;
  const shared = {
    handler,
    trusted: trustProxies(serve.trusted),
    proxies: serve.proxies.length === 0 ? null : trustProxies(serve.proxies),
    connections,
  };
  const http = createHttpAcceptor({ ...shared, listener: { scheme: 'http', port: ports.http } });
  if (certificates === null || ports.https === null) return new Map([[HTTP, http]]);
  const https = createTlsAcceptor(
    { ...shared, plans, certificates, ticketKeys: Buffer.from(ticketKeys, 'base64') },
    { scheme: 'https', port: ports.https },
  );
  return new Map([
    [HTTP, http],
    [HTTPS, https],
  ]);
}

function say(text: string): void {
  process.stderr.write(text);
}

// Nowhere is left to say that stderr is gone, which is no reason to stop serving.
process.stderr.on('error', () => undefined);
joinPrimary({
  begin,
  onFault: (error) => say(`edgeplan: a worker: ${error instanceof Error ? error.message : String(error)}\n`),
});
