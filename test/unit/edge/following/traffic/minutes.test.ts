/** Minutes: closed when they are complete, opened again by late seconds, and written later where the disk fails. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  CLOSE_MS,
  MAX_UNWRITTEN_JOURNALS,
  UNWRITTEN_RETRY_MS,
} from '../../../../../src/edge/following/limits.ts';
import { type BatchFile, findLeft, readBatches } from '../../../../../src/edge/following/traffic/files.ts';
import { createMinutes, type Minutes } from '../../../../../src/edge/following/traffic/minutes.ts';
import { createTrouble, type TrafficTrouble } from '../../../../../src/edge/following/traffic/trouble.ts';
import { type BatchSums, countedSecond, openSent } from '../../../../support/counted-seconds.ts';
import { requires } from '../../../../support/requires.ts';
import { NO_SMALL_DISK, smallDisk } from '../../../../support/small-disk.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** The start of an hour. */
const START = 472_222 * HOUR_MS;

let directory: string;
let now: number;
let files: BatchFile[];
let lines: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'edgeplan-minutes-'));
  mkdirSync(folderOf());
  now = START;
  files = [];
  lines = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const folderOf = (): string => join(directory, 'traffic');

function open(): { readonly minutes: Minutes; readonly trouble: TrafficTrouble } {
  const note = (_: object, message: string): void => void lines.push(message);
  const log = { info: note, warn: note, error: note };
  const trouble = createTrouble({ log, maxTopsOctets: 2 ** 30 });
  const minutes = createMinutes({
    folder: folderOf(),
    numberFile: join(directory, 'usage-batch'),
    trouble,
    log,
    onFile: (file) => void files.push(file),
    clock: () => now,
    maxTopsOctets: 2 ** 30,
  });
  return { minutes, trouble };
}

async function batches(): Promise<readonly BatchSums[]> {
  const read = await Promise.all(files.map(readBatches));
  return read.flatMap(({ batches: own }) => own).map(({ body, isGzipped }) => openSent(body, isGzipped));
}

/** Requests by domain and minute since the start. */
async function written(): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { domain, minute, requests } of (await batches()).flatMap(({ entries }) => entries)) {
    const key = `${domain} ${(minute - START) / MINUTE_MS}`;
    sums[key] = (sums[key] ?? 0) + requests;
  }
  return sums;
}

const second = (at: number, requests = 1, domain = 'a.test') => countedSecond({ domain, requests, at });
const journals = (): readonly string[] => readdirSync(folderOf()).filter((name) => name.endsWith('.journal'));

describe('a minute', () => {
  test('is closed some seconds after its end, when its journal is no longer needed', async () => {
    const { minutes } = open();
    await minutes.close('complete');
    await minutes.add([second(START), second(START + 1_000, 2)]);
    expect(journals()).toHaveLength(1);
    now = START + MINUTE_MS + CLOSE_MS - 1;
    await minutes.close('complete');
    expect([files.length, journals().length]).toEqual([0, 1]);
    now++;
    await minutes.close('complete');
    expect(await written()).toEqual({ 'a.test 0': 3 });
    expect(journals()).toEqual([]);
  });

  test('is opened again by seconds that arrive late, and none is lost or counted twice', async () => {
    const { minutes } = open();
    await minutes.add([second(START)]);
    now = START + MINUTE_MS + CLOSE_MS;
    const closing = minutes.close('complete');
    // While it is being written.
    await new Promise((resolve) => setImmediate(resolve));
    await minutes.add([second(START + 59_000, 10)]);
    await closing;
    expect(await written()).toEqual({ 'a.test 0': 1 });
    await minutes.close('complete');
    expect(files).toHaveLength(1);
    now += CLOSE_MS;
    await minutes.close('complete');
    expect(await written()).toEqual({ 'a.test 0': 11 });
    expect((await batches()).map(({ entries }) => entries.length)).toEqual([1, 1]);
  });

  test('of the time before the clock was set back is closed at once', async () => {
    const { minutes } = open();
    await minutes.add([second(START + 10 * MINUTE_MS)]);
    now = START;
    await minutes.close('complete');
    expect(await written()).toEqual({ 'a.test 10': 1 });
  });

  test('that is not complete is closed by the end of the node', async () => {
    const { minutes } = open();
    await minutes.add([second(START), second(START + MINUTE_MS, 2, 'b.test')]);
    await minutes.close('all');
    expect(await written()).toEqual({ 'a.test 0': 1, 'b.test 1': 2 });
    expect(journals()).toEqual([]);
  });
});

