/** PostgreSQL's password changes while the store is used: on a server of its own, which asks for passwords. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/database/open.ts';
import type { Store } from '../../src/store/store.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { freePort } from '../support/free-ports.ts';
import { until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';

/** Where distributions install the programs of a server. */
const INSTALLED = '/usr/lib/postgresql';
const version = existsSync(INSTALLED) ? readdirSync(INSTALLED).sort().at(-1) : undefined;
const BIN = version === undefined ? null : join(INSTALLED, version, 'bin');
/** PostgreSQL does not run as root. */
const USER = process.getuid?.() === 0 ? ownerOf('postgres') : {};

function ownerOf(name: string): { readonly uid: number; readonly gid: number } | null {
  try {
    const id = (flag: string): number => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return null;
  }
}

const MISSING =
  BIN === null || !existsSync(join(BIN, 'initdb'))
    ? `no PostgreSQL server is installed in ${INSTALLED}`
    : USER === null
      ? 'tests run as root and there is no user `postgres`'
      : null;

let folder: string;
let server: ChildProcess;
let port: number;
let file: string;

async function asAdmin(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: `postgres://postgres:first@127.0.0.1:${port}/postgres` });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** As an operator does: whole or not at all. */
function writePassword(password: string): void {
  writeFileSync(`${file}.new`, `${password}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

beforeAll(async () => {
  if (MISSING !== null) return;
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-password-'));
  file = join(folder, 'password');
  const data = join(folder, 'data');
  writePassword('first');
  const owner = USER as { readonly uid?: number; readonly gid?: number };
  if (owner.uid !== undefined) for (const one of [folder, file]) chownSync(one, owner.uid, owner.gid!);
  const made = ['-D', data, '-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${file}`, '-E', 'UTF8', '-N'];
  execFileSync(join(BIN!, 'initdb'), made, { ...owner, cwd: folder, stdio: 'ignore' });
  port = await freePort();
  const settings = ['-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1'];
  server = spawn(join(BIN!, 'postgres'), ['-D', data, ...settings], {
    ...owner,
    cwd: folder,
    stdio: 'ignore',
  });
  await until(
    async () =>
      asAdmin('SELECT 1').then(
        () => true,
        () => null,
      ),
    'PostgreSQL',
    40_000,
  );
  await asAdmin("CREATE ROLE plans LOGIN PASSWORD 'one'");
  await asAdmin('CREATE DATABASE plans OWNER plans');
}, 90_000);
afterAll(async () => {
  if (MISSING !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGINT');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

test('reads and writes go on while the password changes, and after every connection is lost', {
  ...requires(MISSING),
  timeout: 90_000,
}, async () => {
  writePassword('one');
  const database = `postgres://plans@127.0.0.1:${port}/plans`;
  const store: Store = await openStore({ database, passwordFile: file });
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
  await asAdmin("ALTER ROLE plans PASSWORD 'two'");
  const before = written;
  await until(() => (written > before + 20 ? true : null), 'writes on open connections');
  expect(failed).toEqual([]);
  working = false;
  await traffic;
  // Every connection is lost while the file has the old password still.
  await asAdmin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plans'");
  const late = wait(1_000).then(() => writePassword('two'));
  await wait(200);
  await store.write((tx) => tx.secrets.put('epoch', 'after', 2));
  expect(await store.latest.secrets.get('epoch')).toBe('after');
  await late;
  const heard = told.length;
  await until(() => (told.length > heard ? true : null), 'hints of other processes again');
  await store.close();
  await expect(openStore({ database, passwordFile: join(folder, 'none') })).rejects.toThrow(
    /the file `.*none` of the database's password cannot be read: ENOENT/,
  );
  writePassword('wrong');
  await expect(openStore({ database, passwordFile: file })).rejects.toThrow(/password authentication failed/);
});

test('commands take the file, and no second password', {
  ...requires(MISSING),
  timeout: 180_000,
}, async () => {
  await builtCli();
  await asAdmin("ALTER ROLE plans PASSWORD 'three'");
  writePassword('three');
  const run = (address: string) =>
    edgeplan(['node-token', 'list', '--database', address, '--database-password-file', file], {
      cwd: folder,
    });
  const listed = await run(`postgres://plans@127.0.0.1:${port}/plans`);
  expect([listed.code, listed.err]).toEqual([0, expect.stringContaining('no nodes yet')]);
  const twice = await run(`postgres://plans:three@127.0.0.1:${port}/plans`);
  expect([twice.code, twice.err]).toEqual([2, expect.stringContaining('leave it out of the address')]);
});
