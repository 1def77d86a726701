/** `edgeplan serve` as a process of its own with an account and a key, and commands against it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, send } from './api.ts';
import { edgeplan, type Run, startEdgeplan } from './built.ts';
import { metricAt } from './metric.ts';
import { ALLOW_ORIGINS } from './origin-bounds.ts';
import { until } from './publish-setup.ts';

export interface Served {
  readonly folder: string;
  /** Options that name its store. */
  readonly data: readonly string[];
  readonly url: string;
  readonly key: string;
  /** What a shell needs to reach it. */
  readonly env: Readonly<Record<string, string>>;
  readonly pid: number;
  readonly port: number;
  /** `http://127.0.0.1:port` of its health and metrics listener. */
  readonly operations: string;
  /** What it has printed so far. */
  said(): string;
  /** Its log so far: errors alone. */
  logged(): string;
  /** Runs a command that asks this server. */
  run(args: readonly string[], input?: string): Promise<Run>;
  /** A request; one beyond the budget of the key, which a test that polls uses up, is sent again when it may. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  metric(series: string): Promise<number>;
  /** Makes a node; answers the environment that it is started in. */
  node(name: string): Promise<Readonly<Record<string, string>>>;
  /** Makes an active domain. */
  domain(name: string): Promise<void>;
  /** Ends it, if it has not ended, and removes its folder; a database that was named stays. */
  stop(): Promise<void>;
}

export interface ServeOptions {
  /** The address of a database, or a data folder; by default a new folder. */
  readonly database?: string;
  readonly tier?: string;
  /** The address of an OpenTelemetry collector, which gets all traces. */
  readonly otlp?: string;
  /** Names are proven without a lookup; true by default. */
  readonly trustNames?: boolean;
  /** Further options of `edgeplan serve`, and variables of its environment. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a server that trusts names, on free ports. */
export async function serve({
  database,
  tier,
  otlp,
  trustNames = true,
  args = [],
  env: own,
}: ServeOptions = {}): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-served-'));
  const where = database ?? join(folder, 'data');
  const data = [where.startsWith('postgres') ? '--database' : '--data', where];
  const options = [
    '--port',
    '0',
    '--ops-port',
    '0',
    ...(trustNames ? ['--trust-names'] : []),
    '--log-level',
    'error',
    ...ALLOW_ORIGINS,
  ];
  const tiered = tier === undefined ? [] : ['--tier', tier];
  const exported = otlp === undefined ? [] : ['--otlp', otlp, '--trace-ratio', '1'];
  const child = startEdgeplan(['serve', ...data, ...options, ...tiered, ...exported, ...args], {
    cwd: folder,
    ...(own === undefined ? {} : { env: own }),
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  let [said, logged] = ['', ''];
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    logged += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [, url] = await until(() => /listening on (\S+)/.exec(said), 'the server');
  const [, operations] = await until(() => /operators: (\S+)\/metrics/.exec(said), 'its metrics');
  const port = Number(new URL(url!).port);
  await edgeplan(['account', 'create', 'owner', ...data], { cwd: folder });
  const made = await edgeplan(['key', 'create', 'owner', ...data], { cwd: folder });
  const key = made.out.trim();
  const env = { EDGEPLAN_SERVER: url!, EDGEPLAN_KEY: key };
  const call: Served['call'] = async (method, path, body) => {
    const answer = await send(port, { method, path, body, headers: { authorization: `Bearer ${key}` } });
    if (answer.status !== 429) return answer;
    await wait(1_000 * Number(answer.headers['retry-after']));
    return call(method, path, body);
  };
  const run: Served['run'] = (args, input) =>
    edgeplan(args, { cwd: folder, env, ...(input === undefined ? {} : { input }) });
  return {
    folder,
    data,
    url: url!,
    key,
    env,
    pid: child.pid!,
    port,
    operations: operations!,
    said: () => said,
    logged: () => logged,
    call,
    run,
    metric: (series) => metricAt(operations!, series),
    async node(name) {
      const { out } = await run(['node-token', 'create', name, ...data]);
      const lines = out.trim().split('\n');
      return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    },
    async domain(name) {
      await call('POST', '/domains/', { name });
      await call('POST', `/domains/${name}/check-ns`);
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
