/**
 * Reports what the cache of one process has stored to the control plane. In: the cache, and the purges of domains. Out: a
 * report every `CACHE_REPORT_MS`, after a survey of the cache. A report that does not arrive is made again with the next one.
 */
import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { pause } from '../../base/platform/backoff.ts';
import { CACHE_REPORT_FORMAT, type CacheReport } from '../../engine/plan/cache-report.ts';
import type { HttpCache } from '../cache/request.ts';
import type { PlanTable } from '../following/plan-table.ts';
import { nextContents, type ReportedMark } from './build-cache-report.ts';
import { CACHE_REPORT_MS, SURVEY_SHARE } from './limits.ts';

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
