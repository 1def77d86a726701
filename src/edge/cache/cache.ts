/**
 * The HTTP cache of a node. In: a request with its cache settings, and a function that sends it to the
 * origin. Out: a response from memory, from disk or from the origin, stored if that is allowed. A shared
 * cache by RFC 9111, with these decisions where the RFC leaves a choice:
 *
 * - Of a client's `Cache-Control`, only `no-store` (its response is not stored) and `only-if-cached` have an
 *   effect. The other directives would let any client send load past the edge (RFC 9111 §5.2.1 leaves this to
 *   the cache).
 * - A client's conditions are evaluated here; a miss requests the whole response from the origin.
 * - A range is cut from a stored whole response. On a miss the range goes to the origin and nothing is
 *   stored, except for `bytes=0-`, which means the whole response.
 * - `HEAD` is answered from the entry of a `GET`; the response to a `HEAD` is not stored.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBudget } from '../../base/buffers/space.ts';
import { parseCacheControl } from '../../base/http/cache-control.ts';
import { textOf } from '../../base/http/conditions.ts';
import {
  type HeaderList,
  headerOf,
  type ResponseHead,
  type ResponseSource,
} from '../../base/http/response.ts';
import { createDisk, type Disk } from './disk.ts';
import {
  type CacheEntry,
  isFresh,
  isShared,
  isUsable,
  judgePurges,
  mayServeOnError,
  mayServeUnreached,
  mayServeWhile,
} from './entry.ts';
import { type FetchContext, type FetchResult, requestOrigin } from './in-flight.ts';
import {
  BODY_SHARE,
  MAX_FILES,
  MAX_MEMORY_BODY,
  MAX_SURVEYED_TAGS,
  MAX_SURVEYED_URL,
  MAX_SURVEYED_URLS,
  RECORDING_SHARE,
  SURVEYED_AT_ONCE,
} from './limits.ts';
import { answerUnavailable, createDeferredSource, type Lookup, NO_CLIENT, pass } from './lookup.ts';
import { createNegativeCache } from './negative-cache.ts';
import { fetchFromOrigin } from './origin-fetch.ts';
import type { CacheContents, CachedUrl, CacheRequest, HttpCache, SurveyedDomain } from './request.ts';
import { respond } from './respond.ts';
import { createResponseStore, type ResponseStore } from './store.ts';

// Surveys the cache: how much it has stored of each domain, and the URLs that were used last. Memory is read in parts, so that
// requests are served in between. Entries that a purge covers are removed on the way, as Varnish's ban lurker does.

/** What is known of a domain so far. */
interface Gathered {
  readonly domain: SurveyedDomain;
  entries: number;
  octets: number;
  /** By URL, the most recently used first. */
  readonly urls: Map<string, CachedUrl>;
}

export interface SurveyOptions {
  readonly store: ResponseStore;
  readonly disk: Disk | null;
  /** A domain with its purges of now; `null`: the node does not serve the name. */
  readonly domainOf: (name: string) => SurveyedDomain | null;
  readonly clock: () => number;
}

/** What is stored, by domain; domains without stored responses are left out. */
async function survey(options: SurveyOptions): Promise<ReadonlyMap<string, CacheContents>> {
  const { store, disk, domainOf } = options;
  const found = new Map<string, Gathered | null>();
  const gatheredOf = (name: string): Gathered | null => {
    let gathered = found.get(name);
    if (gathered === undefined) {
      const domain = domainOf(name);
      gathered = domain === null ? null : { domain, entries: 0, octets: 0, urls: new Map() };
      found.set(name, gathered);
    }
    return gathered;
  };
  for (const [place, key] of store.keys().entries()) {
    if (place % SURVEYED_AT_ONCE === SURVEYED_AT_ONCE - 1) await nextTurn();
    const gathered = gatheredOf(key.slice(0, key.indexOf('\n')));
    if (gathered !== null) add(options, gathered, key);
  }
  for (const name of disk?.domains() ?? []) gatheredOf(name);
  const contents = new Map<string, CacheContents>();
  for (const [name, gathered] of found) {
    const shown = gathered === null ? null : contentsOf(gathered, disk);
    if (shown !== null) contents.set(name, shown);
  }
  return contents;
}

/** Adds the entry of a key, or removes it if it can never be used again. */
function add({ store, clock }: SurveyOptions, gathered: Gathered, key: string): void {
  const entry = store.peek(key);
  if (entry === null || entry.terms.epoch > gathered.domain.purgeEpoch) return;
  const { domain, urls } = gathered;
  const url = urlOf(key);
  const isOutdated = entry.terms.epoch < domain.purgeEpoch;
  const verdict = isOutdated ? 'purged' : judgePurges(entry, domain, url);
  if (verdict === 'purged') {
    store.discard(domain, key);
    return;
  }
  gathered.entries++;
  gathered.octets += entry.length;
  const before = urls.get(url);
  if (before === undefined && (urls.size >= MAX_SURVEYED_URLS || url.length > MAX_SURVEYED_URL)) return;
  const freshUntil =
    verdict === 'stale' ? Math.min(entry.lifetime.freshUntil, clock()) : entry.lifetime.freshUntil;
  urls.set(url, before === undefined ? describe(url, entry, freshUntil) : merge(before, entry, freshUntil));
}

