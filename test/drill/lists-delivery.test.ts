/**
 * A list of 100,000 networks that 1,000 domains of an account name: a change of it reaches a node without compiling one of them
 * again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlanMaker, type PlanMaker } from '../../src/control/publishing/plan-maker.ts';
import { createPublisher } from '../../src/control/publishing/publisher.ts';
import { digestsIn } from '../../src/engine/plan/list-digests.ts';
import { builtCli } from '../support/built.ts';
import { startFollower, type TestFollower } from '../support/edge-follower.ts';
import { addDomain, type House, openHouse, until } from '../support/publish-setup.ts';
import { addList, addListDrop, changeList } from '../support/stored-lists.ts';

const THREAD = new URL('../../dist/control/publishing/plan-thread.js', import.meta.url);
const DOMAINS = 1_000;
const NETWORKS = 100_000;
const NAMES = Array.from({ length: DOMAINS }, (_, at) => `d${at}.test`);
/** Against hangs, on a machine that is busy with something else. */
const PATIENCE_MS = 900_000;

/** `10.x.y.0/30`, four apart, so that no two join. */
const networks = (last: string): readonly string[] => [
  ...Array.from({ length: NETWORKS - 1 }, (_, at) => {
    const number = at * 8;
    return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}/30`;
  }),
  last,
];

let folder: string;
let house: House;
let node: TestFollower;

beforeAll(async () => {
  await builtCli();
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-lists-'));
  house = await openHouse({ database: folder, idle: true });
}, PATIENCE_MS);
afterAll(async () => {
  await node.stop();
  await house.close();
  for (const directory of [folder, node.directory]) rmSync(directory, { recursive: true, force: true });
});

test('the change costs one seal, one fetch and no compilation', { timeout: PATIENCE_MS }, async () => {
  const owner = { account_id: house.accountId, domain_id: null };
  const list = await addList(house, owner, { name: 'bad', values: networks('192.0.2.1') });
  for (const name of NAMES) await addListDrop(house, await addDomain(house, name), { list: 'bad' });
  const counts = { compiled: 0, sealed: 0 };
  const real = createPlanMaker({ store: house.store, file: THREAD });
  const plans: PlanMaker = {
    ...real,
    make(subject, revision) {
      counts.compiled += 1;
      return real.make(subject, revision);
    },
    seal(subject) {
      counts.sealed += 1;
      return real.seal(subject);
    },
  };
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const publisher = createPublisher({ store: house.store, log: silent, plans });
  publisher.start();
  const isOut = async (): Promise<boolean> => (await house.store.latest.outbox.backlog()).rows === 0;
  await until(isOut, 'the first plans', PATIENCE_MS);
  expect(counts).toEqual({ compiled: DOMAINS, sealed: 1 });
  node = await startFollower({ url: `http://127.0.0.1:${house.port}`, token: await house.token('node') });
  const isDropped = (name: string, ip: string): boolean => {
    const found = node.plans.find(name);
    if (found === null || found === 'refused') return false;
    const request = { scheme: 'https', method: 'GET', host: name, target: '/', ip };
    return found.evaluator.evaluate(request).action === 'block';
  };
  await until(() => NAMES.every((name) => isDropped(name, '192.0.2.1')), 'the first list', PATIENCE_MS);

  Object.assign(counts, { compiled: 0, sealed: 0 });
  const written = performance.now();
  expect(await changeList(house, list, networks('192.0.2.2'))).toBe(DOMAINS);
  const from = performance.now();
  const first = until(
    () => NAMES.some((name) => isDropped(name, '192.0.2.2')),
    'the change',
    PATIENCE_MS,
  ).then(() => performance.now() - from);
  await until(isOut, 'all manifests', PATIENCE_MS);
  const out = performance.now() - from;
  await until(
    () => NAMES.every((name) => isDropped(name, '192.0.2.2')),
    'the change everywhere',
    PATIENCE_MS,
  );
  const served = performance.now() - from;
  expect(counts).toEqual({ compiled: 0, sealed: 1 });
  expect(NAMES.some((name) => isDropped(name, '192.0.2.1'))).toBe(false);
  const { digest } = (await house.store.latest.plans.current(NAMES[0]!))!;
  const [sealed] = digestsIn((await house.store.latest.plans.blob(digest!))!);
  const octets = (await house.store.latest.lists.blob(sealed!))!.length;
  const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
  process.stdout.write(
    `list of ${NETWORKS} networks (${octets} octets sealed), ${DOMAINS} domains: ` +
      `written in ${seconds(from - written)} s, first domain on the node after ${seconds(await first)} s, ` +
      `all published after ${seconds(out)} s, all served after ${seconds(served)} s\n`,
  );
  await publisher.stop();
});
