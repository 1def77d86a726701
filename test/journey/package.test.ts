/** The package as npm publishes it: its files, its installation in an empty folder, and the example as a consumer runs it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANY_PORT } from '../support/any-port.ts';
import { ask } from '../support/ask.ts';
import { builtCli } from '../support/built.ts';
import { sealedPlan } from '../support/embed.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Bounds in octets: some more than the package has now, so that a folder that slips in is noticed. */
const MOST_PACKED = 4_950_000;
const MOST_UNPACKED = 27_100_000;

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly version: string;
  readonly files: readonly { readonly path: string }[];
}

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-package-'));
let packed: Packed;
let paths: ReadonlySet<string>;

beforeAll(async () => {
  await builtCli();
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout, stderr } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8' });
  expect(stdout, stderr).toContain('"filename"');
  packed = (JSON.parse(stdout) as readonly [Packed])[0];
  paths = new Set(packed.files.map(({ path }) => path));
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Whether the package has a file, or a folder with files. */
function has(path: string): boolean {
  const inside = `${path.replace(/\/$/, '')}/`;
  return paths.has(path) || [...paths].some((one) => one.startsWith(inside));
}

describe('the files', () => {
  test('have no source maps, no tests, no benches and no TypeScript sources of the build', () => {
    const extra = [...paths].filter(
      (path) =>
        path.endsWith('.map') ||
        /^dist\/(?:bench|support)\//.test(path) ||
        /^(?:src|test|bench)\/.*(?<!\.md)$/.test(path),
    );
    expect(extra).toEqual([]);
  });

  test('include every file that a Markdown file of the package links to', () => {
    const missing = [...paths]
      .filter((path) => path.endsWith('.md'))
      .flatMap((path) => {
        const text = readFileSync(join(ROOT, path), 'utf8');
        const targets = [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g)].map(([, target]) => target!);
        return targets
          .filter((target) => !/^[a-z]+:/.test(target))
          .map((target) => posix.join(posix.dirname(path), target))
          .filter((target) => !has(target))
          .map((target) => `${path} → ${target}`);
      });
    expect(missing).toEqual([]);
  });

  test('include every entry of `exports` and `bin`', () => {
    const { exports, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const entries = JSON.stringify([exports, bin]).match(/"(?:\.\/)?dist\/[^"]+"/g)!;
    const missing = entries
      .map((one) => one.slice(1, -1).replace('./', ''))
      .filter((path) => !paths.has(path));
    expect(missing).toEqual([]);
  });

  test('stay within the size bounds', () => {
    const { size, unpackedSize } = packed;
    console.info(`package: ${size} octets packed, ${unpackedSize} unpacked, ${paths.size} files`);
    expect(size).toBeLessThan(MOST_PACKED);
    expect(unpackedSize).toBeLessThan(MOST_UNPACKED);
  });
});

/** Errors of npm that mean that the registry is out of reach. */
const OFFLINE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|ENOTCACHED/;

test('the package installs in an empty folder without a warning about engines, and its command and example run', {
  timeout: 600_000,
}, async (context) => {
  const home = join(folder, 'consumer');
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }');
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, packed.filename)];
  const { status, stderr } = spawnSync('npm', args, { cwd: home, encoding: 'utf8' });
  if (status !== 0 && OFFLINE.test(stderr) && process.env['CI'] === undefined) {
    context.skip('the npm registry is out of reach');
  }
  expect(status, stderr).toBe(0);
  expect(stderr).not.toContain('EBADENGINE');
  const command = spawnSync(join(home, 'node_modules/.bin/edgeplan'), ['--version'], { encoding: 'utf8' });
  expect([command.status, command.stdout]).toEqual([0, `${packed.version}\n`]);

  // The package has the entries of `@edgeplan/edge`, too.
  const example = readFileSync(join(home, 'node_modules/edgeplan/fixtures/embed/http.ts'), 'utf8');
  writeFileSync(join(home, 'http.ts'), example.replace('@edgeplan/edge/', 'edgeplan/'));
  const compilerOptions = {
    target: 'ES2022',
    module: 'NodeNext',
    strict: true,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    outDir: 'built',
  };
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['http.ts'] }));
  const tsc = spawnSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', home], {
    encoding: 'utf8',
  });
  expect([tsc.status, tsc.stdout]).toEqual([0, '']);
  writeFileSync(join(home, 'edge.edgeplan'), sealedPlan({ domain: 'example.com' }));
  writeFileSync(join(home, 'any-port.js'), ANY_PORT);
  const child = spawn(process.execPath, ['--import', './any-port.js', 'built/http.js'], {
    cwd: home,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const answer = await ask(await portOf(child), '/a', { host: 'example.com' });
    expect([answer.status, answer.body]).toEqual([
      200,
      `GET /a, by decision ${answer.headers['x-edgeplan-id']}\n`,
    ]);
  } finally {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
});

/** The port that the example prints. @throws if it ends before */
async function portOf(child: ChildProcess): Promise<number> {
  const lines = createInterface(child.stdout!);
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`the example ended with ${code}`)),
  );
  ended.catch(() => undefined);
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  return Number(line);
}
