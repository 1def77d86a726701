/**
 * Sends one request to the origin for the cache, and handles each possible response: a new one, a 304, an
 * error, a failure.
 */
import { validation } from '../http/conditions.ts';
import type { ResponseFault, ResponseHead, ResponseSink, ResponseSource } from '../http/response.ts';
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
import { createLaterSource, type LaterSource, type Lookup, NO_CLIENT, passedHeaders } from './lookup.ts';
import { respond } from './respond.ts';
import type { StreamedEntry } from './store.ts';
import { variantOf, varyNames } from './vary.ts';

/** Receives the rest of a response after its head. */
type Rest = Pick<ResponseSink, 'data' | 'end' | 'fail'>;

interface Lead {
  readonly tower: FetchContext;
  readonly ask: Lookup;
  /** The stale entry, if any. */
  readonly held: CacheEntry | null;
  readonly flight: InFlightRequest | null;
  readonly sentAt: number;
  /** When the request was sent, as a `NegativeCache.moment`. */
  readonly asked: number;
  /** The request is conditional: it revalidates the stale entry. */
  readonly validating: boolean;
  /** The source that the client pauses and aborts. */
  readonly later: LaterSource;
}

const MB = 1024 * 1024;

/**
 * Fetches from the origin. While other requests wait for the response, the fetch continues even after its own
 * client has left.
 */
export function fetchFromOrigin(
  tower: FetchContext,
  ask: Lookup,
  held: CacheEntry | null,
  key: string | null,
): ResponseSource {
  const sentAt = tower.clock();
  const asked = tower.recent.moment();
  const flight: InFlightRequest | null =
    key === null ? null : { key, startedAt: asked, waiting: new Set(), shared: null };
  if (flight !== null) tower.flights.set(flight.key, flight);
  const reading = ask.request.method === 'GET';
  const validating = reading && held !== null && isValidatable(held);
  const one: Lead = { tower, ask, held, flight, sentAt, asked, validating, later: createLaterSource() };
  let rest: Rest | null = null;
  const own = reading && (held !== null || flight !== null || ask.request.headers['range'] !== undefined);
  const source = ask.fetch(own ? changesFor(validating ? held : null) : {}, {
    informational: (status, headers) => {
      if (!ask.gone) ask.sink.informational(status, headers);
    },
    head: (head, from) => {
      rest = takeHead(one, head, from);
    },
    data: (chunk) => rest?.data(chunk),
    end: (trailers) => rest?.end(trailers),
    fail: (fault) => (rest === null ? takeFault(one, fault) : rest.fail(fault)),
  });
  return {
    pause: one.later.pause,
    resume: one.later.resume,
    abort: () => {
      ask.gone = true;
      one.later.abort();
      if (rest !== null || (flight !== null && flight.waiting.size > 0)) return;
      settle(tower, flight);
      source.abort();
    },
  };
}

/**
 * The request headers to change. The cache evaluates the client's conditions and range itself, so the origin
 * gets either an unconditional request or the entry's validators. Where nothing is stored and the resource is
 * known not to be shareable, the client's conditions are forwarded, since the origin may respond 304.
 */
function changesFor(held: CacheEntry | null): Readonly<Record<string, string | null>> {
  const conditions = held === null ? { etag: null, lastModified: null } : held.validators;
  return { ...validation(conditions), range: null, 'if-range': null };
}

function takeHead(one: Lead, head: ResponseHead, source: ResponseSource): Rest {
  const { ask, held, sentAt, tower } = one;
  const { headers, domain, directive, method } = ask.request;
  const now = tower.clock();
  if (held !== null && SERVER_ERRORS.has(head.status) && mayServeOnError(held, now)) {
    tower.recent.setFailing(ask.resource.key, 'error');
    standIn(one, held, (entry) => mayServeOnError(entry, now));
    return dropping(source);
  }
  const authorized = headers['authorization'] !== undefined;
  const answered = { head, directive, authorized, epoch: domain.purgeEpoch, sentAt, now };
  if (held !== null && one.validating && head.status === 304) {
    if (isOther(held, head.headers)) askAfresh(one);
    else refresh(one, held, answered);
    return NO_CLIENT;
  }
  const draft = method === 'GET' ? draftOf(answered) : null;
  const most = domain.settings.cacheCapMb * MB;
  if (draft === null || (draft.announced ?? 0) > most) return passOn(one, head, source);
  return record(one, draft, source);
}

const SERVER_ERRORS: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** Responds with the stale entry in place of a failing origin, to the waiting requests as well. */
function standIn({ tower, ask, flight }: Lead, entry: CacheEntry, may: (entry: CacheEntry) => boolean): void {
  const told = { result: 'stale', status: 'hit; fwd=stale' } as const;
  settle(tower, flight);
  if (!ask.gone) respond(tower, ask, entry, told);
  release(tower, flight, (waiting) => {
    if (waiting.held === null || !may(waiting.held)) return false;
    respond(tower, waiting.lookup, waiting.held, told);
    return true;
  });
}

