/**
 * The edge's cache. In: a request that a rule wants cached, and a way to ask the origin. Out: an answer, from memory, from
 * disk or from the origin, kept where that is allowed. A shared cache by RFC 9111; what goes beyond it:
 *
 * - Of a client's `Cache-Control` only `no-store` (what it gets is not kept) and `only-if-cached` are followed. The rest
 *   would let anybody drive load past the edge; RFC 9111 §5.2.1 leaves it to the cache.
 * - A client's conditions are answered here; a miss asks the origin for the whole answer.
 * - A range is cut from a whole answer that is held. On a miss it is passed on and nothing is kept, save `bytes=0-`, which
 *   is the whole answer by another name.
 * - `HEAD` is answered from what a `GET` left; what it brings itself is not kept.
 */
import type { ResponseHead, ResponseSource } from '../response.ts';
import type { CacheRequest, EdgeCache } from '../services.ts';
import { type Ask, answerUnavailable, createLaterSource, NOBODY, pass } from './ask.ts';
import { textOf } from './conditions.ts';
import { parseCacheControl } from './directives.ts';
import { createDisk } from './disk.ts';
import {
  type Entry,
  isFresh,
  isShared,
  isUsable,
  mayServeOnError,
  mayServeUnreached,
  mayServeWhile,
} from './entry.ts';
import { createBudget } from './fill.ts';
import { askOrigin, type Told, type Tower } from './flight.ts';
import { invalidated } from './invalidate.ts';
import { lead } from './lead.ts';
import { BODY_SHARE, MAX_MEMORY_BODY, RECORDING_SHARE } from './limits.ts';
import { createRecent } from './recent.ts';
import { respond } from './respond.ts';
import { createStore } from './store.ts';

export interface CacheOptions {
  /** Octets of memory for what is kept; what is being recorded may take half as much again. */
  readonly memoryOctets: number;
  /** Where files are kept, by this process alone; `null`: memory only. */
  readonly directory: string | null;
  /** The part of a domain's room on disk that this process may take, for nodes of several; default 1. */
  readonly diskShare?: number;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Told of what should not happen: a disk that fails. Serving goes on. */
  readonly onFault: (error: unknown) => void;
}

/** Methods that change nothing (RFC 9110 §9.2.1), of which only the first two are answered from the cache. */
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

export function createCache(options: CacheOptions): EdgeCache {
  const { memoryOctets, directory, diskShare = 1, clock = Date.now, onFault } = options;
  const mostInMemory = Math.floor(Math.min(MAX_MEMORY_BODY, memoryOctets * BODY_SHARE));
  const disk = directory === null ? null : createDisk({ directory, share: diskShare, clock, onFault });
  const tower: Tower = {
    store: createStore({ memoryOctets, mostInMemory, disk }),
    budget: createBudget(memoryOctets * RECORDING_SHARE),
    mostInMemory,
    clock,
    flights: new Map(),
    recent: createRecent(clock),
    onFault,
    lead: (ask, held, key) => lead(tower, ask, held, key),
  };
  return {
    answer(request, sink, fetch) {
      const { directive, domain, method } = request;
      const key = keyOf(domain.name, directive.key ?? '');
      const ask: Ask = { request, sink, fetch, resource: { domain, key }, gone: false };
      if (directive.mode === 'bypass' || directive.key === null) {
        return pass(ask, { why: 'bypass', result: 'bypass' });
      }
      if (!SAFE.has(method)) return change(tower, ask);
      if (method !== 'GET' && method !== 'HEAD') return pass(ask, { why: 'method', result: 'pass' });
      return isPlain(request.headers) ? look(tower, ask) : pass(ask, { why: 'request', result: 'pass' });
    },
    async close() {
      await disk?.close();
    },
  };
}

/** Looks for what is held; at once where memory has it. */
function look(tower: Tower, ask: Ask): ResponseSource {
  const found = tower.store.find(ask.resource, ask.request.headers);
  if (!(found instanceof Promise)) return serve(tower, ask, found);
  const later = createLaterSource();
  found
    .then((entry) => {
      if (!later.aborted) later.become(serve(tower, ask, entry));
    })
    .catch((error: unknown) => {
      tower.onFault(error);
      ask.sink.fail({ code: 'cut', reason: 'an error of the cache' });
    });
  return later;
}

