/** `edgeplan doctor` as a process: what it reports of real causes. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/base/storage/sqlite.ts';
import { builtCli, edgeplan, type RunOptions, shell } from '../support/built.ts';
import { REFUSED, startDnsServer } from '../support/dns-server.ts';
import { makeCertificate, OPENSSL_MISSING } from '../support/make-certificate.ts';
import { POSTGRES } from '../support/postgres.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';

interface Finding {
  readonly check: string;
  readonly state: 'fine' | 'warning' | 'failure' | 'skipped';
  readonly found: string;
  readonly remedy: string | null;
}

interface Report {
  readonly code: number | null;
  readonly healthy: boolean;
  /** The findings of one check. */
  of(check: string): readonly Finding[];
}

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-doctor-'));
let server: Served;
let token: string;
let trust: string;

beforeAll(async () => {
  await builtCli();
  server = await serve();
  const env = await server.node('eu-1');
  token = env['EDGEPLAN_NODE_TOKEN']!;
  trust = env['EDGEPLAN_NODE_TRUST']!;
}, 120_000);
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function reportOf(code: number | null, out: string): Report {
  const { format, healthy, findings } = JSON.parse(out);
  expect(format).toBe('edgeplan.doctor/v1');
  return { code, healthy, of: (check) => findings.filter((one: Finding) => one.check === check) };
}

/** Runs the command with a data folder that does not exist, unless another store is named. */
async function examine(args: readonly string[], options: Partial<RunOptions> = {}): Promise<Report> {
  const store =
    args.includes('--data') || args.includes('--database') ? [] : ['--data', join(folder, 'none')];
  const { code, out } = await edgeplan(['doctor', '--json', ...store, ...args], { cwd: folder, ...options });
  return reportOf(code, out);
}

async function occupy(): Promise<{ readonly server: Server; readonly port: number }> {
  const occupant = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => occupant.once('listening', resolve));
  return { server: occupant, port: (occupant.address() as AddressInfo).port };
}

describe('doctor', () => {
  test('prints a mark, a word and what was found on each line, and what to do below', async () => {
    const { code, out, err } = await edgeplan(['doctor', '--data', join(folder, 'none'), '--port', '0'], {
      cwd: folder,
    });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^✔ fine {5}node {10}Node \d+\.\d+\.\d+ on /);
    const lines = out.trimEnd().split('\n');
    const summary = lines.pop();
    expect(
      lines.filter((line) => !/^(?:[✔⚠✘–] (?:fine|warning|failure|skipped) |( {25})→ |$)/.test(line)),
    ).toEqual([]);
    expect(summary).toMatch(/^\d+ fine, \d+ warnings?, 0 failures, \d+ skipped$/);
  });

  test('makes no folder and leaves no file', async () => {
    const data = join(folder, 'untouched');
    mkdirSync(data, { mode: 0o700 });
    const { of } = await examine(['--data', data]);
    expect(of('disk').map(({ state }) => state)).toEqual(['fine', expect.any(String), 'fine']);
    expect(readdirSync(data)).toEqual([]);
    await examine(['--data', join(folder, 'none')]);
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });

  test('refuses an address of a database or a control plane that is none, with exit code 2', async () => {
    const database = await edgeplan(['doctor', '--database', 'mysql://x'], { cwd: folder });
    expect([database.code, database.err]).toEqual([2, expect.stringContaining('postgres://user@host/name')]);
    const control = await edgeplan(['doctor', '--control', 'nowhere'], { cwd: folder });
    expect([control.code, control.err]).toEqual([2, expect.stringContaining('http://host:port')]);
  });
});

