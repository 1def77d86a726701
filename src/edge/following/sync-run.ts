/**
 * The state of a running sync, shared by its two loops: `follow-feed.ts` reads the manifest as it grows, `sync.ts` reads
 * all of it at intervals. Here are the state, its small transitions, and the periodic progress check.
 */
import type { LookupFunction } from 'node:net';
import type { Clearance, ManifestPage } from '../../engine/plan/manifest.ts';
import { type CertificateSink, createSetInstaller, type SetInstaller } from './certificates/install-sets.ts';
import type { BoxKeyPair, SetFiles } from './certificates/set-files.ts';
import { type ControlPlaneClient, ControlPlaneFault } from './control-plane.ts';
import type { StreamTimes } from './feed.ts';
import { diskTrouble } from './fetch-plan.ts';
import {
  type ChallengeInstaller,
  type ChallengeSink,
  createChallengeInstaller,
} from './install-challenges.ts';
import { createInstaller, type Installer } from './install-plans.ts';
import type { Failing, Reports } from './install-state.ts';
import { COMPARE_MS, FIRST_OCTET_MS, LAST_RETRY_MS, POLL_SEC, POLLING_MS, STALL_MS } from './limits.ts';
import { errorMessage, type SyncLog } from './log.ts';
import type { PlanStore } from './plan-store.ts';
import type { PlanSink } from './plan-table.ts';
import { createPushedOctets, type PushedOctets } from './pushed-octets.ts';
import { type ControlSession, createSession, historyOf, readPurges } from './session.ts';
import type { Identity } from './trusted-key.ts';

/** Milliseconds between log lines about plans that are being fetched. */
const PROGRESS_MS = 10_000;

export interface SyncParts {
  readonly options: SyncOptions;
  readonly identity: Identity;
  readonly planStore: PlanStore;
  readonly control: ControlPlaneClient;
  readonly reports: Reports;
  /** What sealed certificates are opened with and stored in; `null`: the node has no TLS. */
  readonly sealed: { readonly key: BoxKeyPair; readonly files: SetFiles } | null;
}

/** Signals that end a wait of one of the loops early; each is replaced when its loop starts a new round. */
interface WakeUps {
  /** The first comparison is complete. */
  readonly compared: AbortController;
  /** Compare before the next interval is over, but not more often than `lastRetryMs`. */
  compareSoon: AbortController;
  /** Compare at once: a signed page is of a later epoch. */
  compareNow: AbortController;
  /** Open the stream again at once. */
  resume: AbortController;
  /** End the current stream. */
  renew: AbortController;
}

export interface SyncRun extends SyncParts {
  readonly times: SyncTimes;
  /** Aborts when sync ends. */
  readonly signal: AbortSignal;
  readonly session: ControlSession;
  /** What the feed has sent ahead. */
  readonly pushed: PushedOctets;
  readonly installer: Installer;
  /** `null`: the node has no TLS. */
  readonly sets: SetInstaller | null;
  /** `null`: the node answers no challenges. */
  readonly challenges: ChallengeInstaller | null;
  readonly wakeUps: WakeUps;
  mode: SyncState['mode'];
  /** The manifest was read up to here. */
  position: number;
  problem: string | null;
  /** Whole comparisons since the start. */
  comparisons: number;
  /** Names in pages of the feed since the running comparison began. */
  grown: Set<string>;
  /** Whether only a part of the first manifest may be installed. */
  filling: boolean;
  /** Names in the store at the start. */
  readonly storedAtStart: number;
  /** Whether `onCaughtUp` was called. */
  caughtUp: boolean;
  /** `comparisons` when plan files without a name were removed last. */
  pruned: number;
  /** Milliseconds of `performance.now()`: the last progress log; the last octets of the control plane. */
  progressAt: number;
  receivedAt: number;
}

export function createSyncRun(parts: SyncParts, signal: AbortSignal): SyncRun {
  const { options, identity, planStore, control, reports, sealed } = parts;
  const { directory, log, onSecret } = options;
  const now = performance.now();
  const onSuspicion = (): void => run.wakeUps.compareSoon.abort();
  const { certificates: sink, challenges } = options;
  const pushed = createPushedOctets();
  const run: SyncRun = {
    ...parts,
    times: { ...TIMES, ...options.times },
    signal,
    pushed,
    session: createSession(identity, {
      control,
      directory,
      log,
      onSecret,
      onAnswer: () => noteReceived(run),
      onGroupsChanged: () => run.wakeUps.compareSoon.abort(),
    }),
    installer: createInstaller({
      control,
      requestPurges: async (domain, since) => readPurges(run.session, await control.purges(domain, since)),
      planStore,
      pushed,
      plans: options.plans,
      report: reports.add,
      onSuspicion,
      log,
    }),
    sets:
      sealed === null || sink === undefined
        ? null
        : createSetInstaller({ ...sealed, control, sink, onSuspicion, log }),
    challenges: challenges === undefined ? null : createChallengeInstaller({ sink: challenges, log, signal }),
    wakeUps: {
      compared: new AbortController(),
      compareSoon: new AbortController(),
      compareNow: new AbortController(),
      resume: new AbortController(),
      renew: new AbortController(),
    },
    mode: 'away',
    position: planStore.position,
    problem: null,
    comparisons: 0,
    grown: new Set(),
    filling: planStore.position === 0,
    storedAtStart: planStore.names.size,
    caughtUp: false,
    pruned: 0,
    progressAt: now,
    receivedAt: now,
  };
  return run;
}

