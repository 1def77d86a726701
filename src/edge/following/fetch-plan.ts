/**
 * Fetches plans and purges of single responses from the control plane to the disk. In: an entry of the manifest. Out: a
 * plan with its lists, whose digests and self-test are checked, or the list of purges as a file of the plan store.
 */
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { MAX_PLAN_LIST_OCTETS } from '../../base/vocabulary/limits.ts';
import type { PlanPart } from '../../engine/evaluator/index.ts';
import { selfTest } from '../../engine/evaluator/self-test.ts';
import { digestsIn } from '../../engine/plan/list-digests.ts';
import type { ManifestEntry } from '../../engine/plan/manifest.ts';
import { forgottenPurges, mergePurges, type PurgeList, readPurgeList } from '../../engine/plan/purges.ts';
import { ControlPlaneFault } from './control-plane.ts';
import type { InstallState } from './install-state.ts';
import type { PurgeMark } from './journal.ts';
import { MAX_PLAN_LISTS } from './limits.ts';
import { errorMessage } from './log.ts';
import { DamageFault } from './plan-store.ts';
import { TrustFault } from './trust.ts';

/** A plan that must not be served. */
export class PlanRefusal extends Error {
  /** The next attempt would have the same result. */
  readonly final: boolean;

  constructor(message: string, final: boolean) {
    super(message);
    this.name = 'PlanRefusal';
    this.final = final;
  }
}

/** Where plans are fetched from and stored. */
export interface FetchPlanOptions
  extends Pick<InstallState, 'control' | 'planStore' | 'pushed' | 'lists' | 'listFetches'> {
  /** The plan's file, or that of one of its lists, was found damaged. */
  readonly isDamaged: boolean;
}

/**
 * Fetches a plan with the lists and the registry that it refers to, unless the disk has them intact, and tests the plan.
 * @throws PlanRefusal when it must not be served; ControlPlaneFault when it cannot be fetched; the system's error when it
 * cannot be stored
 */
export async function fetchPlan(
  digest: string,
  { domain, revision }: ManifestEntry,
  options: FetchPlanOptions,
): Promise<void> {
  const { control, planStore, pushed } = options;
  let bytes = planStore.hasPlan(digest) ? readStored(digest, planStore.readPlan) : null;
  const fetched = bytes === null;
  bytes ??= await download(digest, { pushed, fetch: control.plan });
  try {
    const opened = await fetchLists(digest, digestsIn(bytes), options);
    // Lets requests run first: the self-test takes up to some milliseconds.
    await new Promise(setImmediate);
    const wrong = selfTest(bytes, { domain, revision, lists: (list) => opened.get(list) ?? null });
    if (wrong !== null) throw new PlanRefusal(wrong, true);
    if (fetched) await planStore.putPlan(digest, bytes);
  } catch (error) {
    if (!planStore.hasPlan(digest)) planStore.releaseLists(digest);
    throw error;
  }
}

/** Fetches the lists of a plan that the disk lacks. @returns all of them, by digest @throws as `fetchPlan` */
async function fetchLists(
  plan: string,
  digests: readonly string[],
  options: FetchPlanOptions,
): Promise<ReadonlyMap<string, PlanPart>> {
  if (digests.length > MAX_PLAN_LISTS) {
    const found = `the plan names ${digests.length} lists, at most ${MAX_PLAN_LISTS} are accepted`;
    throw new PlanRefusal(found, true);
  }
  options.planStore.useLists(plan, digests);
  const opened = new Map<string, PlanPart>();
  let octets = 0;
  // One after the other: the lists of as many names as install at a time are fetched side by side already.
  for (const digest of digests) {
    const list = await fetchList(digest, options);
    opened.set(digest, list);
    octets += list.octets;
    if (octets <= MAX_PLAN_LIST_OCTETS) continue;
    const found = `the lists of the plan have more than ${MAX_PLAN_LIST_OCTETS} octets when they are compiled`;
    throw new PlanRefusal(found, true);
  }
  return opened;
}

function fetchList(digest: string, options: FetchPlanOptions): Promise<PlanPart> {
  const { listFetches } = options;
  const running = listFetches.get(digest);
  if (running !== undefined) return running;
  const fetching = storeList(digest, options).finally(() => listFetches.delete(digest));
  listFetches.set(digest, fetching);
  return fetching;
}

async function storeList(digest: string, options: FetchPlanOptions): Promise<PlanPart> {
  const { control, planStore, pushed, lists, isDamaged } = options;
  // PERF: the file of a list that many plans name is read once, unless one of them reports damage.
  const isIntact = isDamaged ? readStored(digest, planStore.readList) !== null : planStore.hasPlan(digest);
  const stored = isIntact ? readStored(digest, lists.get) : null;
  if (stored !== null) return stored;
  const bytes = await download(digest, { pushed, fetch: control.list });
  let opened: PlanPart;
  try {
    opened = lists.add(digest, bytes);
  } catch (error) {
    throw new PlanRefusal(`the list \`${digest}\` does not open: ${errorMessage(error)}`, true);
  }
  await planStore.putPlan(digest, bytes);
  return opened;
}

