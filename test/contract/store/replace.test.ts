/** A restore that is killed: after each of its steps, what the old store has acknowledged can be opened. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/base/storage/sqlite.ts';
import { openStore } from '../../../src/control/store/database/open.ts';
import { isReplacing, replacementSteps } from '../../../src/control/store/database/sqlite/backup.ts';
import { builtCli, edgeplan } from '../../support/built.ts';
import { T } from '../../support/sample-rows.ts';

const TIMES = { active: true, created_at: T, updated_at: T };
const STEPS = replacementSteps('', '').length;

let root: string;
let data: string;
let file: string;

beforeAll(() => builtCli(), 120_000);
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'edgeplan-replace-'));
  data = join(root, 'data');
  file = join(data, 'edgeplan.db');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A copy, in one file, of a store with one account. */
async function copyOf(name: string, to: string): Promise<void> {
  const store = await openStore({ database: join(root, name) });
  await store.write((tx) => tx.accounts.insert({ name, ...TIMES }));
  await store.backup(to);
  await store.close();
}

async function accountsIn(folder: string, role: 'server' | 'tool'): Promise<readonly string[]> {
  const store = await openStore({ database: folder, role });
  const rows = await store.latest.accounts.list();
  await store.close();
  return rows.map(({ name }) => name);
}

/** The accounts of the store that was replaced, opened in a folder of its own. */
async function replacedAccounts(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(root, 'old-'));
  for (const part of ['', '-wal'])
    if (existsSync(`${file}.replaced${part}`))
      copyFileSync(`${file}.replaced${part}`, join(folder, `edgeplan.db${part}`));
  return accountsIn(folder, 'tool');
}

/** A backup, and a store whose last commit is in its log only, since a reader holds up each checkpoint of it. */
async function prepare(): Promise<{ readonly backup: string; readonly release: () => void }> {
  const backup = join(root, 'backup.db');
  await copyOf('restored', backup);
  mkdirSync(data);
  await copyOf('early', file);
  // A copy has no log until it is opened.
  expect(await accountsIn(data, 'server')).toEqual(['early']);
  // The file of an earlier replacement, which must not be mixed with those of this one.
  await copyOf('oldest', `${file}.replaced`);
  const reader = openDatabase(file);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM accounts').all();
  const store = await openStore({ database: data, role: 'tool' });
  await store.write((tx) => tx.accounts.insert({ name: 'late', ...TIMES }));
  await store.close();
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
  expect(readFileSync(file).includes('late')).toBe(false);
  return { backup, release: () => reader.close() };
}

/** A replacement of which `count` steps were done before the process was killed. */
async function interrupt(count: number, backup: string): Promise<void> {
  const copy = join(data, 'copy.db');
  copyFileSync(backup, copy);
  for (const step of replacementSteps(copy, file).slice(0, count)) await step();
}

describe.each(Array.from({ length: STEPS }, (_, count) => count))('killed after %i steps', (count) => {
  test.each(['server', 'tool'] as const)('the old store is opened whole by a %s', async (role) => {
    const { backup, release } = await prepare();
    await interrupt(count, backup);
    expect(await accountsIn(data, role)).toEqual(['early', 'late']);
    release();
    expect(isReplacing(file)).toBe(false);
    expect(await accountsIn(data, 'server')).toEqual(['early', 'late']);
  });

  test('the next restore replaces the store, and the old one beside it is whole', async () => {
    const { backup, release } = await prepare();
    await interrupt(count, backup);
    const run = await edgeplan(['restore', '--from', backup, '--data', data, '--force'], { cwd: root });
    expect([run.code, run.err]).toEqual([0, '']);
    release();
    expect(await accountsIn(data, 'server')).toEqual(['restored']);
    expect(await replacedAccounts()).toEqual(['early', 'late']);
  });
});

test('after the last step the new store is opened without the log of the old one, which has its own', async () => {
  const { backup, release } = await prepare();
  await interrupt(STEPS, backup);
  release();
  expect(await accountsIn(data, 'server')).toEqual(['restored']);
  expect(await replacedAccounts()).toEqual(['early', 'late']);
});

test('a command beside a restore that is about to replace the file is refused, and undoes nothing', async () => {
  const { backup, release } = await prepare();
  const server = await openStore({ database: data });
  await interrupt(STEPS - 1, backup);
  await expect(openStore({ database: data, role: 'tool' })).rejects.toMatchObject({ code: 'in_use' });
  expect(isReplacing(file)).toBe(true);
  await server.close();
  release();
});
