/** A node of several processes over real sockets: who meets whom, deaths, drains, sums. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startHealthListener } from '../../src/edge/proxy/health.ts';
import { gapText } from '../../src/edge/proxy/log/decision-log.ts';
import { createLineWriter } from '../../src/edge/proxy/log/line-writer.ts';
import type { WorkerEvent } from '../../src/edge/workers/messages.ts';
import { type PrimaryOptions, type RunningPrimary, startPrimary } from '../../src/edge/workers/primary.ts';
import { createSharedState } from '../../src/edge/workers/shared-state.ts';
import { collectLines } from '../../src/edge/workers/start-program.ts';
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { parseRuleSet } from '../../src/rules/model/parse.ts';
import { builtCli } from '../support/built.ts';
import { metricAt } from '../support/metric.ts';
import { until } from '../support/until.ts';

const CHILD = fileURLToPath(new URL('workers-child.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-workers-'));
const plan = join(folder, 'plan.edgeplan');
const log = join(folder, 'log.jsonl');
const LIMIT = 20;
/** Milliseconds for anything to come about on a machine that is busy otherwise. */
const PATIENCE_MS = 60_000;
let origin: Server;
/** Requests for `/slow` that the origin received. */
let slow = 0;

beforeAll(async () => {
  await builtCli();
  origin = createServer(async (message, response) => {
    if (message.url === '/slow') {
      slow += 1;
      await wait(700);
    }
    response.end('from the origin');
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const { port } = origin.address() as AddressInfo;
  const parsed = parseRuleSet({
    domain: { name: 'example.com', status: 'active' },
    records: [{ id: 1, name: '@', type: 'A', destination: '127.0.0.1', proxied: true, scheme: 'Http', port }],
    rules: [{ id: 1, type: 'rate_limit', limit: LIMIT, window_sec: 600, path_includes: ['/limited'] }],
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  writeFileSync(plan, seal(compile(parsed.ruleSet).plan));
}, 120_000);

afterAll(() => {
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true });
});

const running: RunningPrimary[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop(0)));
});

async function start(more: Partial<PrimaryOptions> = {}) {
  const events: WorkerEvent[] = [];
  const primary = await startPrimary({
    program: { file: CHILD, args: [], env: process.env },
    workers: 3,
    sharedState: createSharedState({ inFiles: false }),
    settings: () => ({ plan, domain: 'example.com' }),
    onOutput: (output) => void output.resume(),
    onCounted: () => undefined,
    onCached: () => undefined,
    registry: new Registry(),
    listeners: { http: { host: '127.0.0.1', port: 0 } },
    isProxy: () => false,
    onEvent: (event) => events.push(event),
    ...more,
  });
  running.push(primary);
  const { port } = primary.addresses['http']!;
  return { primary, events, port };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One request on a connection of its own, from an address of this machine. */
function ask(port: number, from: string, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'example.com' };
    const sent = request({ host: '127.0.0.1', port, path, headers, localAddress: from, agent: false });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.end();
  });
}

const ADDRESSES = Array.from({ length: 30 }, (_, at) => `127.0.1.${at + 1}`);

/** Who answers each address. */
async function workersOf(port: number): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const from of ADDRESSES) found.set(from, Number((await ask(port, from, '/pid')).text));
  return found;
}

describe('a node of three workers', () => {
  it('one address always meets the same worker, and all workers are used', async () => {
    const { primary, port } = await start();
    const first = await workersOf(port);
    expect(new Set(first.values())).toEqual(new Set(primary.pids()));
    expect(await workersOf(port)).toEqual(first);
  });

  it('rate limits are exact for one address over any number of connections', async () => {
    const { port } = await start();
    for (const from of ADDRESSES.slice(0, 4)) {
      const answers = await Promise.all(Array.from({ length: LIMIT * 3 }, () => ask(port, from, '/limited')));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(LIMIT);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(LIMIT * 2);
    }
  });

  it('connections of trusted proxies go to the workers in turn', async () => {
    const { primary, port } = await start({ isProxy: (address) => address === '127.0.1.1' });
    const met = new Set<number>();
    for (let at = 0; at < 6; at++) met.add(Number((await ask(port, '127.0.1.1', '/pid')).text));
    expect(met).toEqual(new Set(primary.pids()));
  });
});

