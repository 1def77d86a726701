/**
 * Installs the certificate sets of domains: fetches a set when the manifest names another one, opens and checks it,
 * puts it into use, and stores the box (`set-files.ts`). Plans are installed independently: a certificate is used for a name
 * only while a plan of its domain serves that name.
 *
 * In: entries of believed pages. Out: calls of a `CertificateSink`. At most one attempt runs per domain. What fails is tried
 * again with back-off; the set before stays in use meanwhile.
 */
import { retryMs } from '../../../base/platform/tasks.ts';
import type { ManifestEntry, SetCertificate } from '../../../engine/plan/manifest.ts';
import { type ControlPlaneClient, ControlPlaneFault } from '../control-plane.ts';
import type { EntrySource } from '../install-state.ts';
import type { JournaledPlan } from '../journal.ts';
import {
  FIRST_RETRY_MS,
  LAST_PLAN_RETRY_MS,
  LAST_RETRY_MS,
  MAX_FEED_CERTIFICATES,
  MAX_FEED_CHARACTERS,
  PARALLEL_SETS,
  SET_CHECK_MS,
} from '../limits.ts';
import { errorMessage, type SyncLog } from '../log.ts';
import { type BoxKeyPair, openSet, type SetFiles, SetRefusal, type StoredSet } from './set-files.ts';

/** Receives certificates. A returned promise resolves once the change is in effect. */
export interface CertificateSink {
  /** Replaces the certificates of a domain. @throws Error when one cannot be used; nothing changes then */
  set(domain: string, certificates: readonly SetCertificate[]): void | Promise<void>;
  delete(domain: string): void | Promise<void>;
}

export interface SetInstallerOptions {
  readonly control: Pick<ControlPlaneClient, 'certificates'>;
  readonly key: BoxKeyPair;
  readonly files: SetFiles;
  readonly sink: CertificateSink;
  /** Called when an entry is older than the set in use: a page that a later one overtook looks the same. */
  readonly onSuspicion: () => void;
  readonly log: SyncLog;
}

/** The installer of certificate sets of one node. */
export interface SetInstaller {
  /** Puts the stored sets of served names into use, at the start; removes all others. */
  restore(names: ReadonlyMap<string, JournaledPlan>): Promise<void>;
  /** Starts to install the set of an entry, unless it is in use already or the entry is older. */
  offer(entry: ManifestEntry, from: EntrySource): void;
  /** As `Installer.forgetOthers`. */
  forgetOthers(keyId: string, listed: ReadonlySet<string>): Promise<void>;
  /** As `Installer.forgetUnlisted`. */
  forgetUnlisted(listed: ReadonlySet<string>): Promise<void>;
  /** Number of domains whose set is not the manifest's yet. */
  pending(): number;
  /** Whether a set waits for its first attempt. */
  hasUntried(): boolean;
  /** Starts nothing more; resolves when running attempts have ended. */
  stop(): Promise<void>;
}

/** The set that an entry names. */
interface EntrySet {
  /** `null`: the domain has none. */
  readonly digest: string | null;
  readonly keyId: string;
  /** The position of the newest entry that named this set. */
  position: number;
}

/** A set in use. */
interface InstalledSet extends EntrySet {
  readonly certificates: number;
  readonly characters: number;
}

interface SetTask extends EntrySet {
  readonly domain: string;
  readonly failures: number;
  /** When it is tried, in milliseconds of `performance.now()`. */
  readonly dueAt: number;
}

/** The state of the installer: plain data, changed by the functions of this file. */
interface SetState extends SetInstallerOptions {
  readonly installed: Map<string, InstalledSet>;
  /** The newest set per domain that is not installed yet. */
  readonly wanted: Map<string, SetTask>;
  /** Running attempts, by domain. */
  readonly busy: Map<string, Promise<void>>;
  /** The last failure that was logged, by domain. */
  readonly reported: Map<string, string>;
  /** The sums of the sets in use. */
  certificates: number;
  characters: number;
  stopped: boolean;
  /** The control plane is away: no attempt starts before `until`. */
  halted: { readonly until: number; readonly failures: number };
}

export function createSetInstaller(options: SetInstallerOptions): SetInstaller {
  const state: SetState = {
    ...options,
    installed: new Map(),
    wanted: new Map(),
    busy: new Map(),
    reported: new Map(),
    certificates: 0,
    characters: 0,
    stopped: false,
    halted: { until: 0, failures: 0 },
  };
  const checks = setInterval(() => startDue(state), SET_CHECK_MS).unref();
  return {
    restore: (names) => restore(state, names),
    offer: (entry, from) => offer(state, entry, from),
    forgetOthers: (keyId, listed) =>
      forgetAll(state, (domain, set) => set?.keyId !== keyId && !listed.has(domain)),
    forgetUnlisted: (listed) => forgetAll(state, (domain) => !listed.has(domain)),
    pending: () => state.wanted.size,
    hasUntried: () => [...state.wanted.values()].some(({ failures }) => failures === 0),
    async stop() {
      state.stopped = true;
      clearInterval(checks);
      await Promise.all(state.busy.values());
    },
  };
}

