/** Decisions from a node's visitors to `edgeplan logs` and `explain --domain`, through a server that may be killed. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/base/storage/sqlite.ts';
import { send } from '../support/api.ts';
import { ask } from '../support/ask.ts';
import { builtCli, startEdgeplan } from '../support/built.ts';
import { batchOf, lineOf } from '../support/log-lines.ts';
import { until } from '../support/publish-setup.ts';
import { type Served, serve } from '../support/served.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const HOST = 'shop.test';
const EVIL = '?id=1%27%20union%20select%20password%20from%20users';
const PATIENCE_MS = 60_000;

beforeAll(() => builtCli(), 180_000);

describe('a server and a node of two workers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-logs-cli-'));
  const origin = createServer((request, response) =>
    request.resume().on('end', () => response.end('origin')),
  );
  let server: Served;
  let node: WorkerNode;
  /** Ids of decisions: of the enforced rule, and of the one under dry_run. */
  let enforced = '';
  let tried = '';

  beforeAll(async () => {
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    const { port } = origin.address() as AddressInfo;
    server = await serve({ tier: 'business' });
    await server.domain(HOST);
    const record = { name: '@', type: 'A', destination: '127.0.0.1', port, scheme: 'Http', proxied: true };
    expect((await server.call('POST', `/domains/${HOST}/records/`, record)).status).toBe(200);
    for (const [path, action_mode] of [
      ['/enforced', 'enforce'],
      ['/tried', 'dry_run'],
    ]) {
      const rule = { path_includes: [path], action_mode };
      const made = await server.call('POST', `/domains/${HOST}/rules/waf/?wait=published`, rule);
      expect(made.status, made.text).toBe(200);
    }
    const env = { ...(await server.node('eu-1')), EDGEPLAN_CONTROL: server.url };
    const args = ['--data', 'node', '--workers', '2', '--trust-proxy', '127.0.0.0/8'];
    node = await startWorkerNode(args, { cwd: folder, env });
    // Each worker opens the plan and sends entries on its own: what one without it refuses is in no log.
    enforced = await decided(`/enforced${EVIL}`, 403);
    tried = await decided(`/tried${EVIL}`, 200);
    await until(
      async () => {
        const { out } = await logs('--json');
        return out.includes(enforced) && out.includes(tried);
      },
      'the entries',
      PATIENCE_MS,
    );
  }, 300_000);
  afterAll(async () => {
    node.signal('SIGTERM');
    await node.ended;
    await server.stop();
    origin.closeAllConnections();
    await new Promise((resolve) => origin.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  async function visit(path: string): Promise<{ readonly status: number; readonly id: string }> {
    const { status, headers } = await ask(node.port, path, { host: HOST });
    return { status, id: String(headers['x-edgeplan-id']) };
  }
  /** The id of the first decision with the status. */
  async function decided(path: string, status: number): Promise<string> {
    const { id } = await until(
      async () => {
        const answer = await visit(path);
        return answer.status === status && answer;
      },
      `${status} to ${path}`,
      PATIENCE_MS,
    );
    return id;
  }
  function logs(...args: readonly string[]) {
    return server.run(['logs', HOST, ...args]);
  }

  test('logs prints a line for each decision, with the signatures of enforced and dry_run rules', async () => {
    const { code, out, err } = await logs();
    expect([code, err]).toEqual([0, '']);
    const [first, second, ...rest] = out
      .trimEnd()
      .split('\n')
      .filter((line) => line.includes('ed?id='));
    expect(rest).toEqual([]);
    expect(first).toMatch(
      /^2\S+Z {2}block 403 +waf\/\d+ +203\.0\.113\.7 +GET shop\.test\/enforced\?id=\S* {2}waf 5 \(11300\)/,
    );
    expect(first).toContain(enforced);
    expect(second).toMatch(/ {2}forward 200 .*\/tried\?id=\S* {2}waf 5 \(11300\) {2}would block by waf\/\d+/);
    expect(second).toContain(tried);
  });

  test('logs passes its filters on, and says when nothing matches', async () => {
    const ids = async (...args: readonly string[]): Promise<readonly string[]> =>
      (await logs('--json', ...args)).out
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line).id]));
    expect(await ids('--action', 'block')).toEqual([enforced]);
    expect(await ids('--action', 'would-block')).toEqual([tried]);
    expect(await ids('--path', '/tried', '--ip', '203.0.113.0/24', '--last', '1h')).toEqual([tried]);
    const none = await logs('--ip', '192.0.2.1');
    expect([none.code, none.out, none.err]).toEqual([0, '', 'no entry of the log matches\n']);
    expect((await logs('--last', '1h', '--from', '2026-01-01')).code).toBe(2);
    expect((await server.run(['logs', 'other.test'])).err).toContain('the key has access to no domain');
  });

  test('the lines of logs --json are a decision log that replay and explain read', async () => {
    const { out } = await logs('--json');
    const explained = await server.run(['explain', enforced, '--log', '-'], out);
    expect([explained.code, explained.out]).toEqual([0, expect.stringContaining('the visitor got 403')]);
  });

  test('explain --domain finds the decision at the server and explains it by the plan that made it', async () => {
    const { code, out, err } = await server.run(['explain', enforced, '--domain', HOST]);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('the visitor got 403\n');
    expect(out).toContain('signatures: score 5 11300 (on ARGS:id)');
    expect(out).toContain('the same plan as then, from the server:\n');
    const dry = await server.run(['explain', tried, '--domain', HOST, '--json']);
    expect(JSON.parse(dry.out)).toMatchObject({
      format: 'edgeplan.explanation/v1',
      line: { id: tried, node: 'eu-1' },
      same_plan: true,
      trace: { decision: { action: 'forward' }, shadow: { action: 'block' } },
    });
    const missing = await server.run(['explain', '00000000-0000-4000-8000-000000000000', '--domain', HOST]);
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('there is no decision')]);
    const anywhere = await server.run(['explain', enforced]);
    expect([anywhere.code, anywhere.out]).toEqual([0, out]);
    const nowhere = await server.run(['explain', '00000000-0000-4000-8000-000000000000']);
    expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining(`in the logs of \`${HOST}\``)]);
    expect((await server.run(['explain', enforced, '--domain', HOST, '--log', '-'])).code).toBe(2);
  });

  test('logs --follow prints entries as they come, each once, and ends with 0 on SIGINT', async () => {
    const child = startEdgeplan(['logs', HOST, '--follow', '--action', 'block'], {
      cwd: folder,
      env: server.env,
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    await until(() => out.includes(enforced), 'the first entries', PATIENCE_MS);
    const { id } = await visit(`/enforced${EVIL}`);
    await until(() => out.includes(id), 'the new entry', PATIENCE_MS);
    const other = (await visit(`/enforced${EVIL}`)).id;
    await until(() => out.includes(other), 'the next entry', PATIENCE_MS);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(out.trimEnd().split('\n')).toHaveLength(3);
  });
});

