/** Processes that die, disks that fill, folders that are copied: what SQLite in a folder must come back from. */
import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { isStoreFault } from '../../../src/base/storage/fault.ts';
import { openDatabase } from '../../../src/base/storage/sqlite.ts';
import { createNode } from '../../../src/control/publishing/nodes.ts';
import { openSqlite } from '../../../src/control/store/database/sqlite/open.ts';
import { seed } from '../../support/sample-rows.ts';
import { sizeOf } from '../../support/size.ts';
import { acknowledged, buildChild, type Child, startChild } from './children.ts';
import { expectAll, inspectFolder } from './inspect.ts';

/** Processes that are killed. */
const ROUNDS = sizeOf('EDGEPLAN_CRASH_ROUNDS', { usual: 8, full: 50 });
const ABREAST = 8;

let code: Awaited<ReturnType<typeof buildChild>>;
let root: string;
let folder: string;
let domainId: number;

beforeAll(async () => {
  code = await buildChild();
});
afterAll(() => code.remove());
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'edgeplan-crash-'));
  folder = join(root, 'data');
  domainId = await prepare(folder);
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function prepare(where: string): Promise<number> {
  const store = await openSqlite({ folder: where, role: 'server' });
  const { domain } = await store.write((tx) => seed(tx));
  await store.close();
  return domain.id;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function kill(child: Child): Promise<void> {
  child.process.kill('SIGKILL');
  await child.ended;
}

const inspect = (where: string): Promise<ReadonlySet<number>> => inspectFolder(where, domainId);

test(`kill -9 in the middle of writes, ${ROUNDS} times, loses nothing acknowledged`, {
  timeout: 120_000 + ROUNDS * 20_000,
}, async () => {
  const acked: number[] = [];
  let from = 1;
  for (let round = 0; round < ROUNDS; round++) {
    const child = startChild(code.file, [folder, 'write', `${domainId}`, `${from}`, `${ABREAST}`]);
    // Some writes are acknowledged however slow the machine is.
    await child.line(`ok ${from + 2 * ABREAST + Math.floor(Math.random() * 32)}`);
    await pause(Math.random() * 5);
    await kill(child);
    acked.push(...acknowledged(child));
    const found = await inspect(folder);
    expectAll(found, acked);
    // What was written but not yet told is at most what was under way.
    expect(found.size - acked.length).toBeLessThanOrEqual(ABREAST * (round + 1));
    from = Math.max(from, ...found) + 1;
  }
  expect(acked.length).toBeGreaterThan(ROUNDS * 5);
});

test(`kill -9 with a batch of counts in flight, ${ROUNDS} times, neither loses nor doubles the sums of a quota`, {
  timeout: 120_000 + ROUNDS * 20_000,
}, async () => {
  const consumers = 300;
  const setUp = await openSqlite({ folder, role: 'server' });
  await setUp.write((tx) => createNode(tx, 'node', Date.now()));
  await setUp.close();
  // A node sends again what was not acknowledged; here also what was, as after a lost answer.
  let acked = 0;
  let repeated = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const child = startChild(code.file, [
      ...[folder, 'batches', `${domainId}`],
      ...[`${Math.max(1, acked)}`, `${consumers}`],
    ]);
    await child.line(`ok ${acked + 2 + Math.floor(Math.random() * 5)}`);
    await pause(Math.random() * 20);
    await kill(child);
    acked = Math.max(...acknowledged(child));
    repeated += child.lines.filter((line) => line.startsWith('repeated ')).length;
    const store = await openSqlite({ folder, role: 'server' });
    const sums = await store.latest.consumerDays.sums(domainId, { from: 0, to: Number.MAX_SAFE_INTEGER });
    await store.close();
    expect(sums).toHaveLength(consumers);
    const [taken] = new Set(sums.map(({ admitted }) => admitted));
    // All sums are of the same batches: those that were acknowledged, and one more at most.
    expect(new Set(sums.flatMap(({ requests, admitted }) => [requests, admitted]))).toEqual(new Set([taken]));
    expect([acked, acked + 1]).toContain(taken);
  }
  expect(repeated).toBeGreaterThanOrEqual(ROUNDS - 1);
});

