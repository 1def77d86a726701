/** What nodes report of their caches, on both databases: what replaces a report, what ends it, and what is answered from it. */
import { beforeEach, describe, expect, test } from 'vitest';
import { MAX_DOMAIN_REPORT_OCTETS } from '../../../src/base/vocabulary/limits.ts';
import type { Store } from '../../../src/control/store/store.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import type { NodeRow } from '../../../src/control/store/tables/nodes.ts';
import { readEntries, readFootprint, takeCacheReport } from '../../../src/control/traffic/footprint.ts';
import { REPORT_COUNTS_MS } from '../../../src/control/traffic/limits.ts';
import type { ReportedContents, ReportedUrl } from '../../../src/engine/plan/cache-report.ts';
import { activeDomain, seed, T } from '../../support/sample-rows.ts';
import { kinds, openForEach } from './databases.ts';

describe.each(kinds)('$name', (kind) => {
  let store: Store;
  let domain: DomainRow;
  let nodes: readonly NodeRow[];

  openForEach(kind, (opened) => {
    ({ store } = opened);
  });
  beforeEach(async () => {
    domain = (await store.write((tx) => seed(tx))).domain;
    nodes = await store.write(async (tx) => [
      await tx.nodes.insert({ name: 'edge-1', token_hash: '1', created_at: T }),
      await tx.nodes.insert({ name: 'edge-2', token_hash: '2', created_at: T }),
    ]);
  });

  interface Sent {
    readonly node?: number;
    readonly process?: number;
    readonly run?: number;
    readonly now?: number;
  }
  const report = (contents: readonly ReportedContents[], sent: Sent = {}) => {
    const { node = 0, process = 0, run = 1, now = T } = sent;
    return takeCacheReport(store, nodes[node]!, { sent: { process, run, domains: contents }, now });
  };
  const footprint = (now = T) => store.read((tx) => readFootprint(tx, domain.id, now));
  const entries = (page: { prefix?: string; after?: string; limit?: number } = {}, now = T) =>
    store.read((tx) =>
      readEntries(tx, domain.id, { page: { prefix: null, after: null, limit: 100, ...page }, now }),
    );

  const url = (path: string, changes: Partial<ReportedUrl> = {}): ReportedUrl => ({
    url: `https://example.com${path}`,
    ...{ status: 200, octets: 10, stored_at: T - 1_000, fresh_until: T + 1_000, tags: [], copies: 1 },
    ...changes,
  });
  const contents = (...urls: readonly ReportedUrl[]): ReportedContents => ({
    ...{ domain: 'example.com', disk_files: 3, disk_octets: 300, urls },
    entries: urls.reduce((sum, { copies }) => sum + copies, 0),
    octets: urls.reduce((sum, { octets }) => sum + octets, 0),
  });
  const nothing: ReportedContents = { ...contents(), disk_files: 0, disk_octets: 0 };

  test('a report with a URL of another host or scheme is refused, and nothing of it is stored', async () => {
    const foreign = [
      ...['https://evil.test/', 'https://notexample.com/', 'https://example.com.evil.test/'],
      ...['javascript://example.com/%0aalert(1)', 'file://example.com/etc/passwd', '//example.com/', '/a'],
      ...['https://evil.test@example.com.evil.test/', 'https://user@example.com/', 'https://example.com'],
      ...['https://example.com\\@evil.test/', 'https://example.com/a b', 'https://example.com/\u0000', ''],
    ];
    for (const one of foreign) {
      const sent = contents(url('/a'), { ...url('/b'), url: one });
      await expect(report([sent]), one).rejects.toThrow(/^domains\[0\]\.urls\[1\]\.url: must be/);
    }
    expect((await footprint()).entries).toBe(0);
    const own = ['https://www.example.com/', 'http://example.com:8080/a?b=//x'];
    await report([contents(...own.map((one) => ({ ...url('/'), url: one })))]);
    expect((await entries()).entries.map(({ url: shown }) => shown).sort()).toEqual([...own].sort());
  });

  test('a report replaces the one before of its process, and is added to those of others', async () => {
    expect(await footprint()).toEqual({
      ...{ entries: 0, octets: 0, disk_files: 0, disk_octets: 0 },
      ...{ oldest_at: null, newest_at: null, nodes: [] },
    });
    await report([contents(url('/a'), url('/b'))]);
    await report([contents(url('/a'))], { now: T + 1 });
    await report([contents(url('/a'))], { process: 1, now: T + 2 });
    await report([contents(url('/c', { octets: 7, copies: 2 }))], { node: 1, now: T + 3 });
    const one = { entries: 2, octets: 20, disk_files: 6, disk_octets: 600 };
    const two = { entries: 2, octets: 7, disk_files: 3, disk_octets: 300 };
    const time = (at: number): string => new Date(at).toISOString();
    expect(await footprint()).toEqual({
      ...{ entries: 4, octets: 27, disk_files: 9, disk_octets: 900 },
      ...{ oldest_at: time(T + 1), newest_at: time(T + 3) },
      nodes: [
        { name: 'edge-1', at: time(T + 1), ...one },
        { name: 'edge-2', at: time(T + 3), ...two },
      ],
    });
  });

  test('a domain without stored responses, a later run, age and revocation end a report', async () => {
    await report([contents(url('/a'))]);
    await report([nothing]);
    expect((await footprint()).nodes).toEqual([]);
    await report([contents(url('/a'))]);
    await report([], { run: 2 });
    expect((await footprint()).nodes).toEqual([]);
    await report([contents(url('/a'))], { run: 2 });
    await report([contents(url('/a'))], { node: 1, now: T + 1 });
    expect((await footprint(T + REPORT_COUNTS_MS + 1)).nodes).toMatchObject([{ name: 'edge-2' }]);
    await store.write((tx) => tx.nodes.revoke(nodes[1]!.id, T));
    expect(await entries()).toMatchObject({ entries: [{ nodes: 1 }] });
    // Those that no longer count are removed with the next report of any node.
    await report([], { node: 1, now: T + 2 * REPORT_COUNTS_MS });
    expect(await store.latest.caches.totals(domain.id, 0)).toEqual([]);
  });

  test('a domain that is deleted takes its reports with it, and gets none', async () => {
    await report([contents(url('/a'))]);
    await store.write((tx) => tx.domains.remove(domain.id));
    expect(await store.latest.caches.totals(domain.id, 0)).toEqual([]);
    expect(await report([contents(url('/a'))])).toBe(0);
  });

  test('a URL is shown once, with the newest response and the sums of all', async () => {
    const old = url('/a', { status: 404, octets: 5, copies: 2, stored_at: T - 9_000, tags: ['old'] });
    await report([contents(url('/a', { tags: ['new'] }), url('/b'))]);
    await report([contents(old)], { node: 1, now: T + 5 });
    expect(await entries()).toEqual({
      entries: [
        {
          ...{ url: 'https://example.com/a', status: 200, octets: 15, copies: 3, nodes: 2, tags: ['new'] },
          stored_at: new Date(T - 1_000).toISOString(),
          fresh_until: new Date(T + 1_000).toISOString(),
          at: new Date(T + 5).toISOString(),
        },
        expect.objectContaining({ url: 'https://example.com/b', copies: 1, nodes: 1 }),
      ],
      ...{ next: null, truncated: false, oldest_at: new Date(T).toISOString() },
    });
  });

  test('pages have every URL under a prefix once, and say what nodes do not list', async () => {
    const urls = Array.from({ length: 25 }, (_, at) => url(`/dir/${at}`));
    await report([{ ...contents(...urls, url('/other')), entries: 99 }]);
    const found: string[] = [];
    let after: string | null = null;
    do {
      const page = { prefix: 'example.com/dir/', limit: 10, ...(after === null ? {} : { after }) };
      const answer = await entries(page);
      expect(answer.truncated).toBe(true);
      found.push(...answer.entries.map((one) => one.url));
      after = answer.next === null ? null : Buffer.from(answer.next, 'base64url').toString();
    } while (after !== null);
    expect(found).toEqual(urls.map((one) => one.url).sort());
    expect((await entries({ prefix: 'other.example/' })).entries).toEqual([]);
  });

  test('the newest reports come first up to a bound, and one always comes', async () => {
    for (const process of [0, 1, 2]) await report([contents(url('/a'))], { process, now: T + process });
    const length = JSON.stringify([url('/a')]).length;
    const read = async (characters: number) =>
      (await store.latest.caches.urls(domain.id, { oldest: T, characters })).map((row) => row.process);
    expect(await read(1)).toEqual([2]);
    expect(await read(length)).toEqual([2]);
    expect(await read(length + 1)).toEqual([2, 1]);
    expect(await read(1e9)).toEqual([2, 1, 0]);
  });

  test('a node reports its own domains, each once, within the bounds', async () => {
    const own = contents(url('/a'));
    await expect(report([own, own])).rejects.toThrow('a domain must be there once');
    await expect(report([{ ...own, domain: 'Example.COM' }])).rejects.toThrow('domains[0].domain');
    await expect(report([{ ...own, domain: 'a\0b' }])).rejects.toThrow('domains[0].domain');
    const long = contents(url('/a', { tags: ['x'.repeat(MAX_DOMAIN_REPORT_OCTETS)] }));
    await expect(report([long])).rejects.toThrow('domains[0].urls: at most 65536 octets');
    const many = await store.write(async (tx) => {
      const names = Array.from({ length: 6 }, (_, at) => `${at}.example`);
      for (const name of names) await tx.domains.insert(activeDomain(name, domain.user_id));
      return names;
    });
    const most = contents(url('/a', { tags: ['x'.repeat(MAX_DOMAIN_REPORT_OCTETS - 400)] }));
    await expect(
      report(
        many.map((name) => ({
          ...most,
          domain: name,
          urls: most.urls.map((one) => ({ ...one, url: `https://${name}/a` })),
        })),
      ),
    ).rejects.toThrow('octets of URLs');
    const other = await store.write(async (tx) => {
      const row = await tx.domains.insert(activeDomain('other.example', domain.user_id));
      await tx.groups.setDomain(row.id, 'asia');
      return row;
    });
    await expect(report([{ ...own, domain: other.name }])).rejects.toThrow('in no group of this node');
    expect((await footprint()).nodes).toEqual([]);
  });
});
