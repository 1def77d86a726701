/** Reads of what was published: plans by digest, revisions by number, the manifest by name. */
import { sql } from 'kysely';
import { lockDomain } from '../database/lock-domain.ts';
import { flags, one, type PageBack, type Session, statement } from '../database/statement.ts';
import type { FiledRevision, ManifestRow, PlanHead, RevisionRow, StoredPlan } from '../tables/plans.ts';

/** Literally the condition of the partial index, without which the databases would not use it. */
export const unpruned = sql<boolean>`pruned = 0 and plan_revisions.digest is not null`;

/** The columns of a RevisionRow; `pruned` is left out. */
const REVISION = [
  'domain',
  'domain_id',
  'revision',
  'digest',
  'account_id',
  'key_id',
  'reason',
  'at',
  'through',
] as const;

/** No row if the plan was pruned. */
const blob = statement((builder, p: { digest: string }) =>
  builder.selectFrom('plan_blobs').select('bytes').where('digest', '=', p.digest),
);

const listRevisions = statement((builder, p: { domain_id: number; before: number; limit: number }) =>
  builder
    .selectFrom('plan_revisions')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('revision', '<', p.before)
    .orderBy('revision', 'desc')
    .limit(p.limit),
);

const getRevision = statement((builder, p: { domain_id: number; revision: number }) =>
  builder
    .selectFrom('plan_revisions')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('revision', '=', p.revision),
);

/** Octets are of the blob, so a revision whose blob is gone is not among them. */
const stored = statement((builder, p: { domain: string; limit: number }) =>
  builder
    .selectFrom('plan_revisions')
    .innerJoin('plan_blobs', 'plan_blobs.digest', 'plan_revisions.digest')
    .select(['revision', 'at', sql<number>`octet_length(bytes)`.as('octets')])
    .where('domain', '=', p.domain)
    .where(unpruned)
    .orderBy('revision', 'desc')
    .limit(p.limit),
);

/** Reads the partial index alone. */
const storedNames = statement((builder, p: { after: string; limit: number }) =>
  builder
    .selectFrom('plan_revisions')
    .select(({ fn }) => ['domain', fn.countAll<number>().as('plans')])
    .where('domain', '>', p.after)
    .where(unpruned)
    .groupBy('domain')
    .orderBy('domain')
    .limit(p.limit),
);

/** The outer join returns also names whose blob is missing: publishing them again repairs them. */
const heads = statement((builder, p: { after: string; limit: number }) =>
  builder
    .selectFrom('manifest')
    .innerJoin('plan_revisions', (join) =>
      join
        .onRef('plan_revisions.domain', '=', 'manifest.domain')
        .onRef('plan_revisions.revision', '=', 'manifest.revision'),
    )
    .leftJoin('plan_blobs', 'plan_blobs.digest', 'manifest.digest')
    .select([
      'manifest.domain',
      'manifest.domain_id',
      'manifest.revision',
      'plan_revisions.through',
      sql<Uint8Array | null>`substr(plan_blobs.bytes, 1, 8)`.as('head'),
    ])
    .where('manifest.domain', '>', p.after)
    .where('manifest.digest', 'is not', null)
    .orderBy('manifest.domain')
    .limit(p.limit),
);

/** Revisions of a domain cover ascending outbox ids, so the first with `through` at or above one covers it. */
const covering = statement((builder, p: { domain_id: number; outbox_id: number }) =>
  builder
    .selectFrom('plan_revisions')
    .select(REVISION)
    .where('domain_id', '=', p.domain_id)
    .where('through', '>=', p.outbox_id)
    .orderBy('revision')
    .limit(1),
);

/** Without a lock: the check of the next revision is part of `advance`. */
export const current = statement((builder, p: { domain: string }) =>
  builder.selectFrom('manifest').selectAll().where('domain', '=', p.domain),
);

/** Through the index over `position`; a name has one row, so each is returned once. */
const changedSince = statement((builder, p: { position: number; limit: number }) =>
  builder
    .selectFrom('manifest')
    .selectAll()
    .where('position', '>', p.position)
    .orderBy('position')
    .limit(p.limit),
);

