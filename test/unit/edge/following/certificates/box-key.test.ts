import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openBox, readBoxKey, sealBox } from '../../../../../src/base/platform/cryptography.ts';
import { openBoxKeyPair } from '../../../../../src/edge/following/certificates/set-files.ts';

let folder: string;
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
