/** The resource share of each process of a node, and the removal of cache folders of another number of processes. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '../../../../src/base/telemetry/redacting-log.ts';
import type { EdgeNodeOptions } from '../../../../src/edge/node/options.ts';
import {
  removeOtherCaches,
  resourceShareOf,
  workerFolder,
} from '../../../../src/edge/node/resource-shares.ts';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'edgeplan-share-'));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

function options(more: Partial<EdgeNodeOptions> = {}): EdgeNodeOptions {
  return {
    host: '127.0.0.1',
    port: 0,
    tls: null,
    publicPort: null,
    trusted: [],
    proxies: [],
    data,
    plans: { kind: 'control', url: 'http://localhost', token: () => '', publicKey: null },
    cacheOctets: 256 * 1024 * 1024,
    diskCache: true,
    signatures: null,
    countries: null,
    asns: null,
    botRanges: null,
    nodeId: null,
    perOrigin: 256,
    maxConnections: 10_000,
    maxAddressConnections: 1_000,
    maxWebsockets: 5_000,
    anyCertificate: false,
    allowedOrigins: { prefixes: [], local: false },
    resolvers: [],
    requestIdleMs: 60_000,
    websocketIdleMs: 60_000,
    keepUnderscores: false,
    bodyOctets: 1_048_576,
    bufferOctets: 2_000_000,
    minRate: 1_024,
    decisions: null,
    shipped: null,
    operationsPort: null,
    operationsAddress: '127.0.0.1',
    sockets: new Map(),
    handed: null,
    collector: null,
    log: createLog('silent', () => undefined),
    onCaughtUp: () => undefined,
    onTokenRefused: () => undefined,
    version: '1.2.3',
    workers: 1,
    onWorkerEvent: () => undefined,
    ...more,
  };
}

describe('resource shares', () => {
  test('a single process gets every resource of the node whole', () => {
    const { cacheOctets, perOrigin, diskShare, cacheFolder } = resourceShareOf(options(), 1);
    expect({ cacheOctets, perOrigin, diskShare }).toEqual({
      cacheOctets: 256 * 1024 * 1024,
      perOrigin: 256,
      diskShare: 1,
    });
    expect(cacheFolder).toBe(join(data, 'cache'));
  });

  test('several processes get equal shares in whole octets and connections, at least one connection each', () => {
    const three = resourceShareOf(options(), 3);
    expect(three.cacheOctets).toBe(Math.floor((256 * 1024 * 1024) / 3));
    expect(Number.isInteger(three.openOctets)).toBe(true);
    expect(three.perOrigin).toBe(85);
    expect([three.maxConnections, three.maxWebsockets]).toEqual([3_333, 1_666]);
    // All connections of one address go to one process.
    expect(three.maxAddressConnections).toBe(1_000);
    expect(three.diskShare * 3).toBeCloseTo(1);
    expect(resourceShareOf(options({ perOrigin: 2 }), 8).perOrigin).toBe(1);
    expect(resourceShareOf(options({ diskCache: false }), 3).cacheFolder).toBeNull();
    expect(workerFolder(three.cacheFolder!, 2)).toBe(join(data, 'cache-workers', '2'));
  });
});

describe('cache folders', () => {
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
  ])(
    'the start of %d processes removes the cache folders of other numbers and nothing else',
    async (processes, kept) => {
      removeOtherCaches(options(), processes);
      const there = (): readonly string[] => folders.filter((folder) => existsSync(join(data, folder)));
      await expect.poll(there).toEqual(kept);
    },
  );
});
