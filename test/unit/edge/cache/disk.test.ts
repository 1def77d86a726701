import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDisk, type Disk } from '../../../../src/edge/cache/disk.ts';
import {
  createDiskPartition,
  fileShare,
  putFile,
  takeExpired,
  takeOverflow,
  touchFile,
} from '../../../../src/edge/cache/disk-partition.ts';
import { MAX_WRITE_BACKLOG } from '../../../../src/edge/cache/limits.ts';
import type { ServedDomain } from '../../../../src/edge/following/served-domain.ts';

let folder = '';
let disks: Disk[] = [];
let faults: unknown[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-disk-'));
  disks = [];
  faults = [];
});
afterEach(async () => {
  for (const disk of disks) await disk.close();
  rmSync(folder, { recursive: true, force: true });
});

function openDisk(clock: () => number = Date.now, maxFiles = 1_000): Disk {
  const onFault = (error: unknown): void => void faults.push(error);
  const disk = createDisk({ directory: folder, share: 1, maxFiles, clock, onFault });
  disks.push(disk);
  return disk;
}

function domain(purgeEpoch = 0, name = 'a.test'): ServedDomain {
  return { name, purgeEpoch, settings: { diskMaxGb: 1, diskTtlDays: 7 } } as ServedDomain;
}

function files(): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );
}

const BODY = Buffer.from('the body');

async function written(disk: Disk, key = 'k'): Promise<string> {
  const place = disk.enter(domain(), key);
  disk.write(place, { key }, BODY);
  await expect.poll(() => existsSync(place.path)).toBe(true);
  return place.path;
}

describe('a file', () => {
  test('a file is read by the process that wrote it and by the next one', async () => {
    const disk = openDisk();
    await written(disk);
    const read = async (from: Disk) => (await from.read(from.enter(domain(), 'k'), 100))!;
    expect(Buffer.from((await read(disk)).body!)).toEqual(BODY);
    await disk.close();
    const next = openDisk();
    // Before the folder is known, and after.
    expect((await read(next)).head).toEqual({ key: 'k' });
    await next.ready;
    expect((await read(next)).head).toEqual({ key: 'k' });
    expect(next.mayHave(next.enter(domain(), 'k'))).toBe(true);
    expect(next.mayHave(next.enter(domain(), 'other'))).toBe(false);
    expect((await next.read(next.enter(domain(), 'k'), 3))!.body).toBeNull();
    expect(faults).toEqual([]);
  });

  test.each<[string, (path: string) => void]>([
    ['cut off', (path) => truncateSync(path, 20)],
    ['empty', (path) => truncateSync(path, 0)],
    ['longer', (path) => writeFileSync(path, 'x', { flag: 'a' })],
    ['changed in its body', (path) => flip(path, 0)],
    ['changed in its head', (path) => flip(path, BODY.length + 3)],
    ['changed in its foot', (path) => flip(path, statSync(path).size - 1)],
    ['of zeros', (path) => writeFileSync(path, Buffer.alloc(200))],
  ])('that is %s is a miss, and removed', async (_name, damage) => {
    const disk = openDisk();
    const path = await written(disk);
    damage(path);
    expect(await disk.read(disk.enter(domain(), 'k'), 100)).toBeNull();
    await expect.poll(() => existsSync(path)).toBe(false);
  });

  test('an expired file is a miss', async () => {
    let now = Date.now();
    const disk = openDisk(() => now);
    await disk.ready;
    const path = await written(disk);
    now += 8 * 86_400_000;
    expect(await disk.read(disk.enter(domain(), 'k'), 100)).toBeNull();
    await expect.poll(() => existsSync(path)).toBe(false);
  });

  test('a file that is removed during its write does not appear', async () => {
    const disk = openDisk();
    const place = disk.enter(domain(), 'k');
    disk.write(place, { key: 'k' }, Buffer.alloc(4_000_000));
    disk.remove(place);
    await disk.close();
    expect(files()).toEqual([]);
  });
});

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 1;
  writeFileSync(path, bytes);
}

