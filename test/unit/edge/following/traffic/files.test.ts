/** Batch files: torn, missing, and left twice by a crash between two steps. */

import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_FRAME_OCTETS } from '../../../../../src/edge/following/limits.ts';
import {
  type BatchFile,
  createJournal,
  findLeft,
  frameLength,
  frameOf,
  type NumberedBatch,
  readBatches,
  readFrames,
  readJournal,
  writeBatches,
} from '../../../../../src/edge/following/traffic/files.ts';
import { requires } from '../../../../support/requires.ts';
import { NO_SMALL_DISK, smallDisk } from '../../../../support/small-disk.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-batches-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const batch = (number: number): NumberedBatch => ({ number, body: Buffer.alloc(20, number % 256) });

interface Written {
  readonly first?: number;
  readonly last?: number;
  readonly numbers: readonly number[];
  readonly journals?: readonly string[];
}

function write({ numbers, journals = [], ...range }: Written): Promise<BatchFile> {
  const { first = numbers[0]!, last = numbers.at(-1)! } = range;
  const paths = journals.map((name) => join(folder, name));
  return writeBatches(folder, { first, last, journals: paths, batches: numbers.map(batch) });
}

const numbersOf = async (file: BatchFile): Promise<readonly number[]> =>
  (await readBatches(file)).batches.map(({ number }) => number);

describe('a batch file', () => {
  test('has its batches with their numbers, also where numbers are left out', async () => {
    const file = await write({
      first: 1_700_000_000_000,
      last: 1_700_000_000_009,
      numbers: [1_700_000_000_000, 1_700_000_000_004],
    });
    expect((await readBatches(file)).batches).toEqual(
      [1_700_000_000_000, 1_700_000_000_004].map((number) => ({ ...batch(number), isGzipped: false })),
    );
    expect(file.size).toBe(readFileSync(file.path).length);
  });

  test('that is torn at any octet has the batches before the tear, and says so', async () => {
    const file = await write({ numbers: [5, 6, 7] });
    const { size } = file;
    let least = 3;
    for (let at = size - 1; at >= 0; at--) {
      truncateSync(file.path, at);
      const { batches, isTorn } = await readBatches(file);
      expect(batches.map(({ number }) => number)).toEqual([5, 6, 7].slice(0, batches.length));
      expect(batches.length).toBeLessThanOrEqual(least);
      expect(isTorn || batches.length < 3).toBe(true);
      least = batches.length;
    }
    expect(least).toBe(0);
    expect((await readBatches(file)).isTorn).toBe(true);
  });

  test('that is missing has no batches, and says so', async () => {
    const file = await write({ numbers: [5] });
    rmSync(file.path);
    expect(await readBatches(file)).toEqual({ batches: [], isTorn: true });
  });

  test('whose batches cannot all be made does not appear', async () => {
    async function* failing(): AsyncGenerator<NumberedBatch> {
      yield batch(1);
      throw new Error('the second batch cannot be made');
    }
    const options = { first: 1, last: 2, journals: [], batches: failing() };
    await expect(writeBatches(folder, options)).rejects.toThrow('the second batch');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a start', () => {
  const touch = (name: string): void => writeFileSync(join(folder, name), '');

  test('finds files by their numbers and journals by their minutes, whatever else is in the folder', async () => {
    for (const name of ['0000000002-b.journal', '0000000001-a.journal', 'other.txt', 'x.batch']) touch(name);
    const later = await write({ numbers: [30, 31] });
    const earlier = await write({ numbers: [7] });
    const { files, journals } = await findLeft(folder);
    expect(files).toEqual([earlier, later]);
    expect(journals).toEqual(
      ['0000000001-a.journal', '0000000002-b.journal'].map((name) => join(folder, name)),
    );
  });

  test('removes a journal whose counts are in a batch file, and no other one', async () => {
    for (const name of ['1-a.journal', '2-b.journal']) touch(name);
    const file = await write({ numbers: [1], journals: ['1-a.journal'] });
    const { files, journals } = await findLeft(folder);
    expect([files, journals]).toEqual([[file], [join(folder, '2-b.journal')]]);
    expect(existsSync(join(folder, '1-a.journal'))).toBe(false);
  });

  test('removes a journal of a batch file that names thousands of them', async () => {
    const names = Array.from(
      { length: 9_000 },
      (_, at) => `${String(at).padStart(10, '0')}-aaaaaaaa.journal`,
    );
    touch(names.at(-1)!);
    await write({ numbers: [1], journals: names });
    expect((await findLeft(folder)).journals).toEqual([]);
  });

  test('removes the files that a merged one covers', async () => {
    await write({ numbers: [10, 11] });
    await write({ first: 12, last: 19, numbers: [12] });
    const merged = await write({ first: 10, last: 19, numbers: [10, 11, 12] });
    const next = await write({ numbers: [20] });
    expect((await findLeft(folder)).files).toEqual([merged, next]);
    expect(readdirSync(folder)).toHaveLength(2);
    expect(await numbersOf(merged)).toEqual([10, 11, 12]);
  });

  test('removes what a crash has left of a file that was being written', async () => {
    touch('0000000000000001-0000000000000002.batch.abcdef.tmp');
    expect(await findLeft(folder)).toEqual({ files: [], journals: [] });
    expect(readdirSync(folder)).toEqual([]);
  });
});

// Frames of journals and batch files: a tear or damage costs what follows it and nothing before it.

const CONTENTS = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 });

