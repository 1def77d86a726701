/** What nodes have cached of a domain: the report of a node is taken, and sums and URLs are read from the last reports. */
import { z } from 'zod';
import { normalizeName } from '../../base/addresses/host.ts';
import { purgeLocation, urlHost } from '../../base/paths/purge-values.ts';
import { timeText } from '../../base/text/time.ts';
import {
  MAX_DOMAIN_REPORT_OCTETS,
  MAX_REPORTED_DOMAINS,
  MAX_REPORTED_URLS,
  MAX_TAG_CHARACTERS,
} from '../../base/vocabulary/limits.ts';
import { CACHE_REPORT_FORMAT, type CacheReport, type ReportedUrl } from '../../engine/plan/cache-report.ts';
import type { CacheTotals, CacheUrls } from '../store/repositories/caches.ts';
import type { ReadTransaction, Store } from '../store/store.ts';
import type { NodeRow } from '../store/tables/nodes.ts';
import { TrafficRefusal } from './fault.ts';
import {
  MAX_MERGED_CHARACTERS,
  MAX_PROCESSES,
  MAX_STORED_OCTETS,
  MAX_URL,
  MAX_URL_TAGS,
  REPORT_COUNTS_MS,
} from './limits.ts';
import { ownDomains } from './take-batch.ts';

const count = z.int().min(0);
const time = z.iso.datetime();
/** A time that a `Date` can have. */
const moment = z.int().min(0).max(8.64e15).describe('milliseconds since the epoch');

const REPORTED_URL = z.strictObject({
  url: z.string().max(MAX_URL),
  status: z.int().min(100).max(999),
  octets: count,
  stored_at: moment,
  fresh_until: moment,
  tags: z.array(z.string().max(MAX_TAG_CHARACTERS)).max(MAX_URL_TAGS),
  copies: z.int().min(1).describe('responses: one for each variant'),
});

/** The body of `POST /nodes/cache`, see `engine/plan/cache-report.ts`. */
export const cacheReport = z.strictObject({
  format: z.literal(CACHE_REPORT_FORMAT),
  process: z
    .int()
    .min(0)
    .max(MAX_PROCESSES - 1)
    .describe('the number of the process in its node, from 0'),
  run: count.describe('random, one for each run of the process'),
  domains: z
    .array(
      z.strictObject({
        domain: z.string(),
        entries: count,
        octets: count,
        disk_files: count,
        disk_octets: count,
        urls: z
          .array(REPORTED_URL)
          .max(MAX_REPORTED_URLS)
          .describe(`at most ${MAX_DOMAIN_REPORT_OCTETS} octets of JSON`),
      }),
    )
    .max(MAX_REPORTED_DOMAINS)
    .describe('what the cache has stored of each; all numbers 0: nothing any more'),
});

const SIZES = {
  entries: count
    .describe('responses in memory, or on disk and used since the node started')
    .meta({ examples: [1_204] }),
  octets: count.describe('octets of their bodies').meta({ examples: [48_211_034] }),
  disk_files: count
    .describe('files of the disk cache, also those of before the start of the node')
    .meta({ examples: [5_310] }),
  disk_octets: count.describe('octets of these files').meta({ examples: [301_244_118] }),
};

/** The answer about what nodes have cached. */
export const FOOTPRINT = z
  .object({
    ...SIZES,
    oldest_at: time.nullable().describe('when the oldest report arrived; `null`: no node has reported'),
    newest_at: time.nullable().describe('when the newest report arrived'),
    nodes: z
      .array(
        z.object({
          name: z.string().meta({ examples: ['edge-fra-1'] }),
          at: time.describe('when the oldest report of its processes arrived'),
          ...SIZES,
        }),
      )
      .describe('nodes that have stored responses of the domain, by name'),
  })
  .meta({ id: 'CacheFootprint' });

/** One cached URL. */
const CACHED_ENTRY = z
  .object({
    url: z
      .string()
      .describe('of the cache key, without the parameters that the cache rule leaves out')
      .meta({ examples: ['https://shop.example.com/assets/app.css'] }),
    status: z
      .int()
      .describe('of the newest response')
      .meta({ examples: [200] }),
    octets: count.describe('octets of the bodies of all copies').meta({ examples: [18_204] }),
    copies: count
      .describe('stored responses: one for each variant, process and node')
      .meta({ examples: [2] }),
    nodes: count.describe('nodes that have stored it').meta({ examples: [2] }),
    stored_at: time.describe('when the newest response was stored'),
    fresh_until: time.describe('until when the newest response is fresh; past: it is revalidated'),
    tags: z
      .array(z.string())
      .describe(`tags of the newest response, at most ${MAX_URL_TAGS} of them`)
      .meta({ examples: [['product-17']] }),
    at: time.describe('when the newest report with it arrived'),
  })
  .meta({ id: 'CachedEntry' });