/** Reads an error response to its end, up to a limit, so that its connection can be reused. */
function dropping(source: ResponseSource): Rest {
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
function askAfresh({ tower, ask, flight, later }: Lead): void {
  tower.store.remove(ask.resource);
  settle(tower, flight);
  release(tower, flight, () => false);
  if (!ask.gone) later.become(tower.lead(ask, null, null));
}

/** Handles a 304: the stored entry is fresh again. */
function refresh({ tower, ask, flight, asked }: Lead, held: CacheEntry, answered: OriginAnswer): void {
  const { entry, keep } = freshened(held, answered);
  const names = varyNames(entry.headers);
  const stays = keep && names !== null && !tower.recent.isChangedSince(ask.resource.key, asked);
  if (stays) tower.store.put(ask.resource, ask.request.headers, { entry, names });
  else tower.store.remove(ask.resource);
  settle(tower, flight);
  if (!ask.gone)
    respond(tower, ask, entry, { result: 'revalidated', status: 'hit; fwd=stale; fwd-status=304' });
  release(tower, flight, (waiting) => {
    // A request that waited with the same stale entry gets the same response; for any other the 304 means
    // nothing.
    if (!stays || waiting.held !== held) return false;
    respond(tower, waiting.lookup, entry, { result: 'revalidated', status: 'hit; fwd=stale; collapsed' });
    return true;
  });
}

/** Forwards a response that is not stored to its own client alone. */
function passOn({ tower, ask, held, flight }: Lead, head: ResponseHead, source: ResponseSource): Rest {
  if (held !== null && head.status < 500 && ask.request.method === 'GET') tower.store.remove(ask.resource);
  if (flight !== null) tower.recent.setShareable(flight.key, false);
  settle(tower, flight);
  release(tower, flight, () => false);
  if (ask.gone) {
    source.abort();
    return NO_CLIENT;
  }
  ask.request.note('pass');
  ask.sink.head({ ...head, headers: passedHeaders(ask, head, held === null ? 'miss' : 'stale') }, source);
  return ask.sink;
}

/** Stores a response as it arrives, and delivers it to all waiting requests. */
function record(one: Lead, draft: EntryDraft, source: ResponseSource): Rest {
  const { tower, ask, flight, asked } = one;
  const { headers, domain } = ask.request;
  const { maxInMemory, store } = tower;
  const large = (draft.announced ?? 0) > maxInMemory;
  let spilling: StreamedEntry | null = null;
  const fill = createFill({
    source,
    budget: tower.budget,
    maxInMemory: large ? 0 : maxInMemory,
    maxOctets: domain.settings.cacheCapMb * MB,
    openBodyFile: (onRest) => {
      spilling = store.openBodyFile(ask.resource, headers, { names: draft.names, onRest });
      return spilling === null ? null : spilling.file;
    },
    done: (kept, octets) => {
      settle(tower, flight);
      if (kept === null) return;
      const whole = finished(draft, octets);
      const overtaken = tower.recent.isChangedSince(ask.resource.key, asked);
      if (kept instanceof Uint8Array) {
        if (!overtaken)
          store.put(ask.resource, headers, { entry: { ...whole, body: kept }, names: draft.names });
      } else if (overtaken) kept.abandon();
      else spilling?.commit(whole);
    },
  });
  const variant = variantOf(draft.names, headers);
  const shared: Shared | null =
    variant !== null && isShared(draft.entry) && !large ? { fill, draft, variant } : null;
  if (flight !== null) {
    flight.shared = shared;
    tower.recent.setShareable(flight.key, shared !== null);
    if (shared === null) settle(tower, flight);
  }
  if (ask.gone) fill.attach({ sink: NO_CLIENT, from: 0, to: 0, openSpool: ask.request.openSpool }).abort();
  else one.later.become(read(ask, { fill, draft, result: 'miss' }));
  release(tower, flight, (waiting) => shared !== null && join(shared, waiting.lookup) !== null);
  return fill;
}

/** Handles a fetch without a response: the origin is unreachable, or the connection broke. */
function takeFault({ tower, ask, held, flight }: Lead, fault: ResponseFault): void {
  const unreached = UNREACHED.has(fault.code);
  const now = tower.clock();
  const instead = (entry: CacheEntry | null): boolean =>
    entry !== null && unreached && mayServeUnreached(entry, now);
  const told = { result: 'stale', status: 'hit; fwd=stale' } as const;
  if (unreached) tower.recent.setFailing(ask.resource.key, 'unreached');
  settle(tower, flight);
  if (!ask.gone) {
    if (held !== null && instead(held)) respond(tower, ask, held, told);
    else ask.sink.fail(fault);
  }
  release(tower, flight, (waiting) => {
    // An unreachable origin affects the waiting requests as well; a failure of this one request does not.
    if (!unreached) return false;
    if (waiting.held !== null && instead(waiting.held)) respond(tower, waiting.lookup, waiting.held, told);
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
  'timeout',
]);
