/** Traffic counts of a node that is killed at any moment: what was written is counted once, and numbers are never used again. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { sizeOf } from '../support/size.ts';
import { startTaker, type TrafficTaker, type Treatment } from '../support/traffic-taker.ts';
import { until } from '../support/until.ts';

const ROUNDS = sizeOf('EDGEPLAN_CRASH_ROUNDS', { usual: 8, full: 50 });
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHILD = join(ROOT, 'dist/support/traffic-child.js');

let folder: string;
let taker: TrafficTaker;

beforeAll(async () => {
  const entryPoints = [join(ROOT, 'test/support/traffic-child.ts')];
  const shape = { bundle: true, platform: 'node', format: 'esm', packages: 'external' } as const;
  await build({ entryPoints, outfile: CHILD, logLevel: 'error', ...shape });
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-kill-'));
  taker = await startTaker();
});
afterEach(async () => {
  await taker.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Counting {
  readonly child: ChildProcessWithoutNullStreams;
  readonly out: () => string;
  readonly err: () => string;
  /** Requests that are written. */
  readonly written: () => number;
}

function start(seed: number): Counting {
  const child = spawn(process.execPath, [CHILD, taker.url, folder, String(seed)]);
  child.stdin.on('error', () => undefined);
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const written = (): number => Number(/(\d+)\n[^\n]*$/.exec(out)?.[1] ?? 0);
  return { child, out: () => out, err: () => err, written };
}

/** How the control plane treats batches in a round. */
const TREATMENTS: readonly ((turn: number) => Treatment)[] = [
  () => 'count',
  (turn) => (turn % 2 === 0 ? 'count and cut' : 'count'),
  () => 'cut',
  (turn) => (turn % 3 === 0 ? { status: 503 } : 'count'),
];
/** Entries of the largest batch that a proxy before the control plane lets through, at all times. */
const MOST_ENTRIES = 2;

test(`after ${ROUNDS} kills every written request is counted once, and no number had two contents`, {
  timeout: 120_000 + ROUNDS * 60_000,
}, async () => {
  let turn = 0;
  let least = 0;
  let most = 0;
  let tornRounds = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const treatment = TREATMENTS[round % TREATMENTS.length]!;
    taker.treat = ({ entries }) =>
      entries.length > MOST_ENTRIES ? { status: 413, by: 'proxy' } : treatment(turn++);
    const node = start(round);
    await until(() => node.written() > 500, 'written requests');
    await wait(Math.random() * 600);
    node.child.kill('SIGKILL');
    await once(node.child, 'close');
    least += node.written();
    // The second that was being written: whether it was is not known.
    most += node.written() + 50;
    if (readdirSync(join(folder, 'traffic')).length > 1) tornRounds++;
    if (round > 0) expect(node.err()).toContain('the node was killed');
  }
  taker.treat = ({ entries }) => (entries.length > MOST_ENTRIES ? { status: 413, by: 'proxy' } : 'count');
  const last = start(1_000);
  await until(() => last.written() > 500, 'written requests');
  const counted = (): number => taker.requests();
  await until(
    () => readdirSync(join(folder, 'traffic')).filter((name) => name.endsWith('.batch')).length <= 1,
    'the backlog',
  );
  last.child.stdin.end();
  await once(last.child, 'close');
  const state = JSON.parse(last.out().trim().split('\n').at(-1)!);
  expect(state).toMatchObject({ files: 0, droppedBatches: 0, lostSpans: 1, disk: null });
  const written = Number(last.out().trim().split('\n').at(-2));
  expect(counted()).toBeGreaterThanOrEqual(least + written);
  expect(counted()).toBeLessThanOrEqual(most + written);
  expect(readdirSync(join(folder, 'traffic'))).toEqual([]);
  expect(tornRounds).toBeGreaterThan(0);
  const bodies = new Map<number, string>();
  for (const { batch, entries } of taker.counted.values()) bodies.set(batch, JSON.stringify(entries));
  const others = taker.arrivals.filter(({ batch, entries }) => bodies.get(batch) !== JSON.stringify(entries));
  // A batch that was refused as too large has its first half under its number afterwards.
  const refused = others.filter(({ batch, entries }) => {
    const half: unknown[] = JSON.parse(bodies.get(batch)!);
    return half.some((one) => !entries.some((entry) => JSON.stringify(entry) === JSON.stringify(one)));
  });
  expect(refused).toEqual([]);
  expect(others.length).toBeGreaterThan(0);
});
