/**
 * What was published: plans by digest, revisions by number, and the manifest, which has the current revision of each name.
 * A plan is stored once per digest; revisions and the manifest refer to it.
 */
import { sql } from 'kysely';
import { StoreFault } from '../../../../base/storage/fault.ts';
import { DEFAULT_GROUP, leftGroups } from '../../../../base/vocabulary/node-groups.ts';
import type { PlanReads, PlanWrites } from '../../edge-repositories.ts';
import type { FiledRevision, ManifestRow, RevisionRow } from '../../tables/plans.ts';
import { lockDomain } from '../lock-domain.ts';
import { flags, idsIn, int, one, raw, type Session, statement } from '../statement.ts';
import { challengeWrites, nextPosition } from './challenges.ts';
import { groups } from './groups.ts';

/** Literally the condition of the partial index, without which the databases would not use it. */
const unpruned = sql<boolean>`pruned = 0 and plan_revisions.digest is not null`;

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
const current = statement((builder, p: { domain: string }) =>
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

const filed = flags<FiledRevision>('pruned');

/** The reading half of the repository. */
function planReads(session: Session): PlanReads {
  return {
    async blob(digest) {
      const row = await one(session, blob, { digest });
      // A copy: the driver's bytes may be a view into a larger buffer, and a plan's sections must be aligned.
      return row && Uint8Array.from(row.bytes);
    },
    async list(domainId, page) {
      await lockDomain(session, domainId);
      const before = page.before ?? Number.MAX_SAFE_INTEGER;
      const rows = await listRevisions(session, { domain_id: domainId, before, limit: page.limit });
      return rows.map(filed);
    },
    async get(domainId, revision) {
      await lockDomain(session, domainId);
      const row = await one(session, getRevision, { domain_id: domainId, revision });
      return row && filed(row);
    },
    async covering(domainId, outboxId) {
      await lockDomain(session, domainId);
      return one(session, covering, { domain_id: domainId, outbox_id: outboxId });
    },
    stored: (domain, limit) => stored(session, { domain, limit }),
    storedNames: (after, limit) => storedNames(session, { after, limit }),
    heads: (after, limit) => heads(session, { after, limit }),
    current: (domain) => one(session, current, { domain }),
    changedSince: (after, limit) => changedSince(session, { position: after, limit }),
    async position() {
      return (await one(session, position, {}))!.position;
    },
    async groupsWith(digest) {
      return (await groupsWith(session, { digest })).map(({ node_groups }) => node_groups);
    },
  };
}

/** The groups of a name in the manifest. */
type Grouped = Pick<ManifestRow, 'node_groups' | 'left_groups'>;
/** The row of a name that is purged before it was ever published. */
type Purged = Pick<ManifestRow, 'domain' | 'domain_id' | 'position' | 'at' | 'node_groups'>;

/** A digest that exists already is left as it is, since its bytes are the same. */
const putBlob = statement((builder, p: { digest: string; bytes: Uint8Array; at: number }) =>
  builder
    .insertInto('plan_blobs')
    .values({ digest: p.digest, bytes: p.bytes, created_at: p.at })
    .onConflict((conflict) => conflict.column('digest').doNothing()),
);

// The purge epoch rises if the name goes to another domain: it must not get what nodes cached of the one before. The
// check that a revision follows the current one is part of the statement that writes it, so no two publishers both pass.
const advance = statement((builder, p: RevisionRow & Grouped & { position: number }) => {
  const first = sql`select ${text(p.domain)}, ${int(p.domain_id)}, ${int(p.revision)}, ${text(p.digest)}, ${int(0)},
    ${int(p.position)}, ${int(p.at)}, ${text(p.node_groups)}, ${text(p.left_groups)},
    (select digest from certificate_sets where domain_id = ${int(p.domain_id)}) where ${int(p.revision)} = 1
    or exists (select 1 from manifest where domain = ${text(p.domain)})`;
  return raw<ManifestRow>(
    sql`insert into manifest
        (domain, domain_id, revision, digest, purge_epoch, "position", at, node_groups, left_groups, certificates)
      ${first}
      on conflict (domain) do update set
        domain_id = excluded.domain_id, revision = excluded.revision, digest = excluded.digest,
        purge_epoch = manifest.purge_epoch + case when manifest.domain_id = excluded.domain_id then 0 else 1 end,
        purge_floor = case when manifest.domain_id = excluded.domain_id then manifest.purge_floor else manifest.purge_through end,
        "position" = excluded."position", at = excluded.at,
        node_groups = excluded.node_groups, left_groups = excluded.left_groups,
        certificates = excluded.certificates,
        challenges = case when manifest.domain_id = excluded.domain_id then manifest.challenges else null end
      where manifest.revision = excluded.revision - 1
      returning *`,
    builder,
  );
});

/** A text in a place whose type PostgreSQL cannot infer. */
function text(value: string | null) {
  return sql<string>`cast(${value} as text)`;
}

/** Adds a revision to the history. */
const fileRevision = statement((builder, p: RevisionRow) =>
  builder.insertInto('plan_revisions').values({
    domain: p.domain,
    domain_id: p.domain_id,
    revision: p.revision,
    digest: p.digest,
    account_id: p.account_id,
    key_id: p.key_id,
    reason: p.reason,
    at: p.at,
    through: p.through,
  }),
);

/** Removes the outbox rows that a revision covers. */
const settle = statement((builder, p: { domain_id: number; through: number }) =>
  builder.deleteFrom('outbox').where('domain_id', '=', p.domain_id).where('id', '<=', p.through),
);

/**
 * A name that was never published gets a row of revision 0, which nodes skip. No row: another domain has the name in the
 * manifest, of which nodes have responses. A purge of single responses has no effect on what comes after this one.
 */
const purge = statement((builder, p: Purged) =>
  builder
    .insertInto('manifest')
    .values({
      domain: p.domain,
      domain_id: p.domain_id,
      revision: int(0),
      digest: null,
      purge_epoch: int(1),
      purge_through: int(0),
      purge_floor: int(0),
      position: p.position,
      at: p.at,
      node_groups: p.node_groups,
      left_groups: '',
    })
    .onConflict((conflict) =>
      conflict
        .column('domain')
        .doUpdateSet((row) => ({
          purge_epoch: row('manifest.purge_epoch', '+', 1),
          purge_floor: row.ref('manifest.purge_through'),
          position: row.ref('excluded.position'),
          at: row.ref('excluded.at'),
        }))
        .whereRef('manifest.domain_id', '=', 'excluded.domain_id'),
    )
    .returningAll(),
);

const putSet = statement((builder, p: { domain_id: number; digest: string }) =>
  builder
    .insertInto('certificate_sets')
    .values({ domain_id: p.domain_id, digest: p.digest })
    .onConflict((conflict) =>
      conflict.column('domain_id').doUpdateSet((row) => ({ digest: row.ref('excluded.digest') })),
    ),
);

const dropSet = statement((builder, p: { domain_id: number }) =>
  builder.deleteFrom('certificate_sets').where('domain_id', '=', p.domain_id),
);

/** Not of a name that another domain has in the manifest: a domain without a proof may have the same name. */
const certify = statement(
  (builder, p: Pick<ManifestRow, 'domain' | 'domain_id' | 'certificates' | 'position' | 'at'>) =>
    builder
      .updateTable('manifest')
      .set({ certificates: p.certificates, position: p.position, at: p.at })
      .where('domain', '=', p.domain)
      .where('domain_id', '=', p.domain_id),
);

/** Every name to `floor` at least; a name at or above it still rises by one. */
const purgeAll = statement((builder, p: { floor: number }) =>
  builder.updateTable('manifest').set(({ eb, ref }) => ({
    purge_floor: ref('purge_through'),
    purge_epoch: eb
      .case()
      .when('purge_epoch', '<', int(p.floor))
      .then(int(p.floor))
      .else(eb('purge_epoch', '+', 1))
      .end(),
  })),
);

/** New positions from `from` + 1 on, in the order of the old ones. */
const renewAll = statement((builder, p: { from: number }) =>
  raw<never>(
    sql`update manifest set "position" = renewed."position" from (
        select domain, ${int(p.from)} + row_number() over (order by "position") as "position" from manifest
      ) as renewed where manifest.domain = renewed.domain`,
    builder,
  ),
);

/** Writes the row without a change, which still has to reach the disk. */
const rewritePosition = statement((builder, _: object) =>
  builder.updateTable('manifest_position').set((row) => ({ position: row.ref('position') })),
);

/** Reserves one position for each name of the manifest. */
const skipPositions = statement((builder, _: object) =>
  builder.updateTable('manifest_position').set((row) => ({
    position: row(
      'position',
      '+',
      row.selectFrom('manifest').select(({ fn }) => fn.countAll<number>().as('names')),
    ),
  })),
);

/** Revisions that are pruned already are not written again. */
const markPruned = statement((builder, p: { domain: string; revisions: string }, flavour) =>
  builder
    .updateTable('plan_revisions')
    .set({ pruned: int(1) })
    .where('domain', '=', p.domain)
    .where('revision', 'in', idsIn(p.revisions, flavour))
    .where(unpruned),
);

/** Blobs of the pruned revisions, unless another revision or the manifest refers to them. */
const dropBlobs = statement((builder, p: { domain: string; revisions: string }, flavour) =>
  builder
    .deleteFrom('plan_blobs')
    .where('digest', 'in', (row) =>
      row
        .selectFrom('plan_revisions as pruned_one')
        .select(sql<string>`pruned_one.digest`.as('digest'))
        .where('pruned_one.domain', '=', p.domain)
        .where('pruned_one.revision', 'in', idsIn(p.revisions, flavour))
        .where('pruned_one.pruned', '=', int(1)),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('plan_revisions as other')
            .select('other.revision')
            .whereRef('other.digest', '=', 'plan_blobs.digest')
            .where('other.pruned', '=', int(0)),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('manifest')
            .select('manifest.revision')
            .whereRef('manifest.digest', '=', 'plan_blobs.digest'),
        ),
      ),
    )
    .returning('digest'),
);

