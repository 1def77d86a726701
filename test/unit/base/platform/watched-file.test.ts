/** The end of a watched file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sha256Hex } from '../../../../src/base/platform/cryptography.ts';
import { watchFile } from '../../../../src/base/platform/watched-file.ts';

it('a stopped watched file accepts no content, not even from a running read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-followed-'));
  const file = join(folder, 'file');
  writeFileSync(file, 'first');
  const taken: string[] = [];
  let wait: Promise<void> = Promise.resolve();
  const followed = await watchFile({
    file,
    read: async () => {
      const octets = await readFile(file);
      await wait;
      return octets;
    },
    digestOf: sha256Hex,
    take: async (octets) => void taken.push(Buffer.from(octets).toString()),
    onRefused: (error) => expect.unreachable(String(error)),
    pollMs: 1_000_000,
  });
  let go: () => void = () => undefined;
  wait = new Promise((resolve) => {
    go = resolve;
  });
  writeFileSync(file, 'second');
  const looked = followed.check();
  followed.stop();
  go();
  await looked;
  await followed.check();
  expect(taken).toEqual(['first']);
  rmSync(folder, { recursive: true });
});
