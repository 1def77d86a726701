/**
 * Request collapsing. The first request for an entry fetches it from the origin; later requests for the same
 * entry wait for the head of that response and then read the same body. If the response cannot be shared,
 * each of them sends its own request to the origin.
 */
import type { Budget } from '../../base/buffers/space.ts';
import type { HeaderList, ResponseSource } from '../../base/http/response.ts';
import type { EntryDraft } from './build-entry.ts';
import { ageOf, type CacheEntry, judgePurges } from './entry.ts';
import type { Fill } from './fill.ts';
import { WAIT_MS } from './limits.ts';
import { type CacheResult, createDeferredSource, type Lookup } from './lookup.ts';
import type { NegativeCache } from './negative-cache.ts';
import type { CachedDomain } from './request.ts';
import { variantOf } from './response-keys.ts';
import type { ResponseStore } from './store.ts';
import { browserHeaders, shape } from './stored-response.ts';

/** The fetch context: the parts of the cache that a fetch needs. */
export interface FetchContext {
  readonly store: ResponseStore;
  readonly budget: Budget;
  /** Largest body in octets that is stored in memory. */
  readonly maxInMemory: number;
  readonly clock: () => number;
  /** In-flight requests that others may share, by the key of the requested variant. */
  readonly inFlightRequests: Map<string, InFlightRequest>;
  readonly recent: NegativeCache;
  readonly onFault: (error: unknown) => void;
  /** Fetches from the origin; `key` is the variant that others may share, `null`: not shared. */
  readonly fetch: (lookup: Lookup, stored: CacheEntry | null, key: string | null) => ResponseSource;
}

/** The result of a lookup for the request log and for `Cache-Status`. */
export interface FetchResult {
  readonly result: CacheResult;
  readonly status: string;
  /** Headers that this visitor alone gets with the entry; absent: none. */
  readonly visitorHeaders?: HeaderList;
}

/** A request to the origin whose response others may share. */
export interface InFlightRequest {
  readonly key: string;
  /** As it was when the request was sent. */
  readonly domain: CachedDomain;
  /** When the request was sent, as a `NegativeCache.moment`. */
  readonly startedAt: number;
  readonly waiting: Set<WaitingRequest>;
  /** The response that can be shared, once its head has arrived. */
  shared: Shared | null;
}

export interface WaitingRequest {
  readonly lookup: Lookup;
  readonly stored: CacheEntry | null;
  /** Ends the wait; called by the code that answers next. */
  readonly leave: () => void;
}

export interface Shared {
  readonly fill: Fill;
  readonly draft: EntryDraft;
  /** The values of the headers that the response varies by, from the first request. */
  readonly variant: string;
}

/**
 * Joins the in-flight request for the same entry, or fetches from the origin. `stored` is the stale entry, if
 * any.
 */
export function requestOrigin(
  context: FetchContext,
  lookup: Lookup,
  stored: CacheEntry | null,
  key: string | null,
): ResponseSource {
  const inFlight = key === null ? undefined : context.inFlightRequests.get(key);
  if (key === null || inFlight === undefined) return context.fetch(lookup, stored, key);
  // The in-flight response is older than an invalidation or a purge; later requests share the next one.
  const isOlder = context.recent.isChangedSince(lookup.resource.key, inFlight.startedAt);
  if (isOlder || isPurgedSince(inFlight, lookup)) return context.fetch(lookup, stored, key);
  if (inFlight.shared === null) return wait(context, inFlight, { lookup, stored });
  return join(inFlight.shared, lookup) ?? context.fetch(lookup, stored, null);
}

/** Whether a purge that the request knows may cover a response that was requested before it. */
function isPurgedSince({ domain, shared }: InFlightRequest, { request }: Lookup): boolean {
  if (request.domain.purgeEpoch !== domain.purgeEpoch) return true;
  const judged = { position: domain.purges.through };
  const tags = shared === null ? null : shared.draft.entry.tags;
  return judgePurges({ judged, tags }, request.domain, request.settings.key!) !== 'valid';
}

function wait(
  context: FetchContext,
  inFlight: InFlightRequest,
  { lookup, stored }: Pick<WaitingRequest, 'lookup' | 'stored'>,
): ResponseSource {
  const deferred = createDeferredSource();
  const waiting: WaitingRequest = {
    lookup,
    stored,
    leave: () => {
      inFlight.waiting.delete(waiting);
      clearTimeout(late);
    },
  };
  const late = setTimeout(() => {
    waiting.leave();
    deferred.become(context.fetch(lookup, stored, null));
  }, WAIT_MS);
  inFlight.waiting.add(waiting);
  return {
    pause: deferred.pause,
    resume: deferred.resume,
    abort: () => {
      lookup.gone = true;
      waiting.leave();
      deferred.abort();
    },
  };
}

/** Removes the in-flight request; later requests start a new one. */
export function settle({ inFlightRequests }: FetchContext, inFlight: InFlightRequest | null): void {
  if (inFlight !== null && inFlightRequests.get(inFlight.key) === inFlight)
    inFlightRequests.delete(inFlight.key);
}

/** Ends the wait of all requests: `take` answers those it can; each of the others sends its own request to the origin. */
export function release(
  context: FetchContext,
  inFlight: InFlightRequest | null,
  take: (waiting: WaitingRequest) => boolean,
): void {
  if (inFlight === null) return;
  for (const waiting of [...inFlight.waiting]) {
    waiting.leave();
    if (!waiting.lookup.gone && !take(waiting)) context.fetch(waiting.lookup, waiting.stored, null);
  }
}

/**
 * Reads the body with the others, if the response matches the request and recording is complete so far;
 * else `null`.
 */
export function join({ fill, draft, variant }: Shared, lookup: Lookup): ResponseSource | null {
  const fits = variantOf(draft.names, lookup.request.headers) === variant;
  return fits && fill.isRecording() ? read(lookup, { fill, draft, result: 'shared' }) : null;
}

export interface ResponseReading {
  readonly fill: Fill;
  readonly draft: EntryDraft;
  readonly result: 'miss' | 'shared';
}

/** Delivers to one client its part of a response that is arriving. */
export function read({ request, sink }: Lookup, { fill, draft, result }: ResponseReading): ResponseSource {
  const { entry, announced, aged } = draft;
  const stored = { status: entry.status, headers: entry.headers, length: announced };
  const headers = browserHeaders(stored, request.settings.browserTtl, entry.terms.mode === 'force');
  const shaped = shape({ ...stored, headers }, request);
  const age = ageOf(entry, request.now);
  // `Age` says that the response was not made for this request (RFC 9111 §5.1), however long the origin took.
  const reused = result === 'shared' || aged;
  const ageField = reused && age > 0 && headers === entry.headers ? ['Age', String(age)] : [];
  request.note(result);
  // A reader of the whole body waits for the end of the response: only then the body is known to be complete.
  const to = shaped.to === announced ? Number.POSITIVE_INFINITY : shaped.to;
  const { openSpool } = request;
  const reader = fill.attach({
    sink,
    from: shaped.from,
    to: shaped.from === shaped.to ? shaped.to : to,
    openSpool,
  });
  // A body of unknown length may turn out to be larger than what may be stored.
  const isStored = announced === null ? '' : '; stored';
  const status = `edgeplan; fwd=miss${result === 'shared' ? '; collapsed' : isStored}`;
  const own = result === 'shared' ? [] : draft.visitorHeaders;
  const delivered = [...shaped.headers, ...own, ...ageField, 'Cache-Status', status];
  sink.head({ status: shaped.status, headers: delivered, madeBy: 'origin' }, reader);
  reader.start();
  return reader;
}
