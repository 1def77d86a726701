/**
 * Publishing again what nobody changed: in a newer plan format, or because an operator asked. A domain whose current
 * revision is a rollback gets the content of that revision, since its rows are what the rollback set aside.
 */
import { PLAN_VERSION, PlanFault } from '../../engine/plan/layout.ts';
import type { ManifestRow, OutboxRow, RevisionRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import { readBlob, reseal } from './blob.ts';
import { PublishFault } from './fault.ts';

const FORMAT = 'plan format ';
const ROLLBACK = 'rollback to revision ';

/** Why a domain is published whose plan is of an older version. */
export const FORMAT_REASON = `${FORMAT}${PLAN_VERSION}`;
/** Why a domain is published that `edgeplan publish --all` covers. */
export const REQUEST_REASON = 'every domain published again on request';

/** The reason of a revision that `rollBack` makes. */
export function rollbackReason(revision: number): string {
  return `${ROLLBACK}${revision}`;
}

/** Whether a revision is a rollback, or its content published once more. */
export function isRollback({ reason }: Pick<RevisionRow, 'reason'>): boolean {
  return reason.startsWith(ROLLBACK);
}

/** The plan of a rollback that is current, to be published once more. */
export interface RolledBack {
  readonly bytes: Uint8Array;
  /** The rollback's own reason. */
  readonly reason: string;
}

/**
 * The rollback to publish once more: `null` if any waiting row is a change, if the current revision is no
 * rollback, or if its plan cannot be read, so that the rows are all there is to publish.
 */
export async function findRolledBack(
  tx: Pick<ReadTransaction, 'plans'>,
  domainId: number,
  { waiting, current }: { readonly waiting: readonly OutboxRow[]; readonly current: ManifestRow | null },
): Promise<RolledBack | null> {
  if (current?.digest == null || current.domain_id !== domainId) return null;
  if (!waiting.every(({ reason }) => reason === REQUEST_REASON || reason.startsWith(FORMAT))) return null;
  const revision = await tx.plans.get(domainId, current.revision);
  if (revision === null || !isRollback(revision)) return null;
  const [reason = ''] = revision.reason.split(';', 1);
  try {
    const bytes = await readBlob(tx, current.digest);
    reseal(bytes, current.revision);
    return { bytes, reason };
  } catch (error) {
    if (error instanceof PlanFault || error instanceof PublishFault) return null;
    throw error;
  }
}
