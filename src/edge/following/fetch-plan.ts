/** Fetches a plan from the control plane to the disk; checks its digest and runs its self-test before. */
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { selfTest } from '../../engine/evaluator/self-test.ts';
import type { ManifestEntry } from '../../engine/plan/manifest.ts';
import { type ControlPlaneClient, ControlPlaneFault } from './control-plane.ts';
import { DamageFault, type PlanStore } from './plan-store.ts';

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
