/** `edgeplan/client` as a consumer gets it: its types under tsc, its code in Node and in a bundle for a Worker. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE = 120_000;

/** Every line marked as an error has to be one, or tsc says so. */
const CONSUMER = `
import { ApiFault, type Client, type components, createClient, dataOf, ifMatch } from 'edgeplan/client';

const api: Client = createClient({
  baseUrl: 'http://127.0.0.1:1',
  key: 'svc_x',
  fetch: async (request) => Response.json({ error: new URL(request.url).pathname }, { status: 404 }),
});
const params = { path: { domain: 'example.com' } };

const { data, error } = await api.GET('/domains/{domain}', { params });
if (error !== undefined) { const sentence: string = error.error; console.log(sentence); }
else { const status: 'pending' | 'unverified' | 'active' | 'moved' | 'disabled' | 'banned' = data.status; console.log(status); }

const rule: components['schemas']['RateLimitRuleCreate'] = { limit: 100, path_includes: ['/api/*'] };
const made = api.POST('/domains/{domain}/rules/rate-limit/', { params: { ...params, query: { wait: 'published' } }, body: rule });
try { const limit: number = (await dataOf(made)).limit; console.log(limit); }
catch (fault) { if (fault instanceof ApiFault) console.log(fault.status, fault.message); }
const conditional = ifMatch('"tag"');
await api.PUT('/domains/{domain}', { params, headers: conditional, body: { sec_no_sniff: true } });

// @ts-expect-error no such path
await api.GET('/domain/', {});
// @ts-expect-error the domain is missing
await api.GET('/domains/{domain}', {});
// @ts-expect-error a limit is a number
await api.POST('/domains/{domain}/rules/rate-limit/', { params, body: { limit: 'ten' } });
// @ts-expect-error a record needs its destination
await api.POST('/domains/{domain}/records/', { params, body: { name: 'www', type: 'A' } });
`;

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-consumer-'));
beforeAll(async () => {
  await builtCli();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/edgeplan'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'consumer.ts'), CONSUMER);
}, PATIENCE);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['Node', 'NodeNext', ['ES2023', 'DOM']],
  ['a bundler and a Worker', 'Bundler', ['ES2022', 'WebWorker']],
])('its types hold for %s', { timeout: PATIENCE }, (_platform, moduleResolution, lib) => {
  const compilerOptions = {
    target: 'ES2022',
    module: moduleResolution === 'Bundler' ? 'ESNext' : moduleResolution,
    moduleResolution,
    lib,
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['consumer.ts'] }));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, '']);
  const ran = spawnSync(process.execPath, [join(folder, 'consumer.js')], { encoding: 'utf8' });
  expect(ran.stderr).toBe('');
  expect(ran.stdout).toBe('/domains/example.com\n404 /domains/example.com/rules/rate-limit/\n');
});

test('the bundled client contains no Node module and stays small', async () => {
  const built = await build({
    entryPoints: [join(ROOT, 'dist/control/client/index.js')],
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    logLevel: 'silent',
  });
  expect(Object.values(built.metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
  expect(built.outputFiles[0]!.contents.byteLength).toBeLessThan(12_000);
  const types = readFileSync(join(ROOT, 'dist/control/client/client.d.ts'), 'utf8');
  expect(types).not.toContain('node:');
});
