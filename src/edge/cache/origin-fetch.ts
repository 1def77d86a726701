/**
 * Sends one request to the origin for the cache, and handles each possible response: a new one, a 304, an
 * error, a failure.
 */
import { validation } from '../../base/http/conditions.ts';
import {
  type ResponseFault,
  type ResponseHead,
  type ResponseSink,
  type ResponseSource,
  withoutHeaders,
} from '../../base/http/response.ts';
import { draftOf, type EntryDraft, finished, freshened, isOther, type OriginAnswer } from './build-entry.ts';
import { type CacheEntry, isShared, isValidatable, mayServeOnError, mayServeUnreached } from './entry.ts';
import { createFill } from './fill.ts';
import {
  type FetchContext,
  type InFlightRequest,
  join,
  read,
  release,
  type Shared,
  settle,
} from './in-flight.ts';
import { MAX_DROPPED } from './limits.ts';
import {
  createDeferredSource,
  type DeferredSource,
  type Lookup,
  NO_CLIENT,
  passedHeaders,
} from './lookup.ts';
import { respond } from './respond.ts';
import { variantOf, varyNames } from './response-keys.ts';
import type { StreamedEntry } from './store.ts';

/** Receives the rest of a response after its head. */
type Rest = Pick<ResponseSink, 'data' | 'end' | 'fail'>;

interface FetchState {
  readonly context: FetchContext;
  readonly lookup: Lookup;
  /** The stale entry, if any. */
  readonly stored: CacheEntry | null;
  readonly inFlight: InFlightRequest | null;
  readonly sentAt: number;
  /** When the request was sent, as a `NegativeCache.moment`. */
  readonly asked: number;
  /** The request is conditional: it revalidates the stale entry. */
  readonly validating: boolean;
  /** The source that the client pauses and aborts. */
  readonly deferred: DeferredSource;
}

const MB = 1024 * 1024;

/**
 * Fetches from the origin. While other requests wait for the response, the fetch continues even after its own
 * client has left.
 */
export function fetchFromOrigin(
  context: FetchContext,
  lookup: Lookup,
  stored: CacheEntry | null,
  key: string | null,
): ResponseSource {
  const sentAt = context.clock();
  const asked = context.recent.moment();
  const inFlight: InFlightRequest | null =
    key === null
      ? null
      : { key, domain: lookup.request.domain, startedAt: asked, waiting: new Set(), shared: null };
  if (inFlight !== null) context.inFlightRequests.set(inFlight.key, inFlight);
  const reading = lookup.request.method === 'GET';
  const validating = reading && stored !== null && isValidatable(stored);
  const one: FetchState = {
    context,
    lookup,
    stored,
    inFlight,
    sentAt,
    asked,
    validating,
    deferred: createDeferredSource(),
  };
  let rest: Rest | null = null;
  const own =
    reading && (stored !== null || inFlight !== null || lookup.request.headers['range'] !== undefined);
  const source = lookup.fetch(own ? changesFor(validating ? stored : null) : {}, {
    informational: (status, headers) => {
      if (!lookup.gone) lookup.sink.informational(status, headers);
    },
    head: (head, from) => {
      rest = receiveHead(one, head, from);
    },
    data: (chunk) => rest?.data(chunk),
    end: (trailers) => rest?.end(trailers),
    fail: (fault) => (rest === null ? receiveFault(one, fault) : rest.fail(fault)),
  });
  return {
    pause: one.deferred.pause,
    resume: one.deferred.resume,
    abort: () => {
      lookup.gone = true;
      one.deferred.abort();
      if (rest !== null || (inFlight !== null && inFlight.waiting.size > 0)) return;
      settle(context, inFlight);
      source.abort();
    },
  };
}

/**
 * The request headers to change. The cache evaluates the client's conditions and range itself, so the origin
 * gets either an unconditional request or the entry's validators. If nothing is stored and the resource is
 * known not to be shareable, the client's conditions are forwarded, since the origin may respond 304.
 */
