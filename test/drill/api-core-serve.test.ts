/** `edgeplan serve`, `account` and `key` as processes of their own, on both stores. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { send } from '../support/api.ts';
import { builtCli, edgeplan, type Run, startEdgeplan } from '../support/built.ts';
import { everyDatabase } from '../support/databases.ts';
import { ALLOW_ORIGINS } from '../support/origin-bounds.ts';

/** Milliseconds: every command is a process of its own, and a busy machine takes seconds to start one. */
const PATIENCE = { timeout: 120_000 };

beforeAll(builtCli, PATIENCE.timeout);

interface Serving {
  readonly child: ChildProcessWithoutNullStreams;
  readonly port: number;
  readonly operations: number;
  readonly out: string;
  log(): string;
  /** Sends the signal and answers how it ended. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

const children = new Set<ChildProcessWithoutNullStreams>();
// Whatever a failed test left running holds its data folder.
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await wait(20);
}

const PORTS = ['--port', '0', '--ops-port', '0'];

async function serve(cwd: string, args: readonly string[]): Promise<Serving> {
  const child = startEdgeplan(['serve', ...PORTS, '--trust-names', ...ALLOW_ORIGINS, ...args], { cwd });
  children.add(child);
  let out = '';
  let log = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  while (!out.includes('operators:')) {
    if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}: ${log}`);
    await wait(20);
  }
  const port = (line: RegExp): number => Number(line.exec(out)?.[1]);
  return {
    child,
    port: port(/listening on http:\/\/127\.0\.0\.1:(\d+)/),
    operations: port(/operators: http:\/\/127\.0\.0\.1:(\d+)/),
    out,
    log: () => log,
    async end(signal) {
      child.kill(signal);
      return (await closed)[0];
    },
  };
}

describe.each(everyDatabase().map((database) => [database.kind, database] as const))(
  'on %s',
  PATIENCE,
  (kind, database) => {
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-serve-'));
    let made: Awaited<ReturnType<typeof database.make>>;
    let store: readonly string[];

    beforeAll(async () => {
      made = await database.make();
      store = [kind === 'sqlite' ? '--data' : '--database', made.database];
    });
    afterAll(async () => {
      await made.drop();
      rmSync(folder, { recursive: true, force: true });
    });

    const run = (...args: string[]): Promise<Run> => edgeplan([...args, ...store], { cwd: folder });
    const ask = (port: number, path: string, key: string, method = 'GET', body?: unknown) =>
      send(port, { method, path, body, headers: { 'x-api-key': key } });

    test('accounts and keys are created and revoked beside a running server, and acknowledged writes remain', async () => {
      const first = await serve(folder, store);
      expect(first.out).toContain(kind === 'sqlite' ? `data in ${made.database}` : 'data in ');
      await until(() => first.log().includes('no accounts yet'));
      expect(await run('account', 'create', 'ann')).toMatchObject({
        code: 0,
        out: 'account `ann` created, id 1\n',
      });
      expect(await run('account', 'create', 'ann')).toMatchObject({
        code: 1,
        err: 'edgeplan: there is an account `ann` already\n',
      });
      expect((await run('key', 'create', 'bob')).code).toBe(1);
      expect((await run('key', 'create', 'ann', '--expires', '31')).code).toBe(2);
      const created = await run('key', 'create', 'ann', '--name', 'deploy', '--expires', '90');
      expect(created.out).toMatch(/^svc_[0-9A-Za-z]{65}\n$/);
      expect(created.err).toMatch(/^key 1 of `ann`, expires \d{4}-\d\d-\d\d; it is shown only once\n$/);
      const key = created.out.trim();
      const readOnly = (await run('key', 'create', 'ann', '--read-only')).out.trim();

      expect((await ask(first.port, '/domains/', key, 'POST', { name: 'shop.example' })).status).toBe(200);
      expect((await ask(first.port, '/domains/', readOnly, 'POST', { name: 'x.example' })).status).toBe(403);
      const active = await ask(first.port, '/domains/shop.example/check-ns?wait=published', key, 'POST');
      expect([active.body.status, active.headers['x-revision']]).toEqual(['active', '1']);
      expect((await ask(first.port, '/domains/shop.example/analysis', key)).status).toBe(200);

      for (const [path, expected] of [
        ['/healthz', /^ok\n$/],
        ['/readyz', /^ready\n$/],
        ['/metrics', /edgeplan_api_requests_total\{method="POST",path="\/domains\/",status="200"\} 1\n/],
        ['/metrics', /edgeplan_outbox_rows 0\n/],
        ['/metrics', /edgeplan_publications_failing 0\n/],
        ['/metrics', /edgeplan_publications_total\{kind="plan"\} 1\n/],
        ['/metrics', /edgeplan_api_account_requests_total\{account="1"\} 4\n/],
        ['/metrics', /edgeplan_compute_duration_seconds_count\{kind="analysis"\} 1\n/],
        ['/metrics', /edgeplan_compute_account_computations_total\{account="1"\} 1\n/],
        ['/metrics', /edgeplan_stall_seconds_count \d+\n/],
      ] as const)
        expect((await send(first.operations, { method: 'GET', path })).text).toMatch(expected);
      expect((await send(first.port, { method: 'GET', path: '/metrics' })).status).toBe(401);

      expect(await run('key', 'revoke', '1')).toMatchObject({ code: 0, out: 'key 1 revoked\n' });
      expect((await ask(first.port, '/domains/', key)).status).toBe(401);
      expect((await run('key', 'revoke', '1')).err).toBe('edgeplan: key 1 is already revoked\n');
      expect((await run('key', 'revoke', '99')).err).toBe('edgeplan: there is no key 99\n');
      expect(await first.end('SIGTERM')).toBe(0);
      expect(first.log()).not.toContain(key.slice(8));

      const listed = JSON.parse((await run('key', 'list', 'ann', '--json')).out).keys;
      expect(listed[0]).toMatchObject({
        id: 1,
        name: 'deploy',
        read_only: false,
        requests: [{ requests: 3 }],
      });
      expect(listed[0].revoked_at).toBeTruthy();
      expect((await run('key', 'list')).out).toMatch(/^id {2}account {2}name {4}access/);
      expect((await run('account', 'list')).out).toMatch(/\n1 {3}ann {3}active {2}/);

      const second = await serve(folder, store);
      const again = await ask(second.port, '/domains/shop.example', readOnly);
      expect([again.status, again.body.status]).toEqual([200, 'active']);
      expect(await second.end('SIGINT')).toBe(0);
    });

    if (kind === 'sqlite')
      test('a second server on one data folder is refused', async () => {
        const first = await serve(folder, store);
        const second = await run('serve', '--port', '0', '--ops-port', '0');
        expect(second.code).toBe(4);
        expect(second.err).toMatch(/^edgeplan: the data folder `[^`]+` is served by process \d+/);
        expect(await first.end('SIGTERM')).toBe(0);
      });

    if (kind === 'postgres')
      test('several servers share a database: a key revoked through one is closed at the other', async () => {
        const [one, two] = await Promise.all([serve(folder, store), serve(folder, store)]);
        await run('account', 'create', 'carl');
        const key = (await run('key', 'create', 'carl')).out.trim();
        expect((await ask(one.port, '/domains/', key, 'POST', { name: 'both.example' })).status).toBe(200);
        expect((await ask(two.port, '/domains/both.example', key)).status).toBe(200);
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, at) =>
            ask([one, two][at % 2]!.port, '/domains/both.example/developer-mode?wait=published', key, 'POST'),
          ),
        );
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
        const plans = (await ask(two.port, '/domains/both.example/plans/', key)).body;
        const revisions = plans.map((plan: { revision: number }) => plan.revision);
        expect(revisions).toEqual(revisions.map((_: number, at: number) => revisions.length - at));
        const [{ id }] = JSON.parse((await run('key', 'list', 'carl', '--json')).out).keys;
        await run('key', 'revoke', String(id));
        for (const { port } of [one, two]) expect((await ask(port, '/domains/', key)).status).toBe(401);
        expect(await Promise.all([one.end('SIGTERM'), two.end('SIGTERM')])).toEqual([0, 0]);
      });

    test('after SIGTERM a running request ends and new connections are refused', async () => {
      await run('account', 'create', 'dora');
      const key = (await run('key', 'create', 'dora')).out.trim();
      const serving = await serve(folder, store);
      const body = JSON.stringify({ name: 'flight.example' });
      const socket = connect(serving.port, '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk.toString();
      });
      socket.write(
        `POST /domains/ HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\nContent-Type: application/json\r\n` +
          `Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
      );
      await until(() => answer.includes('100 Continue'));
      const ended = serving.end('SIGTERM');
      const late = () =>
        send(serving.port, { method: 'GET', path: '/domains/' }).then(
          () => 'answered',
          () => 'refused',
        );
      await expect.poll(late).toBe('refused');
      socket.write(body.slice(5));
      expect(await ended).toBe(0);
      expect(answer).toMatch(/\r\n\r\nHTTP\/1\.1 200 [\s\S]*\r\nconnection: close\r\n/i);
      const again = await serve(folder, store);
      expect((await ask(again.port, '/domains/flight.example', key)).status).toBe(200);
      expect(await again.end('SIGTERM')).toBe(0);
    });
  },
);

describe('what cannot be started', PATIENCE, () => {
  const cwd = tmpdir();
  test.each([
    [['--port', '99999'], 2, /a port is a number up to 65535/],
    [['--tier', 'gold'], 2, /Allowed choices are free, pro, business, enterprise/],
    [['--ns-set', 'ns1.example'], 2, /a nameserver set is two or more names/],
    [['--database', 'mysql://x'], 2, /a database is written postgres:\/\//],
    [['--database', 'postgres://127.0.0.1:1/x'], 4, /^edgeplan: /],
    [['--data', '/dev/null/x'], 4, /^edgeplan: the data folder `\/dev\/null\/x` cannot be used/],
  ])('%j', async (args, code, sentence) => {
    const { code: ended, err } = await edgeplan(['serve', ...args], { cwd });
    expect(err).toMatch(sentence);
    expect(ended).toBe(code);
  });

  test('without SQLite, the error suggests PostgreSQL', async () => {
    const data = mkdtempSync(join(tmpdir(), 'edgeplan-no-sqlite-'));
    const env = { NODE_OPTIONS: '--no-addons' };
    const { code, err } = await edgeplan(['serve', '--data', join(data, 'one')], { cwd: data, env });
    expect(err).toMatch(/^edgeplan: SQLite cannot be loaded here \(.+\); .+ `--database postgres:\/\/…`\n$/);
    expect(code).toBe(4);
    rmSync(data, { recursive: true, force: true });
  });

  test('the error for a port in use names the port', async () => {
    const data = mkdtempSync(join(tmpdir(), 'edgeplan-taken-'));
    const serving = await serve(data, ['--data', join(data, 'one')]);
    const args = ['serve', '--data', join(data, 'two'), '--port', String(serving.port), '--ops-port', '0'];
    const { code, err } = await edgeplan(args, { cwd: data });
    expect([code, err]).toEqual([
      4,
      expect.stringContaining(
        `edgeplan: port ${serving.port} is taken\n  choose another with --port, or end the process that listens there\n`,
      ),
    ]);
    expect(await serving.end('SIGTERM')).toBe(0);
    rmSync(data, { recursive: true, force: true });
  });
});
