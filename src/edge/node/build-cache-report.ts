/**
 * Builds the next report of a cache. In: what a survey found, and what was reported before. Out: domains with their totals and
 * URLs, within the bounds of a report: first those that were reported longest ago, and each with its share of the URLs.
 */
import {
  MAX_DOMAIN_REPORT_OCTETS,
  MAX_REPORTED_DOMAINS,
  MAX_REPORTED_OCTETS,
} from '../../base/vocabulary/limits.ts';
import type { ReportedContents, ReportedUrl } from '../../engine/plan/cache-report.ts';
import type { CacheContents } from '../cache/request.ts';
import { REPEAT_CACHE_MS } from './limits.ts';

/** What was reported of a domain last. */
export interface ReportedMark {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Equal as long as the domain has not changed. */
  readonly mark: string;
}

/** A domain of the next report. */
export interface NextContents {
  readonly contents: ReportedContents;
  readonly mark: string;
}

const NOTHING: CacheContents = { entries: 0, octets: 0, diskFiles: 0, diskOctets: 0, urls: [] };

/** The domains of the next report: those that changed since the last one, or whose last one is old. */
export function nextContents(
  found: ReadonlyMap<string, CacheContents>,
  reported: ReadonlyMap<string, ReportedMark>,
  now: number,
): readonly NextContents[] {
  const gone = [...reported.keys()].filter((name) => !found.has(name));
  const all = [...found, ...gone.map((name): [string, CacheContents] => [name, NOTHING])];
  const due = all.flatMap(([name, contents]) => {
    const mark = markOf(contents);
    const before = reported.get(name);
    const isDue = before?.mark !== mark || Math.abs(now - before.at) >= REPEAT_CACHE_MS;
    return isDue ? [{ name, contents, mark, at: before?.at ?? 0 }] : [];
  });
  const first = due.sort((a, b) => a.at - b.at).slice(0, MAX_REPORTED_DOMAINS);
  const listed = shareUrls(first.map(({ contents }) => contents.urls.map(reportedUrl)));
  return first.map(({ name, contents, mark }, place) => ({
    mark,
    contents: {
      domain: name,
      entries: contents.entries,
      octets: contents.octets,
      disk_files: contents.diskFiles,
      disk_octets: contents.diskOctets,
      urls: listed[place]!,
    },
  }));
}

/** Sums change with every entry that comes, goes, is stored again or becomes stale by a refresh. */
function markOf({ entries, octets, diskFiles, diskOctets, urls }: CacheContents): string {
  const stored = urls.reduce((sum, { storedAt }) => sum + storedAt, 0);
  const fresh = urls.reduce((sum, { freshUntil }) => sum + freshUntil, 0);
  return [entries, octets, diskFiles, diskOctets, stored, fresh].join(' ');
}

function reportedUrl({ storedAt, freshUntil, ...url }: CacheContents['urls'][number]): ReportedUrl {
  return { ...url, stored_at: Math.floor(storedAt), fresh_until: Math.floor(freshUntil) };
}

/**
 * Divides the octets of a report among lists of URLs. Each gets an equal share; what a short list leaves goes to the longer
 * ones (max-min fairness).
 */
function shareUrls(lists: readonly (readonly ReportedUrl[])[]): readonly (readonly ReportedUrl[])[] {
  const sized = lists.map((urls, place) => {
    const sizes = urls.map((url) => Buffer.byteLength(JSON.stringify(url)) + 1);
    return { urls, sizes, place, octets: sizes.reduce((sum, size) => sum + size, 0) };
  });
  const shared: (readonly ReportedUrl[])[] = lists.map(() => []);
  let left = MAX_REPORTED_OCTETS;
  const shortFirst = sized.sort((a, b) => a.octets - b.octets);
  for (const [number, { urls, sizes, place }] of shortFirst.entries()) {
    const most = Math.min(MAX_DOMAIN_REPORT_OCTETS, left / (shortFirst.length - number));
    let octets = 0;
    const end = sizes.findIndex((size) => {
      if (octets + size > most) return true;
      octets += size;
      return false;
    });
    shared[place] = end < 0 ? urls : urls.slice(0, end);
    left -= octets;
  }
  return shared;
}
