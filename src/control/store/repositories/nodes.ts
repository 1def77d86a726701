/** Nodes, their answers to revisions, and the batches of traffic that were accepted from them. */
import { sql } from 'kysely';
import { DEFAULT_GROUP } from '../../../base/vocabulary/node-groups.ts';
import { int, one, raw, type Session, statement } from '../database/statement.ts';
import type { NodeRow, ReplacedTokenRow, ReportRow } from '../tables/nodes.ts';

/** Times in milliseconds since the epoch. */
export interface Spending {
  readonly ms: number;
  readonly since: number;
  readonly earliest: number;
  readonly floor: number;
  readonly now: number;
  readonly until: number;
}

/** Which replaced tokens to read: by hash, of one node, or all. */
export type ReplacedTokens = { readonly token_hash: string } | { readonly node_id: number } | 'all';

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

/** Nodes, their tokens, and their answers to revisions. Nodes are not locked by domain. */
export function nodeReads(session: Session) {
  return {
    /** By its newest token, also a revoked node: check `revoked_at`. */
    byTokenHash: (hash: string): Promise<NodeRow | null> => one(session, byTokenHash, { hash }),
    /** Tokens that newer ones have replaced: that of the hash, or all of one node, or all; those that ended too. */
    replacedTokens(which: ReplacedTokens): Promise<readonly ReplacedTokenRow[]> {
      if (which === 'all') return allReplaced(session, {});
      return 'node_id' in which
        ? replacedOfNode(session, { id: which.node_id })
        : replacedByHash(session, { hash: which.token_hash });
    },
    get: (id: number): Promise<NodeRow | null> => one(session, get, { id }),
    /** By id. */
    list: (): Promise<readonly NodeRow[]> => list(session, {}),
    /** Answers of all nodes to one revision of a name, by time. */
    reportsOn: (domain: string, revision: number): Promise<readonly ReportRow[]> =>
      reportsOn(session, { domain, revision }),
    /** The newest revision of a name that each node has acknowledged, each once; revoked nodes are left out. */
    async acknowledged(domain: string): Promise<readonly number[]> {
      const rows = await acknowledged(session, { domain });
      return [...new Set(rows.map(({ revision }) => revision))];
    },
    /** The newest revision each node has answered for a name, by node. */
    latestReports: (domain: string): Promise<readonly ReportRow[]> => latestReports(session, { domain }),
    /** Of one node: the newest answer on every name, by name. */
    reportsOf: (nodeId: number): Promise<readonly ReportRow[]> => reportsOf(session, { node_id: nodeId }),
    /** Up to when a node has spent its time, see `spend`; `null`: it has not spent any. */
    async spentUntil(nodeId: number): Promise<number | null> {
      return (await one(session, spentUntil, { node_id: nodeId }))?.spent_until ?? null;
    },
  };
}

/** Changes of nodes, and what they report. Nodes are not locked by domain. */
export function nodeWrites(session: Session) {
  return {
    /** Into the group `default`. `conflict` on `nodes.name` or `nodes.token_hash`. */
    async insert(node: Pick<NodeRow, 'name' | 'token_hash' | 'created_at'>): Promise<NodeRow> {
      session.note('keys');
      const [row] = await insert(session, node);
      return row!;
    },
    /** Puts a node into these groups and no other. */
    async setGroups(id: number, groups: string): Promise<void> {
      session.note('keys');
      await setGroups(session, { id, node_groups: groups });
    },
    /** Raises the time at which it was seen last. */
    async touch(id: number, at: number): Promise<void> {
      await touch(session, { id, at });
    },
    async revoke(id: number, at: number): Promise<boolean> {
      session.note('keys');
      return (await one(session, revoke, { id, at })) !== null;
    },
    /** Sets the key that certificates are sealed to. */
    async setBoxKey(id: number, key: string): Promise<void> {
      await setBoxKey(session, { id, key });
    },
    /**
     * Gives a node another token. The one before stays valid until `until`; those that have ended before `now` are
     * removed. `conflict` on `nodes.token_hash`.
     */
    async replaceToken(
      { id, token_hash: hash }: Pick<NodeRow, 'id' | 'token_hash'>,
      { until, now }: { readonly until: number; readonly now: number },
    ): Promise<void> {
      session.note('keys');
      await dropEnded(session, { now });
      if (until > now) await keepToken(session, { id, until });
      await setToken(session, { id, hash });
    },
    /** Removes the replaced tokens of a node, which are then invalid. */
    async dropTokens(id: number): Promise<void> {
      session.note('keys');
      await dropTokens(session, { id });
    },
    /** Stores answers; locks no domain. `missing` when there is no such node. */
    async report(reports: readonly ReportRow[]): Promise<void> {
      // One order for all batches, so that two of them cannot deadlock.
      const ordered = [...reports].sort((a, b) => (a.domain < b.domain ? -1 : a.domain > b.domain ? 1 : 0));
      await Promise.all(ordered.map((row) => report(session, row)));
    },
    /**
     * Accepts a node's batch of traffic by its number: false when it was accepted before. In the same transaction as
     * `traffic.add`, a batch counts once, in whatever order batches come.
     */
    async takeBatch(
      nodeId: number,
      { batch, at }: { readonly batch: number; readonly at: number },
    ): Promise<boolean> {
      return (await one(session, takeBatch, { node_id: nodeId, batch, at })) !== null;
    },
    /**
     * Removes the numbers of batches that were accepted before a time, at most `limit`; returns how many. Must be so late that
     * the minutes of such a batch are refused.
     */
    async pruneBatches(before: number, limit: number): Promise<number> {
      return (await pruneBatches(session, { before, limit })).length;
    },
    /**
     * Takes `ms` from the time that a node has: from where it has spent it (at first `since`), or `earliest` if that is
     * later, until `until`. What is left from before `floor` lapses. False, and nothing is taken, when there is less than `ms`.
     */
    async spend(nodeId: number, spending: Spending): Promise<boolean> {
      await openAllowance(session, { node_id: nodeId, since: spending.since });
      return (await one(session, spend, { node_id: nodeId, ...spending })) !== null;
    },
    /** Removes answers older than `before` to revisions that are no longer current. */
    async pruneReports(before: number): Promise<void> {
      await pruneReports(session, { before });
    },
  };
}
