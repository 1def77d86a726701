/** The repository of accounts. */
import type { AccountReads, AccountWrites } from '../../customer-repositories.ts';
import type { AccountRow } from '../../rows.ts';
import type { Session } from '../session.ts';
import { flags, one, statement, textsIn } from '../statement.ts';

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

/** The repository of a session. */
export function accounts(session: Session): AccountReads & AccountWrites {
  return {
    async get(id) {
      const row = await one(session, get, { id });
      return row && decode(row);
    },
    async byName(name) {
      const row = await one(session, byName, { name });
      return row && decode(row);
    },
    async list() {
      return (await list(session, {})).map(decode);
    },
    async idsOf(names) {
      const rows = await idsOf(session, { names: JSON.stringify(names) });
      return new Map(rows.map(({ name, id }) => [name, id]));
    },
    async insert(account) {
      session.note('keys');
      const [row] = await insert(session, account);
      return { id: row!.id, ...account };
    },
    async setActive(id, change) {
      session.note('keys');
      return (await one(session, setActive, { id, ...change })) !== null;
    },
  };
}
