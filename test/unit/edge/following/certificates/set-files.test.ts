import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openBox, readBoxKey, sealBox, sha256Hex } from '../../../../../src/base/platform/cryptography.ts';
import {
  openBoxKeyPair,
  openSet,
  openSetFiles,
  removeSetFiles,
  type SetFiles,
  SetRefusal,
  type StoredSet,
} from '../../../../../src/edge/following/certificates/set-files.ts';
import { MAX_BOX_OCTETS, MAX_SET_CERTIFICATES } from '../../../../../src/edge/following/limits.ts';
import { certificateSetContext } from '../../../../../src/engine/plan/manifest.ts';
import { setText } from '../../../../support/scripted-control.ts';

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

let lines: string[];
const note = (fields: object, message: string): void =>
  void lines.push(`${message} ${JSON.stringify(fields)}`);
const log = { info: note, warn: note, error: note };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-box-key-'));
  lines = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the key is made once, readable by its owner alone, and opens boxes after a restart', async () => {
  const first = await openBoxKeyPair(folder, log);
  expect(statSync(join(folder, 'box.key')).mode & 0o777).toBe(0o600);
  const box = sealBox(readBoxKey(Buffer.from(first.publicKey, 'base64'))!, Buffer.from('secret'), 'c');
  const second = await openBoxKeyPair(folder, log);
  expect(second.publicKey).toBe(first.publicKey);
  expect(openBox(second.privateKey, box, 'c')?.toString()).toBe('secret');
  expect(lines).toEqual([]);
});

test.each([
  '',
  'no key',
  '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n',
])('a damaged key is replaced and logged without its content (%#)', async (content) => {
  writeFileSync(join(folder, 'box.key'), content);
  const made = await openBoxKeyPair(folder, log);
  expect((await openBoxKeyPair(folder, log)).publicKey).toBe(made.publicKey);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/damaged/);
  expect(lines[0]).not.toContain('MC4C');
});

test('a key that cannot be stored is used until the node ends', async () => {
  const missing = join(folder, 'missing');
  const first = await openBoxKeyPair(missing, log);
  expect(first.publicKey).not.toBe((await openBoxKeyPair(missing, log)).publicKey);
  expect(lines[0]).toMatch(/cannot be stored/);
});

test('the log never has the key', async () => {
  await openBoxKeyPair(folder, log);
  const pem = readFileSync(join(folder, 'box.key'), 'latin1').split('\n')[1]!;
  expect(lines.join()).not.toContain(pem);
});

const own = generateKeyPairSync('x25519').privateKey;
const other = generateKeyPairSync('x25519').privateKey;
const one = { id: 1, source: 'custom', chain: 'CHAIN', key: 'TOP-SECRET' } as const;
const domain = 'shop.test';

/** A box of a text, as an honest control plane seals it. */
function boxOf(text: string, changes: { readonly key?: typeof own; readonly context?: string } = {}) {
  const digest = sha256Hex(text);
  const context = changes.context ?? certificateSetContext(domain, digest);
  const box = sealBox(createPublicKey(changes.key ?? own), Buffer.from(text), context);
  return { domain, digest, box };
}

test('a set that was sealed for this node is opened', () => {
  expect(openSet(own, boxOf(setText(domain, [one])))).toEqual([one]);
  expect(openSet(own, boxOf(setText(domain, [])))).toEqual([]);
});

const honest = setText(domain, [one]);
const REFUSED: readonly (readonly [string, ReturnType<typeof boxOf>, RegExp])[] = [
  ['a box for another node', boxOf(honest, { key: other }), /another node/],
  ['a box of another domain', { ...boxOf(honest), domain: 'other.test' }, /another node, domain or set/],
  [
    'a box of an older set',
    { ...boxOf(setText(domain, [])), digest: sha256Hex(honest) },
    /another node, domain or set/,
  ],
  [
    'a box that claims the digest of another set',
    boxOf(setText(domain, []), { context: certificateSetContext(domain, sha256Hex(honest)) }),
    /damaged/,
  ],
  [
    'a forged set under the digest of the manifest',
    {
      ...boxOf(setText(domain, []), { context: certificateSetContext(domain, sha256Hex(honest)) }),
      digest: sha256Hex(honest),
    },
    /digest of the set is/,
  ],
  ['no box', { ...boxOf(honest), box: Buffer.from('') }, /damaged/],
  ['what is no JSON', boxOf('TOP-SECRET {'), /no set of the format/],
  ['another format', boxOf(honest.replace('/v1', '/v2')), /no set of the format/],
  ['a set for another domain', boxOf(setText('other.test', [one])), /another domain/],
  ['a source that is unknown', boxOf(honest.replace('custom', 'found')), /no set of the format/],
  ['a certificate without a key', boxOf(honest.replace('"key"', '"kee"')), /no set of the format/],
  ['too many certificates', boxOf(setText(domain, Array(MAX_SET_CERTIFICATES + 1).fill(one))), /at most 500/],
];

test.each(REFUSED)('%s is refused with a sentence that has nothing of the content', (_what, box, reason) => {
  let fault: unknown = null;
  try {
    openSet(own, box);
  } catch (error) {
    fault = error;
  }
  expect(fault).toBeInstanceOf(SetRefusal);
  expect((fault as Error).message).toMatch(reason);
  expect((fault as Error).message).not.toContain('TOP-SECRET');
});