function offer(state: SetState, entry: ManifestEntry, { keyId, asOf }: EntrySource): void {
  const { domain, position, tombstone } = entry;
  const digest = tombstone === null ? (entry.certificates ?? null) : null;
  const known = state.wanted.get(domain) ?? state.installed.get(domain);
  if (known === undefined) {
    if (digest !== null) want(state, domain, { digest, keyId, position });
    return;
  }
  const isSame = known.digest === digest;
  if (known.keyId !== keyId) {
    want(state, domain, { digest, keyId, position });
  } else if (position < known.position) {
    // INVARIANT: a set never goes back: an old page, replayed, would bring back a certificate whose key is known to others.
    if (!isSame && asOf === null) state.onSuspicion();
  } else if (isSame) {
    known.position = position;
  } else {
    want(state, domain, { digest, keyId, position });
  }
}

function want(state: SetState, domain: string, set: EntrySet): void {
  state.wanted.set(domain, { ...set, domain, failures: 0, dueAt: 0 });
  startDue(state);
}

/** Starts attempts that are due, as many as may run at once. */
function startDue(state: SetState): void {
  const { wanted, busy } = state;
  const now = performance.now();
  if (state.stopped || state.halted.until > now) return;
  for (const [domain, task] of wanted) {
    if (busy.size >= PARALLEL_SETS) return;
    if (task.dueAt > now || busy.has(domain)) continue;
    const attempt = runTask(state, task).finally(() => {
      busy.delete(domain);
      startDue(state);
    });
    busy.set(domain, attempt);
  }
}

/** One attempt; never rejects. */
async function runTask(state: SetState, task: SetTask): Promise<void> {
  const { domain } = task;
  try {
    if (task.digest === null) await removeSet(state, task);
    else await install(state, task, task.digest);
    state.halted = { until: 0, failures: 0 };
    if (state.wanted.get(domain) !== task) return;
    state.wanted.delete(domain);
    if (state.reported.delete(domain))
      state.log.info({ domain }, 'the certificates of a domain are current again');
  } catch (error) {
    if (!state.stopped) handleFailure(state, task, error);
  }
}

/** @throws ControlPlaneFault, SetRefusal, the sink's error, or the system's error of the disk */
async function install(state: SetState, task: SetTask, digest: string): Promise<void> {
  const { control, key, files, sink, wanted } = state;
  const { domain, keyId } = task;
  const sent = await control.certificates(domain);
  if (sent.digest !== digest) {
    const found = sent.digest === null ? 'a set without a digest' : `the set \`${sent.digest.slice(0, 64)}\``;
    throw new SetRefusal(`the control plane sent ${found}, the manifest names \`${digest}\``);
  }
  const { box } = sent;
  const certificates = openSet(key.privateKey, { domain, digest, box });
  // A newer entry came meanwhile.
  if (wanted.get(domain) !== task) return;
  const sizes = withinBounds(state, domain, certificates);
  await sink.set(domain, certificates);
  record(state, domain, { digest, keyId, position: task.position, ...sizes });
  // In use before it is stored: a full disk does not make a node serve an expired certificate.
  await files.write({ domain, digest, keyId, position: task.position, box });
}

/** @throws the sink's error, or the system's error of the disk */
async function removeSet(state: SetState, { domain, keyId, position }: SetTask): Promise<void> {
  await state.sink.delete(domain);
  record(state, domain, { digest: null, keyId, position, certificates: 0, characters: 0 });
  await state.files.write({ domain, digest: null, keyId, position, box: new Uint8Array() });
}

/** The sizes of a set. @throws SetRefusal when the node would have more than its bounds with it */
function withinBounds(
  state: SetState,
  domain: string,
  list: readonly SetCertificate[],
): Pick<InstalledSet, 'certificates' | 'characters'> {
  const before = state.installed.get(domain);
  const characters = list.reduce((sum, { chain, key }) => sum + chain.length + key.length, 0);
  const all = state.certificates - (before?.certificates ?? 0) + list.length;
  if (all > MAX_FEED_CERTIFICATES) {
    throw new SetRefusal(`the node would have ${all} certificates; the limit is ${MAX_FEED_CERTIFICATES}`);
  }
  const sum = state.characters - (before?.characters ?? 0) + characters;
  if (sum > MAX_FEED_CHARACTERS) {
    throw new SetRefusal(
      `all certificates would have ${sum} characters; the limit of a node is ${MAX_FEED_CHARACTERS}`,
    );
  }
  return { certificates: list.length, characters };
}

