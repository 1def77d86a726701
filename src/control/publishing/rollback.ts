/**
 * Rollback: an old revision's content becomes a new, higher revision. The content is taken from its sealed plan, not
 * compiled again, so what comes back is what nodes once ran, bit for bit but for the revision in the header.
 *
 * Rules and records in the store stay as they are; the next publication compiles them, and so ends the rollback. Writes
 * that wait in the outbox count as made before the rollback: the new revision covers them, and what they asked for comes
 * with the next publication.
 */
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { PlanFault } from '../../engine/plan/layout.ts';
import type { Author, DomainRow, RevisionRow } from '../store/rows.ts';
import type { WriteTransaction } from '../store/store.ts';
import { readBlob, reseal } from './blob.ts';
import { newestChange } from './newest-change.ts';
import { mayServe } from './plan-subject.ts';
import { prunedSentence } from './prune.ts';
import { rollbackReason } from './republish-content.ts';
import { assertPublishable } from './self-test.ts';

export interface RollbackOrder {
  readonly domain: DomainRow;
  /** The revision whose content is wanted back. */
  readonly revision: number;
  readonly author: Author;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * - `missing` the domain has no such revision
 * - `impossible` there is one, but it cannot be published; `message` says why
 */
export type RollbackResult =
  | { readonly ok: true; readonly revision: RevisionRow }
  | { readonly ok: false; readonly because: 'missing' | 'impossible'; readonly message: string };

/** Publishes old content as the domain's next revision; the last thing to do in its transaction. */
export async function rollBack(tx: WriteTransaction, order: RollbackOrder): Promise<RollbackResult> {
  const { domain, revision } = order;
  const target = await tx.plans.get(domain.id, revision);
  if (target === null) return { ok: false, because: 'missing', message: 'not found' };
  if (!mayServe(domain)) {
    const why = domain.suspended ? 'suspended' : `\`${domain.status}\``;
    return impossible(`the domain is ${why} and serves nothing, so no plan can be published`);
  }
  if (target.digest === null) return impossible(`revision ${revision} is a tombstone and has no plan`);
  if (target.pruned) return impossible(prunedSentence(revision));
  const blob = await readBlob(tx, target.digest);
  const current = await tx.plans.current(domain.name);
  const next = (current?.revision ?? 0) + 1;
  const bytes = resealOrSay(blob, next);
  if (typeof bytes === 'string') return impossible(`revision ${revision} cannot be published: ${bytes}`);
  assertPublishable(bytes, { domain: domain.name, revision: next });
  const made: RevisionRow = {
    domain: domain.name,
    domain_id: domain.id,
    revision: next,
    digest: sha256Hex(bytes),
    reason: rollbackReason(revision),
    ...order.author,
    at: order.at,
    through: await newestChange(tx, domain.id),
  };
  await tx.plans.putBlob(made.digest!, bytes, made.at);
  await tx.plans.publish(made);
  return { ok: true, revision: made };
}

function impossible(message: string): RollbackResult {
  return { ok: false, because: 'impossible', message };
}

/** The resealed bytes, or why this build cannot read the old ones. */
function resealOrSay(blob: Uint8Array, revision: number): Uint8Array | string {
  try {
    return reseal(blob, revision);
  } catch (error) {
    if (error instanceof PlanFault) return error.message;
    throw error;
  }
}
