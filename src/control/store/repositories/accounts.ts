/** Accounts, their API keys, and the counts of the use of keys. */
import { sql } from 'kysely';
import {
  type Builder,
  flags,
  int,
  one,
  raw,
  recalled,
  type Session,
  statement,
  textsIn,
} from '../database/statement.ts';
import type { AccountRow, KeyRow, KeyUseRow, KeyWithOwner, KeyWithUse } from '../tables/accounts.ts';

const decode = flags<AccountRow>('active');

/** In a write the account is locked, so that its state is still true at the commit. */
const get = statement((builder, p: { id: number }, { locking }) =>
  builder
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', p.id)
    .$if(locking, (query) => query.forShare()),
);

/** In a write the account is locked, as by `get`. */
const byName = statement((builder, p: { name: string }, { locking }) =>
  builder
    .selectFrom('accounts')
    .selectAll()
    .where('name', '=', p.name)
    .$if(locking, (query) => query.forShare()),
);

const list = statement((builder, _: object) => builder.selectFrom('accounts').selectAll().orderBy('id'));

/** Names are never changed and accounts never removed, so no lock is needed. */
const idsOf = statement((builder, p: { names: string }, flavour) =>
  builder.selectFrom('accounts').select(['id', 'name']).where('name', 'in', textsIn(p.names, flavour)),
);

const insert = statement((builder, p: Omit<AccountRow, 'id'>) =>
  builder
    .insertInto('accounts')
    .values({ name: p.name, active: p.active, created_at: p.created_at, updated_at: p.updated_at })
    .returning('id'),
);

/** No row if the account does not exist. */
const setActive = statement((builder, p: { id: number; active: boolean; at: number }) =>
  builder
    .updateTable('accounts')
    .set({ active: p.active, updated_at: p.at })
    .where('id', '=', p.id)
    .returning('id'),
);

/** Accounts by id or name. In a write the account that is found is locked until the commit. */
export function accountReads(session: Session) {
  return {
    async get(id: number): Promise<AccountRow | null> {
      const row = await one(session, get, { id });
      return row && decode(row);
    },
    async byName(name: string): Promise<AccountRow | null> {
      const row = await one(session, byName, { name });
      return row && decode(row);
    },
    /** By id. */
    async list(): Promise<readonly AccountRow[]> {
      return (await list(session, {})).map(decode);
    },
    /** The ids of the accounts with these names, by name; names without an account are left out. Locks none. */
    async idsOf(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const rows = await idsOf(session, { names: JSON.stringify(names) });
      return new Map(rows.map(({ name, id }) => [name, id]));
    },
  };
}

/** Changes of accounts; an account is never removed. */
export function accountWrites(session: Session) {
  return {
    /** `conflict` on `accounts.name`. */
    async insert(account: Omit<AccountRow, 'id'>): Promise<AccountRow> {
      session.note('keys');
      const [row] = await insert(session, account);
      return { id: row!.id, ...account };
    },
    /** True when the account exists. */
    async setActive(id: number, change: { readonly active: boolean; readonly at: number }): Promise<boolean> {
      session.note('keys');
      return (await one(session, setActive, { id, ...change })) !== null;
    },
  };
}

const decodeWithOwner = flags<KeyWithOwner>('read_only', 'account_active');
const decodeWithUse = flags<KeyWithUse>('read_only');

/** In a write, share locks on the key and the account: a revocation waits for the commit. */
const keyByHash = statement((builder, p: { hash: string }, { locking }) =>
  builder
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .selectAll('api_keys')
    .select('accounts.active as account_active')
    .where('api_keys.hash', '=', p.hash)
    .$if(locking, (query) => query.forShare(['api_keys', 'accounts'])),
);

const getKey = statement((builder, p: { id: number }) => withUse(builder).where('api_keys.id', '=', p.id));

/** Revoked keys too, by id. */
const listKeys = statement((builder, p: { account_id: number }) =>
  withUse(builder).where('api_keys.account_id', '=', p.account_id).orderBy('api_keys.id'),
);

/** Keys with the time of their last use, over all days. */
function withUse(builder: Builder) {
  return builder
    .selectFrom('api_keys')
    .selectAll('api_keys')
    .select((row) =>
      row
        .selectFrom('key_uses')
        .select(({ fn }) => fn.max('last_used_at').as('last_used_at'))
        .whereRef('key_uses.key_id', '=', 'api_keys.id')
        .as('last_used_at'),
    );
}

/** Makes two inserts of keys for one account run one after the other, so that its quota holds. */
const lockAccount = statement((builder, p: { id: number }) =>
  builder.selectFrom('accounts').select('id').where('id', '=', p.id).forNoKeyUpdate(),
);

