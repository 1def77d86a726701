import { expect, test } from 'vitest';
import { isStoreFault } from '../../../../../src/base/storage/fault.ts';
import {
  freeStatement,
  idsIn,
  type Session,
  type SqlValue,
  statement,
} from '../../../../../src/control/store/database/statement.ts';

/** A session that answers nothing and remembers what it was sent. */
function recorder(database: Session['database'], locking = false) {
  const sent: { readonly sql: string; readonly values: readonly SqlValue[] }[] = [];
  const session: Session = {
    database,
    locking,
    lockedDomains: new Set(),
    note: () => undefined,
    async run(sql, values) {
      sent.push({ sql, values });
      return [];
    },
  };
  return { session, sent };
}

test('a statement is built once for each database, and its parameters put in place', async () => {
  let built = 0;
  const find = statement((builder, p: { name: string; id: number }, { locking }) => {
    built += 1;
    return builder
      .selectFrom('domains')
      .select('id')
      .where('name', '=', p.name)
      .where('suspended', '=', 1)
      .where('id', '>', p.id)
      .$if(locking, (query) => query.forNoKeyUpdate());
  });
  const sqlite = recorder('sqlite');
  const postgres = recorder('postgres');
  const writing = recorder('postgres', true);
  for (const { session } of [sqlite, postgres, writing]) {
    await find(session, { name: 'a', id: 7 });
    await find(session, { id: 8, name: 'b' });
  }
  expect(built).toBe(3);
  expect(sqlite.sent).toEqual([
    {
      sql: 'select "id" from "domains" where "name" = ? and "suspended" = ? and "id" > ?',
      values: ['a', 1, 7],
    },
    { sql: sqlite.sent[0]!.sql, values: ['b', 1, 8] },
  ]);
  expect(postgres.sent[1]!.sql).toMatch(/"name" = \$1 and "suspended" = \$2 and "id" > \$3$/);
  expect(writing.sent[1]!.sql).toMatch(/for no key update$/);
});

test('a list of ids is passed as one parameter', async () => {
  const find = statement((builder, p: { ids: string }, flavour) =>
    builder.selectFrom('rules').select('id').where('id', 'in', idsIn(p.ids, flavour)),
  );
  for (const { session, sent } of [recorder('sqlite'), recorder('postgres')]) {
    await find(session, { ids: '[1,2]' });
    expect(sent[0]!.values).toEqual(['[1,2]']);
  }
});

test('flags become 0 or 1; NUL and lone surrogates are refused', async () => {
  const set = freeStatement((builder, p: { id: number; name: string; active: boolean }) =>
    builder.updateTable('accounts').set({ name: p.name, active: p.active }).where('id', '=', p.id),
  );
  const { session, sent } = recorder('sqlite');
  await set(session, { id: 1, name: 'ü\u{1F642}', active: true });
  expect(sent[0]!.values).toEqual(['ü\u{1F642}', 1, 1]);
  for (const name of ['\0', 'a\uDC00', '\uD800']) {
    await expect(set(session, { id: 1, name, active: true })).rejects.toSatisfy((error) =>
      isStoreFault(error, 'text'),
    );
  }
  for (const id of [1.5, Number.NaN, 2 ** 60]) {
    await expect(set(session, { id, name: 'a', active: true })).rejects.toThrow('bug');
  }
  expect(sent).toHaveLength(1);
});
