import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FollowedPaths, followPaths } from '../../../../src/base/platform/followed-paths.ts';

let folder: string;
let followed: FollowedPaths;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-follow-'));
  save('edge.yaml', 'a');
});
afterEach(() => {
  followed.stop();
  rmSync(folder, { recursive: true });
});

function at(name: string): string {
  return join(folder, name);
}

function save(name: string, text: string): void {
  writeFileSync(at(name), text);
}

/** Follows paths of the folder; without `pollMs` only reports of the system count. */
function follow(names: readonly string[], options: { most?: number; pollMs?: number } = {}): void {
  const { most = 100, pollMs = 1e9 } = options;
  followed = followPaths({ paths: () => names.map(at), most, pollMs });
}

async function changedAfter(change: () => void): Promise<readonly string[]> {
  const next = followed.next();
  change();
  return (await next).map((path) => path.slice(folder.length + 1));
}

describe('followPaths', () => {
  test('a file is reported when it is written, replaced, removed and made again', async () => {
    follow(['edge.yaml']);
    expect(await changedAfter(() => save('edge.yaml', 'b'))).toEqual(['edge.yaml']);
    const replace = () => {
      save('draft', 'c');
      renameSync(at('draft'), at('edge.yaml'));
    };
    expect(await changedAfter(replace)).toEqual(['edge.yaml']);
    expect(await changedAfter(() => rmSync(at('edge.yaml')))).toEqual(['edge.yaml']);
    expect(await changedAfter(() => save('edge.yaml', 'd'))).toEqual(['edge.yaml']);
  });

  test('a folder is reported by its files, those that are new and those that are gone', async () => {
    mkdirSync(at('edge.d'));
    follow(['edge.yaml', 'edge.d']);
    expect(await changedAfter(() => save('edge.d/b.yaml', 'b'))).toEqual(['edge.d/b.yaml']);
    expect(await changedAfter(() => renameSync(at('edge.d/b.yaml'), at('edge.d/a.yaml')))).toContain(
      'edge.d/a.yaml',
    );
    expect(await changedAfter(() => rmSync(at('edge.d/a.yaml')))).toContain('edge.d/a.yaml');
  });

  test('a change between two calls is reported by the second', async () => {
    follow(['edge.yaml']);
    save('edge.yaml', 'b');
    expect(await followed.next()).toEqual([at('edge.yaml')]);
  });

  test('a folder that is made later, and one that is replaced, are followed', async () => {
    follow(['edge.yaml', 'edge.d'], { pollMs: 50 });
    expect(await changedAfter(() => mkdirSync(at('edge.d')))).toEqual(['edge.d']);
    expect(await changedAfter(() => save('edge.d/a.yaml', 'a'))).toEqual(['edge.d/a.yaml']);
    const replace = () => {
      rmSync(at('edge.d'), { recursive: true });
      mkdirSync(at('edge.d'));
      save('edge.d/c.yaml', 'c');
    };
    expect(await changedAfter(replace)).toEqual(expect.arrayContaining(['edge.d/a.yaml']));
    expect(await changedAfter(() => save('edge.d/c.yaml', 'cc'))).toEqual(['edge.d/c.yaml']);
  });

  test('a link is reported when its target changes', async () => {
    save('one', '1');
    symlinkSync('one', at('link'));
    follow(['link'], { pollMs: 50 });
    const swap = () => {
      save('two', '22');
      symlinkSync('two', at('new'));
      renameSync(at('new'), at('link'));
    };
    expect(await changedAfter(swap)).toEqual(['link']);
    expect(await changedAfter(() => save('two', '333'))).toEqual(['link']);
  });

  test('a file beside the followed ones is not reported, and stopping ends a call with nothing', async () => {
    follow(['edge.yaml'], { pollMs: 20 });
    const next = followed.next();
    save('other', 'x');
    const first = await Promise.race([next, new Promise((done) => setTimeout(() => done('silent'), 300))]);
    expect(first).toBe('silent');
    followed.stop();
    expect(await next).toEqual([]);
  });

  test('no more files than the limit are followed', async () => {
    mkdirSync(at('many'));
    for (let index = 0; index < 5; index++) save(`many/${index}`, '');
    follow(['many'], { most: 3, pollMs: 20 });
    expect(
      await changedAfter(() => {
        save('many/4', 'left out');
        save('many/1', 'x');
      }),
    ).toEqual(['many/1']);
  });
});
