/** PostgreSQL's password changes while the store is used: on a server of its own, which asks for passwords. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store } from '../../src/control/store/store.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { missingOwnPostgres, type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';

const MISSING = missingOwnPostgres();
let own: OwnPostgres;

beforeAll(async () => {
  if (MISSING !== null) return;
  own = await startOwnPostgres();
  await own.admin("CREATE ROLE plans LOGIN PASSWORD 'one'");
  await own.admin('CREATE DATABASE plans OWNER plans');
}, 90_000);
afterAll(() => own?.close(), 60_000);

test('reads and writes go on while the password changes, and after every connection is lost', {
  ...requires(MISSING),
  timeout: 240_000,
}, async () => {
  own.writePassword('one');
  const database = `postgres://plans@127.0.0.1:${own.port}/plans`;
  const store: Store = await openStore({ database, passwordFile: own.passwordFile });
  const told: string[] = [];
  store.listen((change) => told.push(change));
  const failed: unknown[] = [];
  let written = 0;
  let working = true;
  const traffic = (async () => {
    while (working) {
      await store
        .write((tx) => tx.secrets.put('epoch', String(written + 1), 1))
        .then(
          () => written++,
          (error: unknown) => failed.push(error),
        );
      await store.read((tx) => tx.secrets.get('epoch')).catch((error: unknown) => failed.push(error));
      await wait(10);
    }
  })();
  await until(() => (written > 20 ? true : null), 'writes');
  await own.admin("ALTER ROLE plans PASSWORD 'two'");
  const before = written;
  await until(() => (written > before + 20 ? true : null), 'writes on open connections');
  expect(failed).toEqual([]);
  working = false;
  await traffic;
  // Every connection is lost while the file has the old password still.
  await own.admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plans'");
  const late = wait(1_000).then(() => own.writePassword('two'));
  await wait(200);
  await store.write((tx) => tx.secrets.put('epoch', 'after', 2));
  expect(await store.latest.secrets.get('epoch')).toBe('after');
  await late;
  const heard = told.length;
  await until(() => (told.length > heard ? true : null), 'hints of other processes again');
  await store.close();
  await expect(openStore({ database, passwordFile: join(own.folder, 'none') })).rejects.toThrow(
    /the file `.*none` of the database's password cannot be read: ENOENT/,
  );
  own.writePassword('wrong');
  await expect(openStore({ database, passwordFile: own.passwordFile })).rejects.toThrow(
    /password authentication failed/,
  );
});

test('commands take the file, and no second password', {
  ...requires(MISSING),
  timeout: 180_000,
}, async () => {
  await builtCli();
  await own.admin("ALTER ROLE plans PASSWORD 'three'");
  own.writePassword('three');
  const run = (address: string) =>
    edgeplan(['node-token', 'list', '--database', address, '--database-password-file', own.passwordFile], {
      cwd: own.folder,
    });
  const listed = await run(`postgres://plans@127.0.0.1:${own.port}/plans`);
  expect([listed.code, listed.err]).toEqual([0, expect.stringContaining('no nodes yet')]);
  const twice = await run(`postgres://plans:three@127.0.0.1:${own.port}/plans`);
  expect([twice.code, twice.err]).toEqual([2, expect.stringContaining('leave it out of the address')]);
});
