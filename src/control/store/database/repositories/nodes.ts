/** Nodes, their answers to revisions, and the batches of traffic that were accepted from them. */
import { sql } from 'kysely';
import { DEFAULT_GROUP } from '../../../../base/vocabulary/node-groups.ts';
import type { NodeReads, NodeWrites, Spending } from '../../edge-repositories.ts';
import type { NodeRow, ReportRow } from '../../tables/nodes.ts';
import { int, one, raw, type Session, statement } from '../statement.ts';

const byTokenHash = statement((builder, p: { hash: string }) =>
  builder.selectFrom('nodes').selectAll().where('token_hash', '=', p.hash),
);

/** Tokens whose overlap is over are returned too; the caller compares `until`. */
const replacedByHash = statement((builder, p: { hash: string }) =>
  builder.selectFrom('node_tokens').selectAll().where('token_hash', '=', p.hash),
);

const replacedOfNode = statement((builder, p: { id: number }) =>
  builder.selectFrom('node_tokens').selectAll().where('node_id', '=', p.id).orderBy('until'),
);

const allReplaced = statement((builder, _: object) =>
  builder.selectFrom('node_tokens').selectAll().orderBy('until'),
);

/** Copies the node's current token to the replaced ones. */
const keepToken = statement((builder, p: { id: number; until: number }) =>
  builder
    .insertInto('node_tokens')
    .columns(['token_hash', 'node_id', 'until'])
    .expression((row) =>
      row
        .selectFrom('nodes')
        .select(['token_hash', 'id', int(p.until).as('until')])
        .where('id', '=', p.id),
    ),
);

const setToken = statement((builder, p: { id: number; hash: string }) =>
  builder.updateTable('nodes').set({ token_hash: p.hash }).where('id', '=', p.id),
);

/** Replaced tokens of all nodes whose overlap is over. */
const dropEnded = statement((builder, p: { now: number }) =>
  builder.deleteFrom('node_tokens').where('until', '<=', p.now),
);

const dropTokens = statement((builder, p: { id: number }) =>
  builder.deleteFrom('node_tokens').where('node_id', '=', p.id),
);

const get = statement((builder, p: { id: number }) =>
  builder.selectFrom('nodes').selectAll().where('id', '=', p.id),
);

/** Revoked nodes too. */
const list = statement((builder, _: object) => builder.selectFrom('nodes').selectAll().orderBy('id'));

/** In the order of arrival; equal times by node, so that both databases agree. */
const reportsOn = statement((builder, p: { domain: string; revision: number }) =>
  builder
    .selectFrom('node_reports')
    .selectAll()
    .where('domain', '=', p.domain)
    .where('revision', '=', p.revision)
    .orderBy('at')
    .orderBy('node_id'),
);

/** One row a node; a node that never acknowledged a revision of the name has none. */
const acknowledged = statement((builder, p: { domain: string }) =>
  builder
    .selectFrom('node_reports')
    .innerJoin('nodes', 'nodes.id', 'node_reports.node_id')
    .select(({ fn }) => fn.max('revision').as('revision'))
    .where('domain', '=', p.domain)
    .where('outcome', '=', 'ack')
    .where('revoked_at', 'is', null)
    .groupBy('node_id'),
);

/** By node, the report on the highest revision that it has answered. */
const latestReports = statement((builder, p: { domain: string }) =>
  builder
    .selectFrom('node_reports as report')
    .selectAll()
    .where('domain', '=', p.domain)
    .where('revision', '=', (row) =>
      row
        .selectFrom('node_reports as newer')
        .select(({ fn }) => fn.max('newer.revision').as('revision'))
        .whereRef('newer.domain', '=', 'report.domain')
        .whereRef('newer.node_id', '=', 'report.node_id'),
    )
    .orderBy('node_id'),
);

/** By name, the report on the highest revision that the node has answered. */
const reportsOf = statement((builder, p: { node_id: number }) =>
  builder
    .selectFrom('node_reports as report')
    .selectAll()
    .where('node_id', '=', p.node_id)
    .where('revision', '=', (row) =>
      row
        .selectFrom('node_reports as newer')
        .select(({ fn }) => fn.max('newer.revision').as('revision'))
        .whereRef('newer.domain', '=', 'report.domain')
        .whereRef('newer.node_id', '=', 'report.node_id'),
    )
    .orderBy('domain'),
);

/** A new node is in the group `default`. */
const insert = statement((builder, p: Pick<NodeRow, 'name' | 'token_hash' | 'created_at'>) =>
  builder
    .insertInto('nodes')
    .values({
      name: p.name,
      token_hash: p.token_hash,
      created_at: p.created_at,
      last_seen_at: null,
      revoked_at: null,
      node_groups: DEFAULT_GROUP,
    })
    .returningAll(),
);

/** Replaces all groups of the node. */
const setGroups = statement((builder, p: { id: number; node_groups: string }) =>
  builder.updateTable('nodes').set({ node_groups: p.node_groups }).where('id', '=', p.id),
);

const setBoxKey = statement((builder, p: { id: number; key: string }) =>
  builder.updateTable('nodes').set({ box_key: p.key }).where('id', '=', p.id),
);

/** The condition keeps `last_seen_at` from going backwards when requests commit out of order. */
const touch = statement((builder, p: { id: number; at: number }) =>
  builder
    .updateTable('nodes')
    .set({ last_seen_at: p.at })
    .where('id', '=', p.id)
    .where((row) => row.or([row('last_seen_at', 'is', null), row('last_seen_at', '<', p.at)])),
);

/** No row if the node is revoked already or does not exist. */
const revoke = statement((builder, p: { id: number; at: number }) =>
  builder
    .updateTable('nodes')
    .set({ revoked_at: p.at })
    .where('id', '=', p.id)
    .where('revoked_at', 'is', null)
    .returning('id'),
);

