/**
 * The draft of a domain: its differences from the published rules, the checks before it is published, and the proofs of
 * its invariants. Records and settings take effect at once, so both sides have those of the moment.
 */
import { assert } from '../../base/diagnostics/assert.ts';
import { describeDiagnostic, hasErrors } from '../../base/diagnostics/diagnostic.ts';
import { compile } from '../../engine/compiler/index.ts';
import { seal } from '../../engine/plan/seal.ts';
import { parseInvariants } from '../../rules/model/invariant.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import { proveInvariants } from '../../workbench/proofs/invariants.ts';
import { serving } from '../../workbench/proofs/subject.ts';
import { breachText } from '../../workbench/rule-tests/run.ts';
import { witnessText } from '../../workbench/simulation/render-changes.ts';
import { PublishFault } from '../publishing/fault.ts';
import { type DomainRows, readDomainRows, readPublishedRows, toRuleSet } from '../publishing/make-plan.ts';
import { listsWithEntries } from '../publishing/plan-lists.ts';
import { registryWithContent } from '../publishing/plan-registry.ts';
import type { Snapshots } from '../store/database/open.ts';
import type { RulesOf } from '../store/repositories/list-uses.ts';
import type { ReadTransaction } from '../store/store.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import { comparePlans } from './compare.ts';
import type { CheckedDraft, DraftCheckJob, DraftComparison, DraftDiffJob, InvariantsJob } from './job.ts';

/** The number of the draft in the same snapshot as its rows. */
async function editOf(tx: ReadTransaction, { id }: DomainRow): Promise<number> {
  return (await tx.drafts.get(id))?.edit ?? 0;
}

/** The rows of a domain with the entries of the lists that its rules name, and with its registry. */
export async function readListedRows(tx: ReadTransaction, domain: DomainRow): Promise<DomainRows> {
  return {
    ...(await readDomainRows(tx, domain)),
    ...(await registryPart(tx, domain, 'stored')),
    lists: await listsWithEntries(tx, domain.id, 'stored'),
  };
}

async function registryPart(
  tx: ReadTransaction,
  { id }: DomainRow,
  rules: RulesOf,
): Promise<Pick<DomainRows, 'registry'>> {
  const registry = await registryWithContent(tx, id, rules);
  return registry === undefined ? {} : { registry };
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
    published: {
      ...(await readPublishedRows(tx, domain)),
      ...(await registryPart(tx, domain, 'published')),
      lists: await listsWithEntries(tx, domain.id, 'published'),
    },
    draft: await readListedRows(tx, domain),
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
    rows: await readListedRows(tx, domain),
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

// Proves the invariants of a domain: for the draft before it is published, and as an answer of the API.

/** What is known of one invariant. */
interface InvariantDocument {
  readonly name: string;
  readonly claim: string;
  readonly result: 'proved' | 'broken' | 'empty' | 'unknown';
  /** What the request gets. */
  readonly outcome: string | null;
  readonly request: object | null;
  /** The request as arguments of `edgeplan simulate`. */
  readonly command: string | null;
  /** What was not decided within the budget. */
  readonly open: string | null;
}

/** Proves stored invariants. `body`: their JSON text. */
function documentsOf(ruleSet: RuleSet, body: string): readonly InvariantDocument[] {
  const parsed = parseInvariants(JSON.parse(body));
  assert(parsed.ok, 'stored invariants were read before they were stored');
  return proveInvariants(ruleSet, parsed.invariants).map(({ invariant: { name, claim }, result }) => ({
    name,
    claim,
    result: result.kind,
    outcome: result.kind === 'broken' ? breachText(result) : null,
    request: result.kind === 'broken' ? result.witness : null,
    command: result.kind === 'broken' ? witnessText(result.witness) : null,
    open: result.kind === 'unknown' ? result.open : null,
  }));
}

/** The JSON text of what is proved of the stored rules. @throws StoreFault */
export async function provedText({ domain }: InvariantsJob, snapshots: Snapshots): Promise<string> {
  const { rows, required } = await snapshots.read(async (tx) => ({
    rows: await readListedRows(tx, domain),
    required: await tx.invariants.get(domain.id),
  }));
  const invariants = required === null ? [] : documentsOf(toRuleSet(rows), required.body);
  const holds = invariants.every(({ result }) => result === 'proved');
  return JSON.stringify({ holds, invariants });
}

/** Broken invariants that a message describes; the others are counted. */
const MAX_NAMED = 3;

/** Why rules must not be published; `null`: every invariant is proved. */
function brokenText(ruleSet: RuleSet, body: string): string | null {
  const wrong = documentsOf(ruleSet, body).filter(({ result }) => result !== 'proved');
  if (wrong.length === 0) return null;
  const more = wrong.length > MAX_NAMED ? `, and ${wrong.length - MAX_NAMED} more` : '';
  return `${wrong.slice(0, MAX_NAMED).map(sentence).join('; ')}${more}`;
}

function sentence({ name, claim, result, outcome, command, open }: InvariantDocument): string {
  const invariant = `the invariant \`${name}\` (${claim})`;
  switch (result) {
    case 'broken':
      return `${invariant} is broken: \`${command}\` gets ${outcome}`;
    case 'empty':
      return `${invariant} means no request that the domain serves`;
    default:
      return `${invariant} is not proved within its budget: ${open}`;
  }
}