/** Records that the control plane sent something. */
export function noteReceived(run: SyncRun): void {
  run.receivedAt = performance.now();
}

/** Records that the control plane is followed; logs the end of a problem. */
export function noteFollowing(run: SyncRun, mode: 'stream' | 'poll'): void {
  run.mode = mode;
  if (run.problem !== null) run.options.log.info({ mode }, 'the control plane is followed again');
  run.problem = null;
}

/** Records why the control plane is not followed; logs each new reason once. */
export function noteProblem(run: SyncRun, error: unknown): void {
  if (run.signal.aborted) return;
  const { log, onTokenRefused } = run.options;
  const sentence = errorMessage(error);
  if (sentence !== run.problem) {
    const stored = run.planStore.names.size;
    const served = stored === 0 ? 'nothing is stored yet' : 'everything stored is served';
    log.warn({ err: sentence }, `the control plane is not followed; ${served}`);
    if (error instanceof ControlPlaneFault && error.code === 'token') onTokenRefused?.(sentence, stored);
  }
  run.problem = sentence;
}

/** Offers a page's entries to the installers. @param asOf as `EntrySource.asOf` */
export function offerPage(run: SyncRun, page: ManifestPage, asOf: number | null): void {
  const keyId = historyOf(run.session.identity);
  for (const entry of page.entries) {
    run.challenges?.offer(entry, { keyId });
    run.installer.offer(entry, { keyId, asOf });
    run.sets?.offer(entry, { keyId, asOf });
  }
}

/**
 * Ends the first filling once every entry of the manifest was tried: a plan or a certificate that fails does not delay the node. A node
 * that was stopped meanwhile serves what it stored if the control plane cannot be followed.
 */
function checkFilling(run: SyncRun): void {
  const { comparisons, installer, sets, storedAtStart, problem } = run;
  const isTried = comparisons > 0 && !installer.hasUntried() && sets?.hasUntried() !== true;
  if (isTried || (storedAtStart > 0 && problem !== null)) run.filling = false;
}

/** Whether everything that was published is installed, or the control plane is away; or sync has ended. */
export function isSettled({ comparisons, installer, problem, signal }: SyncRun): boolean {
  return (comparisons > 0 && installer.pending() === 0) || problem !== null || signal.aborted;
}

/** Stores the position once everything up to it is installed, and removes plan files without a name. */
export async function checkProgress(run: SyncRun): Promise<void> {
  const { installer, planStore } = run;
  const { log } = run.options;
  if (run.filling) checkFilling(run);
  const pending = installer.pending();
  if (pending > 0 && performance.now() - run.progressAt > PROGRESS_MS) {
    run.progressAt = performance.now();
    log.info({ pending, names: planStore.names.size }, 'plans are being fetched');
  }
  if (pending > 0) return;
  reportCaughtUp(run);
  // INVARIANT: the position first, before any await: a page that arrives meanwhile raises it before its plans are installed.
  if (run.position !== planStore.position) {
    await planStore.commit([{ kind: 'position', position: run.position }]).catch((error: unknown) => {
      log.warn(
        { err: errorMessage(error) },
        'the position in the manifest cannot be stored; the next start reads from an earlier one',
      );
    });
  }
  if (run.pruned === run.comparisons) return;
  run.pruned = run.comparisons;
  await planStore.prune().catch((error: unknown) => {
    log.warn({ err: errorMessage(error) }, 'files of plans without a name cannot be removed');
  });
}

function reportCaughtUp(run: SyncRun): void {
  if (run.caughtUp || run.comparisons === 0) return;
  run.caughtUp = true;
  const plans = [...run.planStore.names.values()];
  const served = plans.filter(({ digest }) => digest !== null).length;
  run.options.onCaughtUp?.({ served, refused: plans.length - served });
}

