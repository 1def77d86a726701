/** `edgeplan consumer-key` over the built command line: a key, and an entry that an edge file takes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/base/platform/cryptography.ts';
import { builtCli, edgeplan } from '../support/built.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-'));
beforeAll(builtCli, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('consumer-key', () => {
  it('prints a key, and the entry of an edge file with its hash', async () => {
    const { code, out } = await edgeplan(['consumer-key', '--name', 'ci'], { cwd: folder });
    const [key = '', , entry = ''] = out.split('\n');
    expect([code, /^epk_[\w-]{43}$/.test(key), entry.includes(sha256Hex(key))]).toEqual([0, true, true]);
    const record = '{ name: api, type: A, destination: 198.51.100.20, proxied: true }';
    const file = `domain: example.com\nrecords:\n  - ${record}\nconsumers:\n  - username: acme\n    keys:\n      ${entry}\n`;
    writeFileSync(join(folder, 'edge.yaml'), file);
    expect((await edgeplan(['compile', '-o', 'plan.edgeplan'], { cwd: folder })).code).toBe(0);
  });

  it('prints both as JSON, and no two keys alike', async () => {
    const documents = await Promise.all(
      [1, 2].map(async () => JSON.parse((await edgeplan(['consumer-key', '--json'], { cwd: folder })).out)),
    );
    for (const { format, name, key, sha256 } of documents)
      expect([format, name, sha256]).toEqual(['edgeplan.consumer-key/v1', null, sha256Hex(key)]);
    expect(documents[0].key).not.toBe(documents[1].key);
  });

  it('refuses a name that no file may have', async () => {
    const { code, err } = await edgeplan(['consumer-key', '--name', 'x'.repeat(65)], { cwd: folder });
    expect([code, err.includes('1 to 64 characters')]).toEqual([2, true]);
  });
});
