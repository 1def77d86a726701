/**
 * Publishes again what nobody changed: current plans of an older version, or from before a request of an operator; and
 * an old revision, by a rollback.
 */
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { registryNamesOf } from '../../engine/compiler/gateways.ts';
import { HEADER, MAGIC, PLAIN_VERSION, PLAN_VERSION, PlanFault } from '../../engine/plan/layout.ts';
import { digestsIn, REGISTRY_NAME, registryDigest, withListDigests } from '../../engine/plan/list-digests.ts';
import { openPlan } from '../../engine/plan/seal.ts';
import type { RegistryNames } from '../../rules/model/registry/registry.ts';
import type { ReadTransaction, Store, WriteTransaction } from '../store/store.ts';
import { type Author, SERVICE } from '../store/tables/accounts.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { ManifestRow, OutboxRow, PlanHead, RevisionRow } from '../store/tables/plans.ts';
import { PublishFault } from './fault.ts';
import { REPUBLISH_HEADS } from './limits.ts';
import { assertPublishable, mayServe } from './make-plan.ts';
import { createListCache, openLists, storePlan } from './plan-lists.ts';
import { sealRegistryContent } from './plan-registry.ts';
import { newestChange, prunedSentence, readBlob, reseal } from './revisions.ts';

/** The name under which the request is stored: the outbox id that every current revision has to cover. */
const REQUEST_NAME = 'republish';

/** Counts of a store's current plans. */
export interface Survey {
  readonly plans: number;
  /** Plans of an older version. */
  readonly older: number;
  /** Plans to publish again, those of an older version among them. */
  readonly left: number;
}

/** The version of a sealed plan by its first eight octets; 0 if they are not a plan's. */
export function versionOf(head: Uint8Array | null): number {
  if (head === null || head.byteLength < 8) return 0;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  return view.getUint32(HEADER.magic * 4, true) === MAGIC ? view.getUint32(HEADER.version * 4, true) : 0;
}

/**
 * Whether this build writes no plan of this version any more. A newer plan is of another process, in the middle of an upgrade: if each
 * replaced the other's plans, neither would end.
 */
export function isOlder({ head }: PlanHead): boolean {
  return versionOf(head) < PLAIN_VERSION;
}

/** Whether a plan is to be published again: it is older, or from before the request. */
export function isLeft(plan: PlanHead, request: number): boolean {
  return isOlder(plan) || plan.through < request;
}

/** The current plans in the order of their domains, read in parts of `REPUBLISH_HEADS`. */
export async function* allHeads(tx: Pick<ReadTransaction, 'plans'>): AsyncGenerator<PlanHead> {
  for (let after = ''; ; ) {
    const heads = await tx.plans.heads(after, REPUBLISH_HEADS);
    yield* heads;
    const last = heads.at(-1);
    if (last === undefined || heads.length < REPUBLISH_HEADS) return;
    after = last.domain;
  }
}

/** Counts the current plans. `request` is what `requestAll` returned; 0: no request. */
export async function survey(tx: Pick<ReadTransaction, 'plans'>, request: number): Promise<Survey> {
  const counted = { plans: 0, older: 0, left: 0 };
  for await (const plan of allHeads(tx)) {
    counted.plans += 1;
    if (isOlder(plan)) counted.older += 1;
    if (isLeft(plan, request)) counted.left += 1;
  }
  return counted;
}

/**
 * Requests that every domain with a plan is published again, by the server that runs on the store or by the next one.
 * Returns the `request` of `survey`, or 0 if no domain has a plan.
 */
export function requestAll(store: Store, now: number): Promise<number> {
  return store.write(async (tx) => {
    for await (const { domain, domain_id } of allHeads(tx)) {
      if ((await tx.domains.get(domain_id)) === null) continue;
      // Its id is above those of all earlier changes, so a plan of any domain is from before the request if it covers less.
      const id = await tx.outbox.append({ ...SERVICE, domain_id, domain, at: now, reason: REQUEST_REASON });
      await tx.secrets.put(REQUEST_NAME, String(id), now);
      return id;
    }
    return 0;
  });
}

/** The stored request; 0: none. */
export async function readRequest(tx: Pick<ReadTransaction, 'secrets'>): Promise<number> {
  return Number((await tx.secrets.get(REQUEST_NAME)) ?? 0);
}

// Publishing again what nobody changed: in a newer plan format, or because an operator asked. A domain whose current
// revision is a rollback gets the content of that revision, since its rows are what the rollback set aside.

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
 * The rollback to publish once more: `null` if any waiting row is a change of rules, records or settings, if the current revision is no
 * rollback, or if its plan cannot be read, so that the rows are all there is to publish.
 */
