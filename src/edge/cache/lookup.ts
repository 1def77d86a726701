/** One request at the cache, and the ways to respond to it. */
import type { HeaderList, ResponseHead, ResponseSink, ResponseSource } from '../../base/http/response.ts';
import type { CacheRequest, HttpCache } from './request.ts';
import type { Resource } from './store.ts';
import { browserHeaders } from './stored-response.ts';

/** The cache result of a request, for the request log. */
export type CacheResult =
  | 'hit'
  | 'stale'
  | 'miss'
  | 'revalidated'
  | 'shared'
  | 'pass'
  | 'bypass'
  | 'unavailable';

/** One request at the cache, with its client. */
export interface Lookup {
  readonly request: CacheRequest;
  readonly sink: ResponseSink;
  readonly fetch: Parameters<HttpCache['answer']>[2];
  readonly resource: Resource;
  /** The client has left. */
  gone: boolean;
}

/** Discards a response. */
export const NO_CLIENT: ResponseSink = {
  informational: () => undefined,
  head: () => undefined,
  data: () => undefined,
  end: () => undefined,
  fail: () => undefined,
};

const NO_SOURCE: ResponseSource = {
  pause: () => undefined,
  resume: () => undefined,
  abort: () => undefined,
};

export interface PassOptions {
  /** Why the request was forwarded: a value of `fwd` (RFC 9211 §2.2). */
  readonly why: 'bypass' | 'method' | 'miss' | 'request' | 'partial' | 'stale';
  readonly result: CacheResult;
  /** Called with the head before the client gets it. */
  readonly onHead?: (head: ResponseHead) => void;
}

/** Forwards a request unchanged and stores nothing. */
export function pass(lookup: Lookup, { why, result, onHead }: PassOptions): ResponseSource {
  const { sink, request } = lookup;
  request.note(result);
  return lookup.fetch(
    {},
    {
      informational: (status, headers) => sink.informational(status, headers),
      head: (head, source) => {
        onHead?.(head);
        sink.head({ ...head, headers: passedHeaders(lookup, head, why) }, source);
      },
      data: (chunk) => sink.data(chunk),
      end: (trailers) => sink.end(trailers),
      fail: (fault) => sink.fail(fault),
    },
  );
}

/** The headers of a response that bypasses the cache. */
export function passedHeaders(
  { request }: Lookup,
  { status, headers }: ResponseHead,
  why: string,
): HeaderList {
  const { browserTtl, mode } = request.settings;
  const reading = request.method === 'GET' || request.method === 'HEAD';
  const isChanged = reading && mode !== 'bypass';
  const forwarded = isChanged
    ? browserHeaders({ status, headers, length: null }, browserTtl, mode === 'force')
    : headers;
  return [...forwarded, 'Cache-Status', `edgeplan; fwd=${why}`];
}

/** Responds 504 to a client that accepts only a stored response (`only-if-cached`), if none is stored. */
export function answerUnavailable({ sink, request }: Lookup): ResponseSource {
  request.note('unavailable');
  const headers = ['Content-Length', '0', 'Cache-Status', 'edgeplan; detail=only-if-cached'];
  sink.head({ status: 504, headers, madeBy: 'edge' }, NO_SOURCE);
  sink.end([]);
  return NO_SOURCE;
}

/** The source of a response whose real source is not known yet. */
export interface DeferredSource extends ResponseSource {
  /** Passes all commands so far, and all later ones, to the real source. */
  become(source: ResponseSource): void;
  readonly aborted: boolean;
}

export function createDeferredSource(): DeferredSource {
  let real: ResponseSource | null = null;
  let paused = false;
  let aborted = false;
  return {
    get aborted() {
      return aborted;
    },
    pause: () => {
      paused = true;
      real?.pause();
    },
    resume: () => {
      paused = false;
      real?.resume();
    },
    abort: () => {
      aborted = true;
      real?.abort();
    },
    become: (source) => {
      real = source;
      if (aborted) source.abort();
      else if (paused) source.pause();
    },
  };
}
