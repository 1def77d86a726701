/** `fixtures/certificates/show`: a domain's zone at name servers, its certificate from Pebble, and HTTPS through a node. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, type Run } from '../support/built.ts';
import { PEBBLE_MISSING } from '../support/pebble.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { ENGINES, missingEngine } from '../support/zone-engines.ts';

const SCRIPT = fileURLToPath(new URL('../../fixtures/certificates/show', import.meta.url));
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
/** Ports of the script, from PORT on. */
const PORTS = 11;

const skipped = requires(PEBBLE_MISSING, missingEngine('knot'), missingProgram('curl'));
// PowerDNS has its tests in zone-engines.test.ts.
const engines = ENGINES.filter((kind) => kind !== 'powerdns' && missingEngine(kind) === null);

describe('fixtures/certificates/show', skipped, () => {
  let folder: string;
  beforeAll(async () => {
    await builtCli();
    folder = mkdtempSync(join(tmpdir(), 'edgeplan-show-'));
  }, 240_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function show(args: readonly string[], port: number): Promise<Run> {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(SCRIPT, args, {
      env: { PATH, HOME, TMPDIR: folder, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    // `close`: no process has the pipes any more.
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
  }

  test(`serves a domain and a later host over HTTPS, with the zone at ${engines.join(', ')}`, {
    timeout: 300_000,
  }, async () => {
    const { code, out, err } = await show([...engines, '--', process.execPath, MAIN], await freePorts());
    expect({ code, err, out }).toMatchObject({ code: 0, err: '' });
    const lines = out.split('\n').map((line) => line.trim().replaceAll(/\s+/g, ' '));
    for (const kind of engines)
      for (const host of ['www', 'other'])
        expect(lines).toContain(`${kind}: ${host}.example.test. 300 IN A 127.0.0.1`);
    expect(out).toMatch(/^1 +active +acme .* example\.test, \*\.example\.test +Pebble Intermediate CA/m);
    expect(lines).toContain('DNS:example.test, DNS:*.example.test');
    for (const host of ['www.example.test', 'example.test', 'other.example.test']) {
      expect(out).toMatch(new RegExp(`^the origin answers ${host}:\\d+/hello$`, 'm'));
      expect(out).toMatch(new RegExp(`^${host}: HTTP/(2|1\\.1) 200 from 127\\.0\\.0\\.1, verified: 0$`, 'm'));
    }
    expect(lines).toContain('certificates of example.test: 1');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('names a port that is taken, and leaves nothing', async () => {
    const port = await freePorts();
    const other = createServer().listen(port + 6, '127.0.0.1');
    await once(other, 'listening');
    try {
      const { code, err } = await show(['knot', '--', process.execPath, MAIN], port);
      expect([code, err]).toEqual([
        1,
        `show: port ${port + 6} of 127.0.0.1 is taken; PORT moves all ports\n`,
      ]);
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      other.close();
    }
  });

  test('prints the log of a server that ends, and leaves nothing', { timeout: 240_000 }, async () => {
    const { code, err } = await show(['knot', '--', process.execPath, '-e', 'throw 7'], await freePorts());
    expect(code).toBe(1);
    expect(err).toMatch(/^-- the last lines of server --$/m);
    expect(err).toMatch(/^show: server has ended$/m);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test('shellcheck finds nothing in the script', requires(missingProgram('shellcheck')), () => {
  expect(() => execFileSync('shellcheck', [SCRIPT], { stdio: 'pipe' })).not.toThrow();
});

/** The first of so many consecutive ports on which nobody listens now. */
async function freePorts(): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const ports = Array.from({ length: PORTS }, (_, at) => first + at);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
