/**
 * PostgreSQL that stops and starts again in the middle of writes, in ways from gentle to violent: no acknowledged write
 * is lost, and the store goes on by itself. The server is a private one in a temporary folder.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isStoreFault } from '../../../src/base/storage/fault.ts';
import { openStore } from '../../../src/control/store/database/open.ts';
import type { Store } from '../../../src/control/store/store.ts';
import { freePort } from '../../support/free-ports.ts';
import { requires } from '../../support/requires.ts';
import { newRule, outboxRow, seed } from '../../support/sample-rows.ts';

/** Where Debian keeps the newest server's programs; empty: there are none. */
function programs(): string {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const newest = versions.map(Number).sort((a, b) => b - a)[0];
  const folder = newest === undefined ? '' : `/usr/lib/postgresql/${newest}/bin`;
  return existsSync(join(folder, 'initdb')) ? folder : '';
}

/** PostgreSQL refuses to run as root: whom it runs as then; `null`: as whoever we are. */
function runner(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith('nobody:'));
  const [, , uid, gid] = (line ?? '').split(':');
  return { uid: Number(uid ?? 65_534), gid: Number(gid ?? 65_534) };
}

const BIN = programs();
const MISSING = BIN === '' ? 'no PostgreSQL server is installed (Debian: postgresql)' : null;
let root: string;
let port: number;
let address: string;

function run(program: string, args: readonly string[]): void {
  const as = runner();
  const options = { cwd: root, encoding: 'utf8', env: { PATH: process.env['PATH'], LC_ALL: 'C' } } as const;
  const { status, stdout, stderr, error } = spawnSync(join(BIN, program), args, {
    ...options,
    ...as,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status !== 0)
    throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? ''}${stdout}${stderr}`);
}

/** Starts the server; its own output must not be ours, or `pg_ctl` would be waited for as long as it runs. */
function start(): Promise<void> {
  const as = runner();
  const args = [
    '-D',
    'data',
    '-w',
    '-l',
    'log',
    '-o',
    `-p ${port} -k ${root} -c listen_addresses=127.0.0.1`,
    'start',
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(join(BIN, 'pg_ctl'), args, { cwd: root, stdio: 'ignore', ...as });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`pg_ctl start: ${code}`))));
  });
}

beforeAll(async () => {
  if (BIN === '') return;
  root = mkdtempSync(join(tmpdir(), 'edgeplan-pg-'));
  const as = runner();
  if (as !== null) chownSync(root, as.uid, as.gid);
  port = await freePort();
  address = `postgres://postgres@127.0.0.1:${port}/postgres`;
  run('initdb', ['-D', 'data', '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-instructions']);
  await start();
}, 120_000);

afterAll(() => {
  if (BIN === '') return;
  run('pg_ctl', ['-D', 'data', '-m', 'immediate', 'stop']);
  rmSync(root, { recursive: true, force: true });
}, 60_000);

/** `immediate` is what a crash is: no checkpoint, recovery from the log at the start. */
const STOPS = ['fast', 'immediate', 'immediate'] as const;
const WRITERS = 6;

interface Tally {
  readonly acknowledged: number[];
  readonly undone: number[];
  readonly open: number[];
}

/** Writes until told to stop, and notes what became of each write. */
async function writeOn(
  store: Store,
  domain: { id: number; name: string },
  state: { next: number; stopping: boolean },
): Promise<Tally> {
  const tally: Tally = { acknowledged: [], undone: [], open: [] };
  const loop = async (): Promise<void> => {
    while (!state.stopping) {
      const number = state.next++;
      try {
        await store.write(async (tx) => {
          await tx.rules.insert(newRule(domain.id, { priority: number }));
          await tx.outbox.append(outboxRow(domain, `${number}`));
        });
        tally.acknowledged.push(number);
      } catch (error) {
        if (!isStoreFault(error, 'unavailable') && !isStoreFault(error, 'contended')) throw error;
        (error.undone ? tally.undone : tally.open).push(number);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, loop));
  return tally;
}

test('no acknowledged write is lost by restarts during writes', {
  ...requires(MISSING),
  timeout: 180_000,
}, async () => {
  const store = await openStore({ database: address });
  const { domain } = await store.write((tx) => seed(tx));
  const heard: string[] = [];
  const unlisten = store.listen((change) => heard.push(change));
  const state = { next: 1, stopping: false };
  const writing = writeOn(store, domain, state);
  for (const mode of STOPS) {
    const before = state.next;
    while (state.next < before + 30) await new Promise((resolve) => setTimeout(resolve, 5));
    run('pg_ctl', ['-D', 'data', '-m', mode, '-w', 'stop']);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await start();
    // By itself: nobody opens the store anew.
    const deadline = Date.now() + 20_000;
    while (
      !(await store.ping().then(
        () => true,
        () => false,
      ))
    ) {
      expect(Date.now()).toBeLessThan(deadline);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  state.stopping = true;
  const { acknowledged, undone, open } = await writing;
  const found = new Set((await store.latest.rules.list(domain.id, 'drop')).map(({ priority }) => priority));
  const reasons = new Set((await store.latest.outbox.list(domain.id)).map(({ reason }) => Number(reason)));
  expect(acknowledged.length).toBeGreaterThan(STOPS.length * 30 - WRITERS);
  expect(acknowledged.filter((number) => !found.has(number))).toEqual([]);
  expect(undone.filter((number) => found.has(number))).toEqual([]);
  // Whole or not at all; only writes whose commit was under way may be either.
  expect([...reasons].sort((a, b) => a - b)).toEqual([...found].sort((a, b) => a - b));
  expect(found.size - acknowledged.length).toBeLessThanOrEqual(open.length);
  expect(undone.length + open.length).toBeGreaterThan(0);
  // Whoever listens is told that something may have been missed: at the start, and after the last restart at the latest.
  const told = (): number => heard.filter((change) => change === 'unknown').length;
  const deadline = Date.now() + 15_000;
  while (told() < 2 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
  expect(told()).toBeGreaterThanOrEqual(2);
  unlisten();
  await store.close();
});
