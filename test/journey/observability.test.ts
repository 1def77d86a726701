/** The alert rules and dashboards of `fixtures/observability` against a real Prometheus that scrapes a server and a node. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { METRICS } from '../../src/base/telemetry/metrics/declared.ts';
import { builtCli } from '../support/built.ts';
import { freePort } from '../support/free-ports.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';
import { ask, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const FOLDER = new URL('../../fixtures/observability/', import.meta.url).pathname;
const PATIENCE_MS = 90_000;
const RECORD = { name: '@', type: 'A', destination: '127.0.0.1', proxied: true };
/** Metrics without a series here: the node is one process without a decision log, an origin and a fault. */
const MAY_BE_EMPTY = /edgeplan_node_(?:worker|workers|log|cache_requests|markdown_requests|faults)_/;

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly annotations: Readonly<Record<string, string>>;
}

const alerts = (
  parse(readFileSync(join(FOLDER, 'alerts.yml'), 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
  }
).groups.flatMap(({ rules }) => rules);

/** The expressions of a dashboard, with Grafana's variables replaced. */
function expressionsOf(dashboard: string): readonly string[] {
  const { panels } = JSON.parse(readFileSync(join(FOLDER, dashboard), 'utf8')) as {
    readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  };
  return panels
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    .map((expr) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.+'));
}

const expressions = new Map([
  ['alerts.yml', alerts.map(({ expr }) => expr)],
  ...['edge.dashboard.json', 'control-plane.dashboard.json'].map((file): [string, readonly string[]] => [
    file,
    expressionsOf(file),
  ]),
]);

test('alerts and dashboards name declared metrics only', () => {
  const declared = new Set(Object.keys(METRICS));
  const named = [...expressions.values()].flat().flatMap((expr) => expr.match(/\bedgeplan_\w+/g) ?? []);
  expect(named.length).toBeGreaterThan(100);
  const unknown = named.filter(
    (name) => !declared.has(name) && !declared.has(name.replace(/_(bucket|sum|count)$/, '')),
  );
  expect([...new Set(unknown)]).toEqual([]);
});

test('each alert waits, and states what it is and what to do', () => {
  for (const rule of alerts) {
    expect(rule.for, rule.alert).toMatch(/^\d+[mh]$/);
    for (const name of ['summary', 'description', 'runbook']) {
      expect(rule.annotations[name]?.length ?? 0, `${rule.alert} ${name}`).toBeGreaterThan(10);
    }
  }
});

describe(
  'a real Prometheus',
  requires(missingProgram('prometheus'), missingProgram('promtool', 'prometheus')),
  () => {
    let folder: string;
    let served: Served;
    let node: WorkerNode;
    let url: string;
    const stops: (() => unknown)[] = [];

    beforeAll(async () => {
      await builtCli();
      folder = mkdtempSync(join(tmpdir(), 'edgeplan-prometheus-'));
      served = await serve({ tier: 'enterprise' });
      stops.push(() => served.stop());
      await served.domain('shop.test');
      const made = [
        await served.call('POST', '/domains/shop.test/records/', RECORD),
        await served.call('POST', '/domains/shop.test/rules/drop/?wait=published', {
          ips: ['0.0.0.0/0', '::/0'],
        }),
      ];
      expect(made.map(({ status, text }) => (status === 200 ? status : text))).toEqual([200, 200]);
      const env = await served.node('edge-1');
      node = await startWorkerNode(['--control', served.url, '--data', join(folder, 'node')], {
        cwd: folder,
        env,
      });
      stops.push(async () => {
        node.signal('SIGTERM');
        await node.ended;
      });
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      writeFileSync(join(folder, 'prometheus.yml'), configuration(served.operations, node.operations));
      const child = spawn(
        'prometheus',
        [
          `--config.file=${join(folder, 'prometheus.yml')}`,
          `--storage.tsdb.path=${join(folder, 'db')}`,
          `--web.listen-address=127.0.0.1:${port}`,
        ],
        { stdio: 'ignore' },
      );
      const ended = once(child, 'close');
      stops.push(async () => {
        child.kill('SIGTERM');
        await ended;
      });
      await until(isReady, 'Prometheus', PATIENCE_MS);
      await until(async () => (await values('up == 1')).length === 2, 'both to be scraped', PATIENCE_MS);
    }, 2 * PATIENCE_MS);
    afterAll(async () => {
      for (const stop of stops.reverse()) await stop();
      rmSync(folder, { recursive: true, force: true });
    });

    /** The series of an expression, now. @throws Error with Prometheus' message */
    async function values(query: string): Promise<readonly unknown[]> {
      const answer = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query })}`);
      const body = (await answer.json()) as {
        readonly status: string;
        readonly error?: string;
        readonly data: { readonly result: readonly unknown[] };
      };
      if (body.status !== 'success') throw new Error(`${query}: ${body.error}`);
      return body.data.result;
    }

    /** Whether Prometheus has started: it answers 503, or nothing, before. */
    async function isReady(): Promise<boolean> {
      const answer = await fetch(`${url}/-/ready`).catch(() => null);
      return answer?.status === 200;
    }

    /** Causes traffic of each kind; whether two scrapes have seen some of it. */
    async function hasRates(): Promise<boolean> {
      await ask({ port: node.port, path: '/' });
      await served.call('GET', '/domains/none.test');
      await served.call('GET', '/domains/shop.test/analysis');
      const counters = [
        'edgeplan_node_requests_total{action="block"}',
        'edgeplan_api_requests_total{status="404"}',
        'edgeplan_compute_duration_seconds_count',
        'edgeplan_compute_account_computations_total',
      ];
      const rates = await Promise.all(counters.map((name) => values(`rate(${name}[1m]) > 0`)));
      // A key has 300 requests a minute.
      await wait(500);
      return rates.every((series) => series.length > 0);
    }

    test('promtool accepts the rules and the example configuration', () => {
      execFileSync('promtool', ['check', 'rules', join(FOLDER, 'alerts.yml')], { stdio: 'pipe' });
      execFileSync('promtool', ['check', 'config', join(FOLDER, 'prometheus.yml')], { stdio: 'pipe' });
    });

    test(
      'every expression answers, and those of the dashboards have data',
      async () => {
        await until(hasRates, 'rates', PATIENCE_MS);
        const empty: string[] = [];
        for (const [file, list] of expressions) {
          for (const expr of list) {
            const hasData = (await values(expr)).length > 0;
            if (!hasData && file.endsWith('.json') && !MAY_BE_EMPTY.test(expr))
              empty.push(`${file}: ${expr}`);
          }
        }
        expect(empty).toEqual([]);
      },
      2 * PATIENCE_MS,
    );

    test(
      'the expression of an alert selects a node that does not answer',
      async () => {
        node.signal('SIGKILL');
        await node.ended;
        const down = alerts.find(({ alert }) => alert === 'EdgeplanDown')!;
        await until(async () => (await values(down.expr)).length === 1, 'the alert', PATIENCE_MS);
      },
      PATIENCE_MS,
    );
  },
);

function configuration(server: string, node: string): string {
  const job = (name: string, target: string): string =>
    `  - job_name: ${name}\n    static_configs:\n      - targets: ['${new URL(target).host}']\n`;
  return `global:\n  scrape_interval: 1s\nrule_files:\n  - ${join(FOLDER, 'alerts.yml')}\nscrape_configs:\n${job('edgeplan-server', server)}${job('edgeplan-node', node)}`;
}
