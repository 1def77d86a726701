/**
 * Published revisions in the store: the current one of a domain, the newest change that a publication has to cover, the
 * nodes that run one, the sealed plans under their digest, and the removal of old plans.
 */
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { DEFAULT_GROUP, shareGroup } from '../../base/vocabulary/node-groups.ts';
import { openPlan, seal } from '../../engine/plan/seal.ts';
import type { ReadTransaction, Store } from '../store/store.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { NodeRow, ReportRow } from '../store/tables/nodes.ts';
import type { ManifestRow, RevisionRow, StoredPlan } from '../store/tables/plans.ts';
import { PublishFault } from './fault.ts';
import {
  AGELESS_PLANS,
  MAX_STORED_OCTETS,
  MAX_STORED_PLANS,
  PRUNED_AT_ONCE,
  PRUNED_LISTS,
  PRUNED_NAMES,
  SIZELESS_PLANS,
  STORED_MS,
  UNUSED_LIST_MS,
} from './limits.ts';

/**
 * The revision that nodes should serve for this domain; `null`: none is published. Manifest rows belong to a name, so
 * before the first publication the row may be that of an earlier domain of the name, possibly of another account.
 */
export async function currentOf(
  tx: ReadTransaction,
  { id, name }: { readonly id: number; readonly name: string },
): Promise<ManifestRow | null> {
  const current = await tx.plans.current(name);
  return current?.domain_id === id ? current : null;
}

/**
 * The id of the domain's newest outbox row, waiting or covered; 0: it never had one. It rises with every change, a
 * deletion too; call it inside one snapshot or write, since a publication moves rows from the one to the other.
 */
export async function newestChange(tx: ReadTransaction, domainId: number): Promise<number> {
  const waiting = (await tx.outbox.list(domainId)).at(-1)?.id;
  if (waiting !== undefined) return waiting;
  const [last] = await tx.plans.list(domainId, { limit: 1 });
  return last?.through ?? 0;
}

export interface NodeAnswer {
  readonly node: string;
  readonly outcome: 'ack' | 'nack';
  /** Why a nack; empty for an ack. */
  readonly reason: string;
  /** Milliseconds from the commit of the revision to the arrival of the answer. */
  readonly ms: number;
}

export interface Propagation {
  /** Nodes that have acknowledged it. */
  readonly live: number;
  /** Nodes in the domain's groups whose token is not revoked. */
  readonly nodes: number;
  readonly refused: number;
  /** Milliseconds until the last acknowledgement; `null` before the first. */
  readonly ms: number | null;
  /** `live on 3 of 3 nodes, 41 ms`. */
  readonly summary: string;
  /** By node's name. */
  readonly answers: readonly NodeAnswer[];
}

/** The nodes that serve a name now: those of its groups that are not revoked. */
export async function nodesOf(tx: ReadTransaction, { id, name }: Holder): Promise<readonly NodeRow[]> {
  const current = await tx.plans.current(name);
  // If the current plan belongs to an earlier domain of the name, or is missing, the domain's own groups decide.
  const own = current?.domain_id === id ? current.node_groups : null;
  const groups = own ?? (await tx.groups.ofDomain(id)) ?? DEFAULT_GROUP;
  const nodes = await tx.nodes.list();
  return nodes.filter(
    ({ revoked_at, node_groups }) => revoked_at === null && shareGroup(node_groups, groups),
  );
}

type Holder = Pick<DomainRow, 'id' | 'name'>;

/** The answers of nodes to one revision. Revoked nodes, and those of other groups, are left out. */
export async function propagationOf(tx: ReadTransaction, revision: RevisionRow): Promise<Propagation> {
  const nodes = await nodesOf(tx, { id: revision.domain_id, name: revision.domain });
  const reports = await tx.nodes.reportsOn(revision.domain, revision.revision);
  return summarise(nodes, reports, revision.at);
}

function summarise(nodes: readonly NodeRow[], reports: readonly ReportRow[], at: number): Propagation {
  const names = new Map(nodes.map((node) => [node.id, node.name]));
  const answers = reports
    .flatMap(({ node_id, outcome, reason, at: answeredAt }): NodeAnswer[] => {
      const node = names.get(node_id);
      return node === undefined ? [] : [{ node, outcome, reason, ms: Math.max(0, answeredAt - at) }];
    })
    .sort((a, b) => (a.node < b.node ? -1 : 1));
  const live = answers.filter(({ outcome }) => outcome === 'ack');
  const refused = answers.length - live.length;
  const ms = live.length === 0 ? null : Math.max(...live.map((answer) => answer.ms));
  const on = `live on ${live.length} of ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`;
  const time = ms === null ? '' : `, ${ms} ms`;
  const refusals = refused === 0 ? '' : `, refused by ${refused}`;
  return { live: live.length, nodes: nodes.length, refused, ms, summary: `${on}${time}${refusals}`, answers };
}