export async function findRolledBack(
  tx: Pick<ReadTransaction, 'plans'>,
  domainId: number,
  { waiting, current }: { readonly waiting: readonly OutboxRow[]; readonly current: ManifestRow | null },
): Promise<RolledBack | null> {
  if (current?.digest == null || current.domain_id !== domainId) return null;
  const leavesIt = ({ reason, lists_only }: OutboxRow): boolean =>
    lists_only || reason === REQUEST_REASON || reason.startsWith(FORMAT);
  if (!waiting.every(leavesIt)) return null;
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

// Rollback: an old revision's content becomes a new, higher revision. The content is taken from its sealed plan, not
// compiled again, so what comes back is what nodes once ran, bit for bit but for the revision in the header. The lists that it
// names have the content that they had then. A list that changes afterwards has its new content in the rolled-back plan too, and
// ends no rollback: a feed that is fetched every quarter of an hour must not bring back the rules that were set aside. The registry is
// that of now: a rollback of rules must not bring a revoked key back.
//
// Rules and records in the store stay as they are; the next publication compiles them, and so ends the rollback. Writes
// that wait in the outbox count as made before the rollback: the new revision covers them, and what they asked for comes
// with the next publication.

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
  const bytes = await resealOrSay(tx, blob, { revision: next, domain, at: order.at });
  if (typeof bytes === 'string') return impossible(`revision ${revision} cannot be published: ${bytes}`);
  const missing = await missingName(tx, domain.id, bytes);
  if (missing !== null) {
    const why = `its gateways name the ${missing}, which does not exist; add one of that name first`;
    return impossible(`revision ${revision} cannot be published: ${why}`);
  }
  const lists = await openLists(tx, digestsIn(bytes), createListCache());
  assertPublishable(bytes, { domain: domain.name, revision: next, lists });
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
  await storePlan(tx, made.digest!, { bytes, at: made.at });
  await tx.plans.publish(made);
  return { ok: true, revision: made };
}

/** The first usage plan or token issuer that a plan names and the domain does not have; `null`: it has all. */
async function missingName(
  tx: Pick<ReadTransaction, 'usagePlans' | 'tokenIssuers'>,
  domainId: number,
  bytes: Uint8Array,
): Promise<string | null> {
  const { usage_plans, token_issuers } = registryNamesOf(openPlan(bytes, { trusted: true }).plan);
  // A usage plan that is missing would limit nobody.
  const lacks = (
    named: ReadonlySet<string>,
    rows: readonly { readonly name: string }[],
  ): string | undefined => [...named].find((name) => rows.every((row) => row.name !== name));
  const usagePlan = lacks(usage_plans, await tx.usagePlans.list(domainId));
  if (usagePlan !== undefined) return `usage plan \`${usagePlan}\``;
  const issuer = lacks(token_issuers, await tx.tokenIssuers.list(domainId));
  return issuer === undefined ? null : `token issuer \`${issuer}\``;
}

/** What the gateways of a current rollback name, which the stored rules may not name; `null`: no rollback is current. */
export async function namesOfRollback(
  tx: Pick<ReadTransaction, 'plans'>,
  { id, name }: Pick<DomainRow, 'id' | 'name'>,
): Promise<RegistryNames | null> {
  const current = await tx.plans.current(name);
  if (current?.digest == null || current.domain_id !== id) return null;
  const revision = await tx.plans.get(id, current.revision);
  if (revision === null || !isRollback(revision)) return null;
  return registryNamesOf(openPlan(await readBlob(tx, current.digest), { trusted: true }).plan);
}

function impossible(message: string): RollbackResult {
  return { ok: false, because: 'impossible', message };
}

/** The old bytes with the registry of now, or why this build cannot read them. */
async function resealOrSay(
  tx: WriteTransaction,
  blob: Uint8Array,
  { revision, domain, at }: { readonly revision: number; readonly domain: DomainRow; readonly at: number },
): Promise<Uint8Array | string> {
  try {
    const bytes = reseal(blob, revision);
    if (registryDigest(openPlan(bytes, { trusted: true }).plan) === null) return bytes;
    const digest = await sealRegistryNow(tx, domain, at);
    return digest === null ? bytes : withListDigests(bytes, new Map([[REGISTRY_NAME, digest]]), revision);
  } catch (error) {
    if (error instanceof PlanFault) return error.message;
    throw error;
  }
}

/** The digest of the registry as it is in this transaction; `null`: the domain never had one. */
async function sealRegistryNow(
  tx: WriteTransaction,
  { id, name }: DomainRow,
  at: number,
): Promise<string | null> {
  const row = await tx.registries.get(id);
  if (row === null) return null;
  if (row.digest !== null && row.sealed_version === row.version) return row.digest;
  const content = await sealRegistryContent(tx, { domain_id: id, domain: name });
  if (content === null) return null;
  const { version, digest, bytes } = content;
  await tx.registries.putSealed(id, { version, digest, bytes, at });
  return digest;
}
