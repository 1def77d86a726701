/** One request at the cache, and the ways in which it is answered. */
import type { HeaderList, ResponseHead, ResponseSink, ResponseSource } from '../response.ts';
import type { CacheRequest, EdgeCache } from '../services.ts';
import { pushMemory, ruledHeaders, shapeEntry } from './deliver.ts';
import type { Entry } from './entry.ts';
import type { Resource } from './store.ts';

/** A word for the journal of what came of a request. */
export type CacheResult =
  | 'hit'
  | 'stale'
  | 'miss'
  | 'revalidated'
  | 'shared'
  | 'pass'
  | 'bypass'
  | 'unavailable';

export interface Ask {
  readonly request: CacheRequest;
  readonly sink: ResponseSink;
  readonly fetch: Parameters<EdgeCache['answer']>[2];
  readonly resource: Resource;
  /** Nobody waits for the answer any more. */
  gone: boolean;
}

/** Takes an answer that nobody reads. */
export const NOBODY: ResponseSink = {
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

/** Answers out of an entry whose body is in memory. `result` is for `Cache-Status` (RFC 9211). */
export function answerHeld(ask: Ask, entry: Entry, body: Uint8Array, result: string): ResponseSource {
  return pushMemory(shapeEntry(entry, ask.request, result), body, ask.sink);
}

export interface PassOptions {
  /** Why the origin was asked: a value of `fwd` (RFC 9211 §2.2). */
  readonly why: 'bypass' | 'method' | 'miss' | 'request' | 'partial' | 'stale';
  readonly result: CacheResult;
  /** Told of the head before the client gets it. */
  readonly onHead?: (head: ResponseHead) => void;
}

/** Sends a request on as it is, keeping nothing. */
export function pass(ask: Ask, { why, result, onHead }: PassOptions): ResponseSource {
  const { sink, request } = ask;
  request.note(result);
  return ask.fetch(
    {},
    {
      informational: (status, headers) => sink.informational(status, headers),
      head: (head, source) => {
        onHead?.(head);
        sink.head({ ...head, headers: passedHeaders(ask, head, why) }, source);
      },
      data: (chunk) => sink.data(chunk),
      end: (trailers) => sink.end(trailers),
      fail: (fault) => sink.fail(fault),
    },
  );
}

/** The headers of an answer that goes by the cache. */
export function passedHeaders({ request }: Ask, { status, headers }: ResponseHead, why: string): HeaderList {
  const { browserTtl, mode } = request.directive;
  const reading = request.method === 'GET' || request.method === 'HEAD';
  const ruled = reading && mode !== 'bypass';
  const given = ruled
    ? ruledHeaders({ status, headers, length: null }, browserTtl, mode === 'force')
    : headers;
  return [...given, 'Cache-Status', `edgeplan; fwd=${why}`];
}

/** The edge's own answer to a client that wants no other than what is held, and nothing is. */
export function answerUnavailable({ sink, request }: Ask): ResponseSource {
  request.note('unavailable');
  const headers = ['Content-Length', '0', 'Cache-Status', 'edgeplan; detail=only-if-cached'];
  sink.head({ status: 504, headers, madeBy: 'edge' }, NO_SOURCE);
  sink.end([]);
  return NO_SOURCE;
}

/** A source for an answer that has no source yet. */
export interface LaterSource extends ResponseSource {
  /** Gives the commands so far, and all to come, to the real one. */
  become(source: ResponseSource): void;
  readonly aborted: boolean;
}

export function createLaterSource(): LaterSource {
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
