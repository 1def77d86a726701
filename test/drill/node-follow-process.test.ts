/** A following node as a process: killed without warning at any moment, and out of disk. It serves whole plans, always. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { SyncState } from '../../src/edge/following/sync-run.ts';
import { digestsIn } from '../../src/engine/plan/list-digests.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import { addressList, hexOf } from '../support/listed-plans.ts';
import { namedPlans } from '../support/named-plans.ts';
import { addDomain, addDrop, changeDomain, type House, openHouse, until } from '../support/publish-setup.ts';
import { addList, addListDrop, changeList } from '../support/stored-lists.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHILD = join(ROOT, 'dist/support/edge-follower-child.js');

let folder: string;
let house: House;
let proxy: ControlProxy;
let token: string;
const children = new Set<Child>();

beforeAll(async () => {
  const entryPoints = [join(ROOT, 'test/support/edge-follower-child.ts')];
  const shape = { bundle: true, platform: 'node', format: 'esm', packages: 'external' } as const;
  await build({ entryPoints, outfile: CHILD, logLevel: 'error', ...shape });
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-process-'));
  house = await openHouse({ database: join(folder, 'data') });
  proxy = await startControlProxy(house.port);
  token = await house.token('node-1');
});
afterEach(async () => {
  for (const child of [...children]) await child.kill();
  await proxy.close();
  await house.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Told {
  readonly startMs: number;
  readonly served: readonly {
    readonly name: string;
    /** Paths blocked in a row. */
    readonly count: number;
    readonly after: string;
    readonly revision: number | null;
  }[];
  readonly state: SyncState;
  readonly warnings: readonly string[];
}

interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  /** What it said once it had started, before it heard of the control plane. */
  readonly first: Told;
  ask(): Promise<Told>;
  kill(): Promise<void>;
}

async function start(names: readonly string[]): Promise<Child> {
  const args = [CHILD, proxy.url, token, join(folder, 'node'), names.join(',')];
  const child = spawn(process.execPath, args);
  child.stdin.on('error', () => undefined);
  child.stderr.pipe(process.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Told> => {
    const { value } = await lines.next();
    if (typeof value !== 'string') throw new Error('the node is gone');
    return JSON.parse(value) as Told;
  };
  const self: Child = {
    process: child,
    first: await next(),
    ask() {
      child.stdin.write('\n');
      return next();
    },
    kill: () =>
      new Promise((resolve) => {
        children.delete(self);
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.on('exit', () => resolve());
        child.kill('SIGKILL');
      }),
  };
  children.add(self);
  return self;
}

test('a node killed at any moment restarts with whole plans, none older than the acknowledged ones', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `d${index}.test`);
  const domains = [];
  for (const name of names) domains.push(await addDomain(house, name));
  const rules = new Map(names.map((name) => [name, 0]));
  let child = await start(names);
  await until(
    async () => (await child.ask()).served.every(({ revision }) => revision !== null),
    'the first plans',
  );
  let serving = new Map<string, { revision: number; count: number }>();
  let torn = 0;
  // Until it was killed with a plan's file written and not yet named at least once.
  for (let round = 0; round < 5 || (torn === 0 && round < 30); round++) {
    for (const domain of domains) {
      const count = rules.get(domain.name)! + 1;
      rules.set(domain.name, count);
      await addDrop(house, domain, `/p${count}`);
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 120));
    const answer = await child.ask();
    serving = new Map(
      answer.served.map(({ name, revision, count }) => [name, { revision: revision!, count }]),
    );
    await child.kill();
    const named = namedPlans(join(folder, 'node'));
    if (readdirSync(join(folder, 'node/plans')).some((file) => !named.has(file))) torn++;
    proxy.target = 0;
    child = await start(names);
    for (const { name, revision, count, after } of child.first.served) {
      const before = serving.get(name)!;
      expect([name, after, revision! >= before.revision, count >= before.count]).toEqual([
        name,
        'forward',
        true,
        true,
      ]);
      expect(count).toBeLessThanOrEqual(rules.get(name)!);
    }
    proxy.target = house.port;
  }
  expect(torn).toBeGreaterThan(0);
  await until(
    async () => (await child.ask()).served.every(({ name, count }) => count === rules.get(name)),
    'the newest plans',
  );
  const files = readdirSync(join(folder, 'node/plans'));
  const isTidy = (): boolean =>
    readdirSync(join(folder, 'node/plans')).length === namedPlans(join(folder, 'node')).size;
  await until(isTidy, 'no file too many');
  for (const file of readdirSync(join(folder, 'node/plans'))) {
    const bytes = readFileSync(join(folder, 'node/plans', file));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(file);
  }
  expect(files.every((file) => /^[0-9a-f]{64}$/.test(file))).toBe(true);
}, 420_000);