describe('a worker that is killed under load', () => {
  it('is started again at once, and connections of other workers continue', async () => {
    const { primary, events, port } = await start();
    const before = await workersOf(port);
    const victim = before.get(ADDRESSES[0]!)!;
    const isTheirs = (from: string): boolean => before.get(from) === victim;
    const failed: string[] = [];
    let served = 0;
    let stop = false;
    const load = ADDRESSES.slice(0, 12).map(async (from) => {
      while (!stop) {
        await ask(port, from, '/').then(
          ({ status }) => {
            if (status === 200) served++;
            else failed.push(from);
          },
          () => failed.push(from),
        );
      }
    });
    await until(() => served > 50, 'answers to the first workers');
    process.kill(victim, 'SIGKILL');
    // Not before the end was noticed: a connection that the dead process had taken would be lost with it.
    while (primary.pids().includes(victim)) await wait(1);
    const again = await ask(port, ADDRESSES[0]!, '/pid');
    const soFar = served;
    await until(() => served > soFar + 50, 'answers after the end of one');
    stop = true;
    await Promise.all(load);
    expect(Number(again.text)).not.toBe(victim);
    expect(failed.filter((from) => !isTheirs(from))).toEqual([]);
    // What the dead process was serving is lost, at most one request of each of its clients; the rest waited.
    expect(failed.length).toBeLessThanOrEqual(ADDRESSES.slice(0, 12).filter(isTheirs).length);
    const after = await workersOf(port);
    for (const from of ADDRESSES) {
      if (isTheirs(from)) expect(after.get(from)).toBe(Number(again.text));
      else expect(after.get(from)).toBe(before.get(from));
    }
    expect(events.find(({ kind }) => kind === 'ended')).toMatchObject({ how: 'SIGKILL', againInMs: 0 });
    await expect.poll(() => primary.unready()).toBeNull();
  });

  it('is started with a growing delay when it dies repeatedly', async () => {
    const { primary, events } = await start({ workers: 1 });
    const ended = () => events.filter((event) => event.kind === 'ended');
    for (let at = 1; at <= 3; at++) {
      const pid = primary.pids()[0]!;
      process.kill(pid, 'SIGKILL');
      while (ended().length < at || primary.unready() !== null) await wait(10);
    }
    expect(ended().map((event) => event.kind === 'ended' && event.againInMs)).toEqual([0, 100, 200]);
  });
});

describe('a worker that does not become ready', () => {
  it('is replaced, although it sends heartbeats', async () => {
    const env: NodeJS.ProcessEnv = { ...process.env };
    const { primary, events, port } = await start({
      workers: 2,
      program: { file: CHILD, args: [], env },
      startChecks: 8,
    });
    const [victim] = primary.pids();
    env['BEGIN_WHEN'] = join(folder, 'never');
    process.kill(victim!, 'SIGKILL');
    const hanging = await until(
      () => primary.pids().find((pid, at) => at === 0 && pid !== victim),
      'another',
    );
    delete env['BEGIN_WHEN'];
    await until(() => primary.unready() === null, 'a worker that begins', PATIENCE_MS);
    expect(events).toContainEqual({ kind: 'late', index: 0, pid: hanging, checks: 8 });
    expect(events.map((event) => (event.kind === 'ended' ? event.how : null))).toContain(
      'it did not become ready',
    );
    expect(new Set((await workersOf(port)).values())).toEqual(new Set(primary.pids()));
  });

  it('ends the start of the node when it is the first process', async () => {
    const env = { ...process.env, BEGIN_WHEN: join(folder, 'never') };
    const program = { file: CHILD, args: [], env };
    await expect(start({ workers: 1, program, startChecks: 2 })).rejects.toThrow(
      'worker 0 ended before it was ready: it did not become ready',
    );
  });

  /** Three connections wait for a worker that begins when the file is there. */
  async function waiting(gate: string) {
    const env: NodeJS.ProcessEnv = { ...process.env };
    const started = await start({ workers: 2, program: { file: CHILD, args: [], env } });
    const { primary, port } = started;
    const met = await workersOf(port);
    const victim = met.get(ADDRESSES[0]!)!;
    env['BEGIN_WHEN'] = gate;
    process.kill(victim, 'SIGKILL');
    await until(() => !primary.pids().includes(victim), 'its end');
    const theirs = ADDRESSES.filter((from) => met.get(from) === victim).slice(0, 3);
    const other = ADDRESSES.find((from) => met.get(from) !== victim)!;
    const asked = Promise.allSettled(theirs.map((from) => ask(port, from, '/pid')));
    // Connections are taken in the order they come, so the others are there by then.
    await ask(port, other, '/pid');
    return { ...started, asked, victim, count: theirs.length };
  }

  it('serves the waiting connections of a stopping node, when it becomes ready in time', async () => {
    const gate = join(folder, 'gate');
    const { primary, port, asked, victim, count } = await waiting(gate);
    const stopped = primary.stop(PATIENCE_MS);
    await expect(ask(port, ADDRESSES[0]!, '/pid')).rejects.toThrow('ECONNREFUSED');
    writeFileSync(gate, '');
    const answers = (await asked).map((one) => (one.status === 'fulfilled' ? one.value.text : one.reason));
    expect(answers).toEqual(Array.from({ length: count }, () => expect.stringMatching(/^\d+$/)));
    expect(answers).not.toContain(String(victim));
    await stopped;
    expect(primary.pids()).toEqual([null, null]);
  });

  it('has its waiting connections closed at the stop, when it does not become ready', async () => {
    const { primary, events, asked, count } = await waiting(join(folder, 'never'));
    await primary.stop(300);
    const faults = (await asked).map((one) => (one.status === 'rejected' ? one.reason.code : one.value));
    expect(faults).toEqual(Array.from({ length: count }, () => 'ECONNRESET'));
    expect(events).toContainEqual({ kind: 'refused', index: expect.any(Number), connections: count });
    expect(primary.pids()).toEqual([null, null]);
  });
});

