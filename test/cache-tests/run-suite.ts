/** Runs a checkout of http-tests/cache-tests against a node. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CACHE_HOST, startCacheNode } from '../support/edge-cache.ts';
import { freePort } from '../support/free-ports.ts';

/** Of one test: what the suite calls its kind, and what came of it. */
export interface SuiteResult {
  readonly id: string;
  readonly kind: 'required' | 'optimal' | 'check';
  readonly outcome: 'pass' | 'fail' | 'dependency' | 'setup';
  readonly detail: string;
}

export interface SuiteOptions {
  /** Where the suite lies. */
  readonly directory: string;
  /** One test alone; absent: all. */
  readonly id?: string;
}

/** Runs the suite's own server and client as processes, the node in this one. */
export async function runSuite({ directory, id }: SuiteOptions): Promise<{
  readonly results: readonly SuiteResult[];
  readonly faults: readonly unknown[];
  readonly output: string;
}> {
  const originPort = await freePort();
  const env = {
    ...process.env,
    npm_config_protocol: 'http',
    npm_config_id: id ?? '',
    npm_package_config_id: id ?? '',
  };
  const pidfile = join(directory, 'server.pid');
  const server = spawn(process.execPath, ['test-engine/server/server.mjs'], {
    cwd: directory,
    env: { ...env, npm_config_port: String(originPort), npm_config_pidfile: pidfile },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(server.stdout, 'data');
  server.stdout.resume();
  const node = await startCacheNode({ originPort });
  try {
    const base = `http://${CACHE_HOST}:${node.port}`;
    const preload = new URL('./resolve.mjs', import.meta.url).href;
    const client = spawn(process.execPath, ['--no-warnings', '--import', preload, 'test-engine/cli.mjs'], {
      cwd: directory,
      env: { ...env, npm_config_base: base },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    client.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
    await once(client, 'close');
    const results = id === undefined ? await judged(directory, JSON.parse(output)) : [];
    return { results, faults: node.faults, output };
  } finally {
    await node.stop();
    server.kill();
  }
}

interface SuiteTest {
  readonly id: string;
  readonly kind?: SuiteResult['kind'];
  readonly browser_only?: boolean;
}

/** The suite's own judgement of what its client found. */
async function judged(directory: string, found: Readonly<Record<string, unknown>>): Promise<SuiteResult[]> {
  const load = (path: string): Promise<Record<string, unknown>> =>
    import(/* @vite-ignore */ pathToFileURL(join(directory, path)).href);
  const suites = (await load('tests/index.mjs')).default as readonly {
    readonly tests: readonly SuiteTest[];
  }[];
  const { determineTestResult } = (await load('test-engine/lib/results.mjs')) as {
    determineTestResult: (suites: unknown, id: string, found: unknown) => readonly string[];
  };
  const tests = suites.flatMap((suite) => suite.tests).filter((test) => test.browser_only !== true);
  return tests.map(({ id, kind = 'required' }) => {
    const symbol = determineTestResult(suites, id, found)[2]!;
    const detail = Array.isArray(found[id]) ? String(found[id][1]) : '';
    return { id, kind, outcome: OUTCOMES[symbol] ?? 'fail', detail };
  });
}

const OUTCOMES: Readonly<Record<string, SuiteResult['outcome']>> = {
  '✅': 'pass',
  Y: 'pass',
  '⛔️': 'fail',
  '⚠️': 'fail',
  N: 'fail',
  '⚪️': 'dependency',
  '🔹': 'setup',
  '⁉️': 'setup',
  '↻': 'setup',
};
