/**
 * The publisher turns accepted changes into what nodes run. In: a domain with rows in the outbox. Out: its next
 * revision, sealed, stored under its digest and pointed to by the manifest, or a tombstone if the domain must not
 * serve. This file makes one publication; `publisher.ts` finds the work and retries, `feed.ts` sends it to nodes.
 *
 * The steps, in order: read what waits · seal the lists and the registry that have changed · read the domain's rows in one snapshot · rule set ·
 * compile · seal with the next revision · open and run · digest · store blob, history, pointer and outbox in one transaction. If
 * nothing but the content of lists or of the registry has changed, the current plan is sealed again with their digests, and nothing is compiled. Of two that publish one
 * domain at once, the later loses on `manifest.revision` and reads again, so no revision is skipped, given twice, or
 * holds less than the one before it.
 */
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { isStoreFault } from '../../base/storage/fault.ts';
import { digestsIn, REGISTRY_NAME, withListDigests } from '../../engine/plan/list-digests.ts';
import type { ReadTransaction, Store } from '../store/store.ts';
import type { Author } from '../store/tables/accounts.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { ListRow } from '../store/tables/lists.ts';
import type { ManifestRow, OutboxRow, PendingDomain, RevisionRow } from '../store/tables/plans.ts';
import type { RegistryRow } from '../store/tables/registry.ts';
import { PublishFault } from './fault.ts';
import {
  assertPublishable,
  EVERYTHING,
  mayServe,
  type PlanSubject,
  type PublishedAs,
  type PublishedEntitlements,
} from './make-plan.ts';
import { changedLists, findUnchanged, patchLists } from './patch-lists.ts';
import { listsOfDomain, openLists, storePlan } from './plan-lists.ts';
import type { PlanMaker } from './plan-maker.ts';
import { registryOfDomain } from './plan-registry.ts';
import { findRolledBack, type RolledBack } from './republish.ts';
import { readBlob, reseal } from './revisions.ts';
import type { ListSealer } from './seal-lists.ts';

/** Attempts after which a publication fails as `contended`; the domain is tried again later. */
const MOST_ATTEMPTS = 8;
/** Reasons that are listed for a revision that covers several writes; the others are counted. */
const MOST_REASONS = 3;

/** A domain with waiting rows, read in one snapshot. */
interface Reading {
  readonly waiting: readonly OutboxRow[];
  /** What nodes serve for the name now. */
  readonly current: ManifestRow | null;
  /** What to make a plan of; `null` if the domain is gone or must not serve. */
  readonly subject: PlanSubject | null;
  /** The lists that may have changed, of those that the plan names. */
  readonly lists: readonly ListRow[];
  /** The registry that the plan refers to; `null`: none. */
  readonly registry: RegistryRow | null;
  /** The current plan, if nothing but the content of lists has changed since. */
  readonly unchanged: Uint8Array | null;
  readonly successor: Successor | null;
  /** What to publish instead of the rows. */
  readonly rolledBack: RolledBack | null;
}

/**
 * The domain that now has the name and is already published, for a domain with waiting rows that was deleted. Its content
 * is published again, after the deleted domain's tombstone.
 */
interface Successor {
  readonly last: RevisionRow;
  readonly blob: Uint8Array | null;
}

/** A revision to write and the sealed plan it points to; `null`: a tombstone. */
interface Made {
  readonly revision: RevisionRow;
  readonly bytes: Uint8Array | null;
}

export interface PublishTools {
  readonly store: Store;
  readonly plans: Pick<PlanMaker, 'make' | 'cache'>;
  /** Seals the lists that have changed. */
  readonly lists: ListSealer;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** What the owner of a domain has bought; absent: everything. */
  readonly entitlementsFor?: EntitlementsFor | undefined;
}

export type EntitlementsFor = (tx: ReadTransaction, domain: DomainRow) => Promise<PublishedEntitlements>;

/**
 * Publishes everything that waits for one domain as one revision; `null` when nothing waits any more.
 * @throws PublishFault, StoreFault; nothing is written then
 */
export async function publishDomain(
  pending: Pick<PendingDomain, 'domain_id' | 'domain'>,
  tools: PublishTools,
): Promise<RevisionRow | null> {
  const { store, entitlementsFor } = tools;
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const reading = await store.read((tx) => read(tx, pending, entitlementsFor));
    if (reading.waiting.length === 0) return null;
    const made = await make(reading, pending, tools);
    if (made === null) continue;
    try {
      await store.write(async (tx) => {
        // Locks the domain before its outbox rows, in the order every other writer does.
        await tx.domains.get(pending.domain_id);
        await tx.outbox.release(pending.domain_id);
        for (const { revision, bytes } of made) {
          if (bytes !== null) await storePlan(tx, revision.digest!, { bytes, at: revision.at });
        }
        for (const { revision } of made) await tx.plans.publish(revision);
      });
      return made[0]!.revision;
    } catch (error) {
      if (!isStoreFault(error, 'conflict', 'manifest.revision')) throw error;
    }
  }
  throw new PublishFault('contended', `others published \`${pending.domain}\` first ${MOST_ATTEMPTS} times`);
}

