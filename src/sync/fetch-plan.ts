/** A plan's file: from the control plane to the disk, checked and tried out on the way. */
import { selfTest } from '../evaluator/self-test.ts';
import type { ManifestEntry } from '../plan/manifest.ts';
import { sha256Hex } from '../platform/sha256.ts';
import { type ControlPlaneClient, ControlPlaneFault } from './control-plane.ts';
import { DamageFault, type PlanStore } from './plan-store.ts';

/** A plan that must not be served. `final`: it will be the same at the next attempt. */
export class PlanRefusal extends Error {
  readonly final: boolean;

  constructor(message: string, final: boolean) {
    super(message);
    this.name = 'PlanRefusal';
    this.final = final;
  }
}

export interface FetchPlanOptions {
  readonly control: Pick<ControlPlaneClient, 'plan'>;
  readonly planStore: PlanStore;
}

/**
 * Sees to it that a plan's file is there and good.
 * @throws PlanRefusal when it must not be served; ControlPlaneFault when it cannot be fetched; the system's error when it cannot
 * be kept
 */
export async function fetchPlan(
  digest: string,
  { domain, revision }: ManifestEntry,
  { control, planStore }: FetchPlanOptions,
): Promise<void> {
  let bytes = planStore.hasPlan(digest) ? readStored(digest, planStore) : null;
  const fetched = bytes === null;
  bytes ??= await download(digest, control);
  // Other requests first: the trial below takes up to some milliseconds.
  await new Promise(setImmediate);
  const wrong = selfTest(bytes, { domain, revision });
  if (wrong !== null) throw new PlanRefusal(wrong, true);
  if (fetched) await planStore.putPlan(digest, bytes);
}

function readStored(digest: string, keeper: PlanStore): Uint8Array | null {
  try {
    return keeper.readPlan(digest);
  } catch (error) {
    if (error instanceof DamageFault) return null;
    throw error;
  }
}

async function download(digest: string, control: Pick<ControlPlaneClient, 'plan'>): Promise<Uint8Array> {
  // Of its own memory, since a plan is a view of its bytes from an 8-octet boundary on.
  const bytes = new Uint8Array(await control.plan(digest));
  const found = sha256Hex(bytes);
  if (found === digest) return bytes;
  throw new PlanRefusal(
    `the digest of what was fetched is \`${found}\`, the manifest says \`${digest}\``,
    false,
  );
}

/** Whose trouble an error is: the control plane's, the disk's, or this plan's alone. */
export function troubleOf(error: unknown): 'control' | 'disk' | 'plan' {
  if (error instanceof ControlPlaneFault)
    return error.code === 'away' || error.code === 'token' ? 'control' : 'plan';
  return error instanceof PlanRefusal ? 'plan' : 'disk';
}

/** Why a plan is refused for the disk, without the paths that the system's own sentence has: customers read it. */
export function diskReason(error: unknown): string {
  return `the node cannot keep the plan: ${diskTrouble(error)}`;
}

/** What is wrong with the node's disk, without paths. */
export function diskTrouble(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return (code === undefined ? undefined : DISK_TROUBLES[code]) ?? code ?? 'its disk failed';
}

const DISK_TROUBLES: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk is full',
  EROFS: 'its disk is read-only',
};
