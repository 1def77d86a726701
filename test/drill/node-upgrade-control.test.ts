/**
 * `edgeplan node --upgrade` of a node with a control plane, under load and while rules are written: no request fails, each is
 * counted once and its block shipped once, and the new process follows.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { countedOnce } from '../support/counted-once.ts';
import { printOf, servedPrint } from '../support/feed-certificate.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { makeAuthority } from '../support/make-chain.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { sizeOf } from '../support/size.ts';
import { until } from '../support/until.ts';
import { type Load, startLoad, startUpgradedNode, type UpgradedNode } from '../support/upgraded-node.ts';
import { ask, isRunning } from '../support/worker-node.ts';

/** Upgrades in a row. */
const ROUNDS = sizeOf('EDGEPLAN_CONTROL_UPGRADES', { usual: 2, full: 6 });
/** Against hangs. */
const LOADED = { ...requires(OPENSSL_MISSING), timeout: 180_000 + ROUNDS * 120_000 };
const PATIENCE_MS = 120_000;

let origin: Server;
let folder: string;
let served: Served;
let node: UpgradedNode | null;
/** The fingerprint of the certificate that the control plane sends. */
let print: string;

beforeAll(async () => {
  await builtCli();
  origin = createServer((_, response) => response.end('served')).listen(0, '127.0.0.1');
  await once(origin, 'listening');
}, 120_000);
afterAll(() => {
  origin.closeAllConnections();
  origin.close();
});

beforeEach(async () => {
  node = null;
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-upgrade-control-'));
  served = await serve({ tier: 'enterprise', args: ['--decision-logs', shippedLog()] });
  await served.domain('shop.test');
  const { port } = origin.address() as AddressInfo;
  const place = { destination: '127.0.0.1', scheme: 'Http', port };
  await write('records/', { name: '@', type: 'A', proxied: true, ...place });
  await write('rules/drop/', { path_includes: ['/admin'] });
  if (OPENSSL_MISSING !== null) return;
  const leaf = makeAuthority(join(folder, 'ca')).leaf({ names: ['shop.test'] });
  print = printOf(leaf);
  await write('ssl/', { certificate: leaf.chain, key: leaf.key });
}, 120_000);
afterEach(async () => {
  await node?.end();
  await served.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Where the control plane writes the lines that nodes ship. */
const shippedLog = (): string => join(folder, 'decisions.jsonl');

async function write(path: string, body: object): Promise<void> {
  const answer = await served.call('POST', `/domains/shop.test/${path}`, body);
  expect([answer.status, answer.text]).toEqual([
    expect.toSatisfy((status: number) => status < 300),
    expect.anything(),
  ]);
}

/** A node that follows the control plane and serves its certificate. */
async function start(workers: string): Promise<UpgradedNode> {
  const args = ['--control', served.url, '--workers', workers, '--tls-port', '0', '--drain', '1'];
  // All blocks become lines or are counted; plain responses would need a share of the lines.
  const place = { cwd: folder, data: join(folder, 'node'), env: await served.node('edge-1') };
  const started = await startUpgradedNode([...args, '--log-rate', '0'], place);
  node = started;
  const { tlsPort } = started.first;
  await until(
    async () => (await servedPrint(tlsPort!, 'shop.test')) === print,
    'the certificate',
    PATIENCE_MS,
  );
  return started;
}

/** Requests that this test sends besides the load. */
let asked = 0;

/** Waits until the node redirects the path. */
async function redirects(port: number, path: string): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    asked++;
    return (await ask({ port, path })).status === 302;
  };
  await until(isThere, `the redirect of ${path}`, PATIENCE_MS);
}

/** Makes handshakes one after the other. @returns ends them, with all fingerprints that were served */
function startHandshakes(tlsPort: number): () => Promise<ReadonlySet<string | null>> {
  const prints = new Set<string | null>();
  let stopping = false;
  const shaking = (async () => {
    while (!stopping) prints.add(await servedPrint(tlsPort, 'shop.test'));
  })();
  return async () => {
    stopping = true;
    await shaking;
    return prints;
  };
}

describe.each(['1', '2'])('a node of %s processes with a control plane', (workers) => {
  test('upgrades fail, lose and double no request, and follow the writes', LOADED, async () => {
    asked = 0;
    const from = new Date(Date.now() - 60_000).toISOString();
    const { first, pid, upgrade } = await start(workers);
    const { port, tlsPort } = first;
    const prints = startHandshakes(tlsPort!);
    const loads: readonly Load[] = [
      startLoad(first, { http1: 8, http2: 2 }),
      startLoad(first, { http1: 2, http2: 1, path: '/admin', status: 403 }),
    ];
    for (let round = 0; round < ROUNDS; round++) {
      const before = pid();
      await write('rules/redirect/', { path_includes: [`/before-${round}`], target: '/x' });
      // Published while the processes change.
      const writing = write('rules/redirect/', { path_includes: [`/during-${round}`], target: '/x' });
      const run = await upgrade();
      expect([run.code, run.err.split('\n').at(-2)]).toEqual([0, `process ${pid()} serves`]);
      expect(pid()).not.toBe(before);
      await writing;
      await write('rules/redirect/', { path_includes: [`/after-${round}`], target: '/x' });
      await until(() => !isRunning(before), 'the end of the process before', PATIENCE_MS);
      for (const when of ['before', 'during', 'after']) await redirects(port, `/${when}-${round}`);
      // It has taken the folder over by then, and gives it back.
      const failed = await upgrade('--port', String(served.port));
      expect([failed.code, failed.err]).toEqual([4, expect.stringContaining(`port ${served.port}`)]);
      await write('rules/redirect/', { path_includes: [`/failed-${round}`], target: '/x' });
      await redirects(port, `/failed-${round}`);
    }
    await Promise.all(loads.map((load) => load.stop()));
    expect(loads.map(({ faults }) => faults)).toEqual([[], []]);
    expect([...(await prints())]).toEqual([print]);
    await until(async () => {
      const { body } = await served.call('GET', '/domains/shop.test/nodes/');
      const plans = await served.call('GET', '/domains/shop.test/plans/?limit=1');
      return body[0].outcome === 'ack' && body[0].revision === plans.body[0].revision;
    }, 'the report of the last revision');

    const last = pid();
    process.kill(last, 'SIGTERM');
    await until(() => !isRunning(last), 'the end of the node', PATIENCE_MS);
    const [plain, blocked] = loads.map((load) => load.answers());
    await countedOnce(served, {
      from,
      sent: plain! + blocked! + asked,
      blocked: blocked!,
      lines: shippedLog(),
    });
  });
});