describe('ports', () => {
  test('a port that was asked for and is taken is a failure that names the remedy', async () => {
    const taken = await occupy();
    const report = await examine(['--port', String(taken.port), '--port', '0']);
    expect([report.code, report.healthy]).toEqual([1, false]);
    expect(report.of('ports')).toEqual([
      {
        check: 'ports',
        state: 'failure',
        found: `port ${taken.port} of 127.0.0.1 is taken (--port)`,
        remedy: 'choose another with --port, or end the process that listens there',
      },
      expect.objectContaining({ state: 'fine' }),
    ]);
    taken.server.close();
  });

  test('--tls-port and --ops-port are tried as --port is', async () => {
    const taken = await occupy();
    const report = await examine(['--tls-port', '0', '--ops-port', String(taken.port)]);
    expect(report.of('ports')).toEqual([
      expect.objectContaining({ state: 'fine' }),
      expect.objectContaining({
        state: 'failure',
        found: `port ${taken.port} of 127.0.0.1 is taken (--ops-port)`,
        remedy: 'choose another with --ops-port, or end the process that listens there',
      }),
    ]);
    taken.server.close();
  });

  test('an address that this machine does not have is a failure', async () => {
    const { code, of } = await examine(['--host', '192.0.2.1', '--port', '0']);
    expect([code, of('ports')[0]]).toEqual([
      1,
      expect.objectContaining({
        state: 'failure',
        found: '`192.0.2.1` is no address of this machine (--port)',
      }),
    ]);
  });

  const UNPRIVILEGED = process.getuid?.() === 0 ? missingProgram('setpriv', 'util-linux') : null;
  test(
    'a port below 1024 without the right to it is a failure that says what gives it',
    requires(UNPRIVILEGED),
    async () => {
      const drop =
        process.getuid?.() === 0
          ? 'setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all --inh-caps -all '
          : '';
      const { code, out, err } = await shell(`${drop}$EDGEPLAN doctor --json --data /nowhere --port 81`, {
        cwd: '/',
      });
      expect(err).toBe('');
      const [port] = reportOf(code, out).of('ports');
      expect(port).toMatchObject({
        state: 'failure',
        found: 'this process has no right to port 81 (--port)',
      });
      expect(port!.remedy).toContain('setcap cap_net_bind_service=+ep');
    },
  );
});

describe('disk', () => {
  test('a file in the way is a failure', async () => {
    writeFileSync(join(folder, 'file'), '');
    for (const data of [join(folder, 'file'), join(folder, 'file/below')]) {
      const { code, of } = await examine(['--data', data]);
      expect([code, of('disk')]).toEqual([
        1,
        [
          expect.objectContaining({
            state: 'failure',
            found: `\`${join(folder, 'file')}\` is a file where a folder is needed`,
          }),
        ],
      ]);
    }
  });

  test('a folder whose parent is missing as well is a warning', async () => {
    const { of } = await examine(['--data', join(folder, 'typo/data')]);
    expect(of('disk')[0]).toMatchObject({ state: 'warning' });
  });

  test('the folder of a node is no missing store', async () => {
    const data = join(folder, 'node');
    mkdirSync(join(data, 'plans'), { recursive: true });
    const { of } = await examine(['--data', data]);
    expect(of('database')[0]!.found).toContain('is the folder of a node');
  });

  test('a folder that others may open is a warning', async () => {
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o755);
    const { of } = await examine(['--data', open]);
    expect(of('disk').at(-1)).toMatchObject({ state: 'warning', remedy: `chmod 700 ${open}` });
  });
});

describe('secrets key', () => {
  test('that of a running server is fine, one that others may read is a warning, a wrong one a failure', async () => {
    const found = async (args: readonly string[]) => (await examine(args)).of('secrets key');
    expect(await found(server.data)).toEqual([expect.objectContaining({ state: 'fine' })]);
    expect(await found([])).toEqual([expect.objectContaining({ state: 'skipped' })]);
    expect(await found(['--database', POSTGRES])).toEqual([expect.objectContaining({ state: 'skipped' })]);
    const file = join(folder, 'secrets.key');
    writeFileSync(file, Buffer.alloc(32).toString('base64'), { mode: 0o644 });
    expect(await found(['--secrets-key', file])).toEqual([expect.objectContaining({ state: 'warning' })]);
    writeFileSync(file, 'wrong');
    const [wrong] = await found(['--secrets-key', file]);
    expect(wrong).toMatchObject({ state: 'failure', remedy: expect.stringContaining('openssl rand') });
    const away = await found(['--secrets-key', join(folder, 'away'), '--database', POSTGRES]);
    expect(away).toEqual([expect.objectContaining({ state: 'failure' })]);
  });
});

