/**
 * Reads the whole manifest at intervals and compares it with what is installed, so that a change which the feed missed is
 * found; removes names after the control plane was set up again or this node was moved to other groups.
 */

import { pause, retryMs } from '../../base/platform/backoff.ts';
import type { ManifestPage } from '../../engine/plan/manifest.ts';
import { FIRST_RETRY_MS } from './limits.ts';
import { readManifest } from './read-manifest.ts';
import { epochOf, historyOf, introduce, readPage, storeEpoch, storeGroups } from './session.ts';
import { noteProblem, offerPage, type SyncRun } from './sync-run.ts';
import { TrustFault } from './trust.ts';

/** Compares until `run.signal` aborts; never rejects. */
export async function compareRegularly(run: SyncRun): Promise<void> {
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
