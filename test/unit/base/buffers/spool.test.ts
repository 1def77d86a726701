import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { MEMORY_OCTETS, WRITE_OCTETS } from '../../../../src/base/buffers/limits.ts';
import { type BufferSpace, createBufferSpace } from '../../../../src/base/buffers/space.ts';
import { createSpool, type Spool } from '../../../../src/base/buffers/spool.ts';
import { until } from '../../../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-spool-'));
afterAll(() => rmSync(folder, { recursive: true }));

const MB = 1024 * 1024;

function spaceOf(options: { readonly folder?: string | null; readonly diskOctets?: number } = {}) {
  const faults: unknown[] = [];
  const space = createBufferSpace({
    folder: options.folder === undefined ? folder : options.folder,
    diskOctets: options.diskOctets ?? 100 * MB,
    onFault: (error) => faults.push(error),
  });
  return { space, faults };
}

function open(
  space: BufferSpace,
  more: { readonly network?: string; readonly onRoom?: () => void } = {},
): Spool {
  return createSpool({
    space,
    network: more.network ?? 'n',
    most: Number.POSITIVE_INFINITY,
    onRoom: more.onRoom ?? (() => undefined),
  });
}

async function readAll(spool: Spool): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < spool.length; ) {
    const chunk = await spool.read(at);
    chunks.push(chunk);
    at += chunk.length;
  }
  return Buffer.concat(chunks);
}

const sum = (octets: Uint8Array): string => createHash('sha256').update(octets).digest('hex');

describe('a spool', () => {
  test('a small body stays in memory, and no file is opened', async () => {
    const { space } = spaceOf();
    const spool = open(space);
    for (const text of ['a', 'bc', 'def']) spool.write(Buffer.from(text));
    expect(Buffer.from(spool.inMemory()!).toString()).toBe('abcdef');
    expect((await readAll(spool)).toString()).toBe('abcdef');
    expect([space.memory.octets, space.diskOctets()]).toEqual([6, 0]);
    spool.close();
    expect(space.memory.octets).toBe(0);
  });

  test('released octets make room again, with and without a disk', async () => {
    const { space } = spaceOf({ diskOctets: 1.2 * MB });
    let rooms = 0;
    const spool = open(space, { onRoom: () => rooms++ });
    const octets = randomBytes(512 * 1024);
    for (let at = 0; at < octets.length; at += 64 * 1024) spool.write(octets.subarray(at, at + 64 * 1024));
    expect(sum(await readAll(spool))).toBe(sum(octets));
    spool.release(spool.length);
    await until(() => spool.hasRoom() && rooms > 0 && space.memory.octets === 0, 'there is room again');
    spool.close();
    await until(() => space.diskOctets() === 0, 'nothing is left');
  });

  test('a large body can be read from its unlinked file any number of times', async () => {
    const { space } = spaceOf();
    const spool = open(space);
    const octets = randomBytes(3 * MB + 17);
    for (let at = 0; at < octets.length; at += 10_000) {
      spool.write(octets.subarray(at, at + 10_000));
      if (!spool.hasRoom()) await until(() => spool.hasRoom(), 'there is room again');
    }
    expect(sum(await readAll(spool))).toBe(sum(octets));
    await until(() => space.memory.octets <= MEMORY_OCTETS, 'it is written');
    expect(sum(await readAll(spool))).toBe(sum(octets));
    expect(spool.inMemory()).toBe(null);
    expect(readdirSync(folder)).toEqual([]);
    expect(space.diskOctets()).toBeGreaterThan(2 * MB);
    spool.close();
    expect(space.diskOctets()).toBe(0);
  });

  test('small chunks are gathered in larger buffers', () => {
    const { space } = spaceOf({ folder: null });
    const spool = open(space);
    const octets = randomBytes(20_000);
    for (const octet of octets) spool.write(Uint8Array.of(octet));
    expect(sum(spool.inMemory()!)).toBe(sum(octets));
  });

  test('the file is reused from its start once everything is read', async () => {
    const { space } = spaceOf();
    const spool = open(space);
    let at = 0;
    let most = 0;
    for (let round = 0; round < 30; round++) {
      const octets = randomBytes(200_000);
      spool.write(octets);
      await until(() => space.memory.octets < MEMORY_OCTETS, 'it is written');
      const read: Uint8Array[] = [];
      while (at < spool.length) {
        const chunk = await spool.read(at);
        read.push(chunk);
        at += chunk.length;
        spool.release(at);
      }
      expect(sum(Buffer.concat(read))).toBe(sum(octets));
      most = Math.max(most, space.diskOctets());
    }
    expect(most).toBeLessThan(500_000);
    spool.close();
  });

  test('without disk space there is no room, and `onRoom` is called when there is again', async () => {
    let rooms = 0;
    const { space } = spaceOf({ diskOctets: 0 });
    const spool = open(space, { onRoom: () => rooms++ });
    spool.write(randomBytes(MEMORY_OCTETS - 1));
    expect(spool.hasRoom()).toBe(true);
    spool.write(randomBytes(10));
    expect(spool.hasRoom()).toBe(false);
    spool.release(MEMORY_OCTETS - 1);
    expect([spool.hasRoom(), rooms]).toEqual([true, 1]);
  });

  test('a file that cannot be created loses no octet, and no file is opened for a while', async () => {
    const blocked = join(folder, 'file');
    writeFileSync(blocked, '');
    const { space, faults } = spaceOf({ folder: blocked });
    const spool = open(space);
    const octets = randomBytes(100_000);
    spool.write(octets);
    await until(() => faults.length === 1, 'the fault is reported');
    expect(sum(await readAll(spool))).toBe(sum(octets));
    expect(spool.hasRoom()).toBe(false);
    expect(space.takeDisk('other', 1)).toBe(false);
    spool.close();
    rmSync(blocked);
    expect([faults.length, space.memory.octets, space.diskOctets()]).toEqual([1, 0, 0]);
  });

  test('the spools of one network use at most a quarter of the disk space', async () => {
    const { space } = spaceOf({ diskOctets: 4 * MB });
    const spool = open(space, { network: 'a' });
    const other = open(space, { network: 'b' });
    for (const one of [spool, other]) {
      const before = space.diskOctets();
      const isFull = (): boolean => space.diskOctets() - before > MB - WRITE_OCTETS - 100_000;
      // However slowly the disk takes it.
      while (!isFull()) {
        one.write(randomBytes(100_000));
        await until(() => one.hasRoom() || isFull(), 'room');
      }
      // A chunk is taken in any case.
      for (let more = 0; more < 5; more++) one.write(randomBytes(100_000));
      await until(() => !one.hasRoom(), 'the end of its share');
    }
    expect(space.diskOctets()).toBeLessThanOrEqual(2 * MB);
    expect(space.diskOctets()).toBeGreaterThan(MB);
    spool.close();
    other.close();
    await until(() => space.diskOctets() === 0, 'all is given back');
  });
});