describe('a process that cannot be started', () => {
  it('is tried again, and other workers serve on', async () => {
    const env: NodeJS.ProcessEnv = { ...process.env };
    const { primary, events, port } = await start({
      workers: 2,
      program: { file: CHILD, args: [], env },
    });
    const [victim, other] = primary.pids();
    // More than a process may be given: the system refuses it before there is one.
    env['TOO_MUCH'] = 'x'.repeat(4_000_000);
    process.kill(victim!, 'SIGKILL');
    const failed = () => events.filter((event) => event.kind === 'ended' && /E2BIG/.test(event.how));
    while (failed().length < 2) await wait(10);
    expect(primary.pids()).toEqual([null, other]);
    expect(primary.unwell()).toBe('not ready: worker 0');
    delete env['TOO_MUCH'];
    while (primary.unready() !== null) await wait(10);
    expect(new Set((await workersOf(port)).values())).toEqual(new Set(primary.pids()));
  });

  it('ends the start of the node with the system error', async () => {
    const env = { ...process.env, TOO_MUCH: 'x'.repeat(4_000_000) };
    const fault = await start({ program: { file: CHILD, args: [], env } }).catch((error: unknown) => error);
    expect(fault).toMatchObject({
      message: expect.stringMatching(/^worker \d ended before it was ready: spawn E2BIG$/),
      code: 'E2BIG',
    });
  });

  it('ends when its primary ended while it was loading', async () => {
    const child = fork(CHILD, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const ended = once(child, 'exit');
    child.disconnect();
    expect(await ended).toEqual([0, null]);
  }, 60_000);
});

describe('a node with workers', () => {
  it('counts a worker once that ends while another sends its metrics', async () => {
    const { primary, port } = await start();
    const counted = async (): Promise<number> => {
      const text = await (await primary.registry()).metrics();
      return Number(/^edgeplan_node_request_duration_seconds_count (\d+)$/m.exec(text)?.[1] ?? 'NaN');
    };
    for (const from of ADDRESSES) await ask(port, from, '/');
    expect(await counted()).toBe(ADDRESSES.length);
    const [answers, silent] = primary.pids();
    // One of them answers at once, the other not at all: the sum waits.
    process.kill(silent!, 'SIGSTOP');
    const sum = counted();
    await wait(300);
    process.kill(answers!, 'SIGKILL');
    expect(await sum).toBe(ADDRESSES.length);
    expect(await counted()).toBe(ADDRESSES.length);
    // The primary may have ended it: it was silent for too long.
    if (primary.pids().includes(silent!)) process.kill(silent!, 'SIGKILL');
  });

  it('sums the metrics of workers, those of ended ones included', async () => {
    const { primary, port } = await start();
    const { registry, unready, unwell } = primary;
    const operations = await startHealthListener({ registry, unready, unwell, port: 0 });
    const read = (name: string): Promise<number> => metricAt(operations.url, name);
    const forwarded = 'edgeplan_node_requests_total{action="forward",status="2xx"}';
    for (const from of ADDRESSES) await ask(port, from, '/');
    expect(await read(forwarded)).toBe(ADDRESSES.length);
    expect(await read('edgeplan_node_request_duration_seconds_count')).toBe(ADDRESSES.length);
    expect(await read('edgeplan_node_plans_installed')).toBe(1);
    expect(await read('edgeplan_node_workers_ready')).toBe(3);
    expect(await read('edgeplan_node_worker_up{worker="2"}')).toBe(1);
    process.kill(primary.pids()[0]!, 'SIGKILL');
    while ((await read('edgeplan_node_worker_restarts_total')) < 1) await wait(20);
    while ((await read('edgeplan_node_workers_ready')) < 3) await wait(20);
    expect(await read(forwarded)).toBe(ADDRESSES.length);
    for (const path of ['healthz', 'readyz']) {
      await expect.poll(async () => (await fetch(`${operations.url}/${path}`)).status).toBe(200);
    }
    operations.close();
  });

  it('collects whole lines of all workers in one log, and opens it again after it is moved', async () => {
    const onFault = (error: unknown): never => {
      throw error;
    };
    const lines = createLineWriter({ file: log, gap: gapText, onFault });
    const { primary, port } = await start({ onOutput: (output) => void collectLines(output, lines) });
    const written = async (count: number): Promise<void> => {
      while (lines.stats().written < count) await wait(10);
    };
    await Promise.all(ADDRESSES.map((from) => ask(port, from, '/first')));
    await written(ADDRESSES.length);
    renameSync(log, `${log}.1`);
    lines.reopen();
    await Promise.all(ADDRESSES.map((from) => ask(port, from, '/second')));
    await primary.stop(1_000);
    await lines.close();
    const targets = (file: string): readonly string[] =>
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).request.target);
    expect(targets(`${log}.1`)).toEqual(ADDRESSES.map(() => '/first'));
    expect(targets(log)).toEqual(ADDRESSES.map(() => '/second'));
  });

  it('makes a change in all workers, and in none when one refuses it', async () => {
    const alike = createSharedState({ inFiles: false });
    const { port } = await start({ sharedState: alike });
    const last = (): Promise<ReadonlySet<string>> =>
      Promise.all(ADDRESSES.map(async (from) => (await ask(port, from, '/last')).text)).then(
        (texts) => new Set(texts),
      );
    await alike.setToken('a', 'b');
    expect(await last()).toEqual(new Set(['{"kind":"token","token":"a","answer":"b"}']));
    await expect(alike.setToken('not 1', 'c')).rejects.toThrow(
      'worker 1 of the node goes on as before: it does not like it',
    );
    expect(await last()).toEqual(new Set(['{"kind":"token","token":"a","answer":"b"}']));
    // Nor does one that starts later begin from it.
    expect(alike.changes()).toEqual([{ kind: 'token', token: 'a', answer: 'b' }]);
  });

  it('makes a change without a worker that has ended or hangs', async () => {
    const alike = createSharedState({ inFiles: false });
    const { primary, events, port } = await start({ sharedState: alike });
    const stuck = ask(port, ADDRESSES[0]!, '/stuck').catch((error: NodeJS.ErrnoException) => error.code);
    const pids = primary.pids();
    await alike.setToken('a', 'b');
    expect(await stuck).toBe('ECONNRESET');
    const silent = events.find(({ kind }) => kind === 'silent');
    expect(silent).toMatchObject({ checks: 5 });
    expect(pids).toContain(silent!.kind === 'silent' ? silent!.pid : 0);
    while (primary.unready() !== null) await wait(10);
    expect(await workersOf(port)).toHaveProperty('size', ADDRESSES.length);
  });

  it('lets running requests end at a stop, and accepts no more', async () => {
    const { primary, port } = await start();
    const pids = primary.pids();
    const before = slow;
    const inFlight = ADDRESSES.slice(0, 6).map((from) => ask(port, from, '/slow'));
    await until(() => slow === before + inFlight.length, 'requests in flight');
    const stopped = primary.stop(PATIENCE_MS);
    expect(primary.unready()).toBe('draining');
    const late = () =>
      ask(port, ADDRESSES[0]!, '/').then(
        () => 'answered',
        () => 'refused',
      );
    await expect.poll(late).toBe('refused');
    expect((await Promise.all(inFlight)).map(({ status }) => status)).toEqual(inFlight.map(() => 200));
    await stopped;
    for (const pid of pids) expect(() => process.kill(pid!, 0)).toThrow();
  });

  it.each([0, 1.5, 257])('refuses %d workers', async (workers) => {
    await expect(start({ workers })).rejects.toThrow(`a node has 1 to 256 workers, found ${workers}`);
  });

  it('does not start when a worker cannot start', async () => {
    const fault = await start({ settings: () => ({ crash: true }) }).catch((error: unknown) => error);
    expect(fault).toMatchObject({
      message: expect.stringMatching(/^worker \d ended before it was ready: there is nothing to serve$/),
      code: 'ENOENT',
    });
  });

  it('does not start on a used port, and leaves no process', async () => {
    const { port } = origin.address() as AddressInfo;
    await expect(start({ listeners: { http: { host: '127.0.0.1', port } } })).rejects.toThrow(/EADDRINUSE/);
  });
});