describe('numbers of batches', () => {
  test('rise over restarts, over a clock that is set back, and over a lost number file while files are left', async () => {
    const numbers: number[] = [];
    for (const change of [0, -HOUR_MS, 5 * HOUR_MS, -24 * HOUR_MS]) {
      now = START + change;
      const { minutes } = open();
      await minutes.add([second(now), second(now, 1, 'b.test')]);
      await minutes.close('all');
      numbers.push(...(await batches()).map(({ batch }) => batch));
      for (const { first, last } of files) expect(last).toBe(first + 1);
      files = [];
    }
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    rmSync(join(directory, 'usage-batch'));
    const { minutes } = open();
    minutes.numberAfter(Math.max(...(await findLeft(folderOf())).files.map(({ last }) => last)));
    await minutes.add([second(now)]);
    await minutes.close('all');
    expect((await batches())[0]!.batch).toBeGreaterThan(numbers.at(-1)!);
  });

  test('are stored before they are used, and a file without a number is reported', async () => {
    writeFileSync(join(directory, 'usage-batch'), 'not a number');
    const { minutes } = open();
    expect(lines).toEqual(['the file with the last number of a traffic batch has no number in it']);
    await minutes.add([second(START)]);
    await minutes.close('all');
    expect(readFileSync(join(directory, 'usage-batch'), 'utf8')).toBe(`${files[0]!.last}\n`);
  });

  test('are not used again for other counts when their file could not be written', async () => {
    const { minutes } = open();
    await minutes.add([second(START)]);
    // A file in the way of the folder: the number is stored, the batches are not.
    rmSync(folderOf(), { recursive: true });
    writeFileSync(folderOf(), '');
    await minutes.close('all');
    expect(files).toEqual([]);
    rmSync(folderOf());
    now += UNWRITTEN_RETRY_MS;
    await minutes.add([second(START, 5)]);
    await minutes.close('all');
    expect(await written()).toEqual({ 'a.test 0': 6 });
    const numbers = (await batches()).map(({ batch }) => batch);
    expect(new Set(numbers).size).toBe(numbers.length);
  });
});

describe('a disk', () => {
  test(
    'that is full costs no count, and the node does not fill it with journals',
    requires(NO_SMALL_DISK),
    async () => {
      const disk = smallDisk(folderOf(), '512k');
      try {
        const { minutes, trouble } = open();
        const filler = join(folderOf(), 'filler');
        const paths = Array.from({ length: 400 }, (_, at) => `/${'p'.repeat(90)}/${at}`);
        let sent = 0;
        const oneMinute = async (): Promise<void> => {
          await minutes.add([countedSecond({ domain: 'a.test', requests: 400, at: now, paths })]);
          sent += 400;
          now += MINUTE_MS + CLOSE_MS;
          await minutes.close('complete');
        };
        await oneMinute();
        expect([trouble.disk(), files.length]).toEqual([null, 1]);
        writeFileSync(filler, Buffer.alloc(440_000));
        for (let minute = 0; minute < 2 * MAX_UNWRITTEN_JOURNALS; minute++) await oneMinute();
        expect(trouble.disk()).toMatch(/ENOSPC/);
        expect(lines).toContain('traffic counts cannot be written to the disk; they are in memory only');
        expect(journals().length).toBeLessThanOrEqual(MAX_UNWRITTEN_JOURNALS + 1);
        rmSync(filler);
        now += UNWRITTEN_RETRY_MS;
        await oneMinute();
        await minutes.close('all');
        expect(trouble.disk()).toBeNull();
        expect(lines).toContain('traffic counts are written to the disk again');
        expect(Object.values(await written()).reduce((sum, one) => sum + one, 0)).toBe(sent);
        expect(journals()).toEqual([]);
      } finally {
        disk.unmount();
      }
    },
  );
});
