/**
 * Everything `edgeplan node` runs, wired together: the node, its listeners, and whoever brings it its plans: an edge
 * file, or a control plane. In go plain options, out comes the running node and the way to stop it; signals and printing
 * are the command's.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningHealthListener, startHealthListener } from '../proxy/log/health-listener.ts';
import { addSyncMetrics, unreadySync } from '../proxy/log/sync-metrics.ts';
import type { AcmeTokens } from '../proxy/tls/acme.ts';
import { loadWarm } from '../waf/load/load.ts';
import { openDecisions } from './node/decisions.ts';
import { followPlans, type PlanSource } from './node/follow-plans.ts';
import { chosenPorts, openListeners } from './node/listeners.ts';
import type { NodeStart, RunningNode } from './node/options.ts';
import { reloadFiles } from './node/reload.ts';
import { removeOtherCaches, resourceShareOf } from './node/resource-shares.ts';
import { createSecrets, ownClearance } from './node/secrets.ts';
import { createNodeProcess } from './node/services.ts';

/**
 * Starts a node of one process in a folder that is its own. Under `file` the file must be right; a control plane may be away, what was kept is
 * served then.
 */
export async function startNode(options: NodeStart): Promise<RunningNode> {
  const { log, signatures } = options;
  const secrets = createSecrets(ownClearance());
  const tokens: AcmeTokens = new Map();
  const ownPorts = chosenPorts(options);
  const decisions = openDecisions(options);
  let source: PlanSource | null = null;
  const serving = await createNodeProcess(resourceShareOf(options, 1), {
    waf: signatures === null ? null : loadWarm(signatures.program),
    secrets,
    usage: { done: (entry) => source?.usage?.done(entry) },
    tokens,
    ownPorts,
    decisions,
    log,
    fileLog: log,
  });
  const { node, metrics } = serving;
  let operations: RunningHealthListener | null = null;
  let stage: 'starting' | 'serving' | 'draining' = 'starting';
  try {
    source = await followPlans(options, { plans: node.plans, onSecret: secrets.set });
    const { following } = source;
    if (following !== null) addSyncMetrics(metrics.registry, following);
    if (options.operationsPort !== null) {
      operations = await startHealthListener({
        port: options.operationsPort,
        registry: () => metrics.registry,
        unready() {
          if (stage !== 'serving') return stage;
          if (node.plans.size === 0) return 'no plan is served yet';
          return following === null ? null : unreadySync(following());
        },
      });
      ownPorts.add(Number(new URL(operations.url).port));
    }
    const onListening = (port: number): void => void ownPorts.add(port);
    const opened = await openListeners(serving, options, { tokens, onListening });
    const { stop: stopListening, retire, reload, ...urls } = opened;
    const { look, stop: stopFollowing } = source;
    removeOtherCaches(options, 1);
    stage = 'serving';
    return {
      ...urls,
      operationsUrl: operations?.url ?? null,
      reload() {
        decisions?.reopen();
        reloadFiles(log, [look(), serving.reload(), reload()]);
      },
      async stop(drainMs) {
        stage = 'draining';
        retire();
        await sleep(drainMs);
        await stopListening();
        await stopFollowing();
        operations?.close();
        await serving.close();
      },
    };
  } catch (error) {
    await source?.stop();
    operations?.close();
    await serving.close();
    throw error;
  }
}
