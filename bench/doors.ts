/**
 * An agent beside proxies: decisions that a processor makes through SPOP, HAProxy with an agent beside the node with the same rules,
 * and what a decision adds to the time of a request. That both serve the same is checked before anything is timed.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  argumentsOf,
  binary,
  headersBinary,
  helloFrame,
  notifyFrame,
  spopClient,
  text,
} from '../test/support/spop-frames.ts';
import { until } from '../test/support/until.ts';
import { type BenchAgent, startAgent, startHaproxyWith } from './harness/agent.ts';
import { percentile } from './harness/delays.ts';
import {
  agreeOn,
  HOST,
  hasHaproxy,
  makeCertificate,
  type Server,
  startOrigin,
  startOurs,
} from './harness/edge-servers.ts';
import { hasNginx } from './harness/nginx.ts';
import { usageOf } from './harness/process.ts';
import { median } from './harness/race.ts';
import { openSpopLoad } from './harness/spop-load.ts';
import { compared, hasWrk } from './harness/wrk.ts';
import type { BenchOptions, Row } from './row.ts';
import { mixedRules } from './subjects/node-rules.ts';

/** The rule by which the decisions of the agent are checked. */
const BLOCKED = { type: 'drop', path_includes: ['/blocked'] };
const RULES = [...mixedRules(1_000), BLOCKED];

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-bench-doors-'));
  const running: { stop(): Promise<void> }[] = [];
  const started = async <One extends { stop(): Promise<void> }>(starting: Promise<One>): Promise<One> => {
    const one = await starting;
    running.push(one);
    return one;
  };
  try {
    const agent = await started(startAgent({ folder, origin: 9, rules: RULES }));
    await checkDecisions(agent);
    const rows = [await perCore(agent, options)];
    rows.push(...(await stalledLog(folder, { started, options })));
    if (!hasNginx() || !hasHaproxy() || !hasWrk()) return [...rows, absent()];
    makeCertificate(folder);
    const pem = ['shop.crt', 'shop.key'].map((name) => readFileSync(join(folder, name), 'utf8'));
    writeFileSync(join(folder, 'shop.pem'), pem.join(''));
    const origin = await started(startOrigin());
    const beside = await started(startAgent({ folder, origin: origin.port, rules: RULES }));
    const asking = await started(startHaproxyWith(beside, { folder, origin: origin.port }));
    const alone = await started(startHaproxyWith(null, { folder, origin: origin.port }));
    const node = await started(startOurs('node', { folder, port: origin.port, rules: RULES }));
    await agreeOn([asking, alone, node]);
    for (const [what, tls, goal] of [
      ['proxied 66 B', false, 0.75],
      ['TLS keep-alive', true, 0.5],
    ] as const) {
      const how = { path: '/small', tls, goal: { atMost: goal } };
      rows.push(
        await compared(`HAProxy and agent ÷ node, ${what}`, {
          pairs: [{ a: asking, b: node }],
          how,
          options,
        }),
      );
    }
    rows.push(...(await added(asking, alone, options)));
    return rows;
  } finally {
    await Promise.all(running.map((one) => one.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

function absent(): Row {
  const note = 'install `nginx`, `haproxy` and `wrk` for these rows';
  return { name: 'HAProxy and agent beside the node', value: Number.NaN, goal: null, unit: '', note };
}

/** @throws Error when the agent forwards what its plan blocks, or blocks what it forwards */
async function checkDecisions({ spop }: BenchAgent): Promise<void> {
  const client = await spopClient(`tcp://127.0.0.1:${spop}`);
  client.send(helloFrame());
  const hdrs = binary(headersBinary([['host', HOST]]));
  const wanted = { '/shop/item-1': 'forward', '/blocked': 'page', '/old-3': 'redirect' };
  for (const path of Object.keys(wanted)) client.send(notifyFrame(argumentsOf({ uri: text(path), hdrs })));
  await until(() => client.frames.length === 4, 'the answers of the agent');
  client.socket.destroy();
  const found = client.frames.slice(1).map(({ values }) => values['action']);
  if (String(found) !== String(Object.values(wanted)))
    throw new Error(`the agent answers ${found}, not ${Object.values(wanted)}`);
}

const PIPELINED = { host: HOST, connections: 4, window: 64 };

/** Decisions a second of processor time; the median of turns, once the agent is compiled. */
async function perCore(agent: BenchAgent, { quick }: BenchOptions): Promise<Row> {
  const load = await openSpopLoad({ ...PIPELINED, port: agent.spop });
  const count = quick ? 5_000 : 100_000;
  const rates: number[] = [];
  for (let turn = 0; turn < (quick ? 1 : 10); turn++) {
    const before = usageOf(agent.process)!.seconds;
    await load.run(count);
    const rate = count / (usageOf(agent.process)!.seconds - before);
    if (quick || turn >= 2) rates.push(rate);
  }
  load.close();
  const note = `${count} requests of a browser a turn without a body, 4 connections with 64 requests each on their way`;
  return {
    name: 'decisions a second and core over SPOP, 1,000 rules',
    value: median(rates),
    goal: { atLeast: 40_000 },
    unit: '/s',
    note,
  };
}

interface Started {
  readonly started: <One extends { stop(): Promise<void> }>(starting: Promise<One>) => Promise<One>;
  readonly options: BenchOptions;
}

const STEADY = { perSecond: 3_000, host: HOST, connections: 4 };

/** Decisions while the disk of the decision log takes nothing: a pipe that is open and not read. */
async function stalledLog(folder: string, { started, options: { quick } }: Started): Promise<readonly Row[]> {
  const file = join(folder, 'stalled.log');
  if (spawnSync('mkfifo', [file]).status !== 0) {
    return [
      {
        name: 'decisions beside a stalled log',
        value: Number.NaN,
        goal: null,
        unit: '',
        note: 'no `mkfifo`',
      },
    ];
  }
  const reader = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
  const stalled = await started(
    startAgent({ folder, origin: 9, rules: RULES, flags: ['--log', file, '--log-rate', '1'] }),
  );
  const usual = await started(
    startAgent({
      folder,
      origin: 9,
      rules: RULES,
      flags: ['--log', join(folder, 'usual.log'), '--log-rate', '1'],
    }),
  );
  const loads = await Promise.all(
    [stalled, usual].map(({ spop }) => openSpopLoad({ ...STEADY, port: spop, window: 1 })),
  );
  const seconds = quick ? 1 : 5;
  const times: [number[], number[]] = [[], []];
  let lost = 0;
  let sent = 0;
  for (let turn = 0; turn < (quick ? 1 : 6); turn++) {
    for (const side of turn % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const paced = await loads[side]!.pace(STEADY.perSecond, seconds);
      // The first turn compiles the agents.
      if (quick || turn > 0) times[side].push(...paced.times);
      lost += paced.lost;
      sent += STEADY.perSecond * seconds;
    }
  }
  for (const load of loads) load.close();
  closeSync(reader);
  const [x, y] = [percentile(times[0], 0.99), percentile(times[1], 0.99)];
  return [
    {
      name: 'decisions lost of 3,000 a second, beside a log that takes nothing',
      value: lost,
      goal: { atMost: 0 },
      unit: '',
      note: `of ${sent}`,
    },
    {
      name: 'the same, 99th percentile − that of an agent whose log is written',
      value: x - y,
      goal: { atMost: 1 },
      unit: 'ms',
      note: `${x.toFixed(2)} and ${y.toFixed(2)} ms`,
    },
  ];
}

/** What the agent adds to the time of a request at a third of the rate that HAProxy and agent can do. */
async function added(asking: Server, alone: Server, { quick }: BenchOptions): Promise<readonly Row[]> {
  const saturated = await saturation(asking, quick ? 1 : 5);
  const perSecond = Math.floor(saturated / 3);
  const times: [number[], number[]] = [[], []];
  const sides = [asking, alone] as const;
  for (let turn = 0; turn < (quick ? 1 : 8); turn++) {
    for (const side of turn % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      times[side].push(...(await steady(sides[side], { perSecond, seconds: quick ? 1 : 4 })));
    }
  }
  return (
    [
      ['median', 0.5, 0.3],
      ['99th percentile', 0.99, 1],
    ] as const
  ).map(([name, share, goal]) => {
    const [x, y] = [percentile(times[0], share), percentile(times[1], share)];
    return {
      name: `time that the agent adds behind HAProxy, ${name}`,
      value: x - y,
      goal: { atMost: goal },
      unit: 'ms',
      note: `${x.toFixed(2)} and ${y.toFixed(2)} ms at ${perSecond} requests a second, a third of saturation`,
    };
  });
}

/** Requests a second that a server and this client can do. */
async function saturation(server: Server, seconds: number): Promise<number> {
  const connections = openConnections();
  const end = performance.now() + seconds * 1_000;
  let done = 0;
  await Promise.all(
    Array.from({ length: connections.maxSockets }, async () => {
      while (performance.now() < end) {
        await visit(server, connections);
        done++;
      }
    }),
  );
  connections.destroy();
  return done / seconds;
}

/** Connections of one turn: those of an earlier one may be over, as HAProxy ends idle ones. */
function openConnections(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 32 });
}

interface Steady {
  readonly perSecond: number;
  readonly seconds: number;
}

/** Milliseconds of each of the requests that are sent at a rate, whether or not earlier ones are answered. */
async function steady(server: Server, { perSecond, seconds }: Steady): Promise<readonly number[]> {
  const connections = openConnections();
  const visits: Promise<number>[] = [];
  const began = performance.now();
  while (visits.length < perSecond * seconds) {
    const due = Math.min(perSecond * seconds, ((performance.now() - began) / 1_000) * perSecond);
    while (visits.length < due) visits.push(visit(server, connections));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const times = await Promise.all(visits);
  connections.destroy();
  return times;
}

/** Milliseconds of one request. @throws Error where its answer is not 200 */
async function visit({ port }: Server, agent: Agent): Promise<number> {
  const began = performance.now();
  const asked = get({ port, host: '127.0.0.1', path: '/small', headers: { host: HOST }, agent });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  if (answer.statusCode !== 200) throw new Error(`a visitor got ${answer.statusCode}`);
  return performance.now() - began;
}