test('a node killed while a list changes serves each plan with the list that it names', async () => {
  const names = Array.from({ length: 6 }, (_, index) => `l${index}.test`);
  const owner = { account_id: house.accountId, domain_id: null };
  const contents = ['192.0.2.1', '192.0.2.99'] as const;
  const list = await addList(house, owner, { name: 'bad', values: [contents[0]] });
  // The child asks from the first of these addresses.
  for (const name of names)
    await addListDrop(house, await addDomain(house, name), { list: 'bad', path: '/p1' });
  const listed = new Map(contents.map((value, index) => [hexOf(addressList(value)), 1 - index]));
  let child = await start(names);
  await until(async () => (await child.ask()).served.every(({ count }) => count === 1), 'the first list');
  let torn = 0;
  for (let round = 1; round < 5 || (torn === 0 && round < 30); round++) {
    await changeList(house, list, [contents[round % 2]!]);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 150));
    await child.kill();
    const named = namedPlans(join(folder, 'node'));
    const isStray = (file: string): boolean => !named.has(file) && !listed.has(file);
    if (readdirSync(join(folder, 'node/plans')).some(isStray)) torn++;
    proxy.target = 0;
    child = await start(names);
    for (const { name, revision, count } of child.first.served) {
      const domain = (await house.store.latest.domains.byName(name))!;
      const { digest } = (await house.store.latest.plans.get(domain.id, revision!))!;
      const [found] = digestsIn((await house.store.latest.plans.blob(digest!))!);
      expect([name, count]).toEqual([name, listed.get(found!)]);
    }
    proxy.target = house.port;
  }
  await changeList(house, list, [contents[0]]);
  await until(isOut, 'the last revisions');
  const current = (await house.store.latest.plans.current(names[0]!))!.revision;
  await until(
    async () =>
      (await child.ask()).served.every(({ count, revision }) => count === 1 && revision! >= current - 1),
    'the last list',
  );
  const isTidy = (): boolean => {
    const named = namedPlans(join(folder, 'node'));
    return readdirSync(join(folder, 'node/plans')).every((file) => named.has(file) || listed.has(file));
  };
  await until(isTidy, 'no file too many');
}, 420_000);

test('a node that has no room for a list serves the old one, reports it, and continues when there is room', async () => {
  const domain = await addDomain(house, 'shop.test');
  const owner = { account_id: null, domain_id: domain.id };
  const list = await addList(house, owner, { name: 'bad', values: ['192.0.2.99'] });
  await addListDrop(house, domain, { list: 'bad', path: '/p1' });
  const child = await start(['shop.test']);
  await until(async () => {
    const { state, served } = await child.ask();
    return state.pending === 0 && served[0]?.revision != null && (await isOut());
  }, 'the first list');
  const before = (await child.ask()).served[0]!.revision!;
  fillDisk(child);
  await changeList(house, list, ['192.0.2.1']);
  await until(async () => (await child.ask()).state.failing.length > 0, 'the failure');
  const { state, served } = await child.ask();
  expect(state.failing[0]).toMatchObject({ domain: 'shop.test', revision: before + 1 });
  expect(state.failing[0]?.reason).toBe('the node cannot keep the plan: EFBIG');
  expect(served[0]).toMatchObject({ revision: before, count: 0 });
  freeDisk(child);
  await until(async () => (await child.ask()).served[0]?.count === 1, 'the changed list');
  expect((await child.ask()).state.failing).toEqual([]);
});

const isOut = async (): Promise<boolean> => (await house.store.latest.outbox.backlog()).rows === 0;

/** No file may grow beyond a few octets from now on: every write fails, as on a full disk. */
function fillDisk({ process: { pid } }: Child): void {
  execFileSync('prlimit', ['--pid', String(pid), '--fsize=16:unlimited']);
}

function freeDisk({ process: { pid } }: Child): void {
  execFileSync('prlimit', ['--pid', String(pid), '--fsize=unlimited:unlimited']);
}

test('a node with a full disk serves its old plans, reports it, and continues when there is room', async () => {
  const domain = await addDomain(house, 'shop.test');
  const child = await start(['shop.test']);
  await until(async () => (await child.ask()).served[0]?.revision === 1, 'the first plan');
  fillDisk(child);
  await addDrop(house, domain, '/p1');
  const failing = await until(async () => {
    const { state } = await child.ask();
    return state.failing.length > 0 ? state.failing : null;
  }, 'the failure');
  expect(failing[0]).toMatchObject({ domain: 'shop.test', revision: 2 });
  expect(failing[0]?.reason).toBe('the node cannot keep the plan: EFBIG');
  const reports = await until(async () => {
    const found = await house.store.latest.nodes.reportsOn('shop.test', 2);
    return found.length > 0 ? found : null;
  }, 'the nack');
  expect(reports[0]?.outcome).toBe('nack');
  const { served } = await child.ask();
  expect(served[0]).toMatchObject({ revision: 1, count: 0, after: 'forward' });
  freeDisk(child);
  await until(async () => (await child.ask()).served[0]?.count === 1, 'the change');
  await until(
    async () => (await house.store.latest.nodes.reportsOn('shop.test', 2))[0]?.outcome === 'ack',
    'the ack',
  );
  expect((await child.ask()).state).toMatchObject({ failing: [], pending: 0, problem: null });
});

test('a node with a full disk still refuses a suspended domain', async () => {
  const domain = await addDomain(house, 'shop.test');
  const child = await start(['shop.test']);
  await until(async () => (await child.ask()).served[0]?.revision === 1, 'the first plan');
  fillDisk(child);
  await changeDomain(house, domain, { suspended: true });
  await until(async () => (await child.ask()).served[0]?.after === 'refused', 'the suspension');
  const { state } = await until(async () => {
    const told = await child.ask();
    return told.state.failing.length > 0 ? told : null;
  }, 'what cannot be kept');
  expect(state.failing[0]?.reason).toBe('the node cannot keep the plan: EFBIG');
  await changeDomain(house, domain, { suspended: false });
  expect((await child.ask()).served[0]?.after).toBe('refused');
  freeDisk(child);
  await until(async () => (await child.ask()).served[0]?.after === 'forward', 'the return');
  expect((await child.ask()).state).toMatchObject({ failing: [], pending: 0, problem: null });
});
