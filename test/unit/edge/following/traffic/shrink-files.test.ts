/** The bounds of batch files: merges keep sums and order, the first file is never touched, and every loss is counted. */
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MERGE_FILES, MERGE_OCTETS } from '../../../../../src/edge/following/limits.ts';
import { addSealed, createTrafficSpans, spanAt } from '../../../../../src/edge/following/traffic/counter.ts';
import {
  type BatchFile,
  findLeft,
  readBatches,
  writeBatches,
} from '../../../../../src/edge/following/traffic/files.ts';
import { sealBatches, shrinkFiles } from '../../../../../src/edge/following/traffic/seal-batches.ts';
import { divideBatch } from '../../../../../src/edge/following/traffic/send-batches.ts';
import { openBatch } from '../../../../../src/engine/counts/layout.ts';
import {
  countedSecond,
  type EntrySums,
  openSent,
  type SecondOf,
} from '../../../../support/counted-seconds.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

let folder: string;
let next: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-shrink-'));
  next = 1_700_000_000_000;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Traffic = Omit<SecondOf, 'at'> & { readonly minute: number };

/** A file of the next numbers. */
async function write(traffic: readonly Traffic[]): Promise<BatchFile> {
  const spans = createTrafficSpans();
  for (const { minute, ...one } of traffic) {
    const { sealed } = countedSecond({ ...one, at: minute * MINUTE_MS });
    for (const entry of openBatch(sealed).entries) addSealed(spanAt(spans, entry.minute), entry);
  }
  const first = next;
  const last = first + [...spans.spans.values()].reduce((sum, span) => sum + span.size, 0) - 1;
  next = last + 1;
  const batches = sealBatches(spans.spans, { first, most: last - first + 1 });
  return writeBatches(folder, { first, last, journals: [], batches });
}

interface ReadEntry extends EntrySums {
  readonly batch: number;
}

async function entriesOf(files: readonly BatchFile[]): Promise<readonly ReadEntry[]> {
  const read = await Promise.all(files.map(readBatches));
  return read
    .flatMap(({ batches }) => batches)
    .flatMap(({ number, body, isGzipped }) => {
      const { batch, entries } = openSent(body, isGzipped);
      expect(batch).toBe(number);
      return entries.map((entry) => ({ ...entry, batch }));
    });
}

/** Requests by domain and hour. */
function byHour(
  entries: readonly Pick<EntrySums, 'domain' | 'minute' | 'requests'>[],
): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { domain, minute, requests } of entries) {
    const key = `${domain} ${Math.floor(minute / HOUR_MS)}`;
    sums[key] = (sums[key] ?? 0) + requests;
  }
  return sums;
}

/** Does steps until the files are so few; returns the losses. */
async function shrinkTo(most: number, files: readonly BatchFile[]) {
  const stripped = new Set<string>();
  let left = files;
  let [droppedTops, droppedBatches] = [0, 0];
  while (left.length > most) {
    const step = await shrinkFiles(left, { folder, stripped });
    if (step === null) break;
    const at = left.indexOf(step.removed[0]!);
    left = left.filter((file) => !step.removed.includes(file));
    if (step.added !== null) left = [...left.slice(0, at), step.added, ...left.slice(at)];
    if (step.added !== null && step.removed.length === 1) stripped.add(step.added.path);
    droppedTops += step.droppedTops;
    droppedBatches += step.droppedBatches;
  }
  return { left, droppedTops, droppedBatches };
}

const TRAFFIC = fc.record({
  domain: fc.constantFrom('a.test', 'b.test', 'c.test'),
  requests: fc.integer({ min: 1, max: 1_000 }),
  minute: fc.integer({ min: 28_000_000, max: 28_000_200 }),
});
const FILES = fc.array(fc.array(TRAFFIC, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 12 });

