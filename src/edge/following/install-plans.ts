/**
 * Installs the entries of the manifest, name by name: fetches the plan, checks its digest, tests it, writes it to the disk,
 * serves it, and reports to the control plane. Until all of that succeeds, the name is served as before.
 *
 * In: entries of believed pages. Out: calls of a `PlanSink`, lines of the journal, reports. The state is a plain object
 * (`InstallState`); `runTask` is one attempt for one name; at most one runs per name and `PARALLEL_FETCHES` in total.
 */
import { retryMs } from '../../base/platform/tasks.ts';
import type { ManifestEntry } from '../../engine/plan/manifest.ts';
import { diskReason, PlanRefusal, troubleOf } from './fetch-plan.ts';
import {
  applyPurge,
  fetchDamaged,
  forget,
  install,
  isSameEntry,
  isStepBack,
  keepsClearance,
  purgedThrough,
  repair,
  serve,
  stepBackReason,
} from './install-one.ts';
import type { EntrySource, Failing, InstallerOptions, InstallState, Refused, Task } from './install-state.ts';
import {
  FIRST_RETRY_MS,
  LAST_PLAN_RETRY_MS,
  LAST_RETRY_MS,
  MAX_FAILING,
  PARALLEL_FETCHES,
} from './limits.ts';
import { errorMessage } from './log.ts';
import { createOpenedLists } from './opened-lists.ts';
import { DamageFault, missingSentence } from './plan-store.ts';

/** The installer of one node. */
export interface Installer {
  /** Serves every plan of the store, at the start; fetches those whose file, or that of a list, is missing. */
  restore(): void;
  /** Starts to install an entry, unless its name has that state already or the entry is a step back. */
  offer(entry: ManifestEntry, from: EntrySource): void;
  /** The number of installations so far; see `EntrySource.asOf`. */
  tick(): number;
  /** Removes names whose entries came under another key and which `listed` does not contain. */
  forgetOthers(keyId: string, listed: ReadonlySet<string>): Promise<void>;
  /** Removes names that `listed` does not contain, after this node was moved to other groups. */
  forgetUnlisted(listed: ReadonlySet<string>): Promise<void>;
  /** Number of names whose entry is not installed yet, without those that failed for good. */
  pending(): number;
  /** Whether an entry waits for its first attempt. */
  hasUntried(): boolean;
  /** Number of names whose newest plan was refused. */
  refused(): number;
  /** Up to `MAX_FAILING` of the refused names, with their reasons. */
  failing(): readonly Failing[];
  /** Starts nothing more; resolves when running installations have ended. */
  stop(): Promise<void>;
}

/** Milliseconds between checks for names whose retry is due. */
const RETRY_CHECK_MS = 250;

export function createInstaller(options: InstallerOptions): Installer {
  const state: InstallState = {
    ...options,
    wanted: new Map(),
    ready: new Set(),
    busy: new Map(),
    retryAt: new Map(),
    refused: new Map(),
    touched: new Map(),
    replaced: new Map(),
    damages: new Map(),
    lists: createOpenedLists(options.planStore.readList),
    listFetches: new Map(),
    want: (entry, keyId) => want(state, entry, keyId),
    ticks: 0,
    stopped: false,
    halted: { until: 0, failures: 0 },
  };
  const retrying = setInterval(() => startReady(state), RETRY_CHECK_MS).unref();
  return {
    offer: (entry, from) => offer(state, entry, from),
    tick: () => state.ticks,
    restore: () => restore(state),
    forgetOthers: (keyId, listed) => forgetOthers(state, keyId, listed),
    forgetUnlisted: (listed) => forgetUnlisted(state, listed),
    pending: () => state.wanted.size,
    hasUntried: () => [...state.wanted.values()].some(({ failures }) => failures === 0),
    refused: () => state.refused.size,
    failing: () =>
      [...state.refused.values()]
        .slice(0, MAX_FAILING)
        .map(({ domain, revision, reason }) => ({ domain, revision, reason })),
    async stop() {
      state.stopped = true;
      clearInterval(retrying);
      await Promise.all(state.busy.values());
    },
  };
}

/** Starts attempts for names that are ready, as many as may run at once. */
function startReady(state: InstallState): void {
  const { ready, busy, retryAt, wanted } = state;
  const now = performance.now();
  for (const [name, at] of retryAt) {
    if (at > now) continue;
    retryAt.delete(name);
    ready.add(name);
  }
  if (state.stopped || state.halted.until > now) return;
  for (const name of ready) {
    if (busy.size >= PARALLEL_FETCHES) return;
    if (busy.has(name)) continue;
    ready.delete(name);
    const task = wanted.get(name);
    if (task === undefined) continue;
    const attempt = runTask(state, task).finally(() => {
      busy.delete(name);
      if (wanted.has(name) && !retryAt.has(name)) ready.add(name);
      startReady(state);
    });
    busy.set(name, attempt);
  }
}

function want(state: InstallState, entry: ManifestEntry, keyId: string): void {
  state.wanted.set(entry.domain, { entry, keyId, failures: 0 });
  state.retryAt.delete(entry.domain);
  state.ready.add(entry.domain);
  startReady(state);
}

/** One attempt to install an entry; never rejects. */
async function runTask(state: InstallState, task: Task): Promise<void> {
  const { domain } = task.entry;
  try {
    await install(state, task);
    state.halted = { until: 0, failures: 0 };
    state.refused.delete(domain);
    if (state.wanted.get(domain) === task) state.wanted.delete(domain);
  } catch (error) {
    if (!state.stopped) await handleFailure(state, task, error);
  }
}

