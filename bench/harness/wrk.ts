/** Servers set beside each other by wrk over loopback: processor time a request, turn by turn, the medians. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { BenchOptions, Goal, Row } from '../row.ts';
import { HOST, type Server } from './edge-servers.ts';
import { usageOf } from './process.ts';
import { median } from './race.ts';

const WRK = '/usr/bin/wrk';
const CONNECTIONS = 32;

export function hasWrk(): boolean {
  return existsSync(WRK);
}

/** What both sides are asked. */
export interface Asked {
  readonly path: string;
  readonly tls?: boolean;
  readonly goal: Goal | null;
}

/** Two servers of the same content. */
export interface Pair {
  readonly a: Server;
  readonly b: Server;
}

export interface Compared {
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
export async function compared(name: string, { pairs, how, options }: Compared): Promise<Row> {
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
async function load(server: Server, { path, tls }: Asked, seconds: number): Promise<number> {
  const { port, tlsPort } = server;
  const origin = tls === true ? `https://127.0.0.1:${tlsPort}` : `http://127.0.0.1:${port}`;
  const before = secondsOf(server);
  const time = ['-d', `${seconds}s`];
  const flags = ['-t', '1', '-c', String(CONNECTIONS), ...time, '-H', `Host: ${HOST}`];
  const { stdout } = await promisify(execFile)(WRK, [...flags, `${origin}${path}`]);
  const used = secondsOf(server) - before;
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0);
  const bad = /Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1];
  if (requests === 0 || bad !== undefined) throw new Error(`wrk: ${stdout}`);
  return (used * 1e6) / requests;
}

/** Seconds of processor time of a server and what works for it. */
function secondsOf({ process: own, helpers = [] }: Server): number {
  return [own, ...helpers].reduce((sum, child) => sum + usageOf(child)!.seconds, 0);
}
