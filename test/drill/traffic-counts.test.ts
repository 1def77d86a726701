/**
 * What the API answers about traffic equals a naive count over the decision log, after kills of workers and of the node and
 * with a control plane that is cut meanwhile. While processes are killed, requests bear marks that tell exactly which of
 * them were counted: each client asks for a status of its own, and all of its requests are alike.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { typePath } from '../../src/base/vocabulary/vocabulary.ts';
import type { DecisionLine } from '../../src/edge/proxy/log/line.ts';
import { builtCli } from '../support/built.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import { markedRequest, siteCountries, siteOrigin, siteRequest, siteRules } from '../support/counted-site.ts';
import { countLine, type NaiveTraffic, noTraffic, type Tally } from '../support/naive-traffic.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { askSite, withClients } from '../support/site-clients.ts';
import { sizeOf } from '../support/size.ts';
import { until } from '../support/until.ts';
import { isRunning, NO_CHILDREN, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const REQUESTS = sizeOf('EDGEPLAN_COUNTED', { usual: 20_000, full: 100_000 });
const PATIENCE_MS = 240_000;
const CLIENTS = 12;
/** What is killed, in order; the control plane is cut before the third and comes back after the last. */
const KILLS = ['worker', 'node', 'worker', 'node', 'node'] as const;
const CUT_BEFORE = 2;
/** Milliseconds of marked requests before a kill: longer than anything waits on its way to the journal. */
const MARKED_MS = 4_000;
/** Milliseconds of counts that a killed process may lose, and what a busy machine adds to its timers. */
const LOST_MS = 1_000 + 500;

let folder: string;
let server: Served;
let proxy: ControlProxy;
let origin: Server;
let node: WorkerNode;
let env: Readonly<Record<string, string>>;
const ruleNames: string[] = [];
const log = (): string => join(folder, 'decisions.jsonl');

beforeAll(async () => {
  await builtCli();
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-counts-'));
  origin = siteOrigin().listen(0, '127.0.0.1');
  await once(origin, 'listening');
  server = await serve();
  proxy = await startControlProxy(server.port);
  env = await server.node('node-1');
  await publish((origin.address() as AddressInfo).port);
  writeFileSync(join(folder, 'countries.mmdb'), siteCountries());
  await startNode();
}, PATIENCE_MS);
afterAll(async () => {
  node.signal('SIGKILL');
  await node.ended;
  await proxy.close();
  await server.stop();
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
}, PATIENCE_MS);

async function publish(port: number): Promise<void> {
  await server.domain('shop.test');
  const place = { type: 'A', destination: '127.0.0.1', scheme: 'Http', port, proxied: true };
  for (const name of ['@', 'pool']) {
    const { status, text } = await server.call('POST', '/domains/shop.test/records/', { name, ...place });
    expect([status, text]).toEqual([200, expect.anything()]);
  }
  for (const { type, body } of siteRules(port)) {
    const path = `/domains/shop.test/${typePath(type)}/`;
    const made = await server.call('POST', path, body);
    expect([made.status, made.text]).toEqual([200, expect.anything()]);
    ruleNames.push(`${type}/${(made.body as { id: number }).id}`);
  }
  const { status } = await server.call('POST', '/domains/shop.test/plans/?wait=published', {});
  expect(status).toBe(200);
}

async function startNode(): Promise<void> {
  const args = [
    ...['--workers', '2', '--control', proxy.url, '--data', join(folder, 'node')],
    ...['--trust-proxy', '127.0.0.0/8', '--countries', join(folder, 'countries.mmdb')],
    ...['--log', log(), '--log-rate', '1'],
  ];
  node = await startWorkerNode(args, {
    cwd: folder,
    env: { EDGEPLAN_NODE_TOKEN: env['EDGEPLAN_NODE_TOKEN']! },
  });
  await until(async () => (await node.status('/readyz')) === 200, 'the plan', PATIENCE_MS);
}