/** After `lockAccount` in a write, so that no other transaction adds a key meanwhile. */
const countActive = statement((builder, p: { account_id: number; now: number }) =>
  builder
    .selectFrom('api_keys')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', p.account_id)
    .where('revoked_at', 'is', null)
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', p.now)])),
);

const uses = statement((builder, p: { key_id: number; day: number }) =>
  builder
    .selectFrom('key_uses')
    .selectAll()
    .where('key_id', '=', p.key_id)
    .where('day', '>=', p.day)
    .orderBy('day'),
);

const insertKey = statement((builder, p: Omit<KeyRow, 'id' | 'revoked_at'>) =>
  builder
    .insertInto('api_keys')
    .values({
      account_id: p.account_id,
      hash: p.hash,
      name: p.name,
      read_only: p.read_only,
      created_at: p.created_at,
      expires_at: p.expires_at,
      revoked_at: null,
    })
    .returning('id'),
);

/** No row if the key is revoked already. Waits for the share locks of `keyByHash`. */
const revoke = statement((builder, p: { id: number; at: number }) =>
  builder
    .updateTable('api_keys')
    .set({ revoked_at: p.at })
    .where('id', '=', p.id)
    .where('revoked_at', 'is', null)
    .returning('id'),
);

// Uses have a table of their own: counting a request must not wait for writes that have its key locked.
const recordUse = statement((builder, p: KeyUseRow, { database }) => {
  const latest = sql.raw(database === 'sqlite' ? 'max' : 'greatest');
  return raw(
    sql`insert into key_uses (key_id, day, requests, last_used_at)
      select id, ${int(p.day)}, ${int(p.requests)}, ${int(p.last_used_at)} from api_keys where id = ${p.key_id}
      on conflict (key_id, day) do update set
        requests = key_uses.requests + excluded.requests,
        last_used_at = ${latest}(key_uses.last_used_at, excluded.last_used_at)`,
    builder,
  );
});

const pruneUses = statement((builder, p: { day: number }) =>
  builder.deleteFrom('key_uses').where('day', '<', p.day),
);

/** API keys, by their hash or account. */
export function keyReads(session: Session) {
  return {
    /** The key with this SHA-256 in any state, and whether its account is active. In a write the key is locked. */
    byHash: (hash: string): Promise<KeyWithOwner | null> =>
      recalled(session, `key ${hash}`, async () => {
        const row = await one(session, keyByHash, { hash });
        return row && Object.freeze(decodeWithOwner(row));
      }),
    /** The key in any state, with the time of its last use. */
    async get(id: number): Promise<KeyWithUse | null> {
      const row = await one(session, getKey, { id });
      return row && decodeWithUse(row);
    },
    /** All keys of an account, revoked ones too, by id. */
    async list(accountId: number): Promise<readonly KeyWithUse[]> {
      return (await listKeys(session, { account_id: accountId })).map(decodeWithUse);
    },
    /** Keys of an account that are neither revoked nor expired at `now`. In a write the account is locked. */
    async countActive(accountId: number, now: number): Promise<number> {
      if (session.locking) await lockAccount(session, { id: accountId });
      const [row] = await countActive(session, { account_id: accountId, now });
      return row!.count;
    },
    /** Days from `sinceDay` on that have requests, by day. */
    uses: (keyId: number, sinceDay: number): Promise<readonly KeyUseRow[]> =>
      uses(session, { key_id: keyId, day: sinceDay }),
  };
}

/** Changes of API keys and of the counts of their use. */
export function keyWrites(session: Session) {
  return {
    /** `conflict` on `api_keys.hash`, `missing` when there is no such account. */
    async insert(key: Omit<KeyRow, 'id' | 'revoked_at'>): Promise<KeyRow> {
      session.note('keys');
      const [row] = await insertKey(session, key);
      return { id: row!.id, ...key, revoked_at: null };
    },
    /** True when it was not revoked before. Waits for writes that have the key locked. */
    async revoke(id: number, at: number): Promise<boolean> {
      session.note('keys');
      return (await one(session, revoke, { id, at })) !== null;
    },
    /** Adds to the day's requests and raises the time of last use. Keys that are gone are left out. */
    async recordUse(uses: readonly KeyUseRow[]): Promise<void> {
      const ordered = [...uses].sort((a, b) => a.key_id - b.key_id || a.day - b.day);
      await Promise.all(ordered.map((use) => recordUse(session, use)));
    },
    /** Removes the counts of days before `day`. */
    async pruneUses(day: number): Promise<void> {
      await pruneUses(session, { day });
    },
  };
}
