/** The journal of a minute on a real disk, one that is full too. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createJournal, frameOf, readJournal } from '../../../../../src/edge/following/traffic/files.ts';
import { requires } from '../../../../support/requires.ts';
import { NO_SMALL_DISK, smallDisk } from '../../../../support/small-disk.ts';

let folder: string;
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
