/**
 * What was published: plans by digest, revisions by number, and the manifest, which has the current revision of each name.
 * A plan is stored once per digest; revisions and the manifest refer to it.
 */
import { sql } from 'kysely';
import { StoreFault } from '../../../base/storage/fault.ts';
import { DEFAULT_GROUP, leftGroups } from '../../../base/vocabulary/node-groups.ts';
import { lockDomain } from '../database/lock-domain.ts';
import { idsIn, int, one, raw, type Session, statement } from '../database/statement.ts';
import type { ManifestRow, RevisionRow } from '../tables/plans.ts';
import { challengeWrites, type NamedDomain, nextPosition } from './challenges.ts';
import { groupReads } from './groups.ts';
import { current, unpruned } from './plan-reads.ts';

/** One publication to make. */
export type Publication = RevisionRow;

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
  const wanted = await groupReads(session).ofDomain(domain_id);
  const before = await one(session, current, { domain });
  const now = wanted ?? before?.node_groups ?? DEFAULT_GROUP;
  const had = { groups: before?.node_groups ?? '', left: before?.left_groups ?? '' };
  return { node_groups: now, left_groups: leftGroups(had, now) };
}

/** Publications, purges, and the removal of old plans. A lock on the domain precedes every access by domain id. */
export function planWrites(session: Session) {
  return {
    ...challengeWrites(session),
    /** Stores sealed bytes; the same digest twice is stored once. */
    async putBlob(digest: string, bytes: Uint8Array, at: number): Promise<void> {
      await putBlob(session, { digest, bytes, at });
    },
    /**
     * Makes `revision` the current one of its name, adds it to the history, and removes the outbox rows of
     * `domain_id` up to `through`. `revision` must be exactly one above the current one, else `conflict` on
     * `manifest.revision`: another publisher was first, so read and compile again. `missing` when the digest has no
     * blob. Do it last in a transaction: publications of all domains wait for one another from here to the commit.
     */
    async publish(publication: Publication): Promise<ManifestRow> {
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
    /**
     * Raises the purge epoch of a name, also of one never published. `null`: the manifest has the name for another domain, of
     * which nothing is purged.
     */
    async purge(
      domain: string,
      { domain_id, at }: { readonly domain_id: number; readonly at: number },
    ): Promise<ManifestRow | null> {
      await lockDomain(session, domain_id);
      session.note('manifest');
      const [given] = await nextPosition(session, {});
      const { node_groups } = await groupsNow(session, { domain, domain_id });
      return one(session, purge, { domain, domain_id, position: given!.position, at, node_groups });
    },
    /**
     * Gives a domain another set of certificates; `null`: none. If the name is published for this domain, its entry has the
     * digest at a new position; else the next publication has it.
     */
    async setCertificates(
      { id, name }: NamedDomain,
      { digest, at }: { readonly digest: string | null; readonly at: number },
    ): Promise<void> {
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
    /**
     * Raises the purge epoch of every name, to `floor` at least: above every one that was given before the store was
     * restored, provided that `floor` is the time in seconds.
     */
    async purgeAll(floor: number): Promise<void> {
      session.note('manifest');
      await purgeAll(session, { floor });
    },
    /**
     * Gives every name a new position, so that nodes read its entry again. Publications of all domains wait for it from
     * here to the commit.
     */
    async renewAll(): Promise<void> {
      session.note('manifest');
      // The lock on the position first: without it the number of names could change before they are numbered.
      const [given] = await nextPosition(session, {});
      await skipPositions(session, {});
      await renewAll(session, { from: given!.position });
    },
    /** Writes the manifest's position as it is: the smallest write that needs the disk. */
    async rewritePosition(): Promise<void> {
      await rewritePosition(session, {});
    },
    /**
     * Marks revisions of a name as pruned and removes the blobs that no other revision and no name's current one needs.
     * The rows of the history remain. Returns how many blobs were removed.
     */
    async prune(domain: string, numbers: readonly number[]): Promise<number> {
      const revisions = JSON.stringify(numbers);
      await markPruned(session, { domain, revisions });
      return (await dropBlobs(session, { domain, revisions })).length;
    },
  };
}
