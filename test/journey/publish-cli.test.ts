/** publish, rollback and node-token, as typed, against a served data folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { send } from '../support/api.ts';
import { builtCli, edgeplan, type Run, startEdgeplan } from './built.ts';
import { startNode } from './feed-node.ts';
import { until } from './publish-setup.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-publish-'));
const data = ['--data', join(folder, 'data')];
let server: ReturnType<typeof startEdgeplan>;
let port = 0;
let key = '';

function run(args: readonly string[], env: Record<string, string> = {}): Promise<Run> {
  const server = { EDGEPLAN_SERVER: `http://127.0.0.1:${port}`, EDGEPLAN_KEY: key };
  return edgeplan(args, { cwd: folder, env: { ...server, ...env } });
}

beforeAll(async () => {
  await builtCli();
  const ports = ['--port', '0', '--ops-port', '0'];
  server = startEdgeplan(['serve', ...data, ...ports, '--trust-names', '--log-level', 'error'], {
    cwd: folder,
  });
  let said = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const listening = await until(() => /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(said), 'the server');
  port = Number(listening[1]);
  expect((await run(['account', 'create', 'owner', ...data])).code).toBe(0);
  key = (await run(['key', 'create', 'owner', ...data])).out.trim();
}, 120_000);

afterAll(async () => {
  const ended = new Promise((resolve) => server.on('close', resolve));
  server.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
});

describe('nodes and plans from the command line', () => {
  test('a node gets what is published, again, and rolled back', { timeout: 60_000 }, async () => {
    const made = await run(['node-token', 'create', 'fra-1', ...data]);
    expect(made.err).toContain('shown only this once');
    const [, token, publicKey] = /^EDGEPLAN_NODE_TOKEN=(\S+)\nEDGEPLAN_NODE_TRUST=(\S+)\n$/.exec(made.out)!;
    const node = await startNode({ port, token: token!, publicKey: publicKey! });
    const headers = { authorization: `Bearer ${key}` };
    const created = await send(port, {
      method: 'POST',
      path: '/domains/',
      body: { name: 'shop.test' },
      headers,
    });
    expect(created.status).toBe(200);
    await send(port, { method: 'POST', path: '/domains/shop.test/check-ns', headers });
    const first = await until(() => {
      const held = node.held.get('shop.test');
      return held?.evaluator === null ? null : held;
    }, 'the plan');
    const again = await run(['publish', 'shop.test']);
    expect([again.code, again.out]).toEqual([0, `shop.test is out as revision ${first.revision + 1}\n`]);
    const back = await run(['rollback', 'shop.test', String(first.revision)]);
    expect([back.code, back.out.split('\n')[0]]).toEqual([
      0,
      `shop.test is out as revision ${first.revision + 2}, with the content of revision ${first.revision}`,
    ]);
    await until(() => node.held.get('shop.test')?.revision === first.revision + 2, 'the rollback');
    expect((await run(['node-token', 'list', ...data])).out).toMatch(/^id +name +state\n1 +fra-1 +seen /);
    expect((await run(['node-token', 'revoke', 'fra-1', ...data])).code).toBe(0);
    await until(() => node.closed, 'the end');
    expect(node.farewell).toBe('this node token was revoked');
    expect(node.problems).toEqual([]);
  });

  test('says in a sentence what cannot be done', { timeout: 60_000 }, async () => {
    expect((await run(['node-token', 'create', 'ber-1', ...data])).code).toBe(0);
    const twice = await run(['node-token', 'create', 'ber-1', ...data]);
    expect([twice.code, twice.err]).toEqual([1, 'edgeplan: there is a node `ber-1` already\n']);
    expect((await run(['node-token', 'create', 'a b', ...data])).code).toBe(2);
    expect((await run(['node-token', 'revoke', 'nobody', ...data])).code).toBe(1);
    const unknown = await run(['publish', 'nobody.test']);
    expect([unknown.code, unknown.err]).toEqual([4, 'edgeplan: the server answered 404: not found\n']);
    expect((await run(['rollback', 'shop.test', '999'])).code).toBe(4);
    expect((await run(['rollback', 'shop.test', 'x'])).code).toBe(2);
    const keyless = await run(['publish', 'shop.test'], { EDGEPLAN_KEY: '' });
    expect([keyless.code, keyless.err]).toEqual([2, expect.stringContaining('no API key was given')]);
    const away = await run(['publish', 'shop.test'], { EDGEPLAN_SERVER: 'http://127.0.0.1:1' });
    expect([away.code, away.err]).toEqual([4, expect.stringContaining('cannot be reached')]);
  });
});
