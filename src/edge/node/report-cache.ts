/**
 * Reports what the cache of one process has stored to the control plane. In: the cache, and the purges of domains. Out: a
 * report every `CACHE_REPORT_MS`, after a survey of the cache. A report that does not arrive is made again with the next one.
 */
import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { pause } from '../../base/platform/tasks.ts';
import {
  MAX_DOMAIN_REPORT_OCTETS,
  MAX_REPORTED_DOMAINS,
  MAX_REPORTED_OCTETS,
} from '../../base/vocabulary/limits.ts';
import {
  CACHE_REPORT_FORMAT,
  type CacheReport,
  type ReportedContents,
  type ReportedUrl,
} from '../../engine/plan/cache-report.ts';
import type { CacheContents, HttpCache } from '../cache/request.ts';
import type { PlanTable } from '../following/plan-table.ts';

/** Milliseconds between two reports of what a cache has stored: a purge is visible at the control plane soon. */
const CACHE_REPORT_MS = 15_000;
/** Milliseconds after which a domain that has not changed is reported again: a third of the time that reports count. */
export const REPEAT_CACHE_MS = 600_000;
/** The most of a process's time that surveys of its cache take; a large cache is surveyed less often. */
const SURVEY_SHARE = 0.01;

export interface CacheReporterOptions {
  readonly cache: Pick<HttpCache, 'survey'>;
  readonly plans: Pick<PlanTable, 'purgesOf'>;
  /** The number of the process in its node. */
  readonly process: number;
  /** Sends a report. A rejection: nothing of it has arrived. */
  readonly send: (report: CacheReport) => Promise<void>;
  readonly log: Pick<Logger, 'warn'>;
}

/** The reports of one process. */
export interface CacheReporter {
  stop(): Promise<void>;
}

const MAX_RUN = 2 ** 48 - 1;

/** Starts to report. */
export function startCacheReports(options: CacheReporterOptions): CacheReporter {
  const { cache, plans, process, send, log } = options;
  const run = randomInt(1, MAX_RUN);
  const reported = new Map<string, ReportedMark>();
  const ending = new AbortController();

  /** Resolves with the milliseconds that the survey took. */
  async function report(): Promise<number> {
    const startedAt = performance.now();
    const found = await cache.survey((name) => plans.purgesOf(name));
    const took = performance.now() - startedAt;
    const at = Date.now();
    const next = nextContents(found, reported, at);
    if (next.length === 0) return took;
    const domains = next.map(({ contents }) => contents);
    await send({ format: CACHE_REPORT_FORMAT, process, run, domains });
    for (const { contents, mark } of next) {
      if (found.has(contents.domain)) reported.set(contents.domain, { at, mark });
      else reported.delete(contents.domain);
    }
    return took;
  }

  async function repeat(): Promise<void> {
    let failures = 0;
    let took = 0;
    while (true) {
      await pause(Math.max(CACHE_REPORT_MS, took / SURVEY_SHARE), ending.signal);
      if (ending.signal.aborted) return;
      try {
        took = await report();
        failures = 0;
      } catch (error) {
        if (failures++ > 0) continue;
        log.warn({ err: error }, 'what the cache has stored cannot be reported; it is tried again');
      }
    }
  }

  const repeating = repeat();
  return {
    async stop() {
      ending.abort();
      await repeating;
    },
  };
}

// Builds the next report of a cache. In: what a survey found, and what was reported before. Out: domains with their totals and
// URLs, within the bounds of a report: first those that were reported longest ago, and each with its share of the URLs.

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