/** The state for metrics, `/readyz` and embedders. */
export function syncState(run: SyncRun): SyncState {
  const { session, planStore, installer, reports } = run;
  const { identity } = session;
  return {
    mode: run.mode,
    node: identity.node,
    keyId: identity.trust?.keyId ?? null,
    position: run.position,
    names: planStore.names.size,
    pending: installer.pending(),
    pendingCertificates: run.sets?.pending() ?? 0,
    filling: run.filling,
    refused: installer.refused(),
    disk: planStore.fault === null ? null : diskTrouble(planStore.fault),
    failing: installer.failing(),
    unreported: reports.queued(),
    comparisons: run.comparisons,
    silentMs: performance.now() - run.receivedAt,
    problem: run.problem,
  };
}

/** What `syncWithControlPlane` needs. */
export interface SyncOptions {
  /** The control plane's address, `http://` or `https://`. */
  readonly url: string;
  /** This node's token; called for each request, so that a rotated token is used at once. */
  readonly token: () => string;
  /** The control plane's public key, SubjectPublicKeyInfo in base64; absent: trust on first use. */
  readonly publicKey?: string;
  /** Folder for plans and identity; no other process may use it. */
  readonly directory: string;
  /** Resolves the control plane's name. Default: `getaddrinfo`. */
  readonly lookup?: LookupFunction;
  /** Receives the plans. Calls before `syncWithControlPlane` resolves must take effect synchronously. */
  readonly plans: PlanSink;
  /** Receives the certificates of domains; absent: none are fetched, and stored ones are removed. */
  readonly certificates?: CertificateSink;
  /** Receives the challenges of certificate authorities by domain; absent: none are answered. */
  readonly challenges?: ChallengeSink;
  /** Called with the secret of clearance cookies for domains without their own: the stored one, then each change. */
  readonly onSecret: (clearance: Clearance) => void;
  /** Called once, when everything of the first whole comparison is installed. */
  readonly onCaughtUp?: (names: CaughtUp) => void;
  /** Called when the control plane refuses the token; again only after it accepted one. @param stored number of names with a plan */
  readonly onTokenRefused?: (sentence: string, stored: number) => void;
  readonly log: SyncLog;
  /** Times that differ from `limits.ts`, for tests. */
  readonly times?: Partial<SyncTimes>;
}

/** Number of names with a plan, and of names that must not be served. */
export interface CaughtUp {
  readonly served: number;
  readonly refused: number;
}

/** Intervals and time-outs of sync. */
export interface SyncTimes extends StreamTimes {
  /** Milliseconds between whole comparisons. */
  readonly compareMs: number;
  /** Milliseconds of polling before a stream is tried again. */
  readonly pollingMs: number;
  /** Seconds that the control plane holds an empty poll open. */
  readonly pollSec: number;
  /** Longest delay before another attempt, in milliseconds. */
  readonly lastRetryMs: number;
}

/** A snapshot of sync. */
export interface SyncState {
  /** How the manifest is read now; `away`: the control plane is not reached. */
  readonly mode: 'away' | 'stream' | 'poll';
  /** This node in the control plane's records; `null`: never introduced. */
  readonly node: { readonly id: number; readonly name: string } | null;
  /** First 16 hex digits of the SHA-256 of the trusted key; `null`: no key is trusted yet. */
  readonly keyId: string | null;
  /** The position up to which the manifest was read. */
  readonly position: number;
  /** Number of names with a plan or a tombstone. */
  readonly names: number;
  /** Number of names whose entry is not installed yet. */
  readonly pending: number;
  /** Number of domains whose certificates are not the manifest's yet; 0 for a node without TLS. */
  readonly pendingCertificates: number;
  /** Whether only a part of the first manifest may be installed: some names are not served yet. */
  readonly filling: boolean;
  /** Number of names whose newest plan was refused. */
  readonly refused: number;
  /** Up to `MAX_FAILING` refused names, with reasons. */
  readonly failing: readonly Failing[];
  /** Why the last write to the disk failed, as a phrase; `null`: it succeeded. */
  readonly disk: string | null;
  /** Number of reports that the control plane has not received. */
  readonly unreported: number;
  /** Number of whole comparisons since the start. */
  readonly comparisons: number;
  /** Milliseconds since the last octets of the control plane, or since the start. */
  readonly silentMs: number;
  /** Why the control plane is not followed, as a sentence; `null`: it is followed. */
  readonly problem: string | null;
}

/** The times of `limits.ts`. */
const TIMES: SyncTimes = {
  firstOctetMs: FIRST_OCTET_MS,
  stallMs: STALL_MS,
  compareMs: COMPARE_MS,
  pollingMs: POLLING_MS,
  pollSec: POLL_SEC,
  lastRetryMs: LAST_RETRY_MS,
};
