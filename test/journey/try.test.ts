/** try, as typed: every link and every command it prints works, and nothing is left of it. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, edgeplan, shell, startEdgeplan } from '../support/built.ts';
import { until } from '../support/publish-setup.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-trying-'));

beforeAll(builtCli, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Trying {
  readonly out: string;
  /** The line that sets the environment, and the commands by what they are said to show. */
  readonly environment: string;
  readonly commands: ReadonlyMap<string, string>;
  readonly data: string;
  readonly code: () => number | null;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

async function tryIt(...args: readonly string[]): Promise<Trying> {
  const child = startEdgeplan(['try', ...args], { cwd: folder });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  await until(() => out.includes('/metrics\n\n') || child.exitCode !== null, 'the greeting');
  expect(err).toBe('');
  const lines = out.split('\n');
  const commands = new Map(
    lines.flatMap((line, index) => (line.startsWith('# ') ? [[line.slice(2), lines[index + 1]!]] : [])),
  );
  return {
    out,
    environment: lines.find((line) => line.startsWith('export '))!,
    commands,
    data: /^ {2}data +(\S+?),/m.exec(out)![1]!,
    code: () => child.exitCode,
    async end(signal) {
      child.kill(signal);
      return closed;
    },
  };
}

/** What each printed command must show. */
const SHOWN: Readonly<Record<string, RegExp>> = {
  'the rules that drop requests': /^\[\{"id":6,.*"type":"drop".*"ips":/,
  // By the server's ids, as the other commands have them.
  'what a request would hit, and why': /DRY RUN {2}drop #6 would/,
  'one more rule, published before the answer comes': /^\{"id":\d+,.*"\/private\/\*"/,
  'what was published, newest first': /^\[\{"revision":\d+,"digest":"[0-9a-f]{64}"/,
  'who changed what': /^\d{4}-\S+ {2}try \(key \d+\) {2}rule\.create {2}drop\/\d+\n/,
  'requests, publications, store: for Prometheus': /^# HELP /,
};

describe('try', () => {
  test('every printed command works, occupied ports are avoided, and no file is left', {
    timeout: 240_000,
  }, async () => {
    const blockers = await Promise.all([8787, 8788].map(block));
    const trying = await tryIt();
    expect(trying.out).toContain(
      'a sample shop, example.com, with 15 records and 36 rules, active and published',
    );
    expect(trying.out).toContain('All of this is temporary.');
    expect(trying.environment).not.toContain(':8787 ');
    for (const [, url] of trying.out.matchAll(/^ {2}(?:reference|metrics) +(http\S+)$/gm)) {
      const answer = await fetch(url!);
      expect([url, answer.status]).toEqual([url, 200]);
    }
    expect([...trying.commands.keys()]).toEqual(Object.keys(SHOWN));
    for (const [why, command] of trying.commands) {
      const { code, out, err } = await shell(`${trying.environment}\n${command}`, { cwd: folder });
      expect([why, code, err]).toEqual([why, 0, '']);
      expect([why, out]).toEqual([why, expect.stringMatching(SHOWN[why]!)]);
    }
    expect(existsSync(trying.data)).toBe(true);
    expect(await trying.end('SIGINT')).toBe(0);
    expect(existsSync(trying.data)).toBe(false);
    await Promise.all(blockers.map((end) => end()));
  });

  test('--keep continues with the existing data and a new key', async () => {
    const kept = join(folder, 'kept');
    const first = await tryIt('--keep', kept, '--port', '0');
    const add = first.commands.get('one more rule, published before the answer comes')!;
    expect((await shell(`${first.environment}\n${add}`, { cwd: folder })).code).toBe(0);
    expect(await first.end('SIGTERM')).toBe(0);
    const second = await tryIt('--keep', kept, '--port', '0');
    expect(second.out).toContain('the data is as it was left');
    const list = second.commands.get('the rules that drop requests')!;
    expect((await shell(`${second.environment}\n${list}`, { cwd: folder })).out).toContain('/private/*');
    expect(await second.end('SIGHUP')).toBe(0);
    expect(existsSync(join(kept, 'edgeplan.db'))).toBe(true);
    const listed = await edgeplan(['key', 'list', '--json', '--data', kept], { cwd: folder });
    const { format, keys } = JSON.parse(listed.out);
    expect(format).toBe('edgeplan.keys/v1');
    expect(keys.filter((key: { revoked_at: unknown }) => key.revoked_at === null)).toHaveLength(1);
  });

  test('an occupied port that was requested is an error, and data of a real server is not touched', async () => {
    const end = await block(0);
    const taken = await edgeplan(['try', '--port', String(end.port)], { cwd: folder });
    const err = (option: string): string =>
      `edgeplan: port ${end.port} is taken\n  choose another with ${option}, or end the process that listens there\n`;
    expect(taken).toEqual({ code: 4, out: '', err: err('--port') });
    const operators = ['--port', '0', '--ops-port', String(end.port)];
    expect(await edgeplan(['try', ...operators], { cwd: folder })).toEqual({
      code: 4,
      out: '',
      err: err('--ops-port'),
    });
    await end();
    const earnest = join(folder, 'earnest');
    await edgeplan(['account', 'create', 'shop', '--data', earnest], { cwd: folder });
    const refused = await edgeplan(['try', '--keep', earnest, '--port', '0'], { cwd: folder });
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('has data that edgeplan try did not create');
  });

  test('the shop is part of the package', () => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root });
    const [{ files }] = JSON.parse(stdout.toString('utf8')) as [{ files: { path: string }[] }];
    expect(files.map(({ path }) => path)).toContain('fixtures/shop/edge.yaml');
  });
});

/** Takes a port of 127.0.0.1; where somebody else has it already, that will do as well. */
async function block(port: number): Promise<(() => Promise<void>) & { readonly port: number }> {
  const server = createServer();
  const own = await new Promise<number>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(port) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  const end = async (): Promise<void> => {
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  return Object.assign(end, { port: own });
}
