/**
 * The draft of a domain: its differences from the published rules, and the checks before it is published. Records and settings
 * take effect at once, so both sides have those of the moment.
 */
import { describeDiagnostic, hasErrors } from '../../base/diagnostics/diagnostic.ts';
import { compile } from '../../engine/compiler/index.ts';
import { seal } from '../../engine/plan/seal.ts';
import { serving } from '../../workbench/proofs/subject.ts';
import { PublishFault } from '../publishing/fault.ts';
import { type DomainRows, readDomainRows, readPublishedRows, toRuleSet } from '../publishing/rule-set.ts';
import type { Snapshots } from '../store/database/snapshots.ts';
import type { DomainRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import { comparePlans } from './compare.ts';
import { brokenText } from './invariants.ts';
import type { CheckedDraft, DraftCheckJob, DraftComparison, DraftDiffJob } from './job.ts';

/** The number of the draft in the same snapshot as its rows. */
async function editOf(tx: ReadTransaction, { id }: DomainRow): Promise<number> {
  return (await tx.drafts.get(id))?.edit ?? 0;
}

/** The sealed plan of the rows of a domain that serves. @throws PublishFault if they do not compile */
function planOf(rows: DomainRows): Uint8Array {
  const { plan, diagnostics } = compile(serving(toRuleSet(rows)));
  const [first] = diagnostics.filter(({ severity }) => severity === 'error');
  if (hasErrors(diagnostics)) throw new PublishFault('compile', describeDiagnostic(first!));
  return seal(plan, { revision: 1 });
}

/** A page of the differences of draft and published rules. @throws StoreFault, PublishFault */
export async function compareDraft(
  { domain, proof, page }: DraftDiffJob,
  snapshots: Snapshots,
): Promise<DraftComparison> {
  const { edit, published, draft } = await snapshots.read(async (tx) => ({
    edit: await editOf(tx, domain),
    published: await readPublishedRows(tx, domain),
    draft: await readDomainRows(tx, domain),
  }));
  const [before, after] = [planOf(published), planOf(draft)];
  const compared = { before, after, proof, page, head: { edit }, cursor: String(edit) };
  return { edit, text: comparePlans(compared) };
}

/**
 * Checks the draft: it compiles, and every invariant that the domain requires is proved. The first problem is the answer.
 * @throws StoreFault
 */
export async function checkDraft({ domain }: DraftCheckJob, snapshots: Snapshots): Promise<CheckedDraft> {
  const { edit, required, rows } = await snapshots.read(async (tx) => ({
    edit: await editOf(tx, domain),
    required: await tx.invariants.get(domain.id),
    rows: await readDomainRows(tx, domain),
  }));
  const checked = { edit, required: required?.edit ?? 0 };
  try {
    // Each write was checked already; a draft that does not compile must not reach the publisher, which would try it forever.
    planOf(rows);
  } catch (error) {
    if (!(error instanceof PublishFault)) throw error;
    return { ...checked, problem: `the draft does not compile: ${error.message}` };
  }
  return { ...checked, problem: required === null ? null : brokenText(toRuleSet(rows), required.body) };
}
