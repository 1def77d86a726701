/** `/metrics` of a server and of a node with workers that follows it: the declared metrics, in Prometheus' conventions. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { METRICS, type MetricDeclaration } from '../../src/base/telemetry/metrics/declared.ts';
import { NOTIFY_CHANNELS } from '../../src/control/store/tables/notifications.ts';
import { ZONE_ANSWER_KINDS } from '../../src/control/zones/answer.ts';
import type { CacheResult } from '../../src/edge/cache/lookup.ts';
import { HTML_REASONS } from '../../src/edge/markdown/outcome.ts';
import { ACTIONS } from '../../src/engine/evaluator/decision.ts';
import { builtCli } from '../support/built.ts';
import { findProgram, missingProgram, requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-metrics-'));
let server: Served;
let node: WorkerNode;
const texts = { server: '', node: '' };

beforeAll(async () => {
  await builtCli();
  server = await serve();
  const env = { ...(await server.node('one')), EDGEPLAN_CONTROL: server.url };
  const args = ['--data', join(folder, 'data'), '--log', join(folder, 'decisions.log'), '--workers', '2'];
  node = await startWorkerNode(args, { cwd: folder, env });
  await server.call('GET', '/domains/');
  texts.server = await (await fetch(`${server.operations}/metrics`)).text();
  texts.node = await (await fetch(`${node.operations}/metrics`)).text();
}, 240_000);
afterAll(async () => {
  node.signal('SIGTERM');
  await node.ended;
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The metrics of the project's own that an exposition has: type and help by name. */
function exposed(text: string): Readonly<Record<string, { readonly type: string; readonly help: string }>> {
  const types = [...text.matchAll(/^# TYPE (edgeplan_\w+) (\w+)$/gm)];
  const helps = new Map(
    [...text.matchAll(/^# HELP (edgeplan_\w+) (.+)$/gm)].map(([, name, help]) => [name, help]),
  );
  return Object.fromEntries(types.map(([, name, type]) => [name, { type, help: helps.get(name) }])) as never;
}

/** The declared metrics of some kinds of process. */
function declaredAt(...kinds: readonly MetricDeclaration['at'][number][]): ReturnType<typeof exposed> {
  const own = Object.entries<MetricDeclaration>(METRICS).filter(
    // The server of this test serves no zones and obtains no certificates.
    ([, { at, needs }]) =>
      needs !== '--zones' && needs !== '--acme' && kinds.some((kind) => at.includes(kind)),
  );
  return Object.fromEntries(own.map(([name, { type, help }]) => [name, { type, help }]));
}

/** The label names that samples have, by metric. */
function labelsOf(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, sample, labels] of text.matchAll(/^(edgeplan_\w+)\{(.*)\} /gm)) {
    const name = sample! in METRICS ? sample! : sample!.replace(/_(?:bucket|sum|count)$/, '');
    const names = found.get(name) ?? new Set<string>();
    for (const [, label] of labels!.matchAll(/(\w+)="/g)) names.add(label!);
    found.set(name, names);
  }
  return found;
}

test('a server exposes exactly the metrics that are declared for servers', () => {
  expect(exposed(texts.server)).toEqual(declaredAt('server'));
});

test('a node with workers and a decision log that follows a server exposes exactly the declared ones', () => {
  expect(exposed(texts.node)).toEqual(declaredAt('node', 'workers'));
});

test.each(['server', 'node'] as const)('samples of a %s have declared labels only', (kind) => {
  for (const [name, labels] of labelsOf(texts[kind])) {
    const { labels: known, type }: MetricDeclaration = METRICS[name as keyof typeof METRICS];
    expect([...known, ...(type === 'histogram' ? ['le'] : [])], name).toEqual(
      expect.arrayContaining([...labels]),
    );
  }
});

test.each([
  ['server', ['server']],
  ['node', ['node', 'workers']],
] as const)('counters of a %s have a series for each known value from the start', (kind, at) => {
  const own = Object.entries<MetricDeclaration>(METRICS).filter(
    ([name, metric]) => metric.values !== undefined && texts[kind].includes(`# TYPE ${name} `),
  );
  expect(own.length).toBeGreaterThanOrEqual(kind === 'node' ? 5 : 4);
  for (const [name, metric] of own) {
    expect(
      metric.at.some((one) => (at as readonly string[]).includes(one)),
      name,
    ).toBe(true);
    const known = Object.values(metric.values!).reduce((product, values) => product * values.length, 1);
    const samples = texts[kind].split('\n').filter((line) => line.startsWith(`${name}{`));
    expect(samples.length, name).toBeGreaterThanOrEqual(known);
  }
});

test('the known values of labels are those of the code that counts', () => {
  const cache: Readonly<Record<CacheResult, true>> = {
    ...{ hit: true, stale: true, miss: true, revalidated: true },
    ...{ shared: true, pass: true, bypass: true, unavailable: true },
  };
  const known = {
    edgeplan_zone_answers_total: { kind: ZONE_ANSWER_KINDS },
    edgeplan_node_cache_requests_total: { result: Object.keys(cache) },
    edgeplan_node_markdown_requests_total: { result: ['rendered', ...HTML_REASONS] },
  };
  for (const [name, values] of Object.entries(known))
    expect(METRICS[name as keyof typeof known].values, name).toEqual(values);
  expect(METRICS.edgeplan_notification_deliveries_total.values.channel).toEqual(NOTIFY_CHANNELS);
  expect(METRICS.edgeplan_node_requests_total.values.action).toEqual([...ACTIONS, 'none']);
});

test.each(['server', 'node'] as const)('`edgeplan_build_info` of a %s is 1, with the versions', (kind) => {
  const info = /^edgeplan_build_info\{version="(.*)",node="(.*)",plan_format="(\d+)"\} 1$/m.exec(texts[kind]);
  expect(info?.slice(1)).toEqual([
    expect.stringMatching(/^\d+\.\d+\.\d+/),
    process.versions.node,
    expect.any(String),
  ]);
});

describe('promtool', requires(missingProgram('promtool', 'prometheus')), () => {
  test.each(['server', 'node'] as const)('finds nothing to complain about in the metrics of a %s', (kind) => {
    const { status, stdout, stderr } = spawnSync(findProgram('promtool')!, ['check', 'metrics'], {
      input: texts[kind],
      encoding: 'utf8',
    });
    expect({ status, output: `${stdout}${stderr}` }).toEqual({ status: 0, output: '' });
  });
});