async function read(
  tx: ReadTransaction,
  pending: Pick<PendingDomain, 'domain_id' | 'domain'>,
  boughtFor: EntitlementsFor | undefined,
): Promise<Reading> {
  const waiting = await tx.outbox.list(pending.domain_id);
  const current = await tx.plans.current(pending.domain);
  const domain = await tx.domains.get(pending.domain_id);
  if (domain !== null) {
    const none = { waiting, current, ...NOTHING };
    if (!mayServe(domain)) return none;
    const rolledBack = await findRolledBack(tx, domain.id, none);
    if (rolledBack !== null) {
      const lists = await changedLists(tx, domain.id, { ...rolledBack, waiting });
      // Also one without objects: the keys that the old plan refers to may be revoked.
      return { ...none, rolledBack, lists, registry: await tx.registries.get(domain.id) };
    }
    const bought = (await boughtFor?.(tx, domain)) ?? EVERYTHING;
    return {
      ...none,
      subject: { domain_id: domain.id, domain: domain.name, entitlements: bought },
      lists: await listsOfDomain(tx, domain.id),
      registry: await registryOfDomain(tx, domain.id),
      unchanged: await findUnchanged(tx, domain.id, none),
    };
  }
  const holder = await tx.domains.byName(pending.domain);
  const isOut = holder !== null && current !== null && current.domain_id === holder.id;
  const successor = isOut ? await readSuccessor(tx, holder.id) : null;
  return { waiting, current, ...NOTHING, successor };
}

/** Of a domain for which no plan is made. */
const NOTHING = {
  subject: null,
  lists: [],
  registry: null,
  unchanged: null,
  successor: null,
  rolledBack: null,
} as const;

async function readSuccessor(tx: ReadTransaction, domainId: number): Promise<Successor | null> {
  const [last] = await tx.plans.list(domainId, { limit: 1 });
  if (last === undefined) return null;
  return { last, blob: last.digest === null ? null : await readBlob(tx, last.digest) };
}

/** @returns `null` if the domain has changed so that it must be read again */
async function make(
  reading: Reading,
  pending: Pick<PendingDomain, 'domain_id' | 'domain'>,
  tools: Omit<PublishTools, 'entitlementsFor'>,
): Promise<readonly Made[] | null> {
  const { waiting, current, subject, successor, rolledBack } = reading;
  const number = (current?.revision ?? 0) + 1;
  const bytes = await bytesOf(reading, { domain: pending.domain, revision: number }, tools);
  // Deleted or stopped since it was read.
  if (subject !== null && bytes === null) return null;
  const why = reasonOf(waiting);
  const at = tools.clock();
  const first: Made = {
    revision: {
      domain: pending.domain,
      domain_id: pending.domain_id,
      revision: number,
      digest: bytes === null ? null : sha256Hex(bytes),
      reason: rolledBack === null ? why : `${rolledBack.reason}; ${why}`,
      ...authorOf(waiting),
      at,
      through: waiting.at(-1)!.id,
    },
    bytes,
  };
  if (successor === null) return [first];
  const again = successor.blob === null ? null : reseal(successor.blob, number + 1);
  const digest = again === null ? null : sha256Hex(again);
  const reason = 'published again after the tombstone of an earlier domain of this name';
  const second = { ...successor.last, revision: number + 1, digest, reason, at };
  return [first, { revision: second, bytes: again }];
}

/** The sealed plan to publish; `null`: none. The lists that it names and its registry are sealed before. */
async function bytesOf(
  { subject, lists, registry, unchanged, rolledBack }: Reading,
  as: Omit<PublishedAs, 'lists'>,
  tools: Omit<PublishTools, 'entitlementsFor'>,
): Promise<Uint8Array | null> {
  const digests = new Map(await tools.lists.digestsOf(lists));
  const ofRegistry = registry && (await tools.lists.digestOfRegistry(registry, as.domain));
  if (ofRegistry !== null) digests.set(REGISTRY_NAME, ofRegistry);
  if (rolledBack !== null) return tested(withListDigests(rolledBack.bytes, digests, as.revision), as, tools);
  const patched = unchanged && patchLists(unchanged, { lists, digests, revision: as.revision });
  if (patched !== null) return tested(patched, as, tools);
  return subject && tools.plans.make(subject, as.revision);
}

async function tested(
  bytes: Uint8Array,
  as: Omit<PublishedAs, 'lists'>,
  { store, plans }: Pick<PublishTools, 'store' | 'plans'>,
): Promise<Uint8Array> {
  const lists = await openLists(store.latest, digestsIn(bytes), plans.cache);
  assertPublishable(bytes, { ...as, lists });
  return bytes;
}

/** Who is named for a revision that covers several writes: the last of them. */
function authorOf(waiting: readonly OutboxRow[]): Author {
  const { account_id, key_id } = waiting.at(-1)!;
  return { account_id, key_id };
}

function reasonOf(waiting: readonly OutboxRow[]): string {
  const reasons = [...new Set(waiting.map(({ reason }) => reason))];
  const listed = reasons.slice(0, MOST_REASONS).join('; ');
  const more = reasons.length - MOST_REASONS;
  return more > 0 ? `${listed}; and ${more} more` : listed;
}
