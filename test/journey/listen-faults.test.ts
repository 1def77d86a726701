/** Ports and folders that a server or a node cannot use: each message names the cause and the option. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, edgeplan, type Run, shell } from '../support/built.ts';
import { missingProgram, requires } from '../support/requires.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-listen-'));
let occupant: Server;
let taken: number;

beforeAll(async () => {
  await builtCli();
  writeFileSync(join(folder, 'edge.yaml'), 'domain: app.localhost\n');
  occupant = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => occupant.once('listening', resolve));
  taken = (occupant.address() as AddressInfo).port;
}, 120_000);
afterAll(() => {
  occupant.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The start of a command line on free ports; later options replace them. */
const COMMANDS = {
  serve: ['serve', '--data', join(folder, 'store'), '--port', '0', '--ops-port', '0', '--log-level', 'error'],
  node: ['node', '--file', 'edge.yaml', '--data', join(folder, 'node'), '--port', '0'],
  try: ['try', '--port', '0', '--ops-port', '0'],
} as const;
type Name = keyof typeof COMMANDS;

const run = (name: Name, ...more: readonly string[]): Promise<Run> =>
  edgeplan([...COMMANDS[name], ...more], { cwd: folder });

describe('a port in use', () => {
  test.each([
    ['serve', '--port'],
    ['serve', '--ops-port'],
    ['node', '--port'],
    ['node', '--ops-port'],
    ['try', '--ops-port'],
  ] as const)('ends %s with the option %s that changes it', async (name, option) => {
    const { code, err } = await run(name, option, String(taken));
    expect([code, err]).toEqual([
      4,
      `edgeplan: port ${taken} is taken\n  choose another with ${option}, or end the process that listens there\n`,
    ]);
  });

  test('one port for two options is a mistake of the command line', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => probe.once('listening', resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const { code, err } = await run('serve', '--port', String(port), '--ops-port', String(port));
    expect([code, err]).toEqual([2, `edgeplan: --port and --ops-port are the same port, ${port}\n`]);
  });
});

describe('an address of another machine', () => {
  test.each(['serve', 'node', 'try'] as const)('ends %s with what --host takes', async (name) => {
    const { code, err } = await run(name, '--host', '192.0.2.1');
    expect([code, err]).toEqual([
      4,
      'edgeplan: `192.0.2.1` is no address of this machine\n  --host takes one of its own: 127.0.0.1 for this machine alone, 0.0.0.0 or :: for all\n',
    ]);
  });
});

const DROP = 'setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps -all --bounding-set -all';
const IS_ROOT = process.getuid?.() === 0;
const NO_SETPRIV = IS_ROOT ? missingProgram('setpriv', 'util-linux') : null;

describe('no right', requires(NO_SETPRIV), () => {
  /** Runs as a user without privileges, in a folder that everyone may enter. */
  const unprivileged = (line: string): Promise<Run> =>
    shell(`${IS_ROOT ? `${DROP} ` : ''}$EDGEPLAN ${line}`, { cwd: '/' });

  test('to a port below 1024 is said with what gives it', async () => {
    const data = mkdtempSync(join(tmpdir(), 'edgeplan-anyone-'));
    if (IS_ROOT) await shell(`chown 65534:65534 ${data}`, { cwd: folder });
    const file = join(data, 'edge.yaml');
    writeFileSync(file, 'domain: app.localhost\n');
    const node = await unprivileged(`node --file ${file} --data ${data}/node --port 81`);
    const serve = await unprivileged(`serve --data ${data}/store --port 81 --ops-port 0`);
    for (const { code, err } of [node, serve]) {
      expect(code).toBe(4);
      expect(err).toMatch(
        /^edgeplan: this process has no right to port 81\n {2}choose a port from 1024 with --port, .*setcap/,
      );
    }
    rmSync(data, { recursive: true, force: true });
  });

  test('to a folder names the folder, and no port', async () => {
    const place = mkdtempSync(join(tmpdir(), 'edgeplan-anyone-'));
    const file = join(place, 'edge.yaml');
    await shell(`chmod 755 ${place}; echo 'domain: app.localhost' > ${file}`, { cwd: folder });
    const { code, err } = await unprivileged(`node --file ${file} --data /root-only/node --port 0`);
    expect([code, err]).toEqual([3, 'edgeplan: `/root-only` may not be written: permission denied\n']);
    rmSync(place, { recursive: true, force: true });
  });
});

const NO_PROC = existsSync('/proc/self') ? null : 'this system has no /proc';
// Skipped only where there is no /proc; the reason is printed above.
describe('a folder that cannot be made', requires(NO_PROC), () => {
  test.each(['/proc/self/foo', '/proc/foo'])('init and serve end at once for %s', async (place) => {
    const init = await edgeplan(['init', place], { cwd: folder });
    expect([init.code, init.err]).toEqual([
      3,
      `edgeplan: \`${place}\` cannot be written: its file system takes no new folder there\n`,
    ]);
    const serve = await run('serve', '--data', place);
    expect([serve.code, serve.err]).toEqual([
      4,
      expect.stringContaining(`the data folder \`${place}\` cannot be used`),
    ]);
    const node = await run('node', '--data', place);
    expect([node.code, node.err]).toEqual([3, expect.stringContaining('takes no new folder')]);
  });

  test('a file in the way is named', async () => {
    writeFileSync(join(folder, 'file'), '');
    const below = await edgeplan(['init', 'file/below'], { cwd: folder });
    expect([below.code, below.err]).toEqual([
      3,
      'edgeplan: `file/below` cannot be written: a part of its path is not a folder\n',
    ]);
  });
});

describe('a country database that is none', () => {
  test('ends serve with the option, not as a bug', async () => {
    const { code, err } = await run('serve', '--countries', 'edge.yaml');
    expect(code).toBe(3);
    expect(err).toMatch(/^edgeplan: --countries: `edge.yaml` cannot be used: /);
  });
});