/** A page of cached URLs. */
export const CACHED_ENTRIES = z.object({
  entries: z.array(CACHED_ENTRY).describe('by URL'),
  next: z.string().nullable().describe('the `cursor` of the next page; `null`: nothing more'),
  truncated: z
    .boolean()
    .describe('`true`: nodes have more than they list; listed are the URLs that were used last'),
  oldest_at: time.nullable().describe('when the oldest report arrived; `null`: no node has reported'),
});
type CachedEntry = z.output<typeof CACHED_ENTRY>;

// Takes a node's report of one of its caches. In: a report that fits its schema. Out: rows of the domains that the node serves.

/**
 * Stores a report; resolves with the number of its domains that exist.
 * @throws TrafficRefusal for a domain of other groups, a name in another form, a domain twice, or more URLs than the bounds allow,
 * or a URL of another scheme or host
 */
export async function takeCacheReport(
  store: Pick<Store, 'latest' | 'write'>,
  node: NodeRow,
  { sent, now }: { readonly sent: Omit<CacheReport, 'format'>; readonly now: number },
): Promise<number> {
  const places = new Map(sent.domains.map(({ domain }, place) => [domain, `domains[${place}].domain`]));
  const wrong = sent.domains.findIndex(({ domain }) => normalizeName(domain) !== domain);
  if (wrong >= 0) throw new TrafficRefusal(`domains[${wrong}].domain: must be a name in lower case`);
  if (places.size < sent.domains.length) throw new TrafficRefusal('domains: a domain must be there once');
  const names = [...places.keys()];
  const fieldOf = (name: string): string => places.get(name) ?? 'domains';
  const ids = names.length === 0 ? null : await ownDomains(store.latest, node, { names, fieldOf });
  const rows = sent.domains.flatMap(({ domain, urls, ...totals }, place) => {
    const foreign = urls.findIndex(({ url }) => !isOf(domain, url));
    if (foreign >= 0) {
      const form = `must be an http or https URL of \`${domain}\` or a name below it`;
      throw new TrafficRefusal(`domains[${place}].urls[${foreign}].url: ${form}`);
    }
    const urls_json = JSON.stringify(urls);
    if (Buffer.byteLength(urls_json) > MAX_DOMAIN_REPORT_OCTETS) {
      const found = `at most ${MAX_DOMAIN_REPORT_OCTETS} octets of JSON, found ${Buffer.byteLength(urls_json)}`;
      throw new TrafficRefusal(`domains[${place}].urls: ${found}`);
    }
    const domain_id = ids?.get(domain);
    return domain_id === undefined ? [] : [{ domain_id, ...totals, urls_json }];
  });
  const octets = rows.reduce((sum, { urls_json }) => sum + Buffer.byteLength(urls_json), 0);
  if (octets > MAX_STORED_OCTETS) {
    throw new TrafficRefusal(`domains: at most ${MAX_STORED_OCTETS} octets of URLs, found ${octets}`, 413);
  }
  const { process, run } = sent;
  const report = { node_id: node.id, process, run, at: now, oldest: now - REPORT_COUNTS_MS, rows };
  await store.write((tx) => tx.caches.report(report));
  return rows.length;
}

/** Whether a URL is of a domain or a name below it: the panel shows the URLs of a domain to its members as links. */
function isOf(domain: string, url: string): boolean {
  const host = urlHost(url);
  return host !== null && (host === domain || host.endsWith(`.${domain}`));
}

// How much nodes have cached of a domain, by their last reports.

/** Sums over processes. */
interface Sums {
  readonly entries: number;
  readonly octets: number;
  readonly disk_files: number;
  readonly disk_octets: number;
}

