/**
 * Sync: a node follows its control plane. In: a URL, a token, a folder. Out: a `PlanSink` that always has the last whole
 * plan of each name that was signed, fetched, tested and stored; also after a restart, also without a control plane.
 * The stages:
 *
 * 1. serve the plans on disk (`plan-store.ts`, `install-plans.ts`)
 * 2. introduce the node (`session.ts`): the first key is trusted from then on, and keys that transitions lead to
 *    (`trusted-key.ts`, `trust.ts`)
 * 3. read the manifest as it grows (`follow-feed.ts`, `feed.ts`), and all of it at intervals (`compare.ts`)
 * 4. install each entry of a signed page: its challenges (`install-challenges.ts`), its plan (`install-plans.ts`,
 *    `fetch-plan.ts`), and its certificates (`certificates/install-sets.ts`) at a node with TLS
 * 5. report the outcome (`reports.ts`) and the traffic (`usage.ts`)
 */
import { pause } from '../../base/platform/backoff.ts';
import { openBoxKeyPair } from './certificates/box-key.ts';
import { openSetFiles, removeSetFiles } from './certificates/set-files.ts';
import { compareRegularly } from './compare.ts';
import { type ControlPlaneClient, createControl } from './control-plane.ts';
import { followFeed } from './follow-feed.ts';
import type { SyncOptions, SyncState } from './options.ts';
import { openPlanStore } from './plan-store.ts';
import { createReports } from './reports.ts';
import { checkProgress, createSyncRun, isSettled, type SyncParts, syncState } from './sync-run.ts';
import { readIdentity } from './trusted-key.ts';

/** A running sync. */
export interface ControlPlaneSync {
  state(): SyncState;
  /**
   * Resolves once a node that had plans at its start has what was published and purged since, once its control plane is
   * found to be away, or after `ms`.
   */
  caughtUp(ms: number): Promise<void>;
  /** Opens a new stream, with the token as it is now. */
  reconnect(): void;
  /** The client, for reports of other parts of the node. */
  readonly control: Pick<ControlPlaneClient, 'traffic' | 'shipLogs' | 'reportCache'>;
  /** Stops following; installed plans stay served. */
  stop(): Promise<void>;
}

/** Milliseconds between checks of the progress. */
const PROGRESS_CHECK_MS = 1_000;
/** Milliseconds between checks of a node that starts, which serves nothing yet. */
const CATCH_UP_CHECK_MS = 10;

/**
 * Serves the plans on disk, then starts to follow in the background. Resolves once they are served.
 * @throws TrustFault when the key of the options is not a key; the system's error when the folder cannot be used
 */
export async function syncWithControlPlane(options: SyncOptions): Promise<ControlPlaneSync> {
  const { directory, log } = options;
  const identity = readIdentity(directory, options.publicKey ?? null);
  const planStore = await openPlanStore(directory, log);
  const sealed = await openSealed(options);
  const boxKey = sealed === null ? {} : { boxKey: sealed.key.publicKey };
  const control = createControl({
    ...{ url: options.url, token: options.token },
    ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
    ...boxKey,
  });
  const reports = createReports(control, log);
  const ending = new AbortController();
  const run = createSyncRun({ options, identity, planStore, control, reports, sealed }, ending.signal);
  run.installer.restore();
  await run.sets?.restore(planStore.names);
  if (identity.clearance !== null) options.onSecret(identity.clearance);
  // Their reports may have been lost when the node was killed.
  for (const domain of planStore.recent) {
    const plan = planStore.names.get(domain);
    if (plan !== undefined) reports.add({ domain, revision: plan.revision, outcome: 'ack', reason: '' });
  }
  const checks = setInterval(() => void checkProgress(run), PROGRESS_CHECK_MS).unref();
  const following = followFeed(run);
  const comparing = compareRegularly(run);
  return {
    state: () => syncState(run),
    async caughtUp(ms) {
      const until = performance.now() + ms;
      while (run.storedAtStart > 0 && performance.now() < until && !isSettled(run)) {
        await pause(CATCH_UP_CHECK_MS, ending.signal);
      }
    },
    reconnect: () => run.wakeUps.renew.abort(),
    control,
    async stop() {
      ending.abort();
      clearInterval(checks);
      const installed = Promise.all([run.installer.stop(), run.sets?.stop()]);
      await reports.stop();
      await control.close();
      await Promise.all([following, comparing, installed]);
      await checkProgress(run);
      await planStore.close();
    },
  };
}

/** Opens the node's key and the folder of sets; `null`: the node has no TLS. */
async function openSealed({ directory, certificates, log }: SyncOptions): Promise<SyncParts['sealed']> {
  if (certificates !== undefined) {
    return { key: await openBoxKeyPair(directory, log), files: await openSetFiles(directory) };
  }
  await removeSetFiles(directory);
  return null;
}
