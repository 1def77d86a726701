/** An application whose edge follows a server: what is published there is enforced here, also while the server is away. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createEdge, type NodeEdge, type NodeEdgeOptions } from '../../src/edge/middleware/node/index.ts';
import { ask, hand, solve } from '../support/ask.ts';
import { listenLocally } from '../support/embed.ts';
import { type Served, serve } from '../support/served.ts';

const PATIENCE = { interval: 50 };

let folder: string;
let server: Served;
let token: string;
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-embedded-'));
  server = await serve();
  await server.domain('shop.test');
  await server.call('POST', '/domains/shop.test/records/', {
    name: '@',
    type: 'A',
    destination: '198.51.100.20',
    proxied: true,
  });
  token = await tokenOf('app-1');
}, 60_000);
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function tokenOf(name: string): Promise<string> {
  const { out } = await server.run(['node-token', 'create', name, ...server.data]);
  return /EDGEPLAN_NODE_TOKEN=(\S+)/.exec(out)![1]!;
}

interface Started {
  readonly edge: NodeEdge;
  readonly faults: string[];
  readonly port: number;
  get(path: string): Promise<number>;
  stop(): Promise<void>;
}

async function start(control: Partial<NodeEdgeOptions['control']> = {}): Promise<Started> {
  const faults: string[] = [];
  const edge = await createEdge({
    control: { url: server.url, token, folder: join(folder, 'plans'), ...control },
    signatures: null,
    botDns: false,
    onFault: (error, about) => faults.push(`${about}: ${(error as Error).message}`),
  });
  const { port, close } = await listenLocally(
    createServer(edge.wrap((_request, response) => response.end('fine'))),
  );
  const stop = async (): Promise<void> => {
    await close();
    await edge.close();
  };
  closing.push(stop);
  const get = async (path: string): Promise<number> =>
    (await ask(port, path, { headers: { host: 'shop.test' } })).status;
  return { edge, faults, port, get, stop };
}

test('published plans are enforced at once, and served while the server is unreachable', {
  timeout: 240_000,
}, async () => {
  const app = await start();
  expect(await app.get('/admin')).toBe(200);
  expect(app.edge.following()).toMatchObject({ pending: 0, refused: 0, problem: null });
  await server.call('POST', '/domains/shop.test/rules/drop/', { path_includes: ['/admin'] });
  await expect.poll(() => app.get('/admin'), PATIENCE).toBe(403);
  expect(await app.get('/')).toBe(200);
  process.kill(server.pid, 'SIGKILL');
  await vi.waitFor(() => expect(app.edge.following()!.connected).toBe(false), PATIENCE);
  expect(await app.get('/admin')).toBe(403);
  await app.stop();
  const again = await start();
  expect([await again.get('/admin'), await again.get('/')]).toEqual([403, 200]);
  await vi.waitFor(() => expect(again.edge.following()!.problem).toMatch(/ECONNREFUSED/), PATIENCE);
  expect(again.faults).toContainEqual(
    expect.stringMatching(/^the control plane is not followed; .*ECONNREFUSED/),
  );
});

test('a visitor cleared at one application is cleared at the other', async () => {
  await server.call('POST', '/domains/shop.test/rules/captcha/', { path_includes: ['/members/*'] });
  const one = await start();
  const other = await start({ token: await tokenOf('app-2'), folder: join(folder, 'other') });
  const path = '/members/a';
  const browser = { host: 'shop.test', headers: { accept: 'text/html' } };
  await expect.poll(async () => [await one.get(path), await other.get(path)], PATIENCE).toEqual([403, 403]);
  const cleared = await hand(one.port, await solve(await ask(one.port, path, browser)), browser);
  const cookie = String(cleared.headers['set-cookie']).split(';', 1)[0]!;
  const visit = { host: 'shop.test', headers: { cookie } };
  expect((await ask(other.port, path, visit)).status).toBe(200);
  expect((await ask(other.port, path, { host: 'shop.test' })).status).toBe(403);
});

test('one process at a time can use a folder, and a closed edge releases it', async () => {
  const app = await start();
  await expect(start({ token: await tokenOf('app-2') })).rejects.toThrow(join(folder, 'plans'));
  await app.stop();
  expect(await (await start()).get('/')).toBe(200);
});

test('createEdge refuses a control plane that cannot be followed', async () => {
  await expect(start({ token: 'nope' })).rejects.toThrow(/token/);
  await expect(start({ url: 'shop.test' })).rejects.toThrow('`control.url` is written http://host:port');
  await expect(start({ trust: 'garbage' })).rejects.toThrow(/key/);
  await expect(createEdge({ control: { url: server.url, token } as never })).rejects.toThrow(
    '`control.folder` must be',
  );
  // Nothing of it holds the folder.
  expect(await (await start()).get('/')).toBe(200);
});
