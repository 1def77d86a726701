/**
 * The packages as npm installs them in empty folders: how many packages come along, what their types and modules need, and
 * `edgeplan` without its optional dependencies.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPTIONAL_PACKAGES } from '../../src/base/platform/optional-packages.ts';
import { ANY_PORT } from '../support/any-port.ts';
import { builtCli } from '../support/built.ts';
import { sealedPlan } from '../support/embed.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE = 600_000;
/** Errors of npm that mean that the registry is out of reach. */
const OFFLINE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|ENOTCACHED/;

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-packages-'));
beforeAll(builtCli, PATIENCE);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, args: readonly string[], cwd: string): Ran {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** A folder with the packed package installed; `null`: the registry is out of reach. */
function install(name: string, { args = [] as readonly string[] } = {}): string | null {
  const home = join(folder, `${name}${args.join('')}`);
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }');
  writeFileSync(join(home, 'plan.edgeplan'), sealedPlan({ domain: 'example.com' }));
  const from = name === 'edgeplan' ? ROOT : join(ROOT, 'packages', name);
  const packed = run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', home], from);
  expect(packed.status, packed.stderr).toBe(0);
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', ...args];
  const { status, stderr } = run('npm', ['install', ...flags, join(home, packed.stdout.trim())], home);
  if (status !== 0 && OFFLINE.test(stderr) && process.env['CI'] === undefined) return null;
  expect(status, stderr).toBe(0);
  return home;
}

/** The packages that are installed, by name. */
function installed(home: string): readonly string[] {
  const text = readFileSync(join(home, 'node_modules/.package-lock.json'), 'utf8');
  const paths = Object.keys((JSON.parse(text) as { readonly packages: object }).packages);
  return paths.map((path) => path.replace(/^.*node_modules\//, ''));
}

/** The errors of a module in TypeScript, with the libraries' own declarations checked. */
function typeErrors(
  home: string,
  code: string,
  { resolution, types }: { resolution: string; types: readonly string[] },
): string {
  writeFileSync(join(home, 'consumer.ts'), code);
  const compilerOptions = {
    target: 'ES2023',
    module: resolution === 'Bundler' ? 'ESNext' : resolution,
    moduleResolution: resolution,
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    types,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    strict: true,
    noEmit: true,
    skipLibCheck: false,
  };
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
  return run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', home], home).stdout;
}

function node(home: string, code: string): Ran {
  return run(process.execPath, ['--input-type=module', '-e', code], home);
}

const DECIDE = `
import { loadPlan, type Decision } from '@edgeplan/evaluator';
const evaluator = loadPlan(new Uint8Array());
const decision: Decision = evaluator.evaluate({
  scheme: 'https', method: 'GET', host: 'example.com', target: '/', headers: {}, ip: null,
});
// @ts-expect-error a status is a number
const status: string = decision.status;
export { status };
`;

test('@edgeplan/evaluator is one package of at most 1 MB, for ES modules, CommonJS, types and bundles', {
  timeout: PATIENCE,
}, async (context) => {
  const home = install('evaluator');
  if (home === null) return context.skip('the npm registry is out of reach');
  expect(installed(home)).toEqual(['@edgeplan/evaluator']);
  const own = join(home, 'node_modules/@edgeplan/evaluator');
  const octets = readdirSync(own, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .reduce((sum, { parentPath, name }) => sum + readFileSync(join(parentPath, name)).length, 0);
  expect(octets).toBeLessThan(1_000_000);
  for (const resolution of ['NodeNext', 'Bundler']) {
    expect(typeErrors(home, DECIDE, { resolution, types: [] })).toBe('');
  }
  const decide = `const e = loadPlan(require('node:fs').readFileSync('plan.edgeplan'));
    const ask = (host) => e.evaluate({ scheme: 'https', method: 'GET', host, target: '/', headers: {}, ip: null }).status;
    console.log(ask('example.com'), ask('b\\u00fccher.example.com'), ask('xn--bcher-kva.example.com'));`;
  writeFileSync(join(home, 'decide.cjs'), `const { loadPlan } = require('@edgeplan/evaluator');\n${decide}`);
  const required = run(process.execPath, ['decide.cjs'], home);
  expect([required.status, required.stderr]).toEqual([0, '']);
  const imported = node(
    home,
    `import { createRequire } from 'node:module';\nimport { loadPlan } from '@edgeplan/evaluator';\nconst require = createRequire(import.meta.url);\n${decide}`,
  );
  expect([imported.stdout, imported.stderr]).toEqual([required.stdout, '']);
  const [plain, unicode, ascii] = required.stdout.trim().split(' ');
  expect([plain, unicode]).toEqual(['null', ascii]);
  const { warnings, outputFiles } = await build({
    stdin: { contents: "export { loadPlan } from '@edgeplan/evaluator';", resolveDir: home },
    ...{ bundle: true, platform: 'neutral', format: 'esm', write: false, logLevel: 'silent' },
  });
  expect(warnings).toEqual([]);
  expect(outputFiles[0]!.text).not.toContain('node:');
});

test('@edgeplan/compiler installs its own dependencies alone, and its plans open', {
  timeout: PATIENCE,
}, (context) => {
  const home = install('compiler');
  if (home === null) return context.skip('the npm registry is out of reach');
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'packages/compiler/package.json'), 'utf8'));
  expect([...installed(home)].sort()).toEqual(
    ['@edgeplan/compiler', 'punycode', ...Object.keys(dependencies)].sort(),
  );
  const code = `import { compile, formatDiagnostic, readEdgeFile, seal } from '@edgeplan/compiler';
    const read = readEdgeFile('domain: example.com\\nrecords: [{ name: www }]\\n', 'edge.yaml');
    if (!read.ok) throw new Error(read.diagnostics.map(formatDiagnostic).join());
    console.log(seal(compile(read.ruleSet).plan).length > 100);`;
  for (const resolution of ['NodeNext', 'Bundler']) {
    expect(typeErrors(home, code, { resolution, types: [] })).toBe('');
  }
  expect(node(home, code)).toEqual({ status: 0, stdout: 'true\n', stderr: '' });
});

