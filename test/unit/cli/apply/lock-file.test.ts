import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type LockSection,
  type LockSections,
  lockPath,
  lockText,
  readLock,
  serverName,
  writeLock,
} from '../../../../src/cli/apply/lock-file.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-lock-'));
  file = join(folder, 'edge.lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

const SECTIONS: LockSections = new Map([
  [
    'https://b.test',
    new Map<string, LockSection>([
      [
        'shop.test',
        {
          createdAt: '2026-01-01T00:00:00.000Z',
          ids: new Map([
            ['drop/z', 2],
            ['drop/a', 41],
            ['cache/b', 7],
          ]),
        },
      ],
    ]),
  ],
  ['https://a.test', new Map<string, LockSection>([['shop.test', { createdAt: null, ids: new Map() }]])],
]);

describe('edge.lock', () => {
  test('has a line for each key, in order, and reads back', async () => {
    await writeLock(file, SECTIONS);
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('          "cache/b": 7,\n          "drop/a": 41,\n          "drop/z": 2\n');
    expect(text.indexOf('https://a.test')).toBeLessThan(text.indexOf('https://b.test'));
    const read = await readLock(file);
    expect(lockText(read)).toBe(text);
    expect(read.get('https://b.test')?.get('shop.test')?.ids.get('drop/a')).toBe(41);
    expect(readdirSync(folder)).toEqual(['edge.lock']);
  });

  test('is empty where there is none', async () => {
    expect(await readLock(file)).toEqual(new Map());
  });

  test.each([
    ['', 'it is not JSON'],
    ['<<<<<<< HEAD\n{}', 'it has the marks of a merge conflict'],
    ['{"format": "edgeplan.lock/v2", "servers": {}}', 'its format is not edgeplan.lock/v1'],
    ['{"format": "edgeplan.lock/v1"}', '`servers` has another shape'],
    ['{"format": "edgeplan.lock/v1", "servers": {"a": 1}}', '`a` has another shape'],
    [
      '{"format": "edgeplan.lock/v1", "servers": {"a": {"b": {"rules": {"drop/x": "1"}}}}}',
      '`b` of `a` has another shape',
    ],
    [
      '{"format": "edgeplan.lock/v1", "servers": {"a": {"b": {"rules": {"drop/x": -1}}}}}',
      '`b` of `a` has another shape',
    ],
  ])('is refused with its reason: %j', async (text, why) => {
    writeFileSync(file, text);
    await expect(readLock(file)).rejects.toMatchObject({
      exitCode: 3,
      message: `\`${file}\` is not a lock file: ${why}`,
    });
  });

  test('a folder that cannot be written is named, with the option that goes without', async () => {
    await expect(writeLock(join(folder, 'none', 'edge.lock'), SECTIONS)).rejects.toMatchObject({
      exitCode: 3,
      remedy: '--no-lock goes without it',
    });
  });

  test('is beside the edge file, by the address of the server without credentials', () => {
    expect(lockPath('shop/edge.yaml')).toBe('shop/edge.lock');
    expect(lockPath('-')).toBe(null);
    expect(serverName('HTTPS://user:pass@API.test:443/v1/')).toBe('https://api.test/v1');
  });
});
