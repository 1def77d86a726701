/** Batch files: torn, missing, and left twice by a crash between two steps. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type BatchFile,
  findLeft,
  type NumberedBatch,
  readBatches,
  writeBatches,
} from '../../../../../src/edge/following/traffic/files.ts';

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