describe('a large body', () => {
  test('a large body is written as it arrives, and moved into place when it is complete', async () => {
    const disk = openDisk();
    const place = disk.enter(domain(), 'k');
    const spill = disk.openBodyFile(place, () => undefined)!;
    expect(disk.openBodyFile(place, () => undefined)).toBeNull();
    for (const text of ['the', ' ', 'body']) expect(spill.write(Buffer.from(text))).toBe(true);
    expect(existsSync(place.path)).toBe(false);
    expect(await spill.commit({ key: 'k' })).toBe(true);
    expect(Buffer.from((await disk.read(place, 100))!.body!)).toEqual(BODY);
  });

  test('an abandoned body leaves no file', async () => {
    const disk = openDisk();
    const spill = disk.openBodyFile(disk.enter(domain(), 'k'), () => undefined)!;
    spill.write(BODY);
    spill.abandon();
    expect(await spill.commit({})).toBe(false);
    await disk.close();
    expect(files()).toEqual([]);
  });
});

test('a purge removes the files of earlier epochs', async () => {
  const disk = openDisk();
  await disk.ready;
  const path = await written(disk);
  const after = disk.enter(domain(1), 'k');
  expect(disk.mayHave(after)).toBe(false);
  await expect.poll(() => existsSync(path)).toBe(false);
});

test('purges of a domain without files leave no partition each', async () => {
  const disk = openDisk();
  await disk.ready;
  for (let epoch = 0; epoch < 20; epoch++) disk.enter(domain(epoch), 'k');
  expect(disk.domains()).toEqual(['a.test']);
});

test('incomplete files of a killed process are removed at the start', async () => {
  mkdirSync(join(folder, 'tmp'));
  writeFileSync(join(folder, 'tmp', '1-1'), 'half');
  await openDisk().ready;
  expect(files()).toEqual([]);
});

test('domain names that are no folder names have separate folders', async () => {
  const disk = openDisk();
  const paths = ['..', '.', '', 'a/b', '#x', 'a.test'].map((name) => disk.enter(domain(0, name), 'k').path);
  expect(new Set(paths).size).toBe(paths.length);
  for (const path of paths) expect(path.startsWith(join(folder, 'entries', ''))).toBe(true);
  await disk.ready;
});

describe('a flood of small responses', () => {
  test('queues a bounded number of octets, and opens few files at once', async () => {
    const disk = openDisk();
    await disk.ready;
    const open = (): number => readdirSync(join(folder, 'tmp')).length;
    const head = { text: 'h'.repeat(8_000) };
    for (let key = 0; key < 5_000; key++) disk.write(disk.enter(domain(), `${key}`), head, Buffer.from('b'));
    const closed = disk.close();
    let most = 0;
    for (let isOver = false; !isOver; most = Math.max(most, open())) {
      isOver = await Promise.race([
        closed.then(() => true),
        new Promise<false>((r) => setImmediate(r, false)),
      ]);
    }
    expect(most).toBeLessThan(100);
    const { files: count, octets } = disk.usage(domain());
    expect(octets).toBeLessThan(MAX_WRITE_BACKLOG);
    expect(count).toBeGreaterThan(900);
    expect(faults).toEqual([]);
  });

  test('evicts files of its own domain alone, and those of a start', async () => {
    const disk = openDisk(Date.now, 150);
    await disk.ready;
    const put = (name: string, count: number): void => {
      for (let key = 0; key < count; key++) disk.write(disk.enter(domain(0, name), `${key}`), {}, BODY);
    };
    put('small.test', 40);
    put('flooded.test', 460);
    const stored = (one: Disk, name: string): number => one.usage(domain(0, name)).files;
    await expect.poll(() => stored(disk, 'flooded.test')).toBe(110);
    await expect.poll(() => files().length).toBe(150);
    expect(stored(disk, 'small.test')).toBe(40);
    await disk.close();
    const next = openDisk(Date.now, 60);
    await next.ready;
    expect([stored(next, 'small.test'), stored(next, 'flooded.test')]).toEqual([30, 30]);
    await expect.poll(() => files().length).toBe(60);
    expect(faults).toEqual([]);
  });
});