/** Answers with what was found, fresh or stale, or asks the origin. */
function serve(tower: Tower, ask: Ask, found: Entry | null): ResponseSource {
  const { request } = ask;
  const { directive, domain, headers, now } = request;
  const held = found !== null && isUsable(found, directive, domain.purgeEpoch) ? found : null;
  const result = held === null ? null : resultOf(tower, ask, held);
  if (held !== null && result !== null) {
    const answered = respond(tower, ask, held, { result, status: `hit; ttl=${ttlOf(held, now)}` });
    if (result === 'stale') renew(tower, ask, held);
    return answered;
  }
  const said = parseCacheControl(textOf(headers, 'cache-control'));
  if (said.onlyIfCached) return answerUnavailable(ask);
  if (said.noStore) return pass(ask, { why: 'request', result: 'pass' });
  if (request.method === 'HEAD') return tower.lead(ask, held, null);
  const range = textOf(headers, 'range');
  if (held === null && range !== null && range.trim() !== 'bytes=0-') {
    return pass(ask, { why: 'partial', result: 'pass' });
  }
  return askOrigin(tower, ask, held, sharedKey(tower, ask, held));
}

/** As what an entry may answer by itself; `null`: not without the origin. */
function resultOf({ recent }: Tower, { request, resource }: Ask, held: Entry): Told['result'] | null {
  const { now } = request;
  if (isFresh(held, now)) return 'hit';
  if (mayServeWhile(held, now)) return 'stale';
  // An origin that has just failed would be waited for in vain.
  const failure = recent.failureOf(resource.key);
  if (failure === null) return null;
  const may = failure === 'error' ? mayServeOnError(held, now) : mayServeUnreached(held, now);
  return may ? 'stale' : null;
}

/** Asks for a new answer behind, unless somebody does, or somebody just did in vain. */
function renew({ store, flights, recent, lead: ask }: Tower, one: Ask, held: Entry): void {
  if (one.request.method !== 'GET' || recent.failureOf(one.resource.key) !== null) return;
  const key = store.keyOf(one.resource, one.request.headers);
  if (key === null || flights.has(key)) return;
  const request: CacheRequest = { ...one.request, note: () => undefined };
  ask({ ...one, request, sink: NOBODY, gone: false }, held, key);
}

/** The key under which others may share the answer; `null`: it is for this client alone, as far as can be told. */
function sharedKey({ store, recent }: Tower, { request, resource }: Ask, held: Entry | null): string | null {
  if (request.headers['authorization'] !== undefined) return null;
  if (held !== null && !isShared(held)) return null;
  const key = store.keyOf(resource, request.headers);
  return key === null || recent.isShareable(key) ? key : null;
}

/** A method that changes something makes what is held worthless, unless it fails (RFC 9111 §4.4). */
function change({ store, recent }: Tower, ask: Ask): ResponseSource {
  const onHead = ({ status, headers }: ResponseHead): void => {
    if (status < 200 || status >= 400) return;
    const { domain, key } = ask.resource;
    const others = invalidated(ask.request.directive.key!, headers).map((other) => keyOf(domain.name, other));
    for (const gone of [key, ...others]) {
      recent.setChanged(gone);
      store.remove({ domain, key: gone });
    }
  };
  return pass(ask, { why: 'method', result: 'pass', onHead });
}

/** Seconds it is still fresh, negative once it is stale (RFC 9211 §2.4). */
function ttlOf({ life }: Entry, now: number): number {
  return Math.floor((life.freshUntil - now) / 1_000);
}

/** No host has a line break, so that no two domains share a key. */
function keyOf(domain: string, key: string): string {
  return `${domain}\n${key}`;
}

/** Whether a GET is one: without a body, which no key tells apart, and without conditions that only the origin can judge. */
function isPlain(headers: CacheRequest['headers']): boolean {
  if (headers['if-match'] !== undefined || headers['if-unmodified-since'] !== undefined) return false;
  if (headers['transfer-encoding'] !== undefined) return false;
  const length = headers['content-length'];
  return length === undefined || length === '0';
}
