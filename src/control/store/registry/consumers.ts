/** Consumers of the gateways of a domain, and their keys. A change of either raises the version of the registry (`registries.ts`). */
import { sql } from 'kysely';
import { lockDomain } from '../database/lock-domain.ts';
import {
  idsIn,
  int,
  type ListedColumns,
  listed,
  listedRows,
  one,
  raw,
  type Session,
  statement,
  textsIn,
} from '../database/statement.ts';
import type { ConsumerKeyRow, ConsumerRow } from '../tables/registry.ts';
import { raiseRegistry } from './registries.ts';

/** A consumer to insert. */
export type NewConsumer = Omit<ConsumerRow, 'id'>;

/** A key to insert: never used, and in force. */
export type NewConsumerKey = Omit<ConsumerKeyRow, 'id' | 'last_used_at' | 'revoked_at'>;

/** A part of the consumers of a domain, by id. */
export interface ConsumerPage {
  /** Only those with higher ids. */
  readonly after: number;
  readonly limit: number;
}

/** A consumer of a domain. */
interface OfDomain {
  readonly domain_id: number;
  readonly id: number;
}

const page = statement((builder, p: ConsumerPage & { domain_id: number }) =>
  builder
    .selectFrom('consumers')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(int(p.limit)),
);

const list = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('consumers').selectAll().where('domain_id', '=', p.domain_id).orderBy('username'),
);

const count = statement((builder, p: { domain_id: number }) =>
  builder
    .selectFrom('consumers')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('domain_id', '=', p.domain_id),
);

const octets = statement((builder, p: { domain_id: number }) =>
  raw<{ octets: number }>(
    sql`select cast(coalesce(sum(octet_length(body)), 0) as bigint) as octets from consumers
      where domain_id = ${p.domain_id}`,
    builder,
  ),
);

const get = statement((builder, p: OfDomain) =>
  builder.selectFrom('consumers').selectAll().where('domain_id', '=', p.domain_id).where('id', '=', p.id),
);

const byUsername = statement((builder, p: { domain_id: number; username: string }) =>
  builder
    .selectFrom('consumers')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('username', '=', p.username),
);

const byCustomId = statement((builder, p: { domain_id: number; custom_id: string }) =>
  builder
    .selectFrom('consumers')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('custom_id', '=', p.custom_id),
);

/** What quotas read of a consumer. */
export type ConsumerHead = Pick<ConsumerRow, 'id' | 'username' | 'usage_plan'>;

const named = statement((builder, p: { domain_id: number; usernames: string }, flavour) =>
  builder
    .selectFrom('consumers')
    .select(['id', 'username', 'usage_plan'])
    .where('domain_id', '=', p.domain_id)
    .where('username', 'in', textsIn(p.usernames, flavour))
    .orderBy('id'),
);

const onPlan = statement((builder, p: { domain_id: number; usage_plan: string; limit: number }) =>
  builder
    .selectFrom('consumers')
    .select('username')
    .where('domain_id', '=', p.domain_id)
    .where('usage_plan', '=', p.usage_plan)
    .orderBy('username')
    .limit(int(p.limit)),
);

const insert = statement((builder, p: NewConsumer) =>
  builder
    .insertInto('consumers')
    .values({
      domain_id: p.domain_id,
      username: p.username,
      custom_id: p.custom_id,
      usage_plan: p.usage_plan,
      body: p.body,
      created_at: p.created_at,
      updated_at: p.updated_at,
    })
    .returningAll(),
);

const update = statement((builder, p: Omit<ConsumerRow, 'created_at'>) =>
  builder
    .updateTable('consumers')
    .set({
      username: p.username,
      custom_id: p.custom_id,
      usage_plan: p.usage_plan,
      body: p.body,
      updated_at: p.updated_at,
    })
    .where('domain_id', '=', p.domain_id)
    .where('id', '=', p.id)
    .returningAll(),
);

/** With its keys (ON DELETE CASCADE). */
const remove = statement((builder, p: OfDomain) =>
  builder.deleteFrom('consumers').where('domain_id', '=', p.domain_id).where('id', '=', p.id).returning('id'),
);