test('a copy of the folder made during writes opens, torn or not', async () => {
  const child = startChild(code.file, [folder, 'write', `${domainId}`, '1', `${ABREAST}`]);
  try {
    for (let round = 0; round < 4; round++) {
      await child.line(`ok ${1 + round * 40}`);
      // Stopped, the files stand still, as they do on a disk that has lost power.
      child.process.kill('SIGSTOP');
      await pause(50);
      const acked = acknowledged(child);
      const copy = join(root, `copy-${round}`);
      await cp(folder, copy, { recursive: true });
      await cp(folder, `${copy}-torn`, { recursive: true });
      child.process.kill('SIGCONT');
      expectAll(await inspect(copy), acked);

      // Of a log cut anywhere, what is before the cut holds: the first writes, without gaps in what was committed.
      const log = join(`${copy}-torn`, 'edgeplan.db-wal');
      await truncate(log, Math.floor((await stat(log)).size * Math.random()));
      const kept = await inspect(`${copy}-torn`);
      const missing = acked.findIndex((number) => !kept.has(number));
      if (missing >= 0)
        expect(acked.slice(missing + 2 * ABREAST).filter((number) => kept.has(number))).toEqual([]);
    }
  } finally {
    await kill(child);
  }
});

test('a second server is refused and names the first, a tool works beside it', async () => {
  const first = startChild(code.file, [folder, 'write', `${domainId}`, '1', '2']);
  await first.line('ok 3');
  const second = startChild(code.file, [folder, 'server']);
  const refusal = await second.line('fault');
  expect(refusal).toContain('fault in_use');
  expect(refusal).toContain(`process ${first.process.pid}`);
  expect(refusal).toContain('edgeplan.lock');
  await second.ended;
  const tool = startChild(code.file, [folder, 'tool']);
  await tool.line('opened');
  await tool.ended;
  await first.line(`ok ${Math.max(...acknowledged(first)) + 20}`);
  await kill(first);
  const third = startChild(code.file, [folder, 'server']);
  await third.line('opened');
  await third.ended;
});

test('a second store of one process on the same folder is refused', async () => {
  const store = await openSqlite({ folder, role: 'server' });
  const again = openSqlite({ folder, role: 'server' });
  await expect(again).rejects.toSatisfy((error) => isStoreFault(error, 'in_use'));
  await store.close();
  await (await openSqlite({ folder, role: 'server' })).close();
});

test('a tool’s write is visible to the server and its listeners', async () => {
  const server = await openSqlite({ folder, role: 'server' });
  const tool = await openSqlite({ folder, role: 'tool' });
  const heard = new Promise((resolve) => server.listen(resolve));
  await pause(100);
  await tool.write((tx) => tx.accounts.insert({ name: 'new', active: true, created_at: 1, updated_at: 1 }));
  expect(await server.latest.accounts.byName('new')).not.toBeNull();
  expect(await heard).toBe('unknown');
  await tool.close();
  await server.close();
});

test('a cached result is never older than the last commit of any process', async () => {
  const server = await openSqlite({ folder, role: 'server' });
  const tool = await openSqlite({ folder, role: 'tool' });
  const owner = (await server.latest.domains.get(domainId))!.user_id;
  const times = { created_at: 1, updated_at: 1 };
  for (let turn = 0; turn < 60; turn++) {
    const writer = turn % 2 === 0 ? server : tool;
    const hash = `hash-${turn}`;
    const name = `seen-${turn}.example`;
    // Asked for before it is there, so that its absence is remembered.
    expect(await server.latest.keys.byHash(hash)).toBeNull();
    expect(await server.latest.domains.seenBy(owner, name)).toBeNull();
    const key = await writer.write(async (tx) => {
      const { id: _, ...like } = (await tx.domains.get(domainId))!;
      await tx.domains.insert({ ...like, name });
      const asked = { account_id: owner, hash, name: 'x', read_only: false, expires_at: null };
      return tx.keys.insert({ ...asked, created_at: 1 });
    });
    expect(await server.latest.keys.byHash(hash)).toMatchObject({ id: key.id, revoked_at: null });
    expect(await server.latest.domains.seenBy(owner, name)).toMatchObject({ role: 'owner' });
    const stranger = await writer.write((tx) =>
      tx.accounts.insert({ name: `account-${turn}`, active: true, ...times }),
    );
    expect(await server.latest.domains.seenBy(stranger.id, name)).toMatchObject({ role: null });
    await writer.write(async (tx) => {
      await tx.keys.revoke(key.id, 5);
      const { id } = (await tx.domains.byName(name))!;
      await tx.members.put({ domain_id: id, account_id: stranger.id, role: 'viewer', ...times });
    });
    expect(await server.latest.keys.byHash(hash)).toMatchObject({ revoked_at: 5 });
    expect(await server.latest.domains.seenBy(stranger.id, name)).toMatchObject({ role: 'viewer' });
    // Twice: the second answer comes from memory.
    expect(await server.latest.keys.byHash(hash)).toMatchObject({ revoked_at: 5 });
    await writer.write((tx) => tx.accounts.setActive(owner, { active: false, at: 6 }));
    expect(await server.latest.keys.byHash(hash)).toMatchObject({ account_active: false });
    await writer.write((tx) => tx.accounts.setActive(owner, { active: true, at: 7 }));
  }
  await tool.close();
  await server.close();
});

