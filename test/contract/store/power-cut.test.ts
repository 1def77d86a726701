/**
 * Power cuts: whatever a disk may have kept of what was not synced, every acknowledged write is there and the database
 * hangs together. `EDGEPLAN_POWER_ROUNDS` sets the number of cuts.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openSqlite } from '../../../src/control/store/database/sqlite/open.ts';
import { missingProgram, requires } from '../../support/requires.ts';
import { seed } from '../../support/sample-rows.ts';
import { sizeOf } from '../../support/size.ts';
import { buildChild, startChild } from './children.ts';
import { type Cut, imageOf, readTrace, type Trace, tracing } from './disk.ts';
import { expectAll, inspectFolder } from './inspect.ts';

const ROUNDS = sizeOf('EDGEPLAN_POWER_ROUNDS', { usual: 10, full: 50 });
const ABREAST = 6;
/** Writes after which the log has been folded into the file at least once: 4,000 pages of it. */
const WRITES = 900;

const NO_STRACE =
  missingProgram('strace') ??
  (spawnSync('strace', ['-c', 'true']).status === 0 ? null : 'strace may not trace processes here');

let code: Awaited<ReturnType<typeof buildChild>>;
let root: string;
let folder: string;
let domainId: number;

beforeAll(async () => {
  code = await buildChild();
});
afterAll(() => code.remove());
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'edgeplan-power-'));
  folder = join(root, 'data');
  const store = await openSqlite({ folder: join(root, 'made'), role: 'server' });
  domainId = (await store.write((tx) => seed(tx))).domain.id;
  // Not the folder itself: this process lets go of its files when it pleases, and folds the log into the file then.
  await mkdir(folder);
  await store.backup(join(folder, 'edgeplan.db'));
  await store.close();
});
afterEach(() => rm(root, { recursive: true, force: true }));

interface Recorded {
  readonly trace: Trace;
  /** The database file and its log, each with what was in it before the trace began: all of it synced. */
  readonly files: readonly (readonly [path: string, before: Buffer])[];
}

/** Lets a traced process write until it is killed. */
async function record(writes: number): Promise<Recorded> {
  const files = await Promise.all(
    ['edgeplan.db', 'edgeplan.db-wal'].map(async (name) => {
      const path = join(folder, name);
      return [path, await readFile(path).catch(() => Buffer.alloc(0))] as const;
    }),
  );
  const prefix = join(root, 'trace');
  const args = [folder, 'write', `${domainId}`, '1', `${ABREAST}`];
  const child = startChild(code.file, args, tracing(prefix));
  await child.line(`ok ${writes}`);
  const tracer = child.process.pid!;
  const traced = await readFile(`/proc/${tracer}/task/${tracer}/children`, 'utf8');
  process.kill(Number(traced.trim()), 'SIGKILL');
  await child.ended;
  return { trace: readTrace(prefix), files };
}

/** Writes what the disk holds into a folder of its own, and looks at it. */
async function comeBack({ trace, files }: Recorded, cut: Omit<Cut, 'before'>): Promise<ReadonlySet<number>> {
  const place = await mkdtemp(join(root, 'disk-'));
  for (const [path, before] of files) {
    await writeFile(join(place, basename(path)), imageOf(trace, path, { ...cut, before }));
  }
  try {
    return await inspectFolder(place, domainId);
  } finally {
    await rm(place, { recursive: true });
  }
}

function firstDifference(one: Buffer, other: Buffer): object | null {
  if (one.equals(other)) return null;
  const at = one.findIndex((octet, index) => octet !== other[index]);
  return { at, lengths: [one.length, other.length] };
}

function acknowledgedBy({ said }: Trace, at: number): readonly number[] {
  return said.flatMap((one) =>
    one.at <= at && one.text.startsWith('ok ') ? [Number(one.text.slice(3))] : [],
  );
}

const REACHED: readonly (readonly [string, () => boolean])[] = [
  ['nothing', () => false],
  ['half of the sectors', () => Math.random() < 0.5],
  ['nearly everything', () => Math.random() < 0.95],
  ['everything', () => true],
];

/** Moments of acknowledgements, which are the worst, and any other; not before the process had opened its store. */
function moments({ said, events }: Trace): readonly number[] {
  const acks = said.filter(({ text }) => text.startsWith('ok '));
  const from = acks[0]!.at;
  const to = events.at(-1)!.end;
  return Array.from({ length: ROUNDS }, (_, round) =>
    round % 2 === 0 ? acks[Math.floor(Math.random() * acks.length)]!.at : from + Math.random() * (to - from),
  );
}

test(`the power is cut ${ROUNDS} times, and nothing acknowledged is lost`, {
  ...requires(NO_STRACE),
  timeout: 120_000 + ROUNDS * 1_000,
}, async () => {
  const recorded = await record(WRITES);
  const { trace, files } = recorded;
  // With nothing lost, what was traced must come to what is there.
  for (const [path, before] of files) {
    const whole = imageOf(trace, path, { at: Number.POSITIVE_INFINITY, reached: () => true, before });
    expect(firstDifference(whole, await readFile(path)), path).toBeNull();
  }
  for (const [round, at] of moments(trace).entries()) {
    const [, reached] = REACHED[round % REACHED.length]!;
    expectAll(await comeBack(recorded, { at, reached }), acknowledgedBy(trace, at));
  }
  // The same on a disk that only says it has synced: were this to lose nothing, the cuts above would prove nothing.
  const last = trace.said.at(-1)!.at;
  const kept = await comeBack(recorded, { at: last, reached: () => false, lies: true });
  expect(acknowledgedBy(trace, last).some((number) => !kept.has(number))).toBe(true);
});

test('a log cut at any octet, or whose last sectors are zeros, gives the writes before the cut', {
  timeout: 120_000,
}, async () => {
  const child = startChild(code.file, [folder, 'write', `${domainId}`, '1', `${ABREAST}`]);
  await child.line('ok 120');
  child.process.kill('SIGKILL');
  await child.ended;
  const file = await readFile(join(folder, 'edgeplan.db'));
  const log = await readFile(join(folder, 'edgeplan.db-wal'));
  for (let round = 0; round < ROUNDS; round++) {
    const place = join(root, `cut-${round}`);
    await mkdir(place);
    await writeFile(join(place, 'edgeplan.db'), file);
    const torn = join(place, 'edgeplan.db-wal');
    await writeFile(torn, log);
    const at = Math.floor(Math.random() * log.length);
    if (round % 2 === 0) await truncate(torn, at);
    else await writeFile(torn, Buffer.concat([log.subarray(0, at - (at % 512))], log.length));
    const kept = [...(await inspectFolder(place, domainId))].sort((a, b) => a - b);
    // Numbers are given in the order in which writes are asked for; those under way at once may overtake one another.
    const most = kept.at(-1) ?? 0;
    expect(most - kept.length).toBeLessThan(2 * ABREAST);
  }
});
