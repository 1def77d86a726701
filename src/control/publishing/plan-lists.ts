/**
 * The lists that plans name by digest (semantics §13): which the rules of a domain name, their opened forms for tests and
 * simulations, and how a plan is stored with them. In: a snapshot of the store.
 */
import { LRUCache } from 'lru-cache';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { ListTooLarge, sealList } from '../../engine/compiler/seal-list.ts';
import { openList, openPlanPart, type PlanPart } from '../../engine/evaluator/index.ts';
import { digestsIn } from '../../engine/plan/list-digests.ts';
import type { RuleList } from '../../rules/model/types.ts';
import type { RulesOf } from '../store/repositories/list-uses.ts';
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';
import type { ListRow } from '../store/tables/lists.ts';
import { PublishFault } from './fault.ts';
import { MAX_OPEN_LIST_OCTETS } from './limits.ts';

/** The lists that the rules of a domain name, by name; a name without a list is left out. */
export async function listsOfDomain(
  tx: Pick<ReadTransaction, 'lists'>,
  domainId: number,
  rules: RulesOf = 'published',
): Promise<readonly ListRow[]> {
  const uses = await tx.lists.uses(domainId, rules);
  if (uses.length === 0) return [];
  const named = await tx.lists.named(
    domainId,
    uses.map(({ name }) => name),
  );
  return [...named.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The same with their entries, for plans that are analysed and not published. */
export async function listsWithEntries(
  tx: Pick<ReadTransaction, 'lists'>,
  domainId: number,
  rules: RulesOf,
): Promise<readonly RuleList[]> {
  const lists: RuleList[] = [];
  for (const { id, name, kind } of await listsOfDomain(tx, domainId, rules))
    lists.push({ name, kind, entries: await entriesOf(tx, id) });
  return lists;
}

/** All entries of a list. */
async function entriesOf(tx: Pick<ReadTransaction, 'lists'>, listId: number) {
  const parts = [];
  for await (const part of tx.lists.entries(listId)) parts.push(part);
  return parts.flat();
}

/** A list to seal: the newest version when it is read. */
export type ListSubject = Pick<ListRow, 'id' | 'name' | 'entries'>;

/** A sealed list. */
export interface SealedContent {
  /** The version of the list that it is. */
  readonly version: number;
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** Reads a list, seals it and opens the result as a test; `null`: it is gone. @throws PublishFault `compile`, PlanFault */
export async function sealContent(tx: ReadTransaction, { id }: ListSubject): Promise<SealedContent | null> {
  const list = await tx.lists.byId(id);
  if (list === null) return null;
  try {
    const bytes = sealList({ kind: list.kind, entries: await entriesOf(tx, id) });
    openList(bytes);
    return { version: list.version, digest: sha256Hex(bytes), bytes };
  } catch (error) {
    if (!(error instanceof ListTooLarge)) throw error;
    throw new PublishFault('compile', `the list \`${list.name}\` ${error.message}`, { cause: error });
  }
}

/** The opened lists and registries of a process, the most recently used ones, by digest. */
export type ListCache = LRUCache<string, PlanPart>;

export function createListCache(): ListCache {
  return new LRUCache({ maxSize: MAX_OPEN_LIST_OCTETS, sizeCalculation: ({ octets }) => octets });
}

/** The lists and the registry of a plan, as its evaluator asks for them. */
export type PlanLists = ReadonlyMap<string, PlanPart>;

/** Those of a plan that names none. */
export const NO_LISTS: PlanLists = new Map();

/**
 * Opens lists and registries by digest.
 * @throws PublishFault `blob` when the store lacks one, or its octets are not those the digest was made of
 */
export async function openLists(
  tx: Pick<ReadTransaction, 'lists'>,
  digests: readonly string[],
  cache: ListCache,
): Promise<PlanLists> {
  const opened = new Map<string, PlanPart>();
  for (const digest of digests) {
    const list = cache.get(digest) ?? openPlanPart(await readListBlob(tx, digest), { trusted: true });
    cache.set(digest, list);
    opened.set(digest, list);
  }
  return opened;
}

/** The sealed list of that digest, `null` when the store has none. @throws PublishFault `blob` when it is damaged */
export async function findListBlob(
  tx: Pick<ReadTransaction, 'lists'>,
  digest: string,
): Promise<Uint8Array | null> {
  const bytes = await tx.lists.blob(digest);
  if (bytes === null || sha256Hex(bytes) === digest) return bytes;
  throw new PublishFault(
    'blob',
    `the stored list \`${digest}\` is damaged: its digest is \`${sha256Hex(bytes)}\``,
  );
}

async function readListBlob(tx: Pick<ReadTransaction, 'lists'>, digest: string): Promise<Uint8Array> {
  const bytes = await findListBlob(tx, digest);
  if (bytes === null) throw new PublishFault('blob', `the store has no list \`${digest}\``);
  return bytes;
}

/** Stores a sealed plan with the lists that it names, which stay as long as the plan. */
export async function storePlan(
  tx: Pick<WriteTransaction, 'plans' | 'lists'>,
  digest: string,
  { bytes, at }: { readonly bytes: Uint8Array; readonly at: number },
): Promise<void> {
  await tx.plans.putBlob(digest, bytes, at);
  await tx.lists.filePlan(digest, digestsIn(bytes));
}