function changesFor(stored: CacheEntry | null): Readonly<Record<string, string | null>> {
  const conditions = stored === null ? { etag: null, lastModified: null } : stored.validators;
  return { ...validation(conditions), range: null, 'if-range': null };
}

function receiveHead(one: FetchState, head: ResponseHead, source: ResponseSource): Rest {
  const { lookup, stored, sentAt, context } = one;
  const { headers, domain, settings, method } = lookup.request;
  const now = context.clock();
  if (stored !== null && SERVER_ERRORS.has(head.status) && mayServeOnError(stored, now)) {
    context.recent.setFailing(lookup.resource.key, 'error');
    respondStale(one, stored, (entry) => mayServeOnError(entry, now));
    return discarding(source);
  }
  const authorized = headers['authorization'] !== undefined;
  const purged = { epoch: domain.purgeEpoch, purgesThrough: domain.purges.through };
  const answered = { head, settings, authorized, ...purged, sentAt, now };
  if (stored !== null && one.validating && head.status === 304) {
    if (isOther(stored, head.headers)) fetchAgain(one);
    else refresh(one, stored, answered);
    return NO_CLIENT;
  }
  const draft = method === 'GET' && head.isDoubtful !== true ? draftOf(answered) : null;
  const most = domain.settings.cacheCapMb * MB;
  if (draft === null || (draft.announced ?? 0) > most) return forward(one, head, source);
  return record(one, draft, source);
}

const SERVER_ERRORS: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** Responds with the stale entry in place of a failing origin, to the waiting requests as well. */
function respondStale(
  { context, lookup, inFlight }: FetchState,
  entry: CacheEntry,
  may: (entry: CacheEntry) => boolean,
): void {
  const asStale = { result: 'stale', status: 'hit; fwd=stale' } as const;
  settle(context, inFlight);
  if (!lookup.gone) respond(context, lookup, entry, asStale);
  release(context, inFlight, (waiting) => {
    if (waiting.stored === null || !may(waiting.stored)) return false;
    respond(context, waiting.lookup, waiting.stored, asStale);
    return true;
  });
}

/** Reads an error response to its end, up to a limit, so that its connection can be reused. */
function discarding(source: ResponseSource): Rest {
  let octets = 0;
  return {
    ...NO_CLIENT,
    data: (chunk) => {
      octets += chunk.length;
      if (octets > MAX_DROPPED) source.abort();
    },
  };
}

/**
 * Handles a 304 for another response than the stored one: removes the entry and requests the whole response.
 */
function fetchAgain({ context, lookup, inFlight, deferred }: FetchState): void {
  context.store.remove(lookup.resource);
  settle(context, inFlight);
  release(context, inFlight, () => false);
  if (!lookup.gone) deferred.become(context.fetch(lookup, null, null));
}

/** Handles a 304: the stored entry is fresh again. */
function refresh(
  { context, lookup, inFlight, asked }: FetchState,
  stored: CacheEntry,
  answered: OriginAnswer,
): void {
  const { entry, keep, visitorHeaders } = freshened(stored, answered);
  const names = varyNames(entry.headers);
  const stays = keep && names !== null && !context.recent.isChangedSince(lookup.resource.key, asked);
  if (stays) context.store.put(lookup.resource, lookup.request.headers, { entry, names });
  else context.store.remove(lookup.resource);
  settle(context, inFlight);
  const revalidated = { result: 'revalidated', status: 'hit; fwd=stale; fwd-status=304' } as const;
  if (!lookup.gone) respond(context, lookup, entry, { ...revalidated, visitorHeaders });
  release(context, inFlight, (waiting) => {
    // A request that waited with the same stale entry gets the same response; for any other the 304 means
    // nothing.
    if (!stays || waiting.stored !== stored) return false;
    respond(context, waiting.lookup, entry, { result: 'revalidated', status: 'hit; fwd=stale; collapsed' });
    return true;
  });
}

