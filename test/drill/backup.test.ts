/** backup, as typed, while the store is served and written to. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEpoch } from '../../src/control/publishing/pages.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import { builtCli, edgeplan, startEdgeplan } from '../support/built.ts';
import { type Served, serve } from '../support/served.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-backup-'));
let server: Served;
let writing = true;
/** Ids of the rules whose creation was answered. */
const written: number[] = [];
let writer: Promise<void>;

beforeAll(async () => {
  await builtCli();
  server = await serve();
  await server.domain('shop.test');
  writer = write();
}, 120_000);
afterAll(async () => {
  writing = false;
  await writer;
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Records through the API as fast as it takes them, each batch within the budget of one key. */
async function write(): Promise<void> {
  for (let batch = 0; writing && batch < 250; batch++) {
    const zone = Array.from({ length: 20 }, (_, n) => `r${batch}-${n} IN TXT "${'x'.repeat(200)}"`).join(
      '\n',
    );
    const { body } = await importZone(zone);
    for (const { id } of body.records) written.push(id);
  }
}

async function importZone(zone: string): Promise<{ readonly body: { readonly records: { id: number }[] } }> {
  const response = await fetch(`${server.url}/domains/shop.test/records/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'text/dns' },
    body: zone,
  });
  return { body: (await response.json()) as { records: { id: number }[] } };
}

function system(command: string, args: readonly string[]): void {
  execFileSync(command, args, { stdio: 'ignore' });
}

function backup(to: string, ...flags: readonly string[]): ReturnType<typeof edgeplan> {
  return edgeplan(['backup', ...server.data, '--to', to, ...flags], { cwd: folder });
}

describe('backup', () => {
  test('a backup during writes is consistent, has every acknowledged write, and can be served', {
    timeout: 240_000,
  }, async () => {
    while (written.length < 200) await wait(10);
    const before = [...written];
    const file = join(folder, 'copy.db');
    const { code, out, err } = await backup(file);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^\S+copy\.db: [\d.]+ (?:KiB|MiB) \(\d+ octets\), 1 domain, \d+ revisions? up to \S+Z; checked\n/,
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const restored = join(folder, 'restored');
    const put = await edgeplan(['restore', '--from', file, '--data', restored], { cwd: folder });
    expect([put.code, put.err]).toEqual([0, '']);
    expect(put.out).toMatch(
      /: 1 domain and \d+ revisions of \S+copy\.db, in epoch \d+; nodes read all of it/,
    );
    expect(readdirSync(restored).filter((name) => name.startsWith('.'))).toEqual([]);
    const store = await openStore({ database: restored, role: 'tool' });
    expect(`in epoch ${await readEpoch(store.latest)};`).toBe(/in epoch \d+;/.exec(put.out)?.[0]);
    await store.close();
    const other = await serve({ database: restored });
    const shown = await fetch(`${other.url}/domains/shop.test/records/`, {
      headers: { authorization: `Bearer ${server.key}` },
    });
    const ids = new Set(((await shown.json()) as { id: number }[]).map(({ id }) => id));
    expect(before.filter((id) => !ids.has(id))).toEqual([]);
    await other.stop();
    expect(written.length).toBeGreaterThan(before.length);
  });

  test('a restore replaces an existing store, served or not, only with --force', {
    timeout: 240_000,
  }, async () => {
    const file = join(folder, 'again.db');
    expect((await backup(file)).code).toBe(0);
    const data = join(folder, 'replaced');
    const restore = (...flags: readonly string[]) =>
      edgeplan(['restore', '--from', file, '--data', data, ...flags], { cwd: folder });
    expect((await restore()).code).toBe(0);
    const first = statSync(join(data, 'edgeplan.db'));
    const refused = await restore();
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('--force replaces it')]);
    const forced = await restore('--force');
    expect([forced.code, forced.err]).toEqual([0, '']);
    expect(statSync(join(data, 'edgeplan.db.replaced')).ino).toBe(first.ino);
    const serving = await serve({ database: data });
    const served = await restore('--force');
    expect([served.code, served.err]).toEqual([4, expect.stringContaining('is served by process')]);
    await serving.stop();
    const missing = await edgeplan(['restore', '--from', join(folder, 'no.db'), '--data', data], {
      cwd: folder,
    });
    expect([missing.code, missing.err]).toEqual([3, expect.stringContaining('there is no backup')]);
    const other = join(folder, 'other.db');
    writeFileSync(other, 'mine');
    const damaged = await edgeplan(['restore', '--from', other, '--data', join(folder, 'none')], {
      cwd: folder,
    });
    expect(damaged).toEqual({
      code: 3,
      out: '',
      err: `edgeplan: \`${other}\` is no database\n  give --from a file that edgeplan backup wrote\n`,
    });
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });

  test('a backup replaces a file only on request', async () => {
    const file = join(folder, 'there.db');
    writeFileSync(file, 'mine');
    expect(await backup(file)).toEqual({
      code: 1,
      out: '',
      err: `edgeplan: \`${file}\` exists already\n  --force replaces it\n`,
    });
    expect(statSync(file).size).toBe(4);
    expect((await backup(file, '--force')).code).toBe(0);
    expect(statSync(file).size).toBeGreaterThan(4_096);
    expect((await backup(folder, '--force')).err).toContain('is no file that could be replaced');
    expect((await backup(join(folder, 'no/such/x.db'))).err).toContain('there is no folder');
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('a killed backup leaves no file under its name, and the next one succeeds', async () => {
    const file = join(folder, 'killed.db');
    const drafts = (): readonly string[] =>
      readdirSync(folder).filter((name) => name.startsWith('.edgeplan-backup-'));
    let cut = 0;
    for (let attempt = 0; attempt < 8; attempt++) {
      rmSync(file, { force: true });
      const child = startEdgeplan(['backup', ...server.data, '--to', file], { cwd: folder });
      const ended = new Promise((resolve) => child.on('close', resolve));
      // In the middle of it: there is a draft, which replaces that of the backup before, and nothing has its name yet.
      const before = drafts();
      while (drafts().every((name) => before.includes(name)) && child.exitCode === null) await wait(1);
      await wait(attempt * 3);
      child.kill('SIGKILL');
      await ended;
      if (!existsSync(file)) cut++;
      else expect((await backup(file, '--force')).code).toBe(0);
    }
    expect(cut).toBeGreaterThan(0);
    expect((await backup(file, '--force')).code).toBe(0);
    expect(drafts()).toEqual([]);
  });

  test('a killed restore leaves the store as it was or whole, and the next one leaves no other files', {
    timeout: 120_000,
  }, async () => {
    const file = join(folder, 'source.db');
    expect((await backup(file)).code).toBe(0);
    const data = join(folder, 'killed');
    const names = () => readdirSync(data).filter((name) => name.startsWith('.'));
    const restore = ['restore', '--from', file, '--data', data, '--force'];
    const epoch = async () => {
      const store = await openStore({ database: data, role: 'tool' });
      const known = (await store.latest.domains.page(0, 9)).map(({ name }) => name);
      return { epoch: await readEpoch(store.latest).finally(() => store.close()), known };
    };
    expect((await edgeplan(restore, { cwd: folder })).code).toBe(0);
    let left = 0;
    for (let attempt = 0; attempt < 10; attempt++) {
      const [before, were] = [await epoch(), names()];
      const child = startEdgeplan(restore, { cwd: folder });
      const ended = new Promise((resolve) => child.on('close', resolve));
      while (names().every((name) => were.includes(name)) && child.exitCode === null) await wait(1);
      await wait(attempt * 10);
      child.kill('SIGKILL');
      await ended;
      left += names().length;
      const after = await epoch();
      expect(after.known).toEqual(['shop.test']);
      expect(after.epoch).toBeGreaterThanOrEqual(before.epoch);
    }
    expect(left).toBeGreaterThan(0);
    expect(await edgeplan(restore, { cwd: folder })).toMatchObject({ code: 0, err: '' });
    expect(names()).toEqual([]);
  });

  test('a backup to a full disk leaves existing files unchanged', async ({ skip }) => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    try {
      system('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
    } catch {
      skip('mounting a small file system is not allowed here');
    }
    try {
      const file = join(disk, 'copy.db');
      writeFileSync(file, 'old');
      expect(await backup(file, '--force')).toEqual({
        code: 3,
        out: '',
        err: `edgeplan: \`${file}\` cannot be written: the disk is full\n`,
      });
      expect(readdirSync(disk)).toEqual(['copy.db']);
      expect(statSync(file).size).toBe(3);
    } finally {
      system('umount', ['-l', disk]);
    }
  });

  test('the command’s help names what a backup does not contain', async () => {
    const to = ['--to', join(folder, 'no.db')];
    const postgres = await edgeplan(['backup', '--database', 'postgres://127.0.0.1/x', ...to], {
      cwd: folder,
    });
    expect([postgres.code, postgres.err.split('\n')[0]]).toEqual([
      2,
      'edgeplan: a PostgreSQL database is backed up with pg_dump',
    ]);
    const nowhere = await edgeplan(['backup', '--data', join(folder, 'typo'), ...to], { cwd: folder });
    expect(nowhere).toEqual({
      code: 3,
      out: '',
      err: expect.stringContaining(`edgeplan: there is no store in \`${folder}/typo\`\n`),
    });
    expect(existsSync(join(folder, 'typo'))).toBe(false);
  });
});
