/** The cache's disk when things go wrong: the process is killed while it writes, the disk is full. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { createDisk } from '../../src/edge/cache/disk.ts';
import type { ServedDomain } from '../../src/edge/following/served-domain.ts';
import { builtCli } from '../support/built.ts';
import { startCacheNode, startCacheOrigin } from '../support/edge-cache.ts';
import { get } from '../support/edge-cache-client.ts';
import { requires } from '../support/requires.ts';

const CHILD = fileURLToPath(new URL('./edge-cache-child.mjs', import.meta.url));
const clean: (() => void)[] = [];

afterEach(() => {
  for (const one of clean.splice(0).reverse()) one();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'edgeplan-cache-'));
  clean.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function filesIn(path: string): readonly string[] {
  const found = existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : [];
  return found.filter((file) => statSync(join(path, file)).isFile());
}

/** The number of complete files, while another process writes: files in `tmp` come and go. */
function filesOutsideTmp(path: string): number {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && entry.parentPath !== join(path, 'tmp')).length;
}

test('a process that is killed during writes leaves complete files only', { timeout: 120_000 }, async () => {
  await builtCli();
  const directory = folder();
  const faults: unknown[] = [];
  let most = 0;
  for (const written of [1, 7, 19, 41]) {
    const before = filesIn(directory).length;
    const child = spawn(process.execPath, [CHILD, directory], { stdio: ['ignore', 'ignore', 'inherit'] });
    const closed = once(child, 'close');
    // By what is on the disk, not by a time: a busy machine writes one file where an idle one writes a hundred.
    await expect
      .poll(() => filesOutsideTmp(directory), { timeout: 100_000, interval: 1 })
      .toBeGreaterThanOrEqual(before + written);
    child.kill('SIGKILL');
    await closed;
    const disk = createDisk({
      directory,
      share: 1,
      maxFiles: 1_000,
      clock: Date.now,
      onFault: (error) => faults.push(error),
    });
    await disk.ready;
    expect(filesIn(join(directory, 'tmp'))).toEqual([]);
    // Answers to visitors are nobody else's to read.
    const modes = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map(
      (path) => statSync(join(directory, path)).mode & 0o077,
    );
    expect(new Set(modes)).toEqual(new Set([0]));
    const settings = { diskMaxGb: 10, diskTtlDays: 7 };
    const domain = { name: 'cache.test', purgeEpoch: 0, settings } as ServedDomain;
    const { partition } = disk.enter(domain, 'any');
    const names = [...partition.files.keys()];
    most = Math.max(most, names.length);
    for (const name of names) {
      const path = join(partition.path, name.slice(0, 2), name.slice(2));
      const content = await disk.read({ partition, name, path }, 1_000_000);
      const head = content?.head as { readonly headers: readonly string[] };
      const number = Number(head.headers[1]);
      expect(content!.body!.every((octet) => octet === number % 256)).toBe(true);
    }
    await disk.close();
  }
  expect(most).toBeGreaterThan(20);
  expect(faults).toEqual([]);
});

// Skipped where no file system can be mounted: a full disk is made of a small one in memory, which takes root.
const NO_ROOT = process.getuid?.() === 0 ? null : 'only root may mount a small disk';

test('a full disk disables the disk cache and nothing else', requires(NO_ROOT), async () => {
  const directory = folder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]);
  expect(mounted.status, String(mounted.stderr)).toBe(0);
  clean.push(() => void spawnSync('umount', ['-l', directory]));
  const body = Buffer.alloc(300_000, 'x');
  const large = Buffer.alloc(10_000_000, 'y');
  let asked = 0;
  const origin = await startCacheOrigin((request, response) => {
    asked++;
    response.writeHead(200, { 'Cache-Control': 'max-age=60' });
    response.end(request.url === '/large' ? large : body);
  });
  const node = await startCacheNode({ originPort: origin.port, directory });
  try {
    for (let round = 0; round < 2; round++) {
      for (let index = 0; index < 10; index++) {
        expect((await get(node.port, `/${index}`)).body.length).toBe(body.length);
      }
    }
    // All of it is in memory, so that each was asked for once.
    expect(asked).toBe(10);
    expect((await get(node.port, '/large')).body.length).toBe(large.length);
    expect(node.faults.map((fault) => (fault as NodeJS.ErrnoException).code)).toContain('ENOSPC');
    // What could not be written is not lying about.
    expect(filesIn(join(directory, 'tmp'))).toEqual([]);
  } finally {
    await node.stop();
    origin.server.closeAllConnections();
    origin.server.close();
  }
});

test('a large response is fetched once, also by requests while its file is put in place', async () => {
  const large = Buffer.alloc(20_000_000, 'y');
  let asked = 0;
  const origin = await startCacheOrigin((_request, response) => {
    asked++;
    response.writeHead(200, { 'Cache-Control': 'max-age=60', 'Content-Length': large.length });
    response.end(large);
  });
  const node = await startCacheNode({ originPort: origin.port, directory: folder() });
  try {
    const results: (string | undefined)[] = [];
    for (let round = 0; round < 4; round++) {
      const { body, headers } = await get(node.port, '/large');
      expect(body.length).toBe(large.length);
      results.push(headers['cache-status']?.toString().split(';')[1]?.trim());
    }
    expect(results).toEqual(['fwd=miss', 'hit', 'hit', 'hit']);
    expect(asked).toBe(1);
  } finally {
    await node.stop();
    origin.server.closeAllConnections();
    origin.server.close();
  }
});

test('a response of unknown length is not said to be stored before it is', async () => {
  const origin = await startCacheOrigin((_request, response) => {
    response.writeHead(200, { 'Cache-Control': 'max-age=60' });
    response.write('one ');
    response.end('two');
  });
  const node = await startCacheNode({ originPort: origin.port, directory: folder() });
  try {
    const first = await get(node.port, '/chunks');
    expect(first.headers['cache-status']).toBe('edgeplan; fwd=miss');
    expect((await get(node.port, '/chunks')).headers['cache-status']).toMatch(/^edgeplan; hit/);
  } finally {
    await node.stop();
    origin.server.closeAllConnections();
    origin.server.close();
  }
});