test.each([
  ['fit', [5, 10], 15, Number.POSITIVE_INFINITY],
  ['are one too many', [5, 11], 15, 10],
  ['are mostly of one domain', [1, 2, 100], 13, 10],
  ['are too many everywhere', [10, 10, 10], 15, 5],
  ['are none', [], 15, Number.POSITIVE_INFINITY],
])('files that %s are shared out', (_what, sizes, most, share) => {
  const partitions = sizes.map((size) => {
    const partition = createDiskPartition('/x', { maxOctets: 100, maxAgeMs: 100 });
    for (let name = 0; name < size; name++) putFile(partition, `${name}`, { size: 1, at: 0 });
    return partition;
  });
  expect(fileShare(partitions, most)).toBe(share);
});

describe('a disk partition', () => {
  test('a partition evicts the least recently used files, and the expired ones', () => {
    const shelf = createDiskPartition('/x', { maxOctets: 25, maxAgeMs: 100 });
    for (const name of ['a', 'b', 'c']) putFile(shelf, name, { size: 10, at: name === 'c' ? 50 : 0 });
    touchFile(shelf, 'a');
    expect(takeOverflow(shelf, 10)).toEqual(['b']);
    expect(shelf.used).toBe(20);
    expect(takeExpired(shelf, 120)).toEqual(['a']);
    putFile(shelf, 'c', { size: 4, at: 50 });
    expect(shelf.used).toBe(4);
  });

  test('after a restart the oldest files are evicted first', async () => {
    const disk = openDisk();
    const [old, young] = [await written(disk, 'old'), await written(disk, 'young')];
    await disk.close();
    utimesSync(old, new Date(0), new Date(Date.now() - 5_000));
    expect(existsSync(young)).toBe(true);
    const next = openDisk();
    await next.ready;
    const { partition, name } = next.enter(domain(), 'old');
    expect([...partition.files.keys()][0]).toBe(name);
  });
});

describe('a folder that another process takes and gives back', () => {
  /** Whether the file of a key is there for the disk, and its content; `null`: it has none. */
  async function content(disk: Disk, key: string): Promise<string | null> {
    const place = disk.enter(domain(), key);
    const found = await disk.read(place, 100);
    return found?.body == null ? null : Buffer.from(found.body).toString();
  }

  test('a released disk reads and writes nothing', async () => {
    const disk = openDisk();
    await written(disk, 'before');
    disk.release();
    const place = disk.enter(domain(), 'before');
    expect(disk.mayHave(place)).toBe(false);
    const after = disk.enter(domain(), 'after');
    disk.write(after, { key: 'after' }, BODY);
    await disk.close();
    expect(existsSync(after.path)).toBe(false);
    expect(existsSync(place.path)).toBe(true);
  });

  test('a disk that reclaims has the files that the other process has made, and none that it has removed', async () => {
    const disk = openDisk();
    await written(disk, 'removed');
    await written(disk, 'stays');
    disk.release();
    const other = openDisk();
    await other.ready;
    other.remove(other.enter(domain(), 'removed'));
    await written(other, 'made');
    await expect.poll(() => content(other, 'removed')).toBeNull();
    other.release();
    await other.close();
    disk.reclaim();
    expect(await content(disk, 'stays')).toBe(BODY.toString());
    expect(await content(disk, 'made')).toBe(BODY.toString());
    expect(await content(disk, 'removed')).toBeNull();
    await expect.poll(() => disk.usage(domain()).files).toBe(2);
    await written(disk, 'written again');
    expect(faults).toEqual([]);
  });

  test('writes under way at the release do not fail later ones', async () => {
    const disk = openDisk();
    const keys = Array.from({ length: 50 }, (_, at) => `under way ${at}`);
    for (const key of keys) disk.write(disk.enter(domain(), key), { key }, BODY);
    disk.release();
    // Removes the files that are being written.
    const other = openDisk();
    await other.close();
    disk.reclaim();
    await written(disk, 'later');
    for (const key of keys) expect([BODY.toString(), null]).toContain(await content(disk, key));
    expect(faults).toEqual([]);
  });

  test('what the other process has purged is not served after a reclaim', async () => {
    const disk = openDisk();
    await written(disk, 'k');
    disk.release();
    const other = openDisk();
    await other.ready;
    other.enter(domain(1), 'k');
    await other.close();
    disk.reclaim();
    expect(await disk.read(disk.enter(domain(1), 'k'), 100)).toBeNull();
  });
});
