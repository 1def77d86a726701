/** What has been published: plans by digest, revisions by number, and the manifest, which says what is current. */
import { sql } from 'kysely';
import type { PlanReads, PlanWrites } from '../edge-nouns.ts';
import { StoreFault } from '../fault.ts';
import { hold } from '../hold.ts';
import type { ManifestRow, RevisionRow } from '../rows.ts';
import type { Session } from '../session.ts';
import { int, one, raw, statement } from '../statement.ts';

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

const covering = statement((builder, p: { domain_id: number; outbox_id: number }) =>
  builder
    .selectFrom('plan_revisions')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('through', '>=', p.outbox_id)
    .orderBy('revision')
    .limit(1),
);

const current = statement((builder, p: { domain: string }) =>
  builder.selectFrom('manifest').selectAll().where('domain', '=', p.domain),
);

const changedSince = statement((builder, p: { position: number; limit: number }) =>
  builder
    .selectFrom('manifest')
    .selectAll()
    .where('position', '>', p.position)
    .orderBy('position')
    .limit(p.limit),
);

const position = statement((builder, _: object) =>
  builder.selectFrom('manifest_position').select('position'),
);

function planReads(session: Session): PlanReads {
  return {
    async blob(digest) {
      const row = await one(session, blob, { digest });
      // A copy: the driver's bytes may be a view into a larger buffer, and plans want theirs aligned.
      return row && Uint8Array.from(row.bytes);
    },
    async list(domainId, page) {
      await hold(session, domainId);
      const before = page.before ?? Number.MAX_SAFE_INTEGER;
      return listRevisions(session, { domain_id: domainId, before, limit: page.limit });
    },
    async get(domainId, revision) {
      await hold(session, domainId);
      return one(session, getRevision, { domain_id: domainId, revision });
    },
    async covering(domainId, outboxId) {
      await hold(session, domainId);
      return one(session, covering, { domain_id: domainId, outbox_id: outboxId });
    },
    current: (domain) => one(session, current, { domain }),
    changedSince: (after, limit) => changedSince(session, { position: after, limit }),
    async position() {
      return (await one(session, position, {}))!.position;
    },
  };
}

const putBlob = statement((builder, p: { digest: string; bytes: Uint8Array; at: number }) =>
  builder
    .insertInto('plan_blobs')
    .values({ digest: p.digest, bytes: p.bytes, created_at: p.at })
    .onConflict((conflict) => conflict.column('digest').doNothing()),
);

const nextPosition = statement((builder, _: object) =>
  builder
    .updateTable('manifest_position')
    .set((row) => ({ position: row('position', '+', 1) }))
    .returning('position'),
);

// Another domain under a name that was free again must not meet what nodes cached of the one before.
// The check that a revision follows the current one stands inside the statement that writes it, so no two
// publishers can both pass.
const advance = statement((builder, p: RevisionRow & { position: number }) => {
  const first = sql`select ${text(p.domain)}, ${int(p.domain_id)}, ${int(p.revision)}, ${text(p.digest)}, ${int(0)},
    ${int(p.position)}, ${int(p.at)} where ${int(p.revision)} = 1
    or exists (select 1 from manifest where domain = ${text(p.domain)})`;
  return raw<ManifestRow>(
    sql`insert into manifest (domain, domain_id, revision, digest, purge_epoch, "position", at)
      ${first}
      on conflict (domain) do update set
        domain_id = excluded.domain_id, revision = excluded.revision, digest = excluded.digest,
        purge_epoch = manifest.purge_epoch + case when manifest.domain_id = excluded.domain_id then 0 else 1 end,
        "position" = excluded."position", at = excluded.at
      where manifest.revision = excluded.revision - 1
      returning *`,
    builder,
  );
});

function text(value: string | null) {
  return sql<string>`cast(${value} as text)`;
}

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

const settle = statement((builder, p: { domain_id: number; through: number }) =>
  builder.deleteFrom('outbox').where('domain_id', '=', p.domain_id).where('id', '<=', p.through),
);

const purge = statement((builder, p: { domain: string; domain_id: number; position: number; at: number }) =>
  builder
    .insertInto('manifest')
    .values({
      domain: p.domain,
      domain_id: p.domain_id,
      revision: int(0),
      digest: null,
      purge_epoch: int(1),
      position: p.position,
      at: p.at,
    })
    .onConflict((conflict) =>
      conflict.column('domain').doUpdateSet((row) => ({
        purge_epoch: row('manifest.purge_epoch', '+', 1),
        position: row.ref('excluded.position'),
        at: row.ref('excluded.at'),
      })),
    )
    .returningAll(),
);

const purgeAll = statement((builder, p: { floor: number }) =>
  builder.updateTable('manifest').set(({ eb }) => ({
    purge_epoch: eb
      .case()
      .when('purge_epoch', '<', int(p.floor))
      .then(int(p.floor))
      .else(eb('purge_epoch', '+', 1))
      .end(),
  })),
);

const pruneBlobs = statement((builder, p: { keep: number }) =>
  builder
    .deleteFrom('plan_blobs')
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('plan_revisions')
            .innerJoin('manifest', 'manifest.domain', 'plan_revisions.domain')
            .select('plan_revisions.revision')
            .whereRef('plan_revisions.digest', '=', 'plan_blobs.digest')
            .where(sql<boolean>`plan_revisions.revision > manifest.revision - ${int(p.keep)}`),
        ),
      ),
    )
    .returning('digest'),
);

export function plans(session: Session): PlanReads & PlanWrites {
  return {
    ...planReads(session),
    async putBlob(digest, bytes, at) {
      await putBlob(session, { digest, bytes, at });
    },
    async publish(publication) {
      await hold(session, publication.domain_id);
      session.note('manifest');
      const [given] = await nextPosition(session, {});
      const row = await one(session, advance, { ...publication, position: given!.position });
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
      await hold(session, domain_id);
      session.note('manifest');
      const [given] = await nextPosition(session, {});
      const [row] = await purge(session, { domain, domain_id, position: given!.position, at });
      return row!;
    },
    async purgeAll(floor) {
      session.note('manifest');
      await purgeAll(session, { floor });
    },
    async pruneBlobs(keep) {
      return (await pruneBlobs(session, { keep })).length;
    },
  };
}