function system(command: string, args: readonly string[]): void {
  execFileSync(command, args, { stdio: 'ignore' });
}

/** A file system of its own, of some MiB: needs root. */
async function mountSmall(at: string): Promise<boolean> {
  await mkdir(at);
  try {
    system('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', at]);
    return true;
  } catch {
    return false;
  }
}

test('writes succeed again once a full disk has room', async ({ skip }) => {
  const disk = join(root, 'disk');
  if (!(await mountSmall(disk))) skip('mounting a small file system is not allowed here');
  try {
    const ballast = join(disk, 'ballast');
    await writeFile(ballast, new Uint8Array(2 * 2 ** 20));
    domainId = await prepare(join(disk, 'data'));
    const child = startChild(code.file, [join(disk, 'data'), 'fill', `${domainId}`]);
    expect(await child.line('fault')).toContain('fault full the disk that holds the data folder is full');
    expect(await child.line('ping ')).toBe('ping full');
    const acked = acknowledged(child);
    expect(acked.length).toBeGreaterThan(10);
    expect(Number((await child.line('reads ')).slice(6))).toBe(acked.length);
    await rm(ballast);
    child.process.stdin!.write('go on\n');
    expect(await child.line('ping answers')).toBe('ping answers');
    await child.line('ok 1000000');
    await child.ended;
    const store = await openSqlite({ folder: join(disk, 'data'), role: 'server' });
    const found = (await store.latest.rules.list(domainId, 'drop')).map((rule) => rule.priority);
    expect(found).toEqual([...acked, 1_000_000]);
    await store.close();
  } finally {
    system('umount', ['-l', disk]);
  }
});

test('a file size limit is a fault, and no acknowledged write is lost', async () => {
  // Blocks of 1 KiB: what a quota does. Node ignores the signal, so the write fails.
  const child = startChild(code.file, [folder, 'fill', `${domainId}`], 'trap "" XFSZ; ulimit -f 2000');
  expect(await child.line('fault')).toMatch(/^fault (full|unavailable) /);
  await child.line('reads ');
  const acked = acknowledged(child);
  await kill(child);
  const store = await openSqlite({ folder, role: 'server' });
  const found = new Set((await store.latest.rules.list(domainId, 'drop')).map((rule) => rule.priority));
  expectAll(found, acked);
  await store.close();
});

test('another program’s database is refused and not changed', async () => {
  const other = join(root, 'other');
  await mkdir(other);
  await writeFile(
    join(other, 'edgeplan.db'),
    'certainly not a database, but long enough to look at\n'.repeat(40),
  );
  await expect(openSqlite({ folder: other, role: 'server' })).rejects.toSatisfy((error) =>
    isStoreFault(error, 'unreadable'),
  );
  const foreign = join(root, 'foreign');
  await mkdir(foreign);
  const database = openDatabase(join(foreign, 'edgeplan.db'));
  database.exec('CREATE TABLE theirs (x)');
  database.close();
  await expect(openSqlite({ folder: foreign, role: 'server' })).rejects.toSatisfy((error) =>
    isStoreFault(error, 'unreadable'),
  );
  const file = join(root, 'file');
  await writeFile(file, '');
  await expect(openSqlite({ folder: file, role: 'server' })).rejects.toSatisfy((error) =>
    isStoreFault(error, 'unavailable'),
  );
});

test('a backup made during writes is consistent and opens as a store', async () => {
  const child = startChild(code.file, [folder, 'write', `${domainId}`, '1', `${ABREAST}`]);
  await child.line('ok 50');
  const tool = await openSqlite({ folder, role: 'tool' });
  const before = acknowledged(child).length;
  const copy = join(root, 'restored');
  await mkdir(copy);
  await tool.backup(join(copy, 'edgeplan.db'));
  await expect(tool.backup(join(copy, 'edgeplan.db'))).rejects.toSatisfy((error) =>
    isStoreFault(error, 'conflict', 'file'),
  );
  await expect(tool.backup(join(root, 'no', 'such', 'folder'))).rejects.toSatisfy((error) =>
    isStoreFault(error, 'unavailable'),
  );
  const during = await child.line(`ok ${Math.max(...acknowledged(child)) + 30}`);
  expect(during).toBeDefined();
  await kill(child);
  await tool.close();
  const found = await inspect(copy);
  expectAll(found, acknowledged(child).slice(0, before));
});