test('@edgeplan/edge needs no framework and no SQLite, and names what following a server needs', {
  timeout: PATIENCE,
}, (context) => {
  const home = install('edge');
  if (home === null) return context.skip('the npm registry is out of reach');
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'packages/edge/package.json'), 'utf8'));
  expect([...installed(home)].sort()).toEqual(
    ['@edgeplan/edge', 'punycode', ...Object.keys(dependencies)].sort(),
  );
  const code = `import { createServer } from 'node:http';
    import { readFileSync } from 'node:fs';
    import { createEdge } from '@edgeplan/edge/node';
    const edge = await createEdge({ plans: [readFileSync('plan.edgeplan')] });
    createServer(edge.wrap((request, response) => { response.end(request.edge?.id); }));
    console.log(edge.size);
    await edge.close();`;
  for (const resolution of ['NodeNext', 'Bundler']) {
    expect(typeErrors(home, code, { resolution, types: ['node'] })).toBe('');
    const web = `import { createEdge } from '@edgeplan/edge/fetch';\nconsole.log(createEdge({}));`;
    expect(typeErrors(home, web, { resolution, types: [] })).toBe('');
  }
  expect(node(home, code)).toEqual({ status: 0, stdout: '1\n', stderr: '' });
  const pathOf = (name: string): string => JSON.stringify(join(ROOT, 'packages', name));
  const caught = node(
    home,
    `import { createRequire } from 'node:module';
     import { createEdge, PlanFault } from '@edgeplan/edge/node';
     const { loadPlan, PlanFault: OfEvaluator } = createRequire(import.meta.url)(${pathOf('evaluator')} + '/dist/index.js');
     try { loadPlan(new Uint8Array()); } catch (error) { console.log(error instanceof PlanFault, error instanceof OfEvaluator); }
     console.log(new Error() instanceof PlanFault);`,
  );
  expect(caught).toEqual({ status: 0, stdout: 'true true\nfalse\n', stderr: '' });
  const follows = node(
    home,
    `import { createEdge } from '@edgeplan/edge/node';
     await createEdge({ control: { url: 'http://127.0.0.1:1', token: 'x', folder: 'f' } }).catch(({ message }) => console.log(message));`,
  );
  expect(follows.stdout).toBe(
    'the folder is locked with SQLite, and the package `@photostructure/sqlite` is not installed: npm install @photostructure/sqlite@1\n',
  );
});

