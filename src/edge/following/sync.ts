/**
 * Sync: a node follows its control plane. In: a URL, a token, a folder. Out: a `PlanSink` that always has the last whole
 * plan of each name that was signed, fetched, tested and stored; also after a restart, also without a control plane.
 * The stages:
 *
 * 1. serve the plans on disk (`plan-store.ts`, `install-plans.ts`)
 * 2. introduce the node (`session.ts`): the first key is trusted from then on, and keys that transitions lead to
 *    (`trusted-key.ts`, `trust.ts`)
 * 3. read the manifest as it grows (`follow-feed.ts`, `feed.ts`), and all of it at intervals
 * 4. install each entry of a signed page: its challenges (`install-challenges.ts`), its plan (`install-plans.ts`,
 *    `fetch-plan.ts`), and its certificates (`certificates/install-sets.ts`) at a node with TLS
 * 5. report the outcome (`install-state.ts`) and the traffic (`traffic/traffic.ts`)
 */
import { pause, retryMs } from '../../base/platform/tasks.ts';
import type { ManifestPage } from '../../engine/plan/manifest.ts';
import { openBoxKeyPair, openSetFiles, removeSetFiles } from './certificates/set-files.ts';
import { type ControlPlaneClient, createControl } from './control-plane.ts';
import { followFeed } from './follow-feed.ts';
import { createReports } from './install-state.ts';
import { FIRST_RETRY_MS } from './limits.ts';
import { openPlanStore } from './plan-store.ts';
import { epochOf, historyOf, introduce, readPage, storeEpoch, storeGroups } from './session.ts';
import {
  checkProgress,
  createSyncRun,
  isSettled,
  noteProblem,
  offerPage,
  type SyncOptions,
  type SyncParts,
  type SyncRun,
  type SyncState,
  syncState,
} from './sync-run.ts';
import { TrustFault } from './trust.ts';
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

// Reads the whole manifest at intervals and compares it with what is installed, so that a change which the feed missed is
// found; removes names after the control plane was set up again or this node was moved to other groups.

/** Compares until `run.signal` aborts; never rejects. */
async function compareRegularly(run: SyncRun): Promise<void> {
  const { signal, wakeUps, session, times } = run;
  let failures = 0;
  while (!signal.aborted) {
    wakeUps.compareSoon = new AbortController();
    wakeUps.compareNow = new AbortController();
    // Nodes that started together compare at different times.
    let waits = times.compareMs * (0.8 + Math.random() * 0.4);
    try {
      await introduce(session);
      await compare(run);
      failures = 0;
    } catch (error) {
      noteProblem(run, error);
      waits = Math.min(waits, retryMs(failures++, { first: FIRST_RETRY_MS, last: times.lastRetryMs }));
    }
    const { compareSoon, compareNow } = wakeUps;
    // The first pause bounds how often a suspicion causes a comparison.
    await pause(Math.min(waits, times.lastRetryMs), signal, compareNow.signal);
    await pause(waits - times.lastRetryMs, signal, compareSoon.signal, compareNow.signal);
  }
}

/** One comparison. @throws ControlPlaneFault, TrustFault, or the system's error of the disk */
async function compare(run: SyncRun): Promise<void> {
  const { session, installer, sets, challenges, planStore, control, wakeUps } = run;
  run.grown = new Set();
  const movesBefore = session.moves;
  const { epoch } = session.identity;
  const { listed, through } = await readManifest({
    page: async (since) => {
      const page = readPage(session, await control.page(since, 0));
      await enterEpochOf(run, page);
      return page;
    },
    tick: installer.tick,
    onPage: (page, asOf) => offerPage(run, page, asOf),
  });
  if (session.moves !== movesBefore) {
    throw new TrustFault('this node was moved to other groups while it read the manifest; reading it again');
  }
  if (session.groups !== session.identity.groups) {
    // In this order: a node that is killed in between removes the names again.
    const names = new Set([...listed, ...run.grown]);
    challenges?.forgetUnlisted(names);
    await installer.forgetUnlisted(names);
    await sets?.forgetUnlisted(names);
    await storeGroups(session, session.groups);
  }
  const history = historyOf(session.identity);
  challenges?.forgetOthers(history, listed);
  await installer.forgetOthers(history, listed);
  await sets?.forgetOthers(history, listed);
  const unlisted = [...planStore.names.keys()].filter((name) => !listed.has(name)).length;
  if (unlisted > 0) {
    run.options.log.warn(
      { names: unlisted },
      'the manifest does not list names that this node serves; they stay served',
    );
  }
  run.comparisons++;
  run.problem = null;
  if (run.position === 0) run.position = through;
  wakeUps.compared.abort();
  // The stream was refused while its pages were of an epoch that was not read yet.
  if (session.identity.epoch !== epoch) wakeUps.resume.abort();
}

/** Enters the epoch of a page, after a restore of the control plane: the manifest is read from its beginning. */
async function enterEpochOf(run: SyncRun, page: ManifestPage): Promise<void> {
  const { session, planStore } = run;
  const epoch = epochOf(page);
  if (epoch === session.identity.epoch) return;
  run.options.log.warn(
    { epoch },
    'the control plane was restored and began a new epoch; all of its manifest is read',
  );
  // In this order: a node that is killed in between reads everything from the beginning.
  await planStore.commit([{ kind: 'position', position: 0 }]);
  await storeEpoch(session, epoch);
  run.position = 0;
}

// Reads the whole manifest from its beginning, page by page.

export interface ReadManifestOptions {
  /** Requests the page above a position and checks it. */
  readonly page: (since: number) => Promise<ManifestPage>;
  /** The number of installations so far; see `EntrySource.asOf`. */
  readonly tick: () => number;
  /** Called with each page and the tick before it was requested. */
  readonly onPage: (page: ManifestPage, asOf: number) => void;
}

/** The manifest's content. */
export interface ManifestNames {
  /** Every name that the manifest lists. */
  readonly listed: ReadonlySet<string>;
  /** The position of its last page. */
  readonly through: number;
}

/** @throws TrustFault when pages do not follow one another; what `page` throws */
async function readManifest({
  page: requestPage,
  tick,
  onPage,
}: ReadManifestOptions): Promise<ManifestNames> {
  const listed = new Set<string>();
  let through = 0;
  for (let complete = false; !complete; ) {
    const asOf = tick();
    const page = await requestPage(through);
    if (page.since !== through) {
      throw new TrustFault(`the page after ${through} begins above ${page.since}`);
    }
    for (const { domain } of page.entries) listed.add(domain);
    onPage(page, asOf);
    through = page.through;
    complete = page.complete;
  }
  return { listed, through };
}
