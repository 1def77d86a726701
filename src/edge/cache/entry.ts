/** A cache entry, and the conditions under which it may be used at a given time. */
import type { Validators } from '../../base/http/conditions.ts';
import type { HeaderList } from '../../base/http/response.ts';
import type { CacheMode } from '../../base/vocabulary/vocabulary.ts';
import type { FilePlace } from './disk-partition.ts';
import { CLOCK_SLACK_MS, DISCONNECTED_SEC } from './limits.ts';
import type { CachedDomain, CachePurges, CacheSettings } from './request.ts';

/** A stored response (RFC 9111 §3). */
export interface CacheEntry {
  readonly status: number;
  /** End-to-end headers with `Date` and, for a response with a body, `Content-Length`; without `Age`. */
  readonly headers: HeaderList;
  /** Octets of the body. */
  readonly length: number;
  /** The body, or the location of the file that contains it. */
  readonly body: Uint8Array | FiledBody;
  readonly lifetime: Lifetime;
  readonly validators: Validators;
  /** The settings and purge epoch under which the entry was stored; under others it must not be used. */
  readonly terms: Terms;
  /** The tags by which it is purged, in lower case; `null`: more than `MAX_TAGS`, so that every purge of a tag matches. */
  readonly tags: readonly string[] | null;
  /** The newest purge that it was compared with. */
  readonly judged: { position: number };
  /** The client headers as last computed, for one browser lifetime. */
  readonly prepared: { browserTtl: number | null; headers: HeaderList };
}

/** A body in a cache file. */
export interface FiledBody {
  readonly place: FilePlace;
  /** Checksum of the body, which identifies the file: another one may have replaced it. */
  readonly sum: number;
}

/** The conditions of storage. An entry is used only for a request under the same ones. */
export interface Terms {
  readonly epoch: number;
  /** The domain's newest purge of single responses when the fetch began; 0 in files of earlier releases. */
  readonly purgesThrough: number;
  readonly mode: CacheMode;
  readonly edgeTtl: number | null;
}

/** Times in milliseconds since the epoch, durations in seconds. */
export interface Lifetime {
  /** When the response arrived. */
  readonly storedAt: number;
  /** The age of the response at arrival (RFC 9111 §4.2.3, corrected_initial_age). */
  readonly initialAge: number;
  readonly freshUntil: number;
  /** Always revalidated before use (`no-cache`). */
  readonly validateAlways: boolean;
  /** Never used stale (`must-revalidate`, `proxy-revalidate`). */
  readonly neverStale: boolean;
  /**
   * Used stale only if the response allows it explicitly. `s-maxage` forbids stale use (RFC 9111
   * §5.2.2.10), yet sites set it together with `stale-while-revalidate` and mean the latter.
   */
  readonly staleIfSaid: boolean;
  readonly staleWhileRevalidate: number;
  /** Seconds; `null`: not given. */
  readonly staleIfError: number | null;
}

/** Whether an entry was stored under the current purge epoch and the same settings. */
export function isUsable({ terms }: CacheEntry, { mode, edgeTtl }: CacheSettings, epoch: number): boolean {
  return terms.epoch === epoch && terms.mode === mode && terms.edgeTtl === edgeTtl;
}

/**
 * What the purges of a domain mean for an entry of a URL. An entry that they leave valid is not compared with them again.
 * PERF: two numbers are compared at most lookups.
 */
export function judgePurges(
  { judged, tags }: Pick<CacheEntry, 'judged' | 'tags'>,
  { purges }: Pick<CachedDomain, 'purges'>,
  key: string,
): ReturnType<CachePurges['judge']> {
  if (judged.position >= purges.through) return 'valid';
  const verdict = purges.judge({ url: withoutScheme(key), tags, position: judged.position });
  if (verdict === 'valid') judged.position = purges.through;
  return verdict;
}

/** The URL of a cache key without its scheme: one purge is for both. */
function withoutScheme(key: string): string {
  return key.slice(key.indexOf('://') + 3);
}

/** Fresh by the clock. */
export function isFresh({ lifetime }: CacheEntry, now: number): boolean {
  return now < lifetime.freshUntil && !lifetime.validateAlways && !isFromFuture(lifetime, now);
}

/**
 * The clock was set back since the entry was stored: its age is unknown, and it has to be
 * revalidated.
 */
function isFromFuture({ storedAt }: Lifetime, now: number): boolean {
  return now < storedAt - CLOCK_SLACK_MS;
}

/** Whether the entry may be used stale at all. */
function mayServeStale({ lifetime }: CacheEntry, now: number): boolean {
  return !lifetime.neverStale && !lifetime.validateAlways && !isFromFuture(lifetime, now);
}

/** Whether concurrent requests may share the response: it is fresh for some time after its arrival. */
export function isShared({ lifetime }: Pick<CacheEntry, 'lifetime'>): boolean {
  return lifetime.freshUntil > lifetime.storedAt && !lifetime.validateAlways;
}

/** Whether the entry may be used stale during a background revalidation (RFC 5861 §3). */
export function mayServeWhile(entry: CacheEntry, now: number): boolean {
  const { lifetime } = entry;
  if (!mayServeStale(entry, now)) return false;
  return now < lifetime.freshUntil + lifetime.staleWhileRevalidate * 1_000;
}

/** Whether the entry may replace an error of the origin (RFC 5861 §4). */
export function mayServeOnError(entry: CacheEntry, now: number): boolean {
  const { lifetime } = entry;
  if (!mayServeStale(entry, now)) return false;
  return now < lifetime.freshUntil + (lifetime.staleIfError ?? 0) * 1_000;
}

/**
 * Whether the entry may be used while the origin is unreachable: allowed unless forbidden (RFC 9111 §4.2.4).
 */
export function mayServeUnreached(entry: CacheEntry, now: number): boolean {
  const { lifetime } = entry;
  if (!mayServeStale(entry, now)) return false;
  const seconds = lifetime.staleIfError ?? (lifetime.staleIfSaid ? 0 : DISCONNECTED_SEC);
  return now < lifetime.freshUntil + seconds * 1_000;
}

/** Age in seconds. */
export function ageOf({ lifetime }: Pick<CacheEntry, 'lifetime'>, now: number): number {
  // A request that waited for this response has an earlier time than the response.
  return Math.floor(lifetime.initialAge + Math.max(0, now - lifetime.storedAt) / 1_000);
}

/** Whether the entry has a validator for a conditional request. */
export function isValidatable({ validators }: Pick<CacheEntry, 'validators'>): boolean {
  return validators.etag !== null || validators.lastModified !== null;
}