/** The contents whose frames end at or before an octet. */
function wholeBefore(contents: readonly Uint8Array[], at: number): readonly Uint8Array[] {
  let end = 0;
  return contents.filter((content) => {
    end += frameOf(content).length;
    return end <= at;
  });
}

const plain = (contents: readonly Uint8Array[]): readonly (readonly number[])[] =>
  contents.map((content) => [...content]);

describe('frames', () => {
  test('that are torn at any octet are read up to the last whole one', () => {
    fc.assert(
      fc.property(CONTENTS, (contents) => {
        const octets = Buffer.concat(contents.map(frameOf));
        for (let at = 0; at <= octets.length; at++) {
          const read = readFrames(octets.subarray(0, at));
          const whole = wholeBefore(contents, at);
          expect(plain(read.contents)).toEqual(plain(whole));
          expect(read.isTorn).toBe(at > Buffer.concat(whole.map(frameOf)).length);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('with any octet changed are read up to the changed one, which is never returned', () => {
    fc.assert(
      fc.property(CONTENTS, fc.integer({ min: 1, max: 255 }), (contents, change) => {
        const octets = Buffer.concat(contents.map(frameOf));
        for (let at = 0; at < octets.length; at++) {
          const damaged = Buffer.from(octets);
          damaged[at]! ^= change;
          const { contents: read, isTorn } = readFrames(damaged);
          expect(plain(read)).toEqual(plain(wholeBefore(contents, at)));
          expect(isTorn).toBe(true);
        }
      }),
      { numRuns: 25 },
    );
  });

  test('that would be longer than the limit are refused, and damage that claims so is not allocated', () => {
    expect(() => frameOf({ length: MAX_FRAME_OCTETS + 1 } as Uint8Array)).toThrow(RangeError);
    const claim = new Uint8Array(8);
    new DataView(claim.buffer).setUint32(0, MAX_FRAME_OCTETS + 1, true);
    expect(frameLength(claim)).toBe(0);
    expect(frameLength(claim.subarray(0, 7))).toBe(0);
    expect(frameLength(frameOf(new Uint8Array(5)))).toBe(13);
  });
});

// The journal of a minute on a real disk, one that is full too.

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-journal-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const RECORDS = [1, 2, 3, 4].map((size) => new Uint8Array(50 * size).fill(size));

test('a journal that is torn at any octet has every record before the tear', async () => {
  const path = join(folder, 'a.journal');
  const journal = await createJournal(path);
  for (const record of RECORDS) await journal.append(record);
  await journal.close();
  const octets = readFileSync(path);
  const ends = RECORDS.map((_, at) => Buffer.concat(RECORDS.slice(0, at + 1).map(frameOf)).length);
  expect(octets.length).toBe(ends.at(-1));
  for (let at = octets.length; at >= 0; at--) {
    truncateSync(path, at);
    const { contents, isTorn } = await readJournal(path);
    const whole = ends.filter((end) => end <= at).length;
    expect(contents.map(({ length }) => length)).toEqual(RECORDS.slice(0, whole).map(({ length }) => length));
    expect(isTorn).toBe(at !== 0 && !ends.includes(at));
  }
});

test('octets after the last whole record do not hide the records before them', async () => {
  const path = join(folder, 'a.journal');
  const journal = await createJournal(path);
  for (const record of RECORDS) await journal.append(record);
  await journal.close();
  appendFileSync(path, 'the start of a record that was never whole');
  const { contents, isTorn, changedAt } = await readJournal(path);
  expect(contents.map((content) => content[0])).toEqual([1, 2, 3, 4]);
  expect(isTorn).toBe(true);
  expect(Math.abs(changedAt - statSync(path).mtimeMs)).toBeLessThan(1);
});

test('a journal never continues the file of another process', async () => {
  const path = join(folder, 'a.journal');
  writeFileSync(path, 'of another process');
  await expect(createJournal(path)).rejects.toMatchObject({ code: 'EEXIST' });
});

test(
  'an append that the disk has no room for leaves whole records, and later ones follow them',
  requires(NO_SMALL_DISK),
  async () => {
    const disk = smallDisk(folder, '256k');
    try {
      const filler = join(folder, 'filler');
      const path = join(folder, 'a.journal');
      const journal = await createJournal(path);
      await journal.append(RECORDS[0]!);
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1k']);
      await expect(journal.append(new Uint8Array(100_000).fill(9))).rejects.toMatchObject({ code: 'ENOSPC' });
      expect((await readJournal(path)).contents.map((content) => content[0])).toEqual([1]);
      unlinkSync(filler);
      await journal.append(RECORDS[1]!);
      await journal.close();
      const { contents, isTorn } = await readJournal(path);
      expect([contents.map((content) => content[0]), isTorn]).toEqual([[1, 2], false]);
    } finally {
      disk.unmount();
    }
  },
);
