/**
 * Countries and autonomous systems of visitors at a node: its databases, its log, and what reads the log. The node trusts
 * this machine as a proxy, so that requests have addresses of the databases.
 */
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli, edgeplan } from '../support/built.ts';
import { writeMmdb } from '../support/mmdb.ts';
import { until } from '../support/until.ts';
import { ask, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-addresses-'));
const LOG = join(folder, 'decisions.jsonl');
let origin: Server;
let node: WorkerNode;

beforeAll(async () => {
  await builtCli();
  origin = createServer((_request, response) => void response.end('from the origin\n'));
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { port } = origin.address() as AddressInfo;
  const record = `{ name: www, type: A, destination: 127.0.0.1, scheme: Http, port: ${port}, proxied: true }`;
  writeFileSync(join(folder, 'edge.yaml'), `domain: shop.test\nrecords:\n  - ${record}\n`);
  writeFileSync(
    join(folder, 'countries.mmdb'),
    writeMmdb({ '203.0.113.0/24': { country: { iso_code: 'NZ' } } }),
  );
  writeFileSync(
    join(folder, 'asns.mmdb'),
    writeMmdb({ '203.0.113.0/25': { autonomous_system_number: 64_496 } }),
  );
  const databases = ['--countries', 'countries.mmdb', '--asns', 'asns.mmdb'];
  const logged = ['--log', 'decisions.jsonl', '--log-rate', '1'];
  const args = ['--file', 'edge.yaml', '--data', 'data', '--trust-proxy', '127.0.0.0/8'];
  node = await startWorkerNode([...args, ...databases, ...logged], { cwd: folder });
}, 240_000);
afterAll(async () => {
  node.signal('SIGTERM');
  await node.ended;
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The logged requests of a path, once there are so many. */
async function logged(path: string, count: number): Promise<readonly Record<string, unknown>[]> {
  const read = () =>
    (existsSync(LOG) ? readFileSync(LOG, 'utf8') : '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).request as Record<string, unknown>)
      .filter(({ target }) => target === path);
  await until(() => read().length >= count, `lines of ${path}`);
  return read();
}

const from = (ip: string, path: string) =>
  ask({ port: node.port, path, headers: { host: 'www.shop.test', 'x-forwarded-for': ip } });

test('the log has the country and the autonomous system of an address, each where it is known', async () => {
  for (const ip of ['203.0.113.7', '203.0.113.200', '192.0.2.7'])
    expect((await from(ip, '/known')).status).toBe(200);
  const lines = await logged('/known', 3);
  expect(lines.map(({ ip, country, asn }) => [ip, country, asn])).toEqual([
    ['203.0.113.7', 'NZ', 64_496],
    ['203.0.113.200', 'NZ', undefined],
    ['192.0.2.7', null, undefined],
  ]);
});

test('a replay and a simulation read the lines', async () => {
  await from('203.0.113.7', '/again');
  const [request] = await logged('/again', 1);
  const run = (...args: string[]) => edgeplan(args, { cwd: folder });
  const replayed = await run('replay', '--log', 'decisions.jsonl', '-f', 'edge.yaml');
  expect(replayed).toMatchObject({ code: 0 });
  expect(replayed.err).not.toContain('could not be read');
  writeFileSync(join(folder, 'requests.jsonl'), `${JSON.stringify(request)}\n`);
  const { out } = await run('simulate', '-f', 'edge.yaml', '--requests', 'requests.jsonl', '--json');
  expect(JSON.parse(out)).toMatchObject({ line: 1, decision: { action: 'forward' } });
});

test('a new database is in use after SIGHUP, a broken one changes nothing', async () => {
  const replace = (content: Uint8Array | string): void => {
    writeFileSync(join(folder, 'new'), content);
    renameSync(join(folder, 'new'), join(folder, 'asns.mmdb'));
    node.signal('SIGHUP');
  };
  const latest = async (path: string): Promise<unknown> => {
    const before = existsSync(LOG) ? readFileSync(LOG, 'utf8').split(`"target":"${path}"`).length - 1 : 0;
    await from('203.0.113.7', path);
    return (await logged(path, before + 1)).at(-1)!['asn'];
  };
  replace(writeMmdb({ '203.0.113.0/24': { autonomous_system_number: 64_511 } }));
  await expect.poll(() => latest('/new'), { timeout: 20_000 }).toBe(64_511);
  replace('damaged');
  await node.said(/a file cannot be used/);
  expect(await latest('/damaged')).toBe(64_511);
});