/** Refuses the change, or pauses all installations if the control plane or the disk fails. */
async function handleFailure(state: InstallState, task: Task, error: unknown): Promise<void> {
  const { domain, revision, digest } = task.entry;
  const { wanted, log } = state;
  const trouble = troubleOf(error);
  if (trouble !== 'plan') halt(state);
  if (trouble === 'control') return;
  const final = error instanceof PlanRefusal && error.final;
  const reason = trouble === 'disk' ? diskReason(error) : errorMessage(error);
  if (trouble === 'disk') log.error({ domain, err: errorMessage(error) }, 'a plan cannot be stored');
  refuse(state, { domain, revision, reason, digest, keyId: task.keyId, final });
  if (trouble === 'plan') await applyPurge(state, task);
  // A newer entry has replaced the task meanwhile.
  if (wanted.get(domain) !== task) return;
  if (final) {
    wanted.delete(domain);
    fetchDamaged(state, domain);
    return;
  }
  const waits = retryMs(task.failures, { first: FIRST_RETRY_MS, last: LAST_PLAN_RETRY_MS });
  wanted.set(domain, { ...task, failures: task.failures + 1 });
  state.retryAt.set(domain, performance.now() + waits);
}

/** Pauses all installations, longer after each failure in a row. */
function halt(state: InstallState): void {
  // Attempts that ran at the same time count as one failure.
  if (state.halted.until > performance.now()) return;
  const { failures } = state.halted;
  const waits = retryMs(failures, { first: FIRST_RETRY_MS, last: LAST_RETRY_MS });
  state.halted = { until: performance.now() + waits, failures: failures + 1 };
}

/** Records a refusal; logs and reports it once per revision and reason. */
function refuse({ refused, log, report }: InstallState, change: Refused): void {
  const { domain, revision, reason } = change;
  const before = refused.get(domain);
  refused.set(domain, change);
  if (before?.revision === revision && before.reason === reason) return;
  log.warn(
    { domain, revision, reason },
    'a change is refused; the name is served as before, or not at all where the change suspends it',
  );
  report({ domain, revision, outcome: 'nack', reason });
}

function restore(state: InstallState): void {
  const { planStore } = state;
  for (const [name, plan] of planStore.names) {
    void serve(state, name, plan);
    const { digest } = plan;
    if (digest === null) continue;
    const list = planStore.missingList(digest);
    const missing = planStore.hasPlan(digest)
      ? list && missingSentence(list, 'list')
      : missingSentence(digest, 'plan');
    if (missing !== null) repair(state, { name, plan, digest }, new DamageFault(missing));
  }
}

function offer(state: InstallState, entry: ManifestEntry, { keyId, asOf }: EntrySource): void {
  const { domain, revision, digest, tombstone } = entry;
  const task = state.wanted.get(domain);
  const pending = task !== undefined && task.keyId === keyId ? task.entry : null;
  if (pending !== null && pending.revision > revision) return;
  const stored = state.planStore.names.get(domain);
  const known = stored !== undefined && stored.keyId === keyId ? stored : undefined;
  // INVARIANT: only an entry that may be older is dropped. The feed does not repeat a newer one: after the comparison of a
  // new epoch it continues behind this page.
  const isOvertaken = asOf !== null && (state.touched.get(domain) ?? 0) > asOf;
  if (isOvertaken && (stored === undefined || (known !== undefined && revision <= known.revision))) return;
  if (known !== undefined && isStepBack(known, entry)) {
    const reason = stepBackReason(known, revision);
    if (asOf === null) state.onSuspicion();
    else refuse(state, { domain, revision, reason, digest, keyId, final: true });
    return;
  }
  const purges =
    known !== undefined &&
    (entry.purge_epoch > known.purgeEpoch ||
      (entry.purges ?? 0) > purgedThrough(known, keyId) ||
      !keepsClearance(known, entry));
  if (known !== undefined && revision === known.revision && tombstone === known.tombstone) {
    // The manifest agrees again: an earlier refused step back is over.
    if (task === undefined) state.refused.delete(domain);
    if (!purges) return;
  }
  const failed = state.refused.get(domain);
  // A refusal under another key or an earlier epoch is about another history of the same numbers.
  const same = failed?.digest === digest && failed.revision === revision && failed.keyId === keyId;
  if (failed?.final === true && same && !purges) return;
  if (pending !== null && isSameEntry(pending, entry)) return;
  want(state, entry, keyId);
}

async function forgetOthers(state: InstallState, keyId: string, listed: ReadonlySet<string>) {
  for (const [name, plan] of state.planStore.names) {
    if (plan.keyId === keyId || listed.has(name)) continue;
    await forget(state, name, plan);
    state.log.warn(
      { domain: name },
      'the control plane was set up again, or restored, and does not list this name; it is removed',
    );
  }
}

async function forgetUnlisted(state: InstallState, listed: ReadonlySet<string>): Promise<void> {
  const { planStore, wanted, busy } = state;
  for (const name of new Set([...planStore.names.keys(), ...wanted.keys(), ...busy.keys()])) {
    if (listed.has(name)) continue;
    wanted.delete(name);
    state.retryAt.delete(name);
    state.ready.delete(name);
    await busy.get(name);
    state.refused.delete(name);
    const plan = planStore.names.get(name);
    if (plan !== undefined) await forget(state, name, plan);
  }
}