/** The footprint of a domain, in all and by node. */
export async function readFootprint(
  { caches }: Pick<ReadTransaction, 'caches'>,
  domainId: number,
  now: number,
): Promise<z.output<typeof FOOTPRINT>> {
  const rows = await caches.totals(domainId, now - REPORT_COUNTS_MS);
  const nodes = new Map<string, CacheTotals[]>();
  for (const row of rows) nodes.set(row.node, [...(nodes.get(row.node) ?? []), row]);
  const times = rows.map(({ at }) => at);
  return {
    ...sumsOf(rows),
    oldest_at: times.length === 0 ? null : timeText(Math.min(...times)),
    newest_at: times.length === 0 ? null : timeText(Math.max(...times)),
    nodes: [...nodes].map(([name, processes]) => ({
      name,
      at: timeText(Math.min(...processes.map(({ at }) => at))),
      ...sumsOf(processes),
    })),
  };
}

function sumsOf(rows: readonly CacheTotals[]): Sums {
  const sum = (of: keyof Sums): number => rows.reduce((total, row) => total + row[of], 0);
  return {
    entries: sum('entries'),
    octets: sum('octets'),
    disk_files: sum('disk_files'),
    disk_octets: sum('disk_octets'),
  };
}

// The URLs that nodes have cached of a domain, page by page. In: the last reports, the newest first up to
// `MAX_MERGED_CHARACTERS`. Out: each URL once, with the newest response of all nodes.

/** A page of URLs. */
export interface EntriesPage {
  /** In the normal form of a purge; `null`: all. */
  readonly prefix: string | null;
  /** Only URLs above this one; `null`: from the first. */
  readonly after: string | null;
  readonly limit: number;
}

/** A URL over all reports. */
interface Merged {
  newest: ReportedUrl;
  octets: number;
  copies: number;
  readonly nodes: Set<number>;
  at: number;
}

/** The page, and where the next one begins. */
export async function readEntries(
  { caches }: Pick<ReadTransaction, 'caches'>,
  domainId: number,
  { page, now }: { readonly page: EntriesPage; readonly now: number },
): Promise<z.output<typeof CACHED_ENTRIES>> {
  const oldest = now - REPORT_COUNTS_MS;
  const totals = await caches.totals(domainId, oldest);
  const rows = await caches.urls(domainId, { oldest, characters: MAX_MERGED_CHARACTERS });
  const { merged, listed } = merge(rows, page);
  const sorted = [...merged].sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = sorted.slice(0, page.limit);
  const last = shown.at(-1)?.[0] ?? null;
  const entries = totals.reduce((sum, row) => sum + row.entries, 0);
  return {
    entries: shown.map(([url, one]) => show(url, one)),
    next: last === null || sorted.length <= page.limit ? null : cursorOf(last),
    truncated: listed < entries,
    oldest_at: totals.length === 0 ? null : timeText(Math.min(...totals.map(({ at }) => at))),
  };
}

/** The URLs of the page and all after it, and the number of responses that reports list. */
function merge(
  rows: readonly CacheUrls[],
  { prefix, after }: EntriesPage,
): { readonly merged: ReadonlyMap<string, Merged>; readonly listed: number } {
  const merged = new Map<string, Merged>();
  const start = prefix === null ? null : purgeLocation(prefix).path;
  let listed = 0;
  for (const { urls_json, node_id, at } of rows) {
    for (const one of JSON.parse(urls_json) as readonly ReportedUrl[]) {
      listed += one.copies;
      const { url } = one;
      if (after !== null && url <= after) continue;
      if (start !== null && !purgeLocation(withoutScheme(url)).path.startsWith(start)) continue;
      const before = merged.get(url);
      if (before === undefined) {
        const { octets, copies } = one;
        merged.set(url, { newest: one, octets, copies, nodes: new Set([node_id]), at });
      } else {
        if (one.stored_at > before.newest.stored_at) before.newest = one;
        before.octets += one.octets;
        before.copies += one.copies;
        before.nodes.add(node_id);
        before.at = Math.max(before.at, at);
      }
    }
  }
  return { merged, listed };
}

function withoutScheme(url: string): string {
  return url.slice(url.indexOf('://') + 3);
}

function show(url: string, { newest, octets, copies, nodes, at }: Merged): CachedEntry {
  return {
    url,
    status: newest.status,
    octets,
    copies,
    nodes: nodes.size,
    stored_at: timeText(newest.stored_at),
    fresh_until: timeText(newest.fresh_until),
    tags: [...newest.tags],
    at: timeText(at),
  };
}

function cursorOf(url: string): string {
  return Buffer.from(url, 'utf8').toString('base64url');
}

/** The URL of a cursor. Any text is one: an order has a place for each. */
export function readEntriesCursor(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString('utf8');
}