// Sealed plans in the store: read under their digest, and removed with old revisions.

/**
 * The sealed plan of that digest, `null` when the store has none.
 * @throws PublishFault `blob` when the stored bytes are not those the digest was made of
 */
export async function findBlob(
  tx: Pick<ReadTransaction, 'plans'>,
  digest: string,
): Promise<Uint8Array | null> {
  const bytes = await tx.plans.blob(digest);
  if (bytes === null || sha256Hex(bytes) === digest) return bytes;
  const found = sha256Hex(bytes);
  throw new PublishFault('blob', `the stored plan \`${digest}\` is damaged: its digest is \`${found}\``);
}

/** As `findBlob`, for a plan that must be there. */
export async function readBlob(tx: Pick<ReadTransaction, 'plans'>, digest: string): Promise<Uint8Array> {
  const bytes = await findBlob(tx, digest);
  if (bytes === null) throw new PublishFault('blob', `the store has no plan \`${digest}\``);
  return bytes;
}

/**
 * The same content under another revision: every section as it was, a new header.
 * @throws PlanFault when this build does not read the plan's version
 */
export function reseal(bytes: Uint8Array, revision: number): Uint8Array {
  return seal(openPlan(bytes).plan, { revision });
}

// Removes the plans of old revisions, a few in each transaction. The history keeps every row, which then says that its
// plan is pruned. What is published and what nodes report to run is never removed.

/** Plans read of one name in one step: those that may stay, and as many more as go at once. */
const READ_PLANS = 2 * MAX_STORED_PLANS + PRUNED_AT_ONCE;

/** Prunes every name with more than SIZELESS_PLANS plans, and sealed lists that nothing refers to. Returns how many plans were removed. */
export async function pruneAll(store: Store, now: number): Promise<number> {
  let pruned = 0;
  let after = '';
  for (;;) {
    const names = await store.latest.plans.storedNames(after, PRUNED_NAMES);
    for (const { domain, plans } of names) {
      if (plans > SIZELESS_PLANS) pruned += await pruneName(store, domain, now);
    }
    const last = names.at(-1);
    if (names.length < PRUNED_NAMES || last === undefined) break;
    after = last.domain;
  }
  await pruneLists(store, now);
  return pruned;
}

/** Removes sealed lists that neither a list nor a stored plan refers to, a few in each transaction. */
async function pruneLists(store: Store, now: number): Promise<void> {
  const before = now - UNUSED_LIST_MS;
  while ((await store.write((tx) => tx.lists.prune(before, PRUNED_LISTS))) === PRUNED_LISTS);
}

/** Prunes one name, step by step. */
export async function pruneName(store: Store, domain: string, now: number): Promise<number> {
  let pruned = 0;
  // Most names have nothing to prune, which needs no transaction.
  while ((await prunable(store.latest, domain, now)).length > 0) {
    pruned += await store.write(async (tx) => {
      const revisions = (await prunable(tx, domain, now)).slice(-PRUNED_AT_ONCE);
      await tx.plans.prune(domain, revisions);
      return revisions.length;
    });
  }
  return pruned;
}

async function prunable(
  tx: Pick<ReadTransaction, 'plans' | 'nodes'>,
  domain: string,
  now: number,
): Promise<readonly number[]> {
  const stored = await tx.plans.stored(domain, READ_PLANS);
  const old = outdated(stored, now);
  if (old.length === 0) return [];
  const current = await tx.plans.current(domain);
  const needed = new Set([current?.revision, ...(await tx.nodes.acknowledged(domain))]);
  return old.filter((revision) => !needed.has(revision));
}

/** Those of one name's plans, newest first, that are beyond the limits. */
export function outdated(stored: readonly StoredPlan[], now: number): readonly number[] {
  let octets = 0;
  return stored
    .filter((plan, place) => {
      octets += plan.octets;
      if (place < SIZELESS_PLANS) return false;
      if (octets > MAX_STORED_OCTETS || place >= MAX_STORED_PLANS) return true;
      return place >= AGELESS_PLANS && plan.at < now - STORED_MS;
    })
    .map(({ revision }) => revision);
}

/** The message for a revision whose plan was pruned, with what can be done instead. */
export function prunedSentence(revision: number): string {
  return `the plan of revision ${revision} has been pruned; the list of plans names the newer ones that are stored`;
}
