/**
 * Fetches plans and purges of single responses from the control plane to the disk. In: an entry of the manifest. Out: a
 * plan whose digest and self-test are checked, or the list of purges as a file of the plan store.
 */
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { selfTest } from '../../engine/evaluator/self-test.ts';
import type { ManifestEntry } from '../../engine/plan/manifest.ts';
import { forgottenPurges, mergePurges, type PurgeList, readPurgeList } from '../../engine/plan/purges.ts';
import { type ControlPlaneClient, ControlPlaneFault } from './control-plane.ts';
import type { InstallState } from './install-state.ts';
import type { PurgeMark } from './journal.ts';
import { DamageFault, type PlanStore } from './plan-store.ts';
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
export interface FetchPlanOptions {
  readonly control: Pick<ControlPlaneClient, 'plan'>;
  readonly planStore: PlanStore;
}

/**
 * Fetches a plan unless the disk has it intact, and tests it.
 * @throws PlanRefusal when it must not be served; ControlPlaneFault when it cannot be fetched; the system's error when it
 * cannot be stored
 */
export async function fetchPlan(
  digest: string,
  { domain, revision }: ManifestEntry,
  { control, planStore }: FetchPlanOptions,
): Promise<void> {
  let bytes = planStore.hasPlan(digest) ? readStored(digest, planStore) : null;
  const fetched = bytes === null;
  bytes ??= await download(digest, control);
  // Lets requests run first: the self-test takes up to some milliseconds.
  await new Promise(setImmediate);
  const wrong = selfTest(bytes, { domain, revision });
  if (wrong !== null) throw new PlanRefusal(wrong, true);
  if (fetched) await planStore.putPlan(digest, bytes);
}

/** The plan on the disk; `null`: its file is damaged. */
function readStored(digest: string, planStore: PlanStore): Uint8Array | null {
  try {
    return planStore.readPlan(digest);
  } catch (error) {
    if (error instanceof DamageFault) return null;
    throw error;
  }
}

async function download(digest: string, control: Pick<ControlPlaneClient, 'plan'>): Promise<Uint8Array> {
  // A copy in memory of its own: views of a plan need an 8-octet boundary.
  const bytes = new Uint8Array(await control.plan(digest));
  const found = sha256Hex(bytes);
  if (found === digest) return bytes;
  throw new PlanRefusal(
    `the digest of what was fetched is \`${found}\`, the manifest says \`${digest}\``,
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