/** Complete responses of unmarked requests, by status. */
const answered: Tally = new Map();
let next = 0;

/** Sends the next requests up to a number. */
async function sendUntil(end: number): Promise<void> {
  await withClients(CLIENTS, async (agent) => {
    while (next < end) {
      const status = String(await askSite({ agent, port: node.port }, siteRequest(next++)));
      answered.set(status, (answered.get(status) ?? 0) + 1);
    }
  });
}

/** Marked requests around one kill. */
interface Marked {
  readonly statuses: readonly number[];
  /** When each complete response ended. */
  readonly ends: number[];
  killedAt: number;
  /** When the processes that were killed, and those that end without them, have ended. */
  overAt: number;
}

/** Kills while marked requests are under way, and goes on until everything serves again. */
async function killUnderLoad(kill: (typeof KILLS)[number], turn: number): Promise<Marked> {
  const statuses = Array.from({ length: CLIENTS }, (_, client) => 210 + turn * CLIENTS + client);
  const marked: Marked = { statuses, ends: [], killedAt: 0, overAt: 0 };
  let isOver = false;
  const load = withClients(CLIENTS, async (agent, client) => {
    while (!isOver) {
      const status = await askSite({ agent, port: node.port }, markedRequest(statuses[client]!)).catch(
        () => null,
      );
      if (status === statuses[client]) marked.ends.push(performance.now());
      // The port is of no process until the node runs again.
      else await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  const began = performance.now();
  await until(() => performance.now() - began > MARKED_MS && marked.ends.length > 100, 'marked requests');
  const workers = node.workers();
  marked.killedAt = performance.now();
  const [victim] = workers.slice(turn % 2);
  if (kill === 'worker') process.kill(victim!, 'SIGKILL');
  else node.signal('SIGKILL');
  const ending = kill === 'worker' ? [victim!] : workers;
  await until(() => !ending.some(isRunning), 'the end of the processes', PATIENCE_MS);
  marked.overAt = performance.now();
  if (kill === 'worker') await node.said(/worker \d serves again/);
  else {
    await node.ended;
    await startNode();
  }
  const again = marked.ends.length;
  await until(() => marked.ends.length > again + 100, 'responses after the kill', PATIENCE_MS);
  isOver = true;
  await load;
  return marked;
}

function readLog(): readonly DecisionLine[] {
  const lines = readFileSync(log(), 'utf8').split('\n');
  // Kills tear lines; those are of marked requests.
  const whole = lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as DecisionLine];
    } catch {
      return [];
    }
  });
  expect(whole.filter(({ format }) => (format as string) !== 'edgeplan.decision/v1')).toEqual([]);
  return whole.filter(({ domain }) => domain === 'shop.test');
}

interface Answered {
  readonly totals: {
    readonly requests: number;
    readonly statuses: Readonly<Record<string, number>>;
    readonly actions: Readonly<Record<string, number>>;
    readonly cache: Readonly<Record<string, number>>;
    readonly visitors: number;
  } & Readonly<Record<string, unknown>>;
  readonly points: readonly { readonly requests: number }[];
  readonly values: readonly { readonly value: string; readonly requests: number }[];
}

async function analytics(query: string): Promise<Answered> {
  const { status, body, text } = await server.call('GET', `/domains/shop.test/analytics/?${query}`);
  expect([status, text]).toEqual([200, expect.anything()]);
  return body as unknown as Answered;
}

const arrivedRequests = async (): Promise<number> =>
  (await analytics(`from=${began}&step=minute`)).totals.requests;

const plain = (tally: ReadonlyMap<string, number>): Record<string, number> => Object.fromEntries(tally);

let began: string;
let counted: NaiveTraffic;
const windows: Marked[] = [];