/** What is read of a file of the disk; `null`: it is damaged. */
function readStored<T>(digest: string, read: (digest: string) => T): T | null {
  try {
    return read(digest);
  } catch (error) {
    if (error instanceof DamageFault) return null;
    throw error;
  }
}

interface Download extends Pick<InstallState, 'pushed'> {
  readonly fetch: (digest: string) => Promise<Uint8Array>;
}

/** The octets of a digest, which the feed has sent, or which are fetched. */
async function download(digest: string, { pushed, fetch }: Download): Promise<Uint8Array> {
  const sent = pushed.take(digest);
  // Copies in memory of their own: views of a plan need an 8-octet boundary.
  if (sent !== null && sha256Hex(sent) === digest) return new Uint8Array(sent);
  const bytes = new Uint8Array(await fetch(digest));
  const found = sha256Hex(bytes);
  if (found === digest) return bytes;
  throw new PlanRefusal(
    `the digest of what was fetched is \`${found}\`, and \`${digest}\` was asked for`,
    false,
  );
}

/** What an error affects: every fetch (`control`), every write (`disk`), or this plan only. */
export function troubleOf(error: unknown): 'control' | 'disk' | 'plan' {
  if (error instanceof ControlPlaneFault)
    return error.code === 'away' || error.code === 'token' ? 'control' : 'plan';
  return error instanceof PlanRefusal ? 'plan' : 'disk';
}

/** Why a plan cannot be stored, without the paths of the system's message, since customers read it. */
export function diskReason(error: unknown): string {
  return `the node cannot keep the plan: ${diskTrouble(error)}`;
}

/** What is wrong with the node's disk, as a phrase without paths. */
export function diskTrouble(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return (code === undefined ? undefined : DISK_TROUBLES[code]) ?? code ?? 'its disk failed';
}

const DISK_TROUBLES: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk is full',
  EROFS: 'its disk is read-only',
};

// Fetches purges of single responses. In: a manifest entry with the position of the newest purge. Out: the domain's list on
// the disk, as a file of the plan store that the journal names, so that a restart with a disk cache applies it.

const NO_LIST: PurgeList = { through: 0, floor: 0, purges: [] };

/** An entry, and the history that its positions belong to. */
interface PurgedEntry {
  readonly entry: ManifestEntry;
  readonly keyId: string;
}

/**
 * The purges that a name has with an entry: those on the disk, with the newer ones that the entry announces.
 * @throws PlanRefusal when the answer is not trusted or lacks purges; ControlPlaneFault; the system's error of the disk
 */
export async function fetchPurges(
  state: Pick<InstallState, 'planStore' | 'requestPurges'>,
  { entry, keyId }: PurgedEntry,
): Promise<PurgeMark | null> {
  const { planStore } = state;
  const { domain, purges: newest = 0 } = entry;
  const before = planStore.names.get(domain);
  const known = before?.keyId === keyId ? before.purges : null;
  if (newest <= (known?.through ?? 0)) return known;
  const stored = known === null ? NO_LIST : openList(() => planStore.readPlan(known.digest));
  // A damaged list is fetched whole.
  const list = await request(state, { domain, newest, stored: stored ?? NO_LIST });
  const bytes = Buffer.from(JSON.stringify({ domain, ...list }), 'utf8');
  const digest = sha256Hex(bytes);
  if (!planStore.hasPlan(digest)) await planStore.putPlan(digest, bytes);
  return { through: list.through, digest };
}

interface Missing {
  readonly domain: string;
  readonly newest: number;
  readonly stored: PurgeList;
}

async function request(
  { requestPurges }: Pick<InstallState, 'requestPurges'>,
  { domain, newest, stored }: Missing,
): Promise<PurgeList> {
  const answer = await requestPurges(domain, stored.through).catch((error: unknown) => {
    if (!(error instanceof TrustFault)) throw error;
    throw new PlanRefusal(`the purges cannot be trusted: ${error.message}`, false);
  });
  if (answer.domain !== domain || answer.since !== stored.through) {
    throw new PlanRefusal('the purges that were fetched answer another request', false);
  }
  if (answer.through < newest) {
    const found = `end at position ${answer.through}, the manifest says ${newest}`;
    throw new PlanRefusal(`the purges that were fetched ${found}`, false);
  }
  return mergePurges(stored, answer);
}

/** The list of a file; `null`: it is missing or damaged. */
function openList(read: () => Uint8Array): PurgeList | null {
  try {
    return readPurgeList(JSON.parse(Buffer.from(read()).toString('utf8')));
  } catch {
    // Whatever the fault is, the caller has a safe list instead.
    return null;
  }
}

/** The purges of a mark. Without their file all responses from before count as purged. */
export function readPurgeFile({ through }: PurgeMark, read: () => Uint8Array): PurgeList {
  return openList(read) ?? forgottenPurges(through);
}