describe('edgeplan without optional dependencies', () => {
  let home: string | null;
  beforeAll(() => {
    home = install('edgeplan', { args: ['--omit=optional'] });
    if (home === null) return;
    const rules =
      'domain: example.com\nrecords: [{ name: www, type: A, destination: 127.0.0.1, proxied: true }]\n';
    writeFileSync(join(home, 'edge.yaml'), rules);
    writeFileSync(join(home, 'any-port.js'), ANY_PORT);
    mkdirSync(join(home, 'certs'));
  }, PATIENCE);
  const edgeplan = (args: readonly string[]): Ran =>
    run(process.execPath, [join(home!, 'node_modules/edgeplan/dist/cli/main.js'), ...args], home!);

  test('installs none of their packages, but what others need', (context) => {
    if (home === null) return context.skip('the npm registry is out of reach');
    const optional: readonly string[] = Object.values(OPTIONAL_PACKAGES).flat();
    // `prom-client` depends on it.
    expect(installed(home).filter((name) => optional.includes(name))).toEqual(['@opentelemetry/api']);
  });

  test.each([
    [['--help'], /^Usage: edgeplan/],
    [['simulate', 'https://www.example.com/'], /www\.example\.com/],
    [['compile', '-o', 'compiled.edgeplan'], /compiled\.edgeplan/],
    [['account', 'create', 'shop', '--data', 'store'], /shop/],
    [['serve', '--help'], /--database/],
    [['node', '--help'], /--otlp/],
  ])('`edgeplan %j` runs', (args, printed) => {
    const { status, stdout, stderr } = edgeplan(args);
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('not installed')]);
    expect(stdout + stderr).toMatch(printed);
  });

  test.each([
    [['node', '--file', 'edge.yaml', '--port', '0']],
    [['serve', '--data', 'served', '--port', '0', '--ops-port', '0']],
  ])('`edgeplan %j` listens', async (args) => {
    const main = join(home!, 'node_modules/edgeplan/dist/cli/main.js');
    const child = spawn(process.execPath, [main, ...args], {
      cwd: home!,
      env: { ...process.env, EDGEPLAN_DRAIN: '0' },
    });
    let printed = '';
    const ended = once(child, 'exit');
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
    }
    await Promise.race([expect.poll(() => printed).toContain('listening on'), ended]);
    child.kill();
    await ended;
    expect(printed).toContain('listening on');
  });

  test.each([
    ['a PostgreSQL database', 'pg@', ['serve', '--database', 'postgres://edge@127.0.0.1:1/edge']],
    [
      'a PostgreSQL database',
      'pg@',
      ['key', 'create', 'shop', '--database', 'postgres://edge@127.0.0.1:1/edge'],
    ],
    ['--otlp', '@opentelemetry/core@', ['serve', '--data', 'store', '--otlp', 'http://127.0.0.1:4318']],
    ['--otlp', '@opentelemetry/core@', ['node', '--file', 'edge.yaml', '--otlp', 'http://127.0.0.1:4318']],
    [
      '--smtp',
      'nodemailer@',
      ['serve', '--data', 'store', '--smtp', 'smtp://127.0.0.1', '--mail-from', 'a@b.example'],
    ],
    ['--acme', 'acme-client@', ['serve', '--data', 'store', '--acme', 'https://127.0.0.1/directory']],
    [
      '--acme',
      'acme-client@',
      [
        ...['node', '--file', 'edge.yaml', '--certificates', 'certs'],
        ...['--acme', 'https://127.0.0.1/directory', '--acme-name', 'www.example.com'],
      ],
    ],
  ])('%s names the missing package (%s) and how to install it', (what, version, args) => {
    const { status, stderr } = edgeplan(args);
    expect(status, stderr).toBe(4);
    expect(stderr).toMatch(
      new RegExp(`^edgeplan: ${what} needs the packages? \`${version.slice(0, -1)}\``, 'm'),
    );
    expect(stderr).toMatch(new RegExp(`npm install .*${version}\\d`));
    expect(stderr).not.toContain('bug');
  });

  test('`edgeplan doctor` advises the installation alone', () => {
    const address = 'postgres://edge@127.0.0.1:1/edge';
    const { stdout, stderr } = edgeplan(['doctor', '--database', address]);
    const printed = stdout + stderr;
    expect(printed).toContain('needs the packages `pg`, `pg-connection-string`, which are not installed');
    expect(printed).toMatch(/npm install pg@\S+ pg-connection-string@\d/);
    expect(printed).not.toContain('check host');
  });
});