test(`${REQUESTS} requests, ${KILLS.length} kills and a cut lose at most a second's requests at each kill, which the node reports`, {
  ...requires(NO_CHILDREN),
  timeout: PATIENCE_MS + REQUESTS * 20,
}, async () => {
  began = new Date(Date.now() - 60_000).toISOString();
  let atCut = 0;
  for (const [turn, kill] of KILLS.entries()) {
    await sendUntil(Math.floor((REQUESTS * (turn + 1)) / (KILLS.length + 1)));
    if (turn === CUT_BEFORE) {
      proxy.target = 0;
      proxy.cutAll();
    }
    windows.push(await killUnderLoad(kill, turn));
    if (turn === CUT_BEFORE) atCut = await arrivedRequests();
    await node.said(
      kill === 'worker' ? /a worker was killed: requests of/ : /the node was killed: requests of/,
    );
    // Of this process: a start of the node begins at 0, and the kill before it is the first.
    const killed = kill === 'worker' && turn > 0 ? 2 : 1;
    expect(await node.metric('edgeplan_node_traffic_lost_spans_total')).toBe(killed);
  }
  await sendUntil(REQUESTS);
  // Nothing has arrived since the cut; the node has it in files.
  expect(await arrivedRequests()).toBe(atCut);
  expect(await node.metric('edgeplan_node_traffic_files')).toBeGreaterThan(0);
  proxy.target = server.port;
  // The minutes that are over arrive by themselves, the last one at the end of the node.
  await until(
    async () => (await node.metric('edgeplan_node_traffic_files')) === 0,
    'the backlog',
    PATIENCE_MS,
  );
  expect(await node.metric('edgeplan_node_traffic_batches_dropped_total')).toBe(0);
  expect(await node.metric('edgeplan_node_traffic_tops_dropped_total')).toBe(0);
  node.signal('SIGTERM');
  expect(await node.ended).toBe(0);
  const { totals } = await analytics(`from=${began}&step=minute`);

  const lines = readLog();
  const marks = new Set(windows.flatMap(({ statuses }) => statuses));
  counted = noTraffic();
  const own = lines.filter(({ status }) => !marks.has(status));
  for (const line of own) countLine(counted, line);
  // The log has every unmarked request.
  expect(plain(counted.by.status)).toEqual(plain(answered));
  expect(own).toHaveLength(REQUESTS);
  for (const { statuses, ends, killedAt, overAt } of windows) {
    let arrived = 0;
    for (const status of statuses) {
      const times = totals.statuses[status] ?? 0;
      arrived += times;
      countLine(counted, lines.find((line) => line.status === status)!, times);
    }
    // What a killed process has served since its last drain, and what its workers finish after it.
    const recent = ends.filter((end) => end > killedAt - LOST_MS && end < overAt).length;
    expect(ends.length - arrived).toBeLessThanOrEqual(recent);
    expect(ends.length - recent).toBeGreaterThan(0);
  }
});

test('requests, octets, actions, statuses, cache results, countries and bots equal the count', async () => {
  for (const step of ['minute', 'hour']) {
    const { totals, points } = await analytics(`from=${began}&step=${step}&by=country`);
    expect(totals).toMatchObject({
      requests: counted.requests,
      octets_in: counted.octetsIn,
      octets_out: counted.octetsOut,
      origin_requests: counted.originRequests,
      origin_errors: counted.originErrors,
    });
    expect(totals.actions).toEqual(plain(counted.by.action));
    expect(totals.statuses).toEqual(plain(counted.by.status));
    expect(totals.cache).toEqual(plain(counted.by.cache));
    expect(points.reduce((sum, { requests }) => sum + requests, 0)).toBe(counted.requests);
  }
  for (const by of ['country', 'bot'] as const) {
    const { values } = await analytics(`from=${began}&step=minute&by=${by}`);
    expect(Object.fromEntries(values.map(({ value, requests }) => [value, requests]))).toEqual(
      plain(counted.by[by]),
    );
  }
});

