/**
 * The node follows its control plane. In: where it is and who this node is. Out: a table of plans that serves, always,
 * the last whole plan of each name that was signed, fetched, tried out and written to the disk; also after a restart,
 * also without a control plane. The stages:
 *
 * 1. serve what was kept (`persist.ts`)
 * 2. meet the control plane: the key of the first meeting is trusted from then on, and keys that transitions lead to
 *    (`identity.ts`)
 * 3. read the manifest as it grows (`feed.ts`), and all of it now and then, so that nothing missed stays missed
 * 4. believe signed pages only (`trust.ts`), and bring each name to where they say (`install.ts`)
 * 5. tell what became of it (`reports.ts`)
 */
import type { ManifestPage, SignedTransition } from '../plan/manifest.ts';
import { pause, retryMs } from '../platform/backoff.ts';
import { type ControlPlaneClient, ControlPlaneFault, createControl } from './control-plane.ts';
import { readStream } from './feed.ts';
import { diskTrouble } from './fetch-plan.ts';
import { createInstaller, type Installer } from './install-plans.ts';
import { DEAD_STREAMS, FIRST_RETRY_MS } from './limits.ts';
import { errorMessage } from './log.ts';
import { type SyncOptions, type SyncState, type SyncTimes, TIMES } from './options.ts';
import { openPlanStore, type PlanStore } from './plan-store.ts';
import { readAll } from './read-manifest.ts';
import { createReports, type Reports } from './reports.ts';
import { groupsIn, type Trust, TrustFault } from './trust.ts';
import {
  enterEpoch,
  enterGroups,
  type Identity,
  readIdentity,
  succeed,
  trustAtFirstUse,
} from './trusted-key.ts';

export interface ControlPlaneSync {
  state(): SyncState;
  /** Opens the stream anew, with the token as it is now. */
  reconnect(): void;
  /** Calls to the control plane of other parts of the node. */
  readonly control: Pick<ControlPlaneClient, 'report'>;
  /** Ends following; what is in place stays served. */
  stop(): Promise<void>;
}

/** Milliseconds between notes of how far the node has come. */
const NOTE_MS = 1_000;
const PROGRESS_MS = 10_000;
/** The longest time a timer takes. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Serves what is kept, then begins to follow in the background. Resolves once everything kept is served.
 * @throws TrustFault when the key named is none; the system's error when the folder cannot be used
 */
export async function syncWithControlPlane(options: SyncOptions): Promise<ControlPlaneSync> {
  const { directory, log } = options;
  const identity = readIdentity(directory, options.publicKey ?? null);
  const keeper = await openPlanStore(directory, log);
  const control = createControl(options);
  const reports = createReports(control, log);
  const run = createRun({ options, identity, keeper, control, reports });
  run.installer.restore();
  if (identity.clearance !== null) options.onSecret(identity.clearance);
  // Their answers may have been on their way when the node died.
  for (const domain of keeper.recent) {
    const held = keeper.held.get(domain);
    if (held !== undefined) reports.add({ domain, revision: held.revision, outcome: 'ack', reason: '' });
  }
  const following = run.follow();
  const comparing = run.compareRegularly();
  return {
    state: run.state,
    reconnect: run.reconnect,
    control,
    async stop() {
      run.ending.abort();
      const installed = run.installer.stop();
      await reports.stop();
      await control.close();
      await Promise.all([following, comparing, installed]);
      await run.note();
      await keeper.close();
    },
  };
}

interface Parts {
  readonly options: SyncOptions;
  readonly identity: Identity;
  readonly keeper: PlanStore;
  readonly control: ControlPlaneClient;
  readonly reports: Reports;
}

interface Run {
  readonly installer: Installer;
  readonly ending: AbortController;
  /** Each runs until `ending`. */
  follow(): Promise<void>;
  compareRegularly(): Promise<void>;
  state(): SyncState;
  reconnect(): void;
  /** Keeps how far the manifest was read, once everything up to there is in place. */
  note(): Promise<void>;
}