test('every entry that a server has acknowledged is found after it was killed', async () => {
  const database = mkdtempSync(join(tmpdir(), 'edgeplan-logs-kill-'));
  let server = await serve({ database, tier: 'business' });
  await server.domain(HOST);
  const { EDGEPLAN_NODE_TOKEN: token } = await server.node('eu-1');
  const acknowledged = new Set<string>();
  const ship = async (): Promise<boolean> => {
    const lines = Array.from({ length: 40 }, () => lineOf({ domain: HOST, at: Date.now() + 1_000 }));
    try {
      const { status } = await send(server.port, {
        method: 'POST',
        path: '/nodes/logs',
        body: gzipSync(batchOf(lines)),
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/x-ndjson',
          'content-encoding': 'gzip',
        },
      });
      expect(status).toBe(200);
    } catch (error) {
      // The server was killed: nothing of this batch is acknowledged.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      return false;
    }
    for (const { id } of lines) acknowledged.add(id);
    return true;
  };
  const shipForever = async (): Promise<void> => {
    while (await ship());
  };
  for (let round = 0; round < 3; round++) {
    const before = acknowledged.size;
    const shipping = Promise.all([shipForever(), shipForever(), shipForever()]);
    await until(() => acknowledged.size >= before + 400, 'entries to be acknowledged', PATIENCE_MS);
    process.kill(server.pid, 'SIGKILL');
    await shipping;
    await server.stop();
    server = await serve({ database, tier: 'business' });
    const found = new Set<string>();
    for (let cursor = ''; ; ) {
      const to = new Date(Date.now() + 60_000).toISOString();
      const { body } = await server.call('GET', `/domains/${HOST}/logs/?limit=200&to=${to}${cursor}`);
      for (const { id } of body.entries) found.add(id);
      if (body.next === null) break;
      cursor = `&cursor=${body.next}`;
    }
    expect([...acknowledged].filter((id) => !found.has(id))).toEqual([]);
  }
  await server.stop();
  rmSync(database, { recursive: true, force: true });
}, 300_000);

