/**
 * The URLs that nodes have cached of a domain, page by page. In: the last reports, the newest first up to
 * `MAX_MERGED_CHARACTERS`. Out: each URL once, with the newest response of all nodes.
 */
import type { z } from 'zod';
import { purgeLocation } from '../../../base/paths/purge-values.ts';
import { timeText } from '../../../base/text/time.ts';
import type { ReportedUrl } from '../../../engine/plan/cache-report.ts';
import type { CacheUrls } from '../../store/cache-repositories.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { MAX_MERGED_CHARACTERS, REPORT_COUNTS_MS } from './limits.ts';
import type { CACHED_ENTRIES, CachedEntry } from './shapes.ts';

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
