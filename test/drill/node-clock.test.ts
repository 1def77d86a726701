/** A node whose clock jumps by a day, forth and back, while it serves: by libfaketime, which leaves timers alone. */
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { addDomain, addDrop, type House, openHouse, until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';
import { ask, oneConnection, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const LIBRARY = findLibrary();
const WHY = LIBRARY === null ? 'libfaketime is not installed (Debian: faketime)' : null;

function findLibrary(): string | null {
  if (process.platform !== 'linux' || !existsSync('/usr/lib')) return null;
  const folders = ['/usr/lib', ...readdirSync('/usr/lib').map((name) => join('/usr/lib', name))];
  const found = folders.map((folder) => join(folder, 'faketime/libfaketimeMT.so.1')).find(existsSync);
  return found ?? null;
}

const DAY_SEC = 86_400;
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-clock-'));
const told = join(folder, 'clock');
const WINDOW_SEC = 2;
const LIMIT = 5;

/** Sets the node's clock to so many seconds from the machine's. */
function setClock(seconds: number): void {
  writeFileSync(`${told}.next`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  renameSync(`${told}.next`, told);
}

const env = {
  LD_PRELOAD: LIBRARY ?? '',
  FAKETIME_TIMESTAMP_FILE: told,
  FAKETIME_NO_CACHE: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  NO_FAKE_STAT: '1',
};

/** The jumps, from where the one before left the clock. */
const JUMPS = [
  ['a day ahead', DAY_SEC],
  ['back to now', 0],
  ['a day behind', -DAY_SEC],
  ['back to now again', 0],
] as const;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a node whose clock jumps', requires(WHY), () => {
  let origin: Server;
  let node: WorkerNode;
  let asked = 0;
  const held: (() => void)[] = [];
  const agent = oneConnection();
  const get = (path: string) => ask({ port: node.port, path, agent });

  beforeAll(async () => {
    await builtCli();
    setClock(0);
    origin = createServer((message, response) => {
      asked++;
      response.setHeader('cache-control', 'max-age=3600');
      // By its date an answer would be a day old on arrival at a clock that is ahead.
      response.sendDate = false;
      if (message.url === '/held') held.push(() => response.end('held'));
      else response.end(`answer ${asked}`);
    });
    origin.listen(0, '127.0.0.1');
    await once(origin, 'listening');
    const file = join(folder, 'edge.yaml');
    writeFileSync(
      file,
      `domain: { name: shop.test }
records:
  - { name: '@', type: A, destination: 127.0.0.1, scheme: Http, port: ${(origin.address() as AddressInfo).port}, proxied: true }
rules:
  - { id: 1, type: rate_limit, limit: ${LIMIT}, window_sec: ${WINDOW_SEC}, path_includes: [/limited] }
  - { id: 2, type: rate_limit, limit: 200, window_sec: ${WINDOW_SEC}, path_includes: [/sliced] }
  - { id: 3, type: cache, priority: 10, path_includes: [/kept], query_mode: none }
`,
    );
    const log = join(folder, 'decisions.jsonl');
    const args = ['--file', file, '--data', join(folder, 'data'), '--log', log, '--log-rate', '1'];
    node = await startWorkerNode(args, { cwd: folder, env });
  }, 120_000);
  afterAll(async () => {
    agent.destroy();
    node.signal('SIGTERM');
    expect(await node.ended).toBe(0);
    origin.closeAllConnections();
    origin.close();
    const lines = readFileSync(join(folder, 'decisions.jsonl'), 'utf8').trim().split('\n');
    expect(lines.length).toBeGreaterThan(20);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ status: expect.any(Number) });
    expect(node.err()).not.toMatch(/"level":[456]0/);
  }, 60_000);

  test.each(JUMPS)(
    '%s: no response is truncated, no visitor is refused, nothing stale is served',
    async (_where, seconds) => {
      const pending = ask({ port: node.port, path: '/held' });
      // Looked at in the end, unless something fails before.
      pending.catch(() => undefined);
      await until(() => held.length === 1, 'the origin is asked');
      const first = (await get('/kept')).text;
      expect((await get('/kept')).text).toBe(first);
      setClock(seconds);
      // Answers made before the jump are of an age that nobody knows, or too old.
      const anew = (await get('/kept')).text;
      expect(anew).not.toBe(first);
      expect((await get('/kept')).text).toBe(anew);
      for (const [path, limit] of [
        ['/limited', LIMIT],
        ['/sliced', 200],
      ] as const) {
        // All at once: one after the other they may take longer than the window on a busy machine.
        await until(async () => {
          await Promise.all(Array.from({ length: limit }, () => ask({ port: node.port, path })));
          return (await get(path)).status === 429;
        }, 'the limit');
        await wait(WINDOW_SEC * 1_200);
        expect((await get(path)).status).toBe(200);
      }
      held.pop()!();
      expect(await pending).toMatchObject({ status: 200, text: 'held' });
      // Still the same connection: a jump ends none.
      expect(Object.values(agent.sockets).concat(Object.values(agent.freeSockets)).flat()).toHaveLength(1);
    },
  );
});

describe('a node that follows', requires(WHY), () => {
  let house: House;
  let node: WorkerNode;
  beforeAll(async () => {
    await builtCli();
    setClock(0);
    house = await openHouse({ database: join(folder, 'house') });
  }, 120_000);
  afterAll(() => house.close());

  test('follows its control plane and reports traffic over every jump', { timeout: 240_000 }, async () => {
    const domain = await addDomain(house, 'shop.test');
    await addDrop(house, domain, '/p');
    const args = ['--control', `http://127.0.0.1:${house.port}`, '--data', join(folder, 'follower')];
    const token = await house.token('node-1');
    node = await startWorkerNode(args, { cwd: folder, env: { ...env, EDGEPLAN_NODE_TOKEN: token } });
    const blocks = async (path: string): Promise<boolean> =>
      (await ask({ port: node.port, path })).status === 403;
    let decided = 0;
    await until(() => blocks('/p'), 'the plan');
    decided++;
    for (const [where, seconds] of JUMPS) {
      setClock(seconds);
      await addDrop(house, domain, `/p${seconds}-${where.length}`);
      await until(() => blocks(`/p${seconds}-${where.length}`), `a plan, ${where}`);
      decided++;
    }
    const warnings = node
      .err()
      .split('\n')
      .filter((line) => /"level":[456]0/.test(line));
    // The origin of `shop.test` is a documentation address, which a node warns of; before the plan, it serves no host. What it
    // reports of a day ahead is refused and logged (`control/api/OPERATIONS.md`), if it is sent before the clock jumps back.
    const expected = /is a documentation address|answered with 421|by the server's clock/;
    expect(warnings.filter((line) => !expected.test(line))).toEqual([]);
    node.signal('SIGTERM');
    expect(await node.ended).toBe(0);
    const days = 4 * 24 * 60;
    const { body } = await house.call('GET', `/domains/shop.test/traffic?minutes=${days}`);
    expect((body as { requests: number }).requests).toBeGreaterThanOrEqual(decided - 2);
  });
});