/** The URL of a key: between the domain and what selects a variant. */
function urlOf(key: string): string {
  const start = key.indexOf('\n') + 1;
  const end = key.indexOf('\n', start);
  return end < 0 ? key.slice(start) : key.slice(start, end);
}

function describe(
  url: string,
  { status, length, lifetime, tags }: CacheEntry,
  freshUntil: number,
): CachedUrl {
  const { storedAt } = lifetime;
  const shown = (tags ?? []).slice(0, MAX_SURVEYED_TAGS);
  return { url, status, octets: length, storedAt, freshUntil, tags: shown, copies: 1 };
}

/** A URL with one more variant: the newest one is described. */
function merge(before: CachedUrl, entry: CacheEntry, freshUntil: number): CachedUrl {
  const newest = entry.lifetime.storedAt > before.storedAt ? describe(before.url, entry, freshUntil) : before;
  return { ...newest, octets: before.octets + entry.length, copies: before.copies + 1 };
}

/** `null`: nothing is stored. */
function contentsOf({ domain, entries, octets, urls }: Gathered, disk: Disk | null): CacheContents | null {
  const { files, octets: diskOctets } = disk?.usage(domain) ?? { files: 0, octets: 0 };
  if (entries === 0 && files === 0) return null;
  return { entries, octets, diskFiles: files, diskOctets, urls: [...urls.values()] };
}

// The keys that an unsafe request invalidates besides its own target (RFC 9111 §4.4).

/** Keys from `Location` and `Content-Location`, of the same origin as the changed resource. */
export function invalidated(key: string, headers: HeaderList): readonly string[] {
  const keys: string[] = [];
  for (const name of ['location', 'content-location']) {
    const value = headerOf(headers, name);
    if (value === null || !URL.canParse(value, key)) continue;
    const target = new URL(value, key);
    const base = new URL(key);
    if (target.origin !== base.origin) continue;
    const path = `${base.protocol}//${base.host}${target.pathname}`;
    // Under `query_mode: none` the key ends with the path.
    keys.push(`${path}${target.search}`);
    if (target.search !== '') keys.push(path);
  }
  return keys;
}

export interface CacheOptions {
  /** Octets of memory for entries. Bodies being recorded may take half as much on top. */
  readonly memoryOctets: number;
  /** The folder of cache files, used by this process alone; `null`: memory only. */
  readonly directory: string | null;
  /**
   * The part of a domain's disk space that this process may use, for nodes of several processes; default 1.
   */
  readonly diskShare?: number;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Called with unexpected failures, such as a failing disk. Serving continues. */
  readonly onFault: (error: unknown) => void;
}

/** Safe methods (RFC 9110 §9.2.1); only the first two are answered from the cache. */
const SAFE: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'REPORT',
  'SEARCH',
  'QUERY',
]);

export function createCache(options: CacheOptions): HttpCache {
  const { memoryOctets, directory, diskShare = 1, clock = Date.now, onFault } = options;
  const maxInMemory = Math.floor(Math.min(MAX_MEMORY_BODY, memoryOctets * BODY_SHARE));
  const disk =
    directory === null
      ? null
      : createDisk({ directory, share: diskShare, maxFiles: MAX_FILES * diskShare, clock, onFault });
  const context: FetchContext = {
    store: createResponseStore({ memoryOctets, maxInMemory, disk }),
    budget: createBudget(memoryOctets * RECORDING_SHARE),
    maxInMemory,
    clock,
    inFlightRequests: new Map(),
    recent: createNegativeCache(clock),
    onFault,
    fetch: (lookup, stored, key) => fetchFromOrigin(context, lookup, stored, key),
  };
  return {
    answer(request, sink, fetch) {
      const { settings, domain, method } = request;
      const key = keyOf(domain.name, settings.key ?? '');
      const lookup: Lookup = { request, sink, fetch, resource: { domain, key }, gone: false };
      if (settings.mode === 'bypass' || settings.key === null) {
        return pass(lookup, { why: 'bypass', result: 'bypass' });
      }
      if (!SAFE.has(method)) return change(context, lookup);
      if (method !== 'GET' && method !== 'HEAD') return pass(lookup, { why: 'method', result: 'pass' });
      return isPlain(request.headers)
        ? find(context, lookup)
        : pass(lookup, { why: 'request', result: 'pass' });
    },
    survey: (domainOf) => survey({ store: context.store, disk, domainOf, clock }),
    releaseDisk: () => disk?.release(),
    reclaimDisk: () => disk?.reclaim(),
    async close() {
      await disk?.close();
    },
  };
}

/** Finds the entry; synchronous if memory has it. */
function find(context: FetchContext, lookup: Lookup): ResponseSource {
  const entry = context.store.find(lookup.resource, lookup.request.headers);
  if (!(entry instanceof Promise)) return serve(context, lookup, entry);
  const deferred = createDeferredSource();
  entry
    .then((read) => {
      if (!deferred.aborted) deferred.become(serve(context, lookup, read));
    })
    .catch((error: unknown) => {
      context.onFault(error);
      lookup.sink.fail({ code: 'cut', reason: 'an error of the cache' });
    });
  return deferred;
}

