import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { NAME_CACHE_MS } from '../../../../../src/edge/proxy/limits.ts';
import { createResolve, type Resolve } from '../../../../../src/edge/proxy/origin/names.ts';
import {
  a,
  fromTable,
  NXDOMAIN,
  type ScriptedServer,
  SERVFAIL,
  startDnsServer,
} from '../../../../support/dns-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-resolve-'));
const hosts = join(folder, 'hosts');
let dns: ScriptedServer;
let resolve: Resolve;
beforeEach(async () => {
  dns = await startDnsServer(
    '127.0.0.1',
    0,
    fromTable({ 'www.origin.test A': a('www.origin.test', '192.0.2.1') }),
  );
  writeFileSync(hosts, '');
  resolve = createResolve({ servers: [`127.0.0.1:${dns.port}`], hosts });
});
afterEach(() => dns.stop());
afterAll(() => rmSync(folder, { recursive: true }));

test('addresses are cached for their TTL, within bounds', async () => {
  expect(await resolve('www.origin.test')).toMatchObject({
    kind: 'addresses',
    four: ['192.0.2.1'],
    validMs: 60_000,
  });
  for (const [ttl, validMs] of [
    [0, NAME_CACHE_MS.least],
    [86_400, NAME_CACHE_MS.most],
  ] as const) {
    dns.tell(() => ({ answers: [{ type: 'A', name: 'www.origin.test', ttl, data: '192.0.2.1' }] }));
    expect(await resolve('www.origin.test')).toMatchObject({ validMs });
  }
});

test('the hosts file takes precedence over the DNS, ignores case, and is read again when it changes', async () => {
  writeFileSync(
    hosts,
    '# 192.0.2.9 www.origin.test\nnonsense www.origin.test\n 192.0.2.2\tOther WWW.Origin.Test # x\n::1 www.origin.test\n',
  );
  expect(await resolve('www.origin.test')).toMatchObject({ six: ['::1'], four: ['192.0.2.2'] });
  expect(dns.queries).toEqual([]);
  writeFileSync(hosts, '192.0.2.33 www.origin.test');
  expect(await resolve('www.origin.test')).toMatchObject({ six: [], four: ['192.0.2.33'] });
  rmSync(hosts);
  expect(await resolve('www.origin.test')).toMatchObject({ four: ['192.0.2.1'] });
});

test('the addresses of an alias are those of its target', async () => {
  dns.tell(() => ({
    answers: [
      { type: 'CNAME', name: 'www.origin.test', ttl: 9, data: 'there.test' },
      { type: 'A', name: 'there.test', ttl: 60, data: '192.0.2.1' },
    ],
  }));
  expect(await resolve('www.origin.test')).toMatchObject({ four: ['192.0.2.1'], validMs: 9_000 });
});

test('a name without addresses is distinguished from one that no server answers for', async () => {
  for (const [rcode, kind] of [
    [NXDOMAIN, 'none'],
    [0, 'none'],
    [SERVFAIL, 'unknown'],
  ] as const) {
    dns.tell(() => ({ rcode }));
    expect(await resolve('www.origin.test')).toMatchObject({ kind });
  }
  dns.tell(() => ({ answers: [{ type: 'CNAME', name: 'www.origin.test', ttl: 9, data: 'localhost' }] }));
  const alias = { kind: 'none', reason: 'www.origin.test is an alias and has no address' };
  expect(await resolve('www.origin.test')).toEqual(alias);
  dns.tell(() => null);
  expect(await resolve('www.origin.test')).toMatchObject({ kind: 'unknown' });
  dns.tell(() => ({ mangle: (octets) => octets.subarray(0, 7) }));
  expect(await resolve('www.origin.test')).toMatchObject({ kind: 'unknown' });
});

test.each([['a..test'], ['-'.repeat(300)], [`${'x'.repeat(64)}.test`], ['\0.test']])(
  'what is no name has none: %j',
  async (name) => {
    expect(['none', 'unknown']).toContain((await resolve(name)).kind);
  },
);

test('names of a single label and below localhost are resolved by the system', async () => {
  expect(await resolve('localhost')).toMatchObject({ kind: 'addresses' });
  expect(dns.queries).toEqual([]);
});
