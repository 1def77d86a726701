/**
 * Fetches purges of single responses. In: a manifest entry with the position of the newest purge. Out: the domain's list on
 * the disk, as a file of the plan store that the journal names, so that a restart with a disk cache applies it.
 */
import { sha256Hex } from '../../base/platform/cryptography.ts';
import type { ManifestEntry } from '../../engine/plan/manifest.ts';
import { forgottenPurges, mergePurges, type PurgeList, readPurgeList } from '../../engine/plan/purges.ts';
import { PlanRefusal } from './fetch-plan.ts';
import type { InstallState } from './install-state.ts';
import type { PurgeMark } from './journal.ts';
import { TrustFault } from './trust.ts';

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