/** Responds with the entry, fresh or stale, or fetches from the origin. */
function serve(context: FetchContext, lookup: Lookup, entry: CacheEntry | null): ResponseSource {
  const { request } = lookup;
  const { settings, domain, headers, now } = request;
  const usable = entry !== null && isUsable(entry, settings, domain.purgeEpoch) ? entry : null;
  const purged = usable === null ? 'purged' : judgePurges(usable, domain, settings.key!);
  const stored = purged === 'purged' ? null : usable;
  const result =
    stored === null ? null : resultOf(context, lookup, { stored, isRefreshed: purged === 'stale' });
  if (stored !== null && result !== null) {
    const answered = respond(context, lookup, stored, { result, status: `hit; ttl=${ttlOf(stored, now)}` });
    if (result === 'stale') renew(context, lookup, stored);
    return answered;
  }
  const directives = parseCacheControl(textOf(headers, 'cache-control'));
  if (directives.onlyIfCached) return answerUnavailable(lookup);
  if (directives.noStore) return pass(lookup, { why: 'request', result: 'pass' });
  if (request.method === 'HEAD') return context.fetch(lookup, stored, null);
  const range = textOf(headers, 'range');
  if (stored === null && range !== null && range.trim() !== 'bytes=0-') {
    return pass(lookup, { why: 'partial', result: 'pass' });
  }
  return requestOrigin(context, lookup, stored, sharedKey(context, lookup, stored));
}

/** The cache result with which an entry may be used without the origin; `null`: the origin must be requested. */
function resultOf(
  { recent }: FetchContext,
  { request, resource }: Lookup,
  { stored, isRefreshed }: { readonly stored: CacheEntry; readonly isRefreshed: boolean },
): FetchResult['result'] | null {
  const { now } = request;
  // A refresh asks for the origin's answer now: only a failing origin may be replaced.
  if (!isRefreshed && isFresh(stored, now)) return 'hit';
  if (!isRefreshed && mayServeWhile(stored, now)) return 'stale';
  // The origin failed a moment ago: waiting for it again would take time and fail as well.
  const failure = recent.failureOf(resource.key);
  if (failure === null) return null;
  const may = failure === 'error' ? mayServeOnError(stored, now) : mayServeUnreached(stored, now);
  return may ? 'stale' : null;
}

/** Revalidates in the background, unless a fetch is in flight or one has just failed. */
function renew(
  { store, inFlightRequests, recent, fetch: lookup }: FetchContext,
  one: Lookup,
  stored: CacheEntry,
): void {
  if (one.request.method !== 'GET' || recent.failureOf(one.resource.key) !== null) return;
  const key = store.keyOf(one.resource, one.request.headers);
  if (key === null || inFlightRequests.has(key)) return;
  const request: CacheRequest = { ...one.request, note: () => undefined };
  lookup({ ...one, request, sink: NO_CLIENT, gone: false }, stored, key);
}

/**
 * The key under which other requests may share the response; `null`: as far as known, the response is for
 * this client alone.
 */
function sharedKey(
  { store, recent }: FetchContext,
  { request, resource }: Lookup,
  stored: CacheEntry | null,
): string | null {
  if (request.headers['authorization'] !== undefined) return null;
  if (stored !== null && !isShared(stored)) return null;
  const key = store.keyOf(resource, request.headers);
  return key === null || recent.isShareable(key) ? key : null;
}

/** Handles an unsafe method: a successful one invalidates the stored entry (RFC 9111 §4.4). */
function change({ store, recent }: FetchContext, lookup: Lookup): ResponseSource {
  const onHead = ({ status, headers }: ResponseHead): void => {
    if (status < 200 || status >= 400) return;
    const { domain, key } = lookup.resource;
    const others = invalidated(lookup.request.settings.key!, headers).map((other) =>
      keyOf(domain.name, other),
    );
    for (const gone of [key, ...others]) {
      recent.setChanged(gone);
      store.remove({ domain, key: gone });
    }
  };
  return pass(lookup, { why: 'method', result: 'pass', onHead });
}

/** Seconds until the entry is stale, negative once it is (RFC 9211 §2.4). */
function ttlOf({ lifetime }: CacheEntry, now: number): number {
  return Math.floor((lifetime.freshUntil - now) / 1_000);
}

/** A host contains no line break, so keys of two domains never collide. */
function keyOf(domain: string, key: string): string {
  return `${domain}\n${key}`;
}

/**
 * Whether a GET can be cached: it has no body, which the key would not cover, and no condition that only the
 * origin can evaluate.
 */
function isPlain(headers: CacheRequest['headers']): boolean {
  if (headers['if-match'] !== undefined || headers['if-unmodified-since'] !== undefined) return false;
  if (headers['transfer-encoding'] !== undefined) return false;
  const length = headers['content-length'];
  return length === undefined || length === '0';
}
