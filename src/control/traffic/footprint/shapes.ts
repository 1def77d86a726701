/** Schemas of a node's report, and of what the API answers from reports. */
import { z } from 'zod';
import {
  MAX_DOMAIN_REPORT_OCTETS,
  MAX_REPORTED_DOMAINS,
  MAX_REPORTED_URLS,
  MAX_TAG_CHARACTERS,
} from '../../../base/vocabulary/limits.ts';
import { CACHE_REPORT_FORMAT } from '../../../engine/plan/cache-report.ts';
import { MAX_PROCESSES, MAX_URL, MAX_URL_TAGS } from './limits.ts';

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
export type CachedEntry = z.output<typeof CACHED_ENTRY>;