const keysOf = statement((builder, p: { consumer_id: number }) =>
  builder.selectFrom('consumer_keys').selectAll().where('consumer_id', '=', p.consumer_id).orderBy('id'),
);

const key = statement((builder, p: { consumer_id: number; id: number }) =>
  builder
    .selectFrom('consumer_keys')
    .selectAll()
    .where('consumer_id', '=', p.consumer_id)
    .where('id', '=', p.id),
);

const keysOfMany = statement((builder, p: { consumer_ids: string }, flavour) =>
  builder
    .selectFrom('consumer_keys')
    .selectAll()
    .where('consumer_id', 'in', idsIn(p.consumer_ids, flavour))
    .orderBy('consumer_id')
    .orderBy('id'),
);

/** Keys that are in force come before those that have expired, whatever the time is. */
const unrevoked = statement((builder, p: { domain_id: number; limit: number }) =>
  builder
    .selectFrom('consumer_keys')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('revoked_at', 'is', null)
    .orderBy(sql`case when expires_at is null then 0 else 1 end`)
    .orderBy('expires_at', 'desc')
    .orderBy('id')
    .limit(int(p.limit)),
);

const countInForce = statement((builder, p: { domain_id: number; now: number }) =>
  builder
    .selectFrom('consumer_keys')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('domain_id', '=', p.domain_id)
    .where('revoked_at', 'is', null)
    .where(({ eb }) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', p.now)])),
);

/** A key in force without a use since a time. */
export interface UnusedKey extends Pick<ConsumerKeyRow, 'id' | 'name' | 'created_at' | 'last_used_at'> {
  /** Username of its consumer. */
  readonly consumer: string;
}

/** Times in milliseconds since the epoch: keys in force at `now` that were created and last used until `before`. */
interface UnusedPeriod {
  readonly now: number;
  readonly before: number;
}

/** By id, each with the number of all that are unused, `total`. */
const unused = statement((builder, p: UnusedPeriod & { domain_id: number; limit: number }) =>
  builder
    .selectFrom('consumer_keys')
    .innerJoin('consumers', 'consumers.id', 'consumer_keys.consumer_id')
    .select(({ fn }) => [
      'consumer_keys.id',
      'consumer_keys.name',
      'consumer_keys.created_at',
      'consumer_keys.last_used_at',
      'consumers.username as consumer',
      fn.countAll<number>().over().as('total'),
    ])
    .where('consumer_keys.domain_id', '=', p.domain_id)
    .where('consumer_keys.revoked_at', 'is', null)
    .where('consumer_keys.created_at', '<=', p.before)
    .where(({ eb }) =>
      eb.and([
        eb.or([eb('consumer_keys.expires_at', 'is', null), eb('consumer_keys.expires_at', '>', p.now)]),
        eb.or([
          eb('consumer_keys.last_used_at', 'is', null),
          eb('consumer_keys.last_used_at', '<=', p.before),
        ]),
      ]),
    )
    .orderBy('consumer_keys.id')
    .limit(int(p.limit)),
);

const keyByDigest = statement((builder, p: { domain_id: number; sha256: string }) =>
  builder
    .selectFrom('consumer_keys')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('sha256', '=', p.sha256),
);

const insertKey = statement((builder, p: NewConsumerKey) =>
  builder
    .insertInto('consumer_keys')
    .values({
      domain_id: p.domain_id,
      consumer_id: p.consumer_id,
      sha256: p.sha256,
      prefix: p.prefix,
      last4: p.last4,
      name: p.name,
      created_at: p.created_at,
      expires_at: p.expires_at,
      last_used_at: null,
      revoked_at: null,
    })
    .returningAll(),
);

const revokeKey = statement((builder, p: { consumer_id: number; id: number; at: number }) =>
  builder
    .updateTable('consumer_keys')
    .set({ revoked_at: p.at })
    .where('consumer_id', '=', p.consumer_id)
    .where('id', '=', p.id)
    .where('revoked_at', 'is', null)
    .returningAll(),
);

const removeKey = statement((builder, p: { consumer_id: number; id: number }) =>
  builder
    .deleteFrom('consumer_keys')
    .where('consumer_id', '=', p.consumer_id)
    .where('id', '=', p.id)
    .returning('domain_id'),
);

/** The last use of a key. */
export interface KeyUse {
  readonly domain_id: number;
  /** The first 8 hex digits of the key's digest. */
  readonly key_id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const USE_COLUMNS: ListedColumns = { domain_id: 'bigint', key_id: 'text', at: 'bigint' };

/** The rows are locked by their ids, so that two of such writes cannot deadlock; SQLite has one writer. */
const noteUses = statement((builder, p: { rows: string; step: number }, flavour) => {
  const isSqlite = flavour.database === 'sqlite';
  // SQLite searches the index by a range of its text; the order of texts in PostgreSQL may be another.
  const isOfKey = isSqlite
    ? sql`sha256 >= key_id and sha256 < key_id || 'g'`
    : sql`substr(sha256, 1, 8) = key_id`;
  return raw(
    sql`with due as (
        select consumer_keys.id, given.at from (${listed(p.rows, USE_COLUMNS, flavour)}) as given
          join consumer_keys on consumer_keys.domain_id = given.domain_id and ${isOfKey}
        where last_used_at is null or last_used_at <= given.at - ${int(p.step)}
        order by consumer_keys.id ${isSqlite ? sql`` : sql`for update of consumer_keys`})
      update consumer_keys set last_used_at = due.at from due where consumer_keys.id = due.id
        and (last_used_at is null or last_used_at < due.at)`,
    builder,
  );
});

/** Consumers. In a write, accesses lock the domain. */
export function consumerReads(session: Session) {
  return {
    /** By id. */
    async page(domainId: number, asked: ConsumerPage): Promise<readonly ConsumerRow[]> {
      await lockDomain(session, domainId);
      return page(session, { ...asked, domain_id: domainId });
    },
    /** All of a domain, by username. */
    async list(domainId: number): Promise<readonly ConsumerRow[]> {
      await lockDomain(session, domainId);
      return list(session, { domain_id: domainId });
    },
    async count(domainId: number): Promise<number> {
      await lockDomain(session, domainId);
      return (await one(session, count, { domain_id: domainId }))!.count;
    },
    /** Octets of the bodies of all of a domain. */
    async octets(domainId: number): Promise<number> {
      await lockDomain(session, domainId);
      return (await one(session, octets, { domain_id: domainId }))!.octets;
    },
    async get(domainId: number, id: number): Promise<ConsumerRow | null> {
      await lockDomain(session, domainId);
      return one(session, get, { domain_id: domainId, id });
    },
    async byUsername(domainId: number, username: string): Promise<ConsumerRow | null> {
      await lockDomain(session, domainId);
      return one(session, byUsername, { domain_id: domainId, username });
    },
    async byCustomId(domainId: number, customId: string): Promise<ConsumerRow | null> {
      await lockDomain(session, domainId);
      return one(session, byCustomId, { domain_id: domainId, custom_id: customId });
    },
    /** Those of these usernames, by id. */
    async named(domainId: number, usernames: readonly string[]): Promise<readonly ConsumerHead[]> {
      await lockDomain(session, domainId);
      return named(session, { domain_id: domainId, usernames: JSON.stringify(usernames) });
    },
    /** The usernames of those that name the usage plan; at most `limit`, in order. */
    async onPlan(domainId: number, plan: string, limit: number): Promise<readonly string[]> {
      await lockDomain(session, domainId);
      const rows = await onPlan(session, { domain_id: domainId, usage_plan: plan, limit });
      return rows.map(({ username }) => username);
    },
  };
}

/** Changes of consumers. Each raises the version of the registry. */
export function consumerWrites(session: Session) {
  return {
    /** `conflict` on `consumers.domain_id`: the domain has a consumer of that username or custom id. */
    async insert(consumer: NewConsumer): Promise<ConsumerRow> {
      await raiseRegistry(session, consumer.domain_id);
      return (await one(session, insert, consumer))!;
    },
    /** Replaces every field but `id`, `domain_id` and `created_at`. `null`: it is gone. */
    async update(consumer: Omit<ConsumerRow, 'created_at'>): Promise<ConsumerRow | null> {
      await raiseRegistry(session, consumer.domain_id);
      return one(session, update, consumer);
    },
    /** Removes a consumer with its keys. */
    async remove(domainId: number, id: number): Promise<boolean> {
      await raiseRegistry(session, domainId);
      return (await one(session, remove, { domain_id: domainId, id })) !== null;
    },
  };
}

/** Keys of consumers. The caller has locked the domain. */
export function consumerKeyReads(session: Session) {
  return {
    /** All of a consumer, revoked ones included, by id. */
    list: (consumerId: number): Promise<readonly ConsumerKeyRow[]> =>
      keysOf(session, { consumer_id: consumerId }),
    get: (consumerId: number, id: number): Promise<ConsumerKeyRow | null> =>
      one(session, key, { consumer_id: consumerId, id }),
    /** A revoked one, too. */
    byDigest: (domainId: number, sha256: string): Promise<ConsumerKeyRow | null> =>
      one(session, keyByDigest, { domain_id: domainId, sha256 }),
    /** Those of these consumers, revoked ones included, by consumer and id. */
    ofConsumers: (consumerIds: readonly number[]): Promise<readonly ConsumerKeyRow[]> =>
      keysOfMany(session, { consumer_ids: JSON.stringify(consumerIds) }),
    /** At most so many of a domain that are not revoked, those that expire last; expired ones are the last of them. */
    async ofDomain(domainId: number, limit: number): Promise<readonly ConsumerKeyRow[]> {
      await lockDomain(session, domainId);
      return unrevoked(session, { domain_id: domainId, limit });
    },
    /** How many of a domain are unused, and the first of them, at most `limit`, by id. */
    async unused(
      domainId: number,
      asked: UnusedPeriod & { readonly limit: number },
    ): Promise<{ readonly total: number; readonly keys: readonly UnusedKey[] }> {
      await lockDomain(session, domainId);
      const rows = await unused(session, { ...asked, domain_id: domainId });
      return { total: rows[0]?.total ?? 0, keys: rows.map(({ total: _, ...key }) => key) };
    },
    /** How many of a domain are neither revoked nor expired at a time, in milliseconds since the epoch. */
    async countInForce(domainId: number, now: number): Promise<number> {
      await lockDomain(session, domainId);
      return (await one(session, countInForce, { domain_id: domainId, now }))!.count;
    },
  };
}

/** Changes of keys. All but `remove` and `noteUses` raise the version of the registry. */
export function consumerKeyWrites(session: Session) {
  return {
    /** `conflict` on `consumer_keys.domain_id`: the domain has a key of that digest. */
    async insert(added: NewConsumerKey): Promise<ConsumerKeyRow> {
      await raiseRegistry(session, added.domain_id);
      return (await one(session, insertKey, added))!;
    },
    /** `null`: it is gone, or was revoked before. */
    async revoke(
      { domain_id, consumer_id, id }: Pick<ConsumerKeyRow, 'domain_id' | 'consumer_id' | 'id'>,
      at: number,
    ): Promise<ConsumerKeyRow | null> {
      await raiseRegistry(session, domain_id);
      return one(session, revokeKey, { consumer_id, id, at });
    },
    /** Removes the row of a key that is revoked or expired. Nodes refuse the key either way, so the version stays. */
    async remove(consumerId: number, id: number): Promise<boolean> {
      return (await one(session, removeKey, { consumer_id: consumerId, id })) !== null;
    },
    /** Stores uses that are `stepMs` or more after the stored ones; each key once. Locks no domain. */
    async noteUses(uses: readonly KeyUse[], stepMs: number): Promise<void> {
      if (uses.length > 0) await noteUses(session, { rows: listedRows(uses, USE_COLUMNS), step: stepMs });
    },
  };
}