/** Records the set in use, `null` for none. */
function record(state: SetState, domain: string, set: InstalledSet | null): void {
  const before = state.installed.get(domain);
  state.certificates += (set?.certificates ?? 0) - (before?.certificates ?? 0);
  state.characters += (set?.characters ?? 0) - (before?.characters ?? 0);
  if (set === null) state.installed.delete(domain);
  else state.installed.set(domain, set);
}

/** Schedules the next attempt: of all sets if the control plane is away, else of this one; logs each failure once. */
function handleFailure(state: SetState, task: SetTask, error: unknown): void {
  const { wanted, installed, log } = state;
  const { domain, digest } = task;
  // That the control plane is away is reported once for all names.
  if (isAway(error)) {
    halt(state);
    return;
  }
  if (wanted.get(domain) !== task) return;
  const waits = retryMs(task.failures, { first: FIRST_RETRY_MS, last: LAST_PLAN_RETRY_MS });
  wanted.set(domain, { ...task, failures: task.failures + 1, dueAt: performance.now() + waits });
  const reason = errorMessage(error);
  // The text of an answer may have a part that changes, such as the id of the request.
  const kind = `${digest} ${error instanceof ControlPlaneFault ? `${error.code} ${error.status}` : reason}`;
  if (state.reported.get(domain) === kind) return;
  state.reported.set(domain, kind);
  const isUsed = installed.get(domain)?.digest === digest;
  log.warn(
    { domain, err: reason },
    isUsed
      ? 'the certificates of a domain are in use and cannot be stored; tried again'
      : 'the certificates of a domain cannot be installed; those before stay in use, and it is tried again',
  );
}

/** Whether no request for a set can succeed now; an answer with a status may be about its domain alone. */
function isAway(error: unknown): boolean {
  if (!(error instanceof ControlPlaneFault)) return false;
  return error.code === 'token' || (error.code === 'away' && error.status === null);
}

/** Pauses all attempts, longer after each failure in a row. */
function halt(state: SetState): void {
  // Attempts that ran at the same time count as one failure.
  if (state.halted.until > performance.now()) return;
  const { failures } = state.halted;
  const waits = retryMs(failures, { first: FIRST_RETRY_MS, last: LAST_RETRY_MS });
  state.halted = { until: performance.now() + waits, failures: failures + 1 };
}

async function restore(state: SetState, names: ReadonlyMap<string, JournaledPlan>): Promise<void> {
  const { files, log } = state;
  for await (const { file, set } of files.read()) {
    try {
      // INVARIANT: no set is used for a name that no verified entry lets this node serve.
      if (set !== null && names.has(set.domain)) {
        await restoreSet(state, set, names.get(set.domain)!);
        continue;
      }
      if (set === null) log.warn({ file }, 'a file of certificates is damaged; its set is fetched again');
      await files.drop(file);
    } catch (error) {
      log.warn(
        { domain: set?.domain, file, err: errorMessage(error) },
        'stored certificates cannot be used; they are fetched again',
      );
    }
  }
}

/** @throws SetRefusal, or the sink's error */
async function restoreSet(state: SetState, set: StoredSet, plan: JournaledPlan): Promise<void> {
  const { domain, digest, keyId, position, box } = set;
  if (digest === null) {
    record(state, domain, { digest, keyId, position, certificates: 0, characters: 0 });
  } else if (plan.tombstone !== null) {
    want(state, domain, { digest: null, keyId, position });
  } else {
    const certificates = openSet(state.key.privateKey, { domain, digest, box });
    const sizes = withinBounds(state, domain, certificates);
    await state.sink.set(domain, certificates);
    record(state, domain, { digest, keyId, position, ...sizes });
  }
}

/** Removes domains that pass, from use and from the disk. */
async function forgetAll(
  state: SetState,
  isOver: (domain: string, set: EntrySet | undefined) => boolean,
): Promise<void> {
  const { installed, wanted, busy, sink, files, log } = state;
  for (const domain of new Set([...installed.keys(), ...wanted.keys(), ...busy.keys()])) {
    if (!isOver(domain, wanted.get(domain) ?? installed.get(domain))) continue;
    wanted.delete(domain);
    await busy.get(domain);
    state.reported.delete(domain);
    try {
      await sink.delete(domain);
      record(state, domain, null);
      await files.remove(domain);
    } catch (error) {
      log.warn({ domain, err: errorMessage(error) }, 'the certificates of a removed name cannot be removed');
    }
  }
}