function createRun({ options, identity: first, keeper, control, reports }: Parts): Run {
  const { log } = options;
  const times: SyncTimes = { ...TIMES, ...options.times };
  const ending = new AbortController();
  const { signal } = ending;
  let identity = first;
  /** Those that this node is in, as the control plane said last. */
  let groups = first.groups;
  /** Counts changes of them. */
  let moves = 0;
  let changing: Promise<unknown> = Promise.resolve();
  let mode: SyncState['mode'] = 'away';
  let position = keeper.position;
  let problem: string | null = null;
  let comparisons = 0;
  /** Names that pages of the growing manifest had since the comparison under way began. */
  let grown = new Set<string>();
  let caughtUp = false;
  /** How many there were when files that nothing names were removed last. */
  let pruned = 0;
  const compared = new AbortController();
  let introducing: Promise<void> | null = null;
  let compareSoon = new AbortController();
  /** A signed page is of a later epoch. */
  let compareNow = new AbortController();
  let resuming = new AbortController();
  let renewing = new AbortController();
  let progressAt = performance.now();
  let heardAt = progressAt;
  const installer = createInstaller({
    control,
    planStore: keeper,
    plans: options.plans,
    report: reports.add,
    onSuspicion: () => compareSoon.abort(),
    log,
  });
  const noting = setInterval(() => void note(), NOTE_MS).unref();
  signal.addEventListener('abort', () => clearInterval(noting));

  async function note(): Promise<void> {
    const pending = installer.pending();
    if (pending > 0 && performance.now() - progressAt > PROGRESS_MS) {
      progressAt = performance.now();
      log.info({ pending, names: keeper.held.size }, 'plans are being fetched');
    }
    if (pending > 0) return;
    tellCaughtUp();
    // The position goes first: a page that comes while something else is awaited moves it, before its plans are in place.
    if (position !== keeper.position) {
      await keeper.commit([{ kind: 'position', position }]).catch((error: unknown) => {
        log.warn(
          { err: errorMessage(error) },
          'how far the manifest was read cannot be kept; the next start reads it again',
        );
      });
    }
    if (pruned === comparisons) return;
    pruned = comparisons;
    await keeper.prune().catch((error: unknown) => {
      log.warn({ err: errorMessage(error) }, 'files of plans that nothing names cannot be removed');
    });
  }

  function tellCaughtUp(): void {
    if (caughtUp || comparisons === 0) return;
    caughtUp = true;
    const held = [...keeper.held.values()];
    const served = held.filter(({ digest }) => digest !== null).length;
    options.onCaughtUp?.({ served, refused: held.length - served });
  }

  function hear(): void {
    heardAt = performance.now();
  }

  function blame(error: unknown): void {
    if (signal.aborted) return;
    const sentence = errorMessage(error);
    if (sentence !== problem) {
      log.warn({ err: sentence }, 'the control plane is not followed; everything kept is served');
      if (error instanceof ControlPlaneFault && error.code === 'token') options.onTokenRefused?.(sentence);
    }
    problem = sentence;
  }

  function offerAll(page: ManifestPage, asOf: number | null): void {
    const keyId = wordOf(identity);
    for (const entry of page.entries) installer.offer(entry, { keyId, asOf });
  }

  /** Changes the identity, one change after the other. @throws what `next` throws; the identity stays as it was then */
  function change(next: (before: Identity) => Promise<Identity>): Promise<void> {
    const done = changing.then(async () => {
      const before = identity.trust?.keyId;
      identity = await next(identity);
      const after = identity.trust?.keyId;
      if (before === undefined || before === after) return;
      log.warn({ before, key: after }, 'the key of the control plane was rotated; the new one is trusted');
    });
    changing = done.catch(() => undefined);
    return done;
  }

  /** Follows transitions that came with a page. @throws TrustFault when one is not signed as it must be */
  function adopt(transitions: readonly SignedTransition[]): void {
    const trust = trustOf(identity);
    if (trust.succeed(transitions).trust.keyId === trust.keyId) return;
    change((before) => succeed(options.directory, before, transitions)).catch((error: unknown) => {
      log.warn(
        { err: errorMessage(error) },
        'the new key of the control plane cannot be stored; it is tried again',
      );
    });
  }

  /** A page that is signed and of this node's epoch or a later one. @throws TrustFault */
  function believe(text: string): ManifestPage {
    const { page, transitions } = trustOf(identity).read(text);
    adopt(transitions);
    const found = groupsIn(page);
    if (found !== groups) {
      compareSoon.abort();
      throw new TrustFault(
        `the page is of the groups \`${found}\`, this node is in \`${groups}\`; asking the control plane for them`,
      );
    }
    const epoch = epochOf(page);
    if (epoch >= identity.epoch) return page;
    throw new TrustFault(
      `the page is of epoch ${epoch}, this node follows ${identity.epoch}: an answer from the past, or a server on a database that was restored without \`edgeplan restore\``,
    );
  }

  /** The control plane was restored: what it says now counts, and everything of it is read. */
  async function enter(page: ManifestPage): Promise<void> {
    const epoch = epochOf(page);
    if (epoch === identity.epoch) return;
    log.warn({ epoch }, 'the control plane was restored and began a new epoch; all of its manifest is read');
    // In this order: a node that dies in between reads everything from the beginning.
    await keeper.commit([{ kind: 'position', position: 0 }]);
    await change((before) => enterEpoch(options.directory, before, epoch));
    position = 0;
  }

  /** Who this node is, and whether the control plane is still the one it holds to. One meeting at a time. */
  function introduce(): Promise<void> {
    introducing ??= askWho().finally(() => {
      introducing = null;
    });
    return introducing;
  }

  async function askWho(): Promise<void> {
    const before = identity.clearance;
    const self = await control.self();
    await change((known) => trustAtFirstUse(options.directory, known, self));
    hear();
    move(groupsIn(self)!);
    const { clearance } = identity;
    if (clearance !== null && clearance.current !== before?.current) options.onSecret(clearance);
  }

  /** Notes the groups that this node is in; names of other groups are forgotten by the next comparison. */
  function move(to: string): void {
    if (to === groups) return;
    log.info({ before: groups, groups: to }, 'this node is in other groups; all of its manifest is read');
    groups = to;
    moves++;
    compareSoon.abort();
  }

  /** Takes a page of the growing manifest. */
  function advance(text: string): void {
    const page = believe(text);
    if (epochOf(page) > identity.epoch) {
      compareNow.abort();
      throw new TrustFault('the control plane began a new epoch; all of its manifest is read first');
    }
    // A lower one says that the control plane starts over: it knows less than it did.
    if (page.since > position) {
      throw new TrustFault(
        `the page begins above ${page.since} where ${position} was expected; reading on from there`,
      );
    }
    if (page.through < position)
      log.warn({ position, through: page.through }, 'the control plane knows less than it did');
    position = page.through;
    for (const { domain } of page.entries) grown.add(domain);
    offerAll(page, null);
  }

  async function stream(): Promise<boolean> {
    const from = { position, epoch: identity.epoch };
    const onOpen = (): void => {
      mode = 'stream';
      problem = null;
    };
    const ended = new AbortController();
    const end = (): void => ended.abort();
    renewing = ended;
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    const { whole, reason } = await readStream({
      ...times,
      control,
      from,
      onPage: advance,
      onOpen,
      onHeard: hear,
      signal: ended.signal,
    }).finally(() => signal.removeEventListener('abort', end));
    if (!signal.aborted) log.info({ reason }, 'the feed ended; following again');
    return whole || ended.signal.aborted;
  }

  /** Polls for a while, since streams do not get through. */
  async function poll(): Promise<void> {
    const until = performance.now() + times.pollingMs;
    while (!signal.aborted && performance.now() < until) {
      const text = await control.page(position, times.pollSec);
      mode = 'poll';
      problem = null;
      hear();
      const before = position;
      advance(text);
      // An empty page before its time would make this a loop without a rest.
      if (position === before) await pause(FIRST_RETRY_MS, signal);
    }
  }

  async function follow(): Promise<void> {
    // At the very first start the comparison brings everything, and how far it came.
    if (position === 0) await pause(NEVER_MS, signal, compared.signal);
    let failures = 0;
    let dead = 0;
    while (!signal.aborted) {
      const before = position;
      try {
        await introduce();
        if (dead >= DEAD_STREAMS) {
          log.info({}, 'the feed does not come through; polling instead');
          dead = 0;
          await poll();
          failures = 0;
        } else if (await stream()) {
          dead = 0;
          failures = 0;
        } else {
          dead++;
          failures++;
        }
      } catch (error) {
        blame(error);
        failures = position === before ? failures + 1 : 0;
      }
      mode = 'away';
      resuming = new AbortController();
      const waits = retryMs(failures, { first: FIRST_RETRY_MS / 2, last: times.lastRetryMs });
      await pause(waits, signal, resuming.signal);
    }
  }

  async function compare(): Promise<void> {
    grown = new Set();
    const movesBefore = moves;
    const { epoch } = identity;
    const { listed, through } = await readAll({
      page: async (since) => {
        const page = believe(await control.page(since, 0));
        await enter(page);
        return page;
      },
      tick: installer.tick,
      take: offerAll,
    });
    if (moves !== movesBefore) {
      throw new TrustFault(
        'this node was moved to other groups while it read the manifest; reading it again',
      );
    }
    if (groups !== identity.groups) await leaveGroups(groups, new Set([...listed, ...grown]));
    await installer.forgetOthers(wordOf(identity), listed);
    const unlisted = [...keeper.held.keys()].filter((name) => !listed.has(name)).length;
    if (unlisted > 0)
      log.warn(
        { names: unlisted },
        'the manifest does not list names that this node holds; they stay served',
      );
    comparisons++;
    problem = null;
    if (position === 0) position = through;
    compared.abort();
    // The stream was refused while its pages were of an epoch that was not read yet.
    if (identity.epoch !== epoch) resuming.abort();
  }

  /** Only names of the groups it is in now stay. A node that dies in between does it again. */
  async function leaveGroups(now: string, listed: ReadonlySet<string>): Promise<void> {
    await installer.forgetUnlisted(listed);
    await change((before) => enterGroups(options.directory, before, now));
  }

  async function compareRegularly(): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      compareSoon = new AbortController();
      compareNow = new AbortController();
      let waits = times.compareMs * (0.8 + Math.random() * 0.4);
      try {
        await introduce();
        await compare();
        failures = 0;
      } catch (error) {
        blame(error);
        waits = Math.min(waits, retryMs(failures++, { first: FIRST_RETRY_MS, last: times.lastRetryMs }));
      }
      // A doubt is looked into at once, but not over and over.
      await pause(Math.min(waits, times.lastRetryMs), signal, compareNow.signal);
      await pause(waits - times.lastRetryMs, signal, compareSoon.signal, compareNow.signal);
    }
  }

  return {
    installer,
    ending,
    follow,
    compareRegularly,
    note,
    reconnect: () => renewing.abort(),
    state: () => ({
      mode,
      node: identity.node,
      keyId: identity.trust?.keyId ?? null,
      position,
      names: keeper.held.size,
      pending: installer.pending(),
      refused: installer.refused(),
      disk: keeper.fault === null ? null : diskTrouble(keeper.fault),
      failing: installer.failing(),
      unreported: reports.queued(),
      comparisons,
      silentMs: performance.now() - heardAt,
      problem,
    }),
  };
}

function epochOf({ epoch = 0 }: ManifestPage): number {
  return epoch;
}

/**
 * Whose word counts: revisions and purges of another key, or of an earlier epoch of this one, say nothing. A key that
 * another handed over to goes on with its history.
 */
function wordOf(identity: Identity): string {
  const history = identity.history ?? trustOf(identity).keyId;
  return identity.epoch === 0 ? history : `${history}.${identity.epoch}`;
}

/** Whom to believe; nothing is read of a control plane before it was met. */
function trustOf({ trust }: Identity): Trust {
  if (trust === null) throw new TrustFault('the control plane was never met');
  return trust;
}
