import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  openSetFiles,
  removeSetFiles,
  type SetFiles,
  type StoredSet,
} from '../../../../../src/edge/following/certificates/set-files.ts';
import { MAX_BOX_OCTETS } from '../../../../../src/edge/following/limits.ts';

let folder: string;
let files: SetFiles;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-sets-'));
  files = await openSetFiles(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

const SET: StoredSet = {
  domain: 'shop.test',
  digest: 'd'.repeat(64),
  position: 7,
  keyId: 'k.1',
  box: Buffer.from('box\n\0ÿ'),
};

async function read(): Promise<readonly (StoredSet | null)[]> {
  const sets: (StoredSet | null)[] = [];
  for await (const { set } of files.read()) sets.push(set);
  return sets;
}

function onlyFile(): string {
  return join(folder, 'certificates', readdirSync(join(folder, 'certificates'))[0]!);
}

test('a set is read as it was written, by its owner alone, also under the longest name', async () => {
  const domain = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
  expect(domain).toHaveLength(253);
  await files.write(SET);
  await files.write({ ...SET, domain, digest: null, box: Buffer.alloc(0) });
  expect(statSync(onlyFile()).mode & 0o777).toBe(0o600);
  const sets = await read();
  expect(sets).toHaveLength(2);
  expect(sets).toContainEqual(SET);
  expect(sets).toContainEqual({ ...SET, domain, digest: null, box: Buffer.alloc(0) });
});

test('a set replaces the one before, and is removed with its file', async () => {
  await files.write(SET);
  await files.write({ ...SET, position: 8 });
  expect(await read()).toEqual([{ ...SET, position: 8 }]);
  await files.remove('shop.test');
  expect(await read()).toEqual([]);
  await files.write(SET);
  await removeSetFiles(folder);
  expect(readdirSync(folder)).toEqual([]);
});

test('a file with any changed octet, or any missing end, is damaged', async () => {
  await files.write(SET);
  const path = onlyFile();
  const whole = readFileSync(path);
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), async (at, change) => {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= change;
      // Any line end separates the sum from the rest.
      const isDamaged = change !== 0 && at !== 64;
      writeFileSync(path, change === 0 ? damaged.subarray(0, at) : damaged);
      expect(await read()).toEqual([isDamaged || change === 0 ? null : SET]);
    }),
    { numRuns: 200 },
  );
});

test('a file under the name of another domain, or one that is too long, is damaged', async () => {
  await files.write(SET);
  writeFileSync(join(folder, 'certificates', 'x'), readFileSync(onlyFile()));
  writeFileSync(join(folder, 'certificates', 'y'), Buffer.alloc(MAX_BOX_OCTETS + 2_000));
  expect((await read()).filter((set) => set === null)).toHaveLength(2);
});

test('a draft that a crash left is removed', async () => {
  writeFileSync(join(folder, 'certificates', 'x.tmp'), 'half');
  files = await openSetFiles(folder);
  expect(readdirSync(join(folder, 'certificates'))).toEqual([]);
});