/** Forwards a response that is not stored to its own client alone. */
function forward(
  { context, lookup, stored, inFlight }: FetchState,
  head: ResponseHead,
  source: ResponseSource,
): Rest {
  if (stored !== null && head.status < 500 && lookup.request.method === 'GET')
    context.store.remove(lookup.resource);
  if (inFlight !== null) context.recent.setShareable(inFlight.key, false);
  settle(context, inFlight);
  release(context, inFlight, () => false);
  if (lookup.gone) {
    source.abort();
    return NO_CLIENT;
  }
  lookup.request.note('pass');
  lookup.sink.head(
    { ...head, headers: passedHeaders(lookup, head, stored === null ? 'miss' : 'stale') },
    source,
  );
  return lookup.sink;
}

/** Stores a response as it arrives, and delivers it to all waiting requests. */
function record(one: FetchState, draft: EntryDraft, source: ResponseSource): Rest {
  const { context, lookup, inFlight, asked } = one;
  const { headers, domain } = lookup.request;
  const { maxInMemory, store } = context;
  const large = (draft.announced ?? 0) > maxInMemory;
  let spilling: StreamedEntry | null = null;
  const fill = createFill({
    source,
    budget: context.budget,
    maxInMemory: large ? 0 : maxInMemory,
    maxOctets: domain.settings.cacheCapMb * MB,
    openBodyFile: (onRest) => {
      spilling = store.openBodyFile(lookup.resource, headers, { names: draft.names, onRest });
      return spilling === null ? null : spilling.file;
    },
    done: (kept, octets) => {
      settle(context, inFlight);
      if (kept === null) return;
      const whole = finished(draft, octets);
      const overtaken = context.recent.isChangedSince(lookup.resource.key, asked);
      if (kept instanceof Uint8Array) {
        if (!overtaken)
          store.put(lookup.resource, headers, { entry: { ...whole, body: kept }, names: draft.names });
      } else if (overtaken) kept.abandon();
      else spilling?.commit(whole);
    },
  });
  const variant = variantOf(draft.names, headers);
  const shared: Shared | null =
    variant !== null && isShared(draft.entry) && !large ? { fill, draft, variant } : null;
  if (inFlight !== null) {
    inFlight.shared = shared;
    context.recent.setShareable(inFlight.key, shared !== null);
    if (shared === null) settle(context, inFlight);
  }
  if (lookup.gone)
    fill.attach({ sink: NO_CLIENT, from: 0, to: 0, openSpool: lookup.request.openSpool }).abort();
  else one.deferred.become(read(lookup, { fill, draft, result: 'miss' }));
  release(context, inFlight, (waiting) => shared !== null && join(shared, waiting.lookup) !== null);
  return { ...fill, end: (trailers) => fill.end(withoutHeaders(trailers, COOKIES)) };
}

/** A cookie in a trailer has no meaning (RFC 9110 §6.5.1), and every reader gets the trailers. */
const COOKIES: ReadonlySet<string> = new Set(['set-cookie']);

/** Handles a fetch without a response: the origin is unreachable, or the connection broke. */
function receiveFault({ context, lookup, stored, inFlight }: FetchState, fault: ResponseFault): void {
  const unreached = UNREACHED.has(fault.code);
  const now = context.clock();
  const instead = (entry: CacheEntry | null): boolean =>
    entry !== null && unreached && mayServeUnreached(entry, now);
  const asStale = { result: 'stale', status: 'hit; fwd=stale' } as const;
  if (unreached) context.recent.setFailing(lookup.resource.key, 'unreached');
  settle(context, inFlight);
  if (!lookup.gone) {
    if (stored !== null && instead(stored)) respond(context, lookup, stored, asStale);
    else lookup.sink.fail(fault);
  }
  release(context, inFlight, (waiting) => {
    // An unreachable origin affects the waiting requests as well; a failure of this one request affects no other.
    if (!unreached) return false;
    if (waiting.stored !== null && instead(waiting.stored))
      respond(context, waiting.lookup, waiting.stored, asStale);
    else waiting.lookup.sink.fail(fault);
    return true;
  });
}

const UNREACHED: ReadonlySet<string> = new Set([
  'busy',
  'unresolved',
  'forbidden',
  'refused',
  'unreachable',
  'unreached',
  'reset',
  'cut',
  'timeout',
]);
