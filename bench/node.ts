/**
 * The node beside nginx and HAProxy: processor time a request, by wrk over loopback, the same origin behind all. What
 * they serve is compared before anything is timed.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  agreeInAll,
  agreeOn,
  HOST,
  hasHaproxy,
  makeCertificate,
  type Server,
  startConfirming,
  startCounting,
  startHaproxy,
  startOrigin,
  startOurs,
  startTheirs,
} from './harness/edge-servers.ts';
import { hasNginx } from './harness/nginx.ts';
import { usageOf } from './harness/process.ts';
import { median } from './harness/race.ts';
import type { BenchOptions, Goal, Row } from './row.ts';
import { mixedRules } from './subjects/node-rules.ts';

const WRK = '/usr/bin/wrk';
const CONNECTIONS = 32;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  if (!hasNginx() || !existsSync(WRK)) {
    const note = 'install `nginx` and `wrk` for this group';
    return [{ name: 'the node beside nginx', value: Number.NaN, goal: null, unit: '', note }];
  }
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-bench-node-'));
  const servers: Server[] = [];
  try {
    makeCertificate(folder);
    const started = async (starting: Promise<Server>): Promise<Server> => {
      const server = await starting;
      servers.push(server);
      return server;
    };
    const origin = await started(startOrigin());
    const theirs = await started(startTheirs(origin.port, folder));
    const bare = { folder, port: origin.port, rules: [] };
    const ours = await started(startOurs('node', bare));
    const haproxy = hasHaproxy() ? await started(startHaproxy(origin.port, folder)) : null;
    await agreeOn([theirs, ours]);
    const rows: Row[] = [];
    const compare = async (name: string, a: Server, b: Server, how: Asked): Promise<void> => {
      rows.push(await compared(name, { pairs: [{ a, b }], how, options }));
    };
    await compare('nginx ÷ node, proxied 66 B', theirs, ours, { path: '/small', goal: { atLeast: 0.4 } });
    await compare('nginx ÷ node, proxied 64 KB', theirs, ours, { path: '/large', goal: { atLeast: 0.9 } });
    await compare('nginx ÷ node, cache hit', theirs, ours, { path: '/cached/small', goal: { atLeast: 0.9 } });
    await compare('nginx ÷ node, TLS keep-alive', theirs, ours, {
      path: '/small',
      tls: true,
      goal: { atLeast: 0.5 },
    });
    const pairs: Pair[] = [];
    for (let pair = 0; pair < (options.quick ? 1 : PAIRS); pair++) {
      const a = await started(startOurs('node', bare));
      const b = await started(startOurs('node with 1,000 rules', { ...bare, rules: mixedRules(1_000) }));
      await agreeInAll(a, b);
      pairs.push({ a, b });
    }
    const how = { path: '/small', goal: { atLeast: 0.97 } };
    rows.push(await compared('node ÷ node with 1,000 mixed rules', { pairs, how, options }));
    rows.push(await counting({ folder, port: origin.port, rules: mixedRules(50) }, { started, options }));
    if (haproxy !== null) {
      await compare('HAProxy ÷ node, proxied 66 B', haproxy, ours, { path: '/small', goal: null });
    }
    return rows;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Counting {
  readonly started: (starting: Promise<Server>) => Promise<Server>;
  readonly options: BenchOptions;
}

/** What the counts of §10 cost: pairs of one program, of which the first counts nothing. */
async function counting(
  node: Parameters<typeof startCounting>[1],
  { started, options }: Counting,
): Promise<Row> {
  const control = await startConfirming();
  try {
    const pairs: Pair[] = [];
    for (let pair = 0; pair < (options.quick ? 1 : PAIRS); pair++) {
      const a = await started(startCounting('without counts', node, null));
      const b = await started(startCounting('with counts', node, control.url));
      await agreeInAll(a, b);
      pairs.push({ a, b });
    }
    const how = { path: '/small', goal: { atLeast: 0.98 } };
    return await compared('node without traffic counts ÷ node with them, 50 rules', { pairs, how, options });
  } finally {
    control.stop();
  }
}

/**
 * Pairs of nodes, one without rules and one with them, neither of which has done anything that the other has not: what a
 * process has compiled, and how well, differs by a fifth from one start to the next.
 */
const PAIRS = 3;

interface Asked {
  readonly path: string;
  readonly tls?: boolean;
  readonly goal: Goal | null;
}

interface Pair {
  readonly a: Server;
  readonly b: Server;
}

interface Compared {
  readonly pairs: readonly Pair[];
  readonly how: Asked;
  readonly options: BenchOptions;
}

/**
 * Turns of a second or two until what a node runs is compiled, by both sides one after the other: 85 µs a request at
 * first, 35 then. How many that takes depends on what else the machine does, so they end when neither side gets cheaper.
 */
const WARM_TURNS = { fewest: 5, most: 20 } as const;
/** A turn that is cheaper than any before by more than this says that the next will be too. */
const SETTLED = 0.97;

async function warm({ a, b }: Pair, how: Asked): Promise<void> {
  const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let turn = 0, still = 0; turn < WARM_TURNS.most && still < WARM_TURNS.fewest; turn++) {
    const took = [await load(a, how, TURN_SECONDS), await load(b, how, TURN_SECONDS)];
    const cheaper = took.some((cost, side) => cost < best[side]! * SETTLED);
    still = cheaper ? 0 : still + 1;
    for (const side of [0, 1]) best[side] = Math.min(best[side]!, took[side]!);
  }
}

const TURN_SECONDS = 2;

/** How many times as much processor time the first takes for a request; turn by turn, the medians. */
async function compared(name: string, { pairs, how, options }: Compared): Promise<Row> {
  const rounds = options.quick ? 1 : 6;
  const seconds = options.quick ? 1 : TURN_SECONDS;
  const first: number[] = [];
  const second: number[] = [];
  if (!options.quick) for (const pair of pairs) await warm(pair, how);
  for (let round = 0; round < rounds; round++) {
    for (const { a, b } of pairs) {
      // The one that follows finds the machine as the other left it; each is that one as often.
      const inOrder = round % 2 === 0;
      if (inOrder) first.push(await load(a, how, seconds));
      second.push(await load(b, how, seconds));
      if (!inOrder) first.push(await load(a, how, seconds));
    }
  }
  const [x, y] = [median(first), median(second)];
  const [{ a, b }] = pairs as [Pair];
  return {
    name,
    value: x / y,
    goal: how.goal,
    unit: '×',
    note: `processor time a request: ${a.name} ${x.toFixed(1)} µs, ${b.name} ${y.toFixed(1)} µs; ${CONNECTIONS} connections`,
  };
}

/** Microseconds of processor time a request. */
async function load(
  { port, tlsPort, process: child }: Server,
  { path, tls }: Asked,
  seconds: number,
): Promise<number> {
  const origin = tls === true ? `https://127.0.0.1:${tlsPort}` : `http://127.0.0.1:${port}`;
  const before = usageOf(child)!.seconds;
  const time = ['-d', `${seconds}s`];
  const flags = ['-t', '1', '-c', String(CONNECTIONS), ...time, '-H', `Host: ${HOST}`];
  const { stdout } = await promisify(execFile)(WRK, [...flags, `${origin}${path}`]);
  const used = usageOf(child)!.seconds - before;
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0);
  const bad = /Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1];
  if (requests === 0 || bad !== undefined) throw new Error(`wrk: ${stdout}`);
  return (used * 1e6) / requests;
}