test('an entry that an earlier release stored without a check is a line of logs, and explain names its mistake', async () => {
  const database = mkdtempSync(join(tmpdir(), 'edgeplan-logs-stored-'));
  const server = await serve({ database, tier: 'business' });
  try {
    await server.domain(HOST);
    const { EDGEPLAN_NODE_TOKEN: token } = await server.node('eu-1');
    const verdict = { rule: 'waf/1', mode: 'dry_run', effect: 'block', waf: { score: 5, ids: { 0: 1 } } };
    const line = lineOf({ domain: HOST, at: Date.now() });
    const request = line['request'] as object;
    const stored: readonly object[] = [
      { ...line, request: { ...request, host: { toString: 1 } } },
      { ...line, request: { ...request, ip: {} } },
      { ...line, request: { ...request, method: [{}] } },
      { ...line, request: null },
      { ...line, waf: { score: 5, ids: 'x' } },
      { ...line, matches: [verdict] },
      { ...line, matches: [null] },
      { ...line, shadow: 7 },
      { ...line, decision: null },
    ].map((one) => ({ ...one, id: randomUUID() }));
    const ids = stored.map((one) => (one as { readonly id: string }).id);
    const good = ids.map((id) => lineOf({ domain: HOST, at: Date.now(), id }));
    const sent = await send(server.port, {
      method: 'POST',
      path: '/nodes/logs',
      body: gzipSync(batchOf(good)),
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/x-ndjson',
        'content-encoding': 'gzip',
      },
    });
    expect(sent.body).toEqual({ stored: ids.length, repeated: 0, dropped: 0 });
    replaceLines(join(database, 'logs'), stored);
    const listed = await server.run(['logs', HOST]);
    expect([listed.code, listed.err]).toEqual([0, '']);
    for (const id of ids) expect(listed.out).toMatch(new RegExp(`not readable: \`\\S+\` must be .* ${id}\n`));
    const json = await server.run(['logs', HOST, '--json']);
    expect(json.out.trimEnd().split('\n')).toHaveLength(ids.length);
    for (const id of ids) {
      const explained = await server.run(['explain', id, '--domain', HOST]);
      expect([explained.code, explained.err]).toEqual([3, expect.stringContaining('cannot be read: `')]);
      const offline = await server.run(['explain', id, '--log', '-'], json.out);
      expect([offline.code, offline.err]).toEqual([3, expect.stringMatching(/could be read|no decision/)]);
      const { status } = await server.call('GET', `/domains/${HOST}/logs/${id}/trace`);
      expect(status).toBe(409);
    }
  } finally {
    await server.stop();
    rmSync(database, { recursive: true, force: true });
  }
}, 300_000);

/** Puts lines in the place of those that are stored with their ids. */
function replaceLines(folder: string, lines: readonly object[]): void {
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.db'))) {
    const day = openDatabase(join(folder, name));
    const update = day.prepare('UPDATE entries SET line = ? WHERE id = ?');
    for (const line of lines) update.all(JSON.stringify(line), (line as { readonly id: string }).id);
    day.close();
  }
}