describe('database', () => {
  test('the store of a running server opens, beside it', async () => {
    const { of } = await examine([...server.data]);
    expect(of('database')).toEqual([expect.objectContaining({ state: 'fine' })]);
    expect((await server.call('GET', '/domains/')).status).toBe(200);
  });

  test('tables of an older version are a warning, of a newer one a failure, and stay as they are', async () => {
    const data = join(folder, 'versions');
    await edgeplan(['account', 'create', 'ann', '--data', data], { cwd: folder });
    const version = (): number => {
      const database = openDatabase(join(data, 'edgeplan.db'));
      const { user_version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
      database.close();
      return user_version;
    };
    const current = version();
    for (const [found, state] of [
      [current - 1, 'warning'],
      [current + 1, 'failure'],
    ] as const) {
      const database = openDatabase(join(data, 'edgeplan.db'));
      database.exec(`PRAGMA user_version=${found}`);
      database.close();
      const report = await examine(['--data', data]);
      expect(report.of('database')).toEqual([expect.objectContaining({ state })]);
      expect(report.of('database')[0]!.found).toContain(`version ${found}, this edgeplan makes ${current}`);
      expect(version()).toBe(found);
    }
  });

  test('PostgreSQL is opened and its clock is compared; a wrong port and name are failures', async () => {
    const fine = await examine(['--database', POSTGRES]);
    expect(fine.of('database')[0]).toMatchObject({ state: 'fine' });
    expect(fine.of('clock')[0]).toMatchObject({ state: 'fine' });
    const wrong = new URL(POSTGRES);
    wrong.port = '9';
    const away = await examine(['--database', wrong.href]);
    expect([away.code, away.of('database')[0]]).toEqual([1, expect.objectContaining({ state: 'failure' })]);
    expect(away.of('database')[0]!.found).toContain('ECONNREFUSED');
    expect(away.of('clock')[0]).toMatchObject({ state: 'skipped' });
    const unknown = new URL(POSTGRES);
    unknown.pathname = '/no_such_database';
    expect((await examine(['--database', unknown.href])).of('database')[0]!.found).toContain(
      'does not exist',
    );
  });

  test('the password of an address is not printed', async () => {
    const { out } = await edgeplan(['doctor', '--database', 'postgres://me:hunter2@127.0.0.1:9/x'], {
      cwd: folder,
    });
    expect(out).toContain('postgres://me:***@127.0.0.1:9/x');
    expect(out).not.toContain('hunter2');
  });
});

describe('feed', () => {
  test('a control plane that accepts the token and signs with the trusted key is fine', async () => {
    const { code, of } = await examine([
      '--control',
      server.url,
      '--token',
      token,
      '--trust',
      trust,
      '--port',
      '0',
    ]);
    expect([code, of('feed').map(({ state }) => state)]).toEqual([0, ['fine', 'fine']]);
    expect(of('feed')[0]!.found).toContain('the token of node 1 `eu-1`');
    expect(of('feed')[1]!.found).toMatch(/signed with the key `[0-9a-f]{16}`, in epoch \d+/);
    expect(of('clock')).toEqual([expect.objectContaining({ state: 'fine' })]);
  });

  test('a token that is refused, no token, and a dead control plane are failures with remedies', async () => {
    const refused = await examine(['--control', server.url, '--token', `edn_${'x'.repeat(43)}`]);
    expect([refused.code, refused.of('feed')[0]]).toEqual([1, expect.objectContaining({ state: 'failure' })]);
    expect(refused.of('feed')[0]!.found).toContain('refuses this node token');
    expect(refused.of('feed')[0]!.remedy).toContain('edgeplan node-token create');
    const none = await examine(['--control', server.url]);
    expect(none.of('feed')[0]!.remedy).toContain('--token-file');
    const dead = await examine(['--control', 'http://127.0.0.1:9', '--token', token]);
    expect(dead.of('feed')[0]).toMatchObject({
      state: 'failure',
      found: 'the control plane cannot be reached: ECONNREFUSED',
    });
    expect(dead.of('clock')[0]).toMatchObject({ state: 'skipped' });
  });

  test('another server at the address of the control plane is a failure that says so', async () => {
    const other = createHttpServer((_request, response) => void response.writeHead(404).end('no\n'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { of } = await examine(['--control', url, '--token', token]);
    expect(of('feed')[0]).toMatchObject({
      state: 'failure',
      found: `\`${url}\` answers and is no control plane: it has no /nodes/self (404)`,
    });
    other.close();
  });

  test('a key that --trust does not lead to is a failure', async () => {
    // Another key of the right form: the point of RFC 8032 §7.1, test 1.
    const other = Buffer.concat([
      Buffer.from('302a300506032b6570032100', 'hex'),
      Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex'),
    ]).toString('base64');
    const { of } = await examine(['--control', server.url, '--token', token, '--trust', other]);
    expect(of('feed')[0]).toMatchObject({ state: 'failure' });
    expect(of('feed')[0]!.remedy).toContain('edgeplan signing-key show');
  });
});

describe('file', () => {
  test('an edge file that compiles is fine, one with a mistake and a missing one are failures', async () => {
    writeFileSync(join(folder, 'good.yaml'), 'domain: shop.test\nrecords: []\nrules: []\n');
    writeFileSync(join(folder, 'bad.yaml'), 'domain: shop.test\nrulez: []\n');
    for (const [file, state] of [
      ['good.yaml', 'fine'],
      ['bad.yaml', 'failure'],
      ['missing.yaml', 'failure'],
    ] as const) {
      expect((await examine(['--file', file])).of('file')).toEqual([expect.objectContaining({ state })]);
    }
  });
});

describe('clock', () => {
  const FAKETIME = missingProgram('faketime');
  test('a clock that is two minutes ahead is a warning', requires(FAKETIME), async () => {
    const line = `faketime -f '+120s' $EDGEPLAN doctor --json --data ${join(folder, 'none')} --control ${server.url} --token ${token}`;
    const env = { FAKETIME_DONT_FAKE_MONOTONIC: '1' };
    const { code, out } = await shell(line, { cwd: folder, env });
    const [finding] = reportOf(code, out).of('clock');
    expect(finding).toMatchObject({ state: 'warning' });
    expect(finding!.found).toMatch(/^this machine's clock is 1[12]\d s ahead of that of the control plane$/);
  });
});

describe('dns', () => {
  test('a resolver that answers is fine, one that refuses a warning, a dead one a failure', async () => {
    const good = await startDnsServer('127.0.0.1', 0, () => ({ answers: [] }));
    const bad = await startDnsServer('127.0.0.1', 0, () => ({ rcode: REFUSED }));
    const fine = await examine(['--resolver', `127.0.0.1:${good.port}`]);
    expect(fine.of('dns')).toEqual([expect.objectContaining({ state: 'fine' })]);
    const refused = await examine(['--resolver', `127.0.0.1:${bad.port}`]);
    expect(refused.of('dns')).toEqual([expect.objectContaining({ state: 'warning' })]);
    await good.stop();
    await bad.stop();
    const dead = await examine(['--resolver', `127.0.0.1:${good.port}`]);
    expect([dead.code, dead.of('dns')]).toEqual([1, [expect.objectContaining({ state: 'failure' })]]);
  });
});

// Skipped only where there is no openssl; the reason is printed above.
describe('certificates', requires(OPENSSL_MISSING), () => {
  test('pairs are named with their end; one that ends soon is a warning, one without its key a failure', async () => {
    const pairs = join(folder, 'pairs');
    const make = (name: string, days: number): Promise<void> =>
      makeCertificate({
        names: [name],
        days,
        cert: join(pairs, `${name}.crt`),
        key: join(pairs, `${name}.key`),
      });
    await make('long.example', 90);
    const long = await examine(['--certificates', pairs]);
    expect(long.of('certificates')).toEqual([expect.objectContaining({ state: 'fine' })]);
    await make('soon.example', 5);
    const soon = await examine(['--certificates', pairs]);
    expect(
      soon
        .of('certificates')
        .map(({ state }) => state)
        .sort(),
    ).toEqual(['fine', 'warning']);
    rmSync(join(pairs, 'long.example.key'));
    const broken = await examine(['--certificates', pairs]);
    expect([broken.code, broken.of('certificates').map(({ state }) => state)]).toEqual([
      1,
      ['failure', 'warning'],
    ]);
  });

  test('a folder that does not exist is a failure', async () => {
    const { code, of } = await examine(['--certificates', join(folder, 'none')]);
    expect([code, of('certificates')]).toEqual([1, [expect.objectContaining({ state: 'failure' })]]);
  });
});