/** One row, which the migration inserts. */
const position = statement((builder, _: object) =>
  builder.selectFrom('manifest_position').select('position'),
);

/** The join requires the domain id too: an earlier domain of the name may have been in other groups. */
const groupsWith = statement((builder, p: { digest: string }) =>
  builder
    .selectFrom('plan_revisions')
    .innerJoin('manifest', (join) =>
      join
        .onRef('manifest.domain', '=', 'plan_revisions.domain')
        .onRef('manifest.domain_id', '=', 'plan_revisions.domain_id'),
    )
    .select('manifest.node_groups')
    .distinct()
    .where('plan_revisions.digest', '=', p.digest),
);

/** The same for plans that name a list, as long as they are stored. */
const groupsWithList = statement((builder, p: { digest: string }) =>
  builder
    .selectFrom('plan_lists')
    .innerJoin('plan_revisions', 'plan_revisions.digest', 'plan_lists.plan_digest')
    .innerJoin('manifest', (join) =>
      join
        .onRef('manifest.domain', '=', 'plan_revisions.domain')
        .onRef('manifest.domain_id', '=', 'plan_revisions.domain_id'),
    )
    .select('manifest.node_groups')
    .distinct()
    .where('plan_lists.list_digest', '=', p.digest),
);

const filed = flags<FiledRevision>('pruned');

/** What was published: plans by digest, revisions by number, the manifest by name. */
export function planReads(session: Session) {
  return {
    /** The sealed bytes, in a buffer of their own. */
    async blob(digest: string): Promise<Uint8Array | null> {
      const row = await one(session, blob, { digest });
      // A copy: the driver's bytes may be a view into a larger buffer, and a plan's sections must be aligned.
      return row && Uint8Array.from(row.bytes);
    },
    /** Revisions of one domain object, newest first. */
    async list(domainId: number, page: PageBack): Promise<readonly FiledRevision[]> {
      await lockDomain(session, domainId);
      const before = page.before ?? Number.MAX_SAFE_INTEGER;
      const rows = await listRevisions(session, { domain_id: domainId, before, limit: page.limit });
      return rows.map(filed);
    },
    async get(domainId: number, revision: number): Promise<FiledRevision | null> {
      await lockDomain(session, domainId);
      const row = await one(session, getRevision, { domain_id: domainId, revision });
      return row && filed(row);
    },
    /** The lowest revision that covers an outbox row; `null` while it waits. */
    async covering(domainId: number, outboxId: number): Promise<RevisionRow | null> {
      await lockDomain(session, domainId);
      return one(session, covering, { domain_id: domainId, outbox_id: outboxId });
    },
    /** Revisions of a name whose plans are stored, newest first, at most `limit`. */
    stored: (domain: string, limit: number): Promise<readonly StoredPlan[]> =>
      stored(session, { domain, limit }),
    /** Names above `after` with stored plans, by name, and the number of plans; at most `limit`. */
    storedNames: (
      after: string,
      limit: number,
    ): Promise<readonly { readonly domain: string; readonly plans: number }[]> =>
      storedNames(session, { after, limit }),
    /** The current plans of names above `after`, by name, tombstones left out; at most `limit`. */
    heads: (after: string, limit: number): Promise<readonly PlanHead[]> => heads(session, { after, limit }),
    /** What nodes should serve for a name. */
    current: (domain: string): Promise<ManifestRow | null> => one(session, current, { domain }),
    /** Names changed after `position`, by position, at most `limit`; from 0 the whole manifest. */
    changedSince: (after: number, limit: number): Promise<readonly ManifestRow[]> =>
      changedSince(session, { position: after, limit }),
    /** The highest position given; 0 at first. */
    async position(): Promise<number> {
      return (await one(session, position, {}))!.position;
    },
    /** The groups that the names are in whose domain has had the plan, by the manifest. */
    async groupsWith(digest: string): Promise<readonly string[]> {
      return (await groupsWith(session, { digest })).map(({ node_groups }) => node_groups);
    },
    /** The same for a stored plan that names the list. */
    async groupsWithList(listDigest: string): Promise<readonly string[]> {
      const rows = await groupsWithList(session, { digest: listDigest });
      return rows.map(({ node_groups }) => node_groups);
    },
  };
}
