/** `@edgeplan/edge` as a consumer gets it, and the programs of `fixtures/embed`, which the README shows. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ANY_PORT } from '../support/any-port.ts';
import { ask } from '../support/ask.ts';
import { builtCli } from '../support/built.ts';
import { sealedPlan } from '../support/embed.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = join(ROOT, 'packages/edge');
const PATIENCE = 120_000;
const ATTACK = "/?id=1'+union+select+password+from+users";

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-embed-'));
const running: ChildProcess[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null) continue;
    child.kill();
    await once(child, 'exit');
  }
});

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`\`${command} ${args.join(' ')}\` failed:\n${stdout}${stderr}`);
  return stdout;
}

beforeAll(async () => {
  await builtCli();
  const packed = run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], PACKAGE);
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  const installed = join(folder, 'node_modules/@edgeplan/edge');
  mkdirSync(installed, { recursive: true });
  run('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', installed], folder);
  const { dependencies } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  const frameworks = ['express', 'fastify', 'hono', '@hono/node-server', '@types/express', '@types/node'];
  for (const name of [...Object.keys(dependencies), ...frameworks]) {
    const link = join(folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
  cpSync(join(ROOT, 'fixtures/embed'), folder, { recursive: true });
  const rules = [
    { id: 1, type: 'drop', path_includes: ['/admin'], ip_match_type: 'include', ips: ['127.0.0.1', '::1'] },
    { id: 2, type: 'waf', paranoia: 1, threshold: 5, body_cap_kb: 64 },
  ];
  writeFileSync(join(folder, 'edge.edgeplan'), sealedPlan({ domain: 'example.com', rules }));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'any-port.js'), ANY_PORT);
  // The line of the README; the types of `@edgeplan/edge/starter.bin` come with the package.
  const modules = "declare module '*.edgeplan' { const octets: Uint8Array; export default octets; }\n";
  writeFileSync(join(folder, 'octets.d.ts'), modules);
}, PATIENCE);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  [
    'Node',
    'NodeNext',
    ['ES2023'],
    ['node'],
    readdirSync(join(ROOT, 'fixtures/embed')).filter((name) => name !== 'worker.ts'),
  ],
  ['a bundler and a Worker', 'Bundler', ['ES2022', 'WebWorker', 'WebWorker.Iterable'], [], ['worker.ts']],
])('the types hold for %s', { timeout: PATIENCE }, (_platform, moduleResolution, lib, types, files) => {
  const compilerOptions = {
    target: 'ES2022',
    module: moduleResolution === 'Bundler' ? 'ESNext' : moduleResolution,
    moduleResolution,
    lib,
    types,
    strict: true,
    // Types of other packages are theirs; ours are checked by being used.
    skipLibCheck: types.length > 0,
  };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: [...files, 'octets.d.ts'] }),
  );
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, '']);
});

test.each(['http', 'express', 'fastify', 'hono'])(
  'the example for %s runs',
  { timeout: PATIENCE },
  async (name) => {
    await build({
      entryPoints: [join(folder, `${name}.ts`)],
      outfile: join(folder, `${name}.js`),
      format: 'esm',
    });
    const child = spawn(process.execPath, ['--import', './any-port.js', `${name}.js`], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.push(child);
    const ended = once(child, 'exit').then(() => {
      throw new Error('the example ended');
    });
    const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
    const port = Number(line);
    ended.catch(() => undefined);
    const sent = { host: 'example.com' };
    const fine = await ask(port, '/a', sent);
    expect([fine.status, fine.body]).toEqual([200, `GET /a, by decision ${fine.headers['x-edgeplan-id']}\n`]);
    expect((await ask(port, '/admin', sent)).status).toBe(403);
    // By the starter signatures, which come with the package.
    expect((await ask(port, ATTACK, sent)).status).toBe(403);
  },
);

test('the example for Workers runs', async () => {
  const outfile = join(folder, 'worker-bundle.js');
  await build({
    entryPoints: [join(folder, 'worker.ts')],
    outfile,
    bundle: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    loader: { '.edgeplan': 'binary', '.bin': 'binary' },
  });
  const { default: worker } = (await import(outfile)) as {
    default: { fetch(request: Request): Promise<Response> };
  };
  const send = (path: string, ip: string): Promise<Response> =>
    worker.fetch(new Request(`https://example.com${path}`, { headers: { 'cf-connecting-ip': ip } }));
  const fine = await send('/admin', '192.0.2.1');
  expect([fine.status, await fine.text()]).toEqual([
    200,
    `GET /admin, by decision ${fine.headers.get('x-edgeplan-id')}\n`,
  ]);
  expect((await send('/admin', '127.0.0.1')).status).toBe(403);
  expect((await send(ATTACK, '192.0.2.1')).status).toBe(403);
});