/** A later answer of the node to the same revision replaces the earlier one. */
const report = statement((builder, p: ReportRow) =>
  builder
    .insertInto('node_reports')
    .values({
      node_id: p.node_id,
      domain: p.domain,
      revision: p.revision,
      outcome: p.outcome,
      reason: p.reason,
      at: p.at,
    })
    .onConflict((conflict) =>
      conflict.columns(['domain', 'node_id', 'revision']).doUpdateSet((row) => ({
        outcome: row.ref('excluded.outcome'),
        reason: row.ref('excluded.reason'),
        at: row.ref('excluded.at'),
      })),
    ),
);

/** Reports on revisions below the current one of their name. */
const pruneReports = statement((builder, p: { before: number }) =>
  builder
    .deleteFrom('node_reports')
    .where('at', '<', p.before)
    .where('revision', '<', (row) =>
      row
        .selectFrom('manifest')
        .select('manifest.revision')
        .whereRef('manifest.domain', '=', 'node_reports.domain'),
    ),
);

/** No row if this batch was accepted before. */
const takeBatch = statement((builder, p: { node_id: number; batch: number; at: number }) =>
  builder
    .insertInto('node_batches')
    .values({ node_id: p.node_id, batch: p.batch, taken_at: p.at })
    .onConflict((conflict) => conflict.columns(['node_id', 'batch']).doNothing())
    .returning('node_id'),
);

const pruneBatches = statement((builder, p: { before: number; limit: number }) =>
  raw<{ readonly batch: number }>(
    sql`delete from node_batches where (node_id, batch) in
        (select node_id, batch from node_batches where taken_at < ${p.before} limit ${p.limit})
      returning batch`,
    builder,
  ),
);

const spentUntil = statement((builder, p: { node_id: number }) =>
  builder.selectFrom('node_allowances').select('spent_until').where('node_id', '=', p.node_id),
);

/** A node's first report starts its account at `since`. */
const openAllowance = statement((builder, p: { node_id: number; since: number }) =>
  builder
    .insertInto('node_allowances')
    .values({ node_id: p.node_id, spent_until: p.since })
    .onConflict((conflict) => conflict.column('node_id').doNothing()),
);

// One statement, so that two simultaneous reports cannot spend the same time. Time beyond `until` was spent by a clock that
// was set back since, and is void.
const spend = statement((builder, p: Spending & { node_id: number }) => {
  const from = sql`case when spent_until > ${int(p.until)} then ${int(p.now)}
    when spent_until > ${int(p.earliest)} then spent_until else ${int(p.earliest)} end`;
  const spent = sql`(${from}) + ${int(p.ms)}`;
  return raw<{ readonly spent_until: number }>(
    sql`update node_allowances
      set spent_until = case when ${spent} > ${int(p.floor)} then ${spent} else ${int(p.floor)} end
      where node_id = ${int(p.node_id)} and ${spent} <= ${int(p.until)} returning spent_until`,
    builder,
  );
});

/** The repository of nodes, their tokens and their reports. Nodes are not locked by domain. */
export function nodes(session: Session): NodeReads & NodeWrites {
  return {
    byTokenHash: (hash) => one(session, byTokenHash, { hash }),
    replacedTokens(which) {
      if (which === 'all') return allReplaced(session, {});
      return 'node_id' in which
        ? replacedOfNode(session, { id: which.node_id })
        : replacedByHash(session, { hash: which.token_hash });
    },
    get: (id) => one(session, get, { id }),
    list: () => list(session, {}),
    reportsOn: (domain, revision) => reportsOn(session, { domain, revision }),
    async acknowledged(domain) {
      const rows = await acknowledged(session, { domain });
      return [...new Set(rows.map(({ revision }) => revision))];
    },
    latestReports: (domain) => latestReports(session, { domain }),
    reportsOf: (nodeId) => reportsOf(session, { node_id: nodeId }),
    async insert(node) {
      session.note('keys');
      const [row] = await insert(session, node);
      return row!;
    },
    async setGroups(id, groups) {
      session.note('keys');
      await setGroups(session, { id, node_groups: groups });
    },
    async touch(id, at) {
      await touch(session, { id, at });
    },
    async revoke(id, at) {
      session.note('keys');
      return (await one(session, revoke, { id, at })) !== null;
    },
    async setBoxKey(id, key) {
      await setBoxKey(session, { id, key });
    },
    async replaceToken({ id, token_hash: hash }, { until, now }) {
      session.note('keys');
      await dropEnded(session, { now });
      if (until > now) await keepToken(session, { id, until });
      await setToken(session, { id, hash });
    },
    async dropTokens(id) {
      session.note('keys');
      await dropTokens(session, { id });
    },
    async report(reports) {
      // One order for all batches, so that two of them cannot deadlock.
      const ordered = [...reports].sort((a, b) => (a.domain < b.domain ? -1 : a.domain > b.domain ? 1 : 0));
      await Promise.all(ordered.map((row) => report(session, row)));
    },
    async takeBatch(nodeId, { batch, at }) {
      return (await one(session, takeBatch, { node_id: nodeId, batch, at })) !== null;
    },
    async pruneBatches(before, limit) {
      return (await pruneBatches(session, { before, limit })).length;
    },
    async spentUntil(nodeId) {
      return (await one(session, spentUntil, { node_id: nodeId }))?.spent_until ?? null;
    },
    async spend(nodeId, spending) {
      await openAllowance(session, { node_id: nodeId, since: spending.since });
      return (await one(session, spend, { node_id: nodeId, ...spending })) !== null;
    },
    async pruneReports(before) {
      await pruneReports(session, { before });
    },
  };
}