/** The groups of a name from now on; a name whose domain was deleted stays in the groups that it was in. */
async function groupsNow(
  session: Session,
  { domain, domain_id }: Pick<ManifestRow, 'domain' | 'domain_id'>,
): Promise<Grouped> {
  const wanted = await groups(session).ofDomain(domain_id);
  const before = await one(session, current, { domain });
  const now = wanted ?? before?.node_groups ?? DEFAULT_GROUP;
  const had = { groups: before?.node_groups ?? '', left: before?.left_groups ?? '' };
  return { node_groups: now, left_groups: leftGroups(had, now) };
}

/** The repository of a session; a lock on the domain precedes every access by domain id. */
export function plans(session: Session): PlanReads & PlanWrites {
  return {
    ...planReads(session),
    ...challengeWrites(session),
    async putBlob(digest, bytes, at) {
      await putBlob(session, { digest, bytes, at });
    },
    async publish(publication) {
      await lockDomain(session, publication.domain_id);
      session.note('manifest');
      const [given] = await nextPosition(session, {});
      // After the lock on the position, under which no other transaction changes the name's groups in the manifest.
      const grouped = await groupsNow(session, publication);
      const row = await one(session, advance, { ...publication, ...grouped, position: given!.position });
      if (row === null) {
        const { domain, revision } = publication;
        const message = `revision ${revision} of ${domain} does not follow the current one`;
        throw new StoreFault('conflict', message, { subject: 'manifest.revision' });
      }
      await Promise.all([
        fileRevision(session, publication),
        settle(session, { domain_id: publication.domain_id, through: publication.through }),
      ]);
      return row;
    },
    async purge(domain, { domain_id, at }) {
      await lockDomain(session, domain_id);
      session.note('manifest');
      const [given] = await nextPosition(session, {});
      const { node_groups } = await groupsNow(session, { domain, domain_id });
      return one(session, purge, { domain, domain_id, position: given!.position, at, node_groups });
    },
    async setCertificates({ id, name }, { digest, at }) {
      await lockDomain(session, id);
      if (digest === null) await dropSet(session, { domain_id: id });
      else await putSet(session, { domain_id: id, digest });
      // A publication of the name locks the domain too, so it is not published between the two statements.
      if ((await one(session, current, { domain: name }))?.domain_id !== id) return;
      session.note('manifest');
      const [given] = await nextPosition(session, {});
      await certify(session, {
        ...{ domain: name, domain_id: id, certificates: digest },
        ...{ position: given!.position, at },
      });
    },
    async purgeAll(floor) {
      session.note('manifest');
      await purgeAll(session, { floor });
    },
    async renewAll() {
      session.note('manifest');
      // The lock on the position first: without it the number of names could change before they are numbered.
      const [given] = await nextPosition(session, {});
      await skipPositions(session, {});
      await renewAll(session, { from: given!.position });
    },
    async rewritePosition() {
      await rewritePosition(session, {});
    },
    async prune(domain, numbers) {
      const revisions = JSON.stringify(numbers);
      await markPruned(session, { domain, revisions });
      return (await dropBlobs(session, { domain, revisions })).length;
    },
  };
}
