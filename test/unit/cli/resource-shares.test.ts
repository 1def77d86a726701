/** What each process of a node gets, and which folders of a cache are left behind by another number of them. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '../../../src/cli/create-log.ts';
import type { NodeStart } from '../../../src/cli/node/options.ts';
import { removeOtherCaches, resourceShareOf, workerFolder } from '../../../src/cli/node/resource-shares.ts';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'edgeplan-share-'));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

function start(more: Partial<NodeStart> = {}): NodeStart {
  return {
    host: '127.0.0.1',
    port: 0,
    tls: null,
    publicPort: null,
    trusted: [],
    proxies: [],
    data,
    plans: { kind: 'file', file: 'edge.yaml', colour: 'never' },
    cacheOctets: 256 * 1024 * 1024,
    diskCache: true,
    signatures: null,
    countries: null,
    botRanges: null,
    nodeId: null,
    perOrigin: 256,
    maxConnections: 10_000,
    maxAddressConnections: 1_000,
    maxWebsockets: 5_000,
    anyCertificate: false,
    allowedOrigins: { prefixes: [], local: false },
    resolvers: [],
    websocketIdleMs: 60_000,
    keepUnderscores: false,
    bodyOctets: 1_048_576,
    bufferOctets: 2_000_000,
    minRate: 1_024,
    decisions: null,
    operationsPort: null,
    log: createLog('silent', () => undefined),
    onInstalled: () => undefined,
    onCaughtUp: () => undefined,
    onTokenRefused: () => undefined,
    onRefused: () => undefined,
    ...more,
  };
}

describe('what may be taken', () => {
  test('is all of it for one process', () => {
    const { cacheOctets, perOrigin, diskShare, cacheFolder } = resourceShareOf(start(), 1);
    expect({ cacheOctets, perOrigin, diskShare }).toEqual({
      cacheOctets: 256 * 1024 * 1024,
      perOrigin: 256,
      diskShare: 1,
    });
    expect(cacheFolder).toBe(join(data, 'cache'));
  });

  test('is shared out among several, in whole octets and connections, one at least', () => {
    const three = resourceShareOf(start(), 3);
    expect(three.cacheOctets).toBe(Math.floor((256 * 1024 * 1024) / 3));
    expect(Number.isInteger(three.openOctets)).toBe(true);
    expect(three.perOrigin).toBe(85);
    expect([three.maxConnections, three.maxWebsockets]).toEqual([3_333, 1_666]);
    // Each address meets one of them.
    expect(three.maxAddressConnections).toBe(1_000);
    expect(three.diskShare * 3).toBeCloseTo(1);
    expect(resourceShareOf(start({ perOrigin: 2 }), 8).perOrigin).toBe(1);
    expect(resourceShareOf(start({ diskCache: false }), 3).cacheFolder).toBeNull();
    expect(workerFolder(three.cacheFolder!, 2)).toBe(join(data, 'cache-workers', '2'));
  });
});

describe('caches of another number of processes', () => {
  const folders = ['cache', 'cache-workers/0', 'cache-workers/1', 'cache-workers/2', 'plans'];
  beforeEach(() => {
    for (const folder of folders) {
      mkdirSync(join(data, folder, 'entries'), { recursive: true });
      writeFileSync(join(data, folder, 'entries', 'file'), 'kept');
    }
  });

  test.each([
    [1, ['cache', 'plans']],
    [2, ['cache-workers/0', 'cache-workers/1', 'plans']],
    [3, ['cache-workers/0', 'cache-workers/1', 'cache-workers/2', 'plans']],
  ])('are removed at the start of %d, and nothing else', async (processes, kept) => {
    removeOtherCaches(start(), processes);
    const there = (): readonly string[] => folders.filter((folder) => existsSync(join(data, folder)));
    await expect.poll(there).toEqual(kept);
  });
});