describe('files beyond their bound', () => {
  test('are merged into hours with the sums, the lists and the first file as before', async () => {
    await fc.assert(
      fc.asyncProperty(FILES, fc.integer({ min: 2, max: 4 }), async (traffic, most) => {
        const files: BatchFile[] = [];
        for (const one of traffic) files.push(await write(one));
        const before = await entriesOf(files);
        const firstOctets = readFileSync(files[0]!.path);
        const { left, droppedTops, droppedBatches } = await shrinkTo(most, files);
        const after = await entriesOf(left);
        expect(byHour(after)).toEqual(byHour(before));
        expect(after.map(({ requests }) => requests)).toEqual(after.map(({ listed }) => listed));
        expect([droppedTops, droppedBatches]).toEqual([0, 0]);
        expect(readFileSync(files[0]!.path)).toEqual(firstOctets);
        // Each number once, in order, and every file within the numbers of those that it replaces.
        const numbers = [...new Set(after.map(({ batch }) => batch))];
        expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
        expect(left[0]).toEqual(files[0]);
        expect(left.at(-1)!.last).toBe(files.at(-1)!.last);
        // A later start finds the same.
        expect((await findLeft(folder)).files).toEqual(left);
        for (const { path } of left) rmSync(path);
      }),
      { numRuns: 25 },
    );
  });

  test('are merged behind a file that is too large to be merged', async () => {
    const files = [await write([{ domain: 'a.test', requests: 1, minute: 60 }])];
    const large = await write([{ domain: 'a.test', requests: 2, minute: 120 }]);
    files.push({ ...large, size: MERGE_OCTETS });
    for (let minute = 180; minute < 190; minute++)
      files.push(await write([{ domain: 'a.test', requests: 4, minute }]));
    const step = await shrinkFiles(files, { folder, stripped: new Set() });
    expect(step).toMatchObject({ removed: files.slice(2), droppedTops: 0, droppedBatches: 0 });
    expect(byHour(await entriesOf([step!.added!]))).toEqual({ 'a.test 3': 40 });
  });

  test('are merged by so many at once, the oldest first', async () => {
    const files: BatchFile[] = [];
    for (let minute = 0; minute < MERGE_FILES + 5; minute++)
      files.push(await write([{ domain: 'a.test', requests: 1, minute }]));
    const step = await shrinkFiles(files, { folder, stripped: new Set() });
    expect(step!.removed).toEqual(files.slice(1, MERGE_FILES + 1));
  });

  test('that cannot be merged lose top lists before counts, and what is lost is counted', async () => {
    const files: BatchFile[] = [];
    for (let minute = 0; minute < 4; minute++) {
      const file = await write([
        { domain: 'a.test', requests: 10, minute },
        { domain: 'b.test', requests: 1, minute },
      ]);
      files.push({ ...file, size: MERGE_OCTETS });
    }
    const stripped = new Set<string>();
    const first = await shrinkFiles(files, { folder, stripped });
    expect(first).toMatchObject({ removed: [files[1]], droppedTops: 2, droppedBatches: 0 });
    const entries = await entriesOf([first!.added!]);
    expect(entries.map(({ requests, listed }) => [requests, listed])).toEqual([
      [10, null],
      [1, null],
    ]);
    expect(entries[0]!.batch).toBe(files[1]!.first);
    for (const { path } of files) stripped.add(path);
    const last = await shrinkFiles(files, { folder, stripped });
    expect(last).toEqual({ removed: [files[1]], added: null, droppedTops: 0, droppedBatches: 1 });
    expect(await shrinkFiles([files[0]!], { folder, stripped })).toBeNull();
  });

  test.each<readonly [string, (file: BatchFile) => void]>([
    ['missing', ({ path }) => rmSync(path)],
    ['empty', ({ path }) => truncateSync(path, 0)],
    ['torn', ({ path, size }) => truncateSync(path, size - 1)],
    ['of something else', ({ path }) => writeFileSync(path, 'not frames at all, of whatever length this is')],
  ])('are merged although one of them is %s, which is counted as a loss', async (_, damage) => {
    const files: BatchFile[] = [];
    for (let minute = 0; minute < 4; minute++)
      files.push(await write([{ domain: 'a.test', requests: 10 ** minute, minute }]));
    damage(files[2]!);
    const step = await shrinkFiles(files, { folder, stripped: new Set() });
    expect(step).toMatchObject({ removed: files.slice(1), droppedBatches: 1 });
    expect(byHour(await entriesOf([step!.added!]))).toEqual({ 'a.test 0': 1_010 });
  });
});

describe('a batch that is too large for a proxy', () => {
  test('is divided until each entry is one, then loses its lists, with a number of its own for each part', async () => {
    const names = Array.from({ length: 13 }, (_, at) => `d${at}.test`);
    let file = await write(names.map((domain, at) => ({ domain, requests: at + 1, minute: 7 })));
    const before = byHour(await entriesOf([file]));
    let droppedTops = 0;
    for (let accepted = 0; ; ) {
      const { batches } = await readBatches(file);
      const large = batches[accepted];
      if (large === undefined) break;
      const divided = await divideBatch(folder, file, large);
      if (divided === null) {
        accepted++;
        continue;
      }
      expect(divided.file).toMatchObject({ path: file.path, first: file.first, last: file.last });
      ({ file } = divided);
      droppedTops += divided.droppedTops;
      expect(byHour(await entriesOf([file]))).toEqual(before);
    }
    const entries = await entriesOf([file]);
    expect(droppedTops).toBe(13);
    expect(entries.map(({ batch }) => batch).sort((a, b) => a - b)).toEqual(
      names.map((_, at) => file.first + at),
    );
  });
});