test('hits and shadow changes of all fifty rules equal the count', async () => {
  const { status, body } = await server.call('GET', `/domains/shop.test/rules/hits/?from=${began}`);
  expect(status).toBe(200);
  const { rules, removed, uncounted } = body as unknown as {
    rules: readonly {
      type: string;
      id: number;
      hits: number;
      by_effect: Readonly<Record<string, Readonly<Record<string, number>>>>;
      last_at: string | null;
      would_change: number;
      changes: readonly { from: string; to: string; instead: string | null; requests: number }[];
    }[];
    removed: unknown;
    uncounted: unknown;
  };
  expect([removed, uncounted]).toEqual([[], { hits: 0, changes: 0 }]);
  expect(rules.map(({ type, id }) => `${type}/${id}`).sort()).toEqual([...ruleNames].sort());
  for (const rule of rules) {
    const name = `${rule.type}/${rule.id}`;
    const own = counted.rules.get(name);
    const effects = Object.entries(rule.by_effect).flatMap(([mode, hits]) =>
      Object.entries(hits).map(([effect, some]) => [`${mode} ${effect}`, some]),
    );
    const changes = rule.changes.map(({ from, to, instead, requests }) => [
      `${from} -> ${to}${instead === null ? '' : ` instead of ${instead}`}`,
      requests,
    ]);
    expect([name, rule.hits, Object.fromEntries(effects), Object.fromEntries(changes)]).toEqual([
      name,
      own?.hits ?? 0,
      plain(own?.effects ?? new Map()),
      plain(own?.changes ?? new Map()),
    ]);
    expect(rule.would_change).toBe([...(own?.changes.values() ?? [])].reduce((sum, some) => sum + some, 0));
    if (own === undefined) expect([name, rule.last_at]).toEqual([name, null]);
    // Of marked requests the last one is not known.
    else if (!name.endsWith(markedRule()))
      expect(Math.abs(Date.parse(rule.last_at!) - own.lastAt), name).toBeLessThanOrEqual(1);
  }
  const used = rules.filter(({ hits }) => hits > 0);
  expect(used.length).toBeGreaterThanOrEqual(46);
  expect(rules.filter(({ would_change }) => would_change > 0).length).toBeGreaterThanOrEqual(18);
});

/** The rule that marked requests match, by its place in the list of rules. */
const markedRule = (): string => ruleNames[12]!;

test.each(['path', 'address', 'country', 'user_agent', 'ja4', 'referrer'] as const)(
  'the top list of each %s has counts within its bounds',
  async (of) => {
    const { status, body } = await server.call(
      'GET',
      `/domains/shop.test/analytics/top/?of=${of}&from=${began}&limit=100`,
    );
    expect(status).toBe(200);
    const { total, unlisted_at_most, values } = body as unknown as {
      total: number;
      unlisted_at_most: number;
      values: readonly { value: string; requests: number; at_least: number }[];
    };
    const own = counted.top[of];
    expect(total).toBe([...own.values()].reduce((sum, requests) => sum + requests, 0));
    expect(values).toHaveLength(Math.min(100, own.size));
    expect(unlisted_at_most).toBeLessThanOrEqual(total / 1_001);
    if (own.size <= 1_000) expect(unlisted_at_most).toBe(0);
    const listed = new Set(values.map(({ value }) => value));
    for (const { value, requests, at_least } of values) {
      const exact = own.get(value) ?? 0;
      expect([value, at_least <= exact, exact <= requests]).toEqual([value, true, true]);
      expect(requests - at_least).toBeLessThanOrEqual(unlisted_at_most);
    }
    const least = values.at(-1)?.requests ?? 0;
    for (const [value, requests] of own)
      if (!listed.has(value))
        expect([value, requests <= Math.max(least, unlisted_at_most)]).toEqual([value, true]);
  },
);

test('visitors are within 3 % of the count', async () => {
  const { totals } = await analytics(`from=${began}&step=hour`);
  const exact = counted.visitors.size;
  expect(exact).toBeGreaterThan(REQUESTS / 20);
  expect(Math.abs(totals.visitors - exact) / exact).toBeLessThanOrEqual(0.03);
});
