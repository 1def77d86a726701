/** From what is held to what one client gets: its conditions, its range, `Age` and `Cache-Status`. */
import type { HeaderList, ResponseSink, ResponseSource } from '../response.ts';
import type { CacheRequest } from '../services.ts';
import { isNotModified, rangeOf } from './conditions.ts';
import { ageOf, type Entry } from './entry.ts';
import { headersOf206, headersOf304, setsBrowserLife, withBrowserLife } from './headers.ts';
import { PUSH_OCTETS } from './limits.ts';

/** What a client gets of an answer. */
export interface Shaped {
  readonly status: number;
  readonly headers: HeaderList;
  /** Octets of the body; none where both are the same. `to` is `Infinity` where the length is not known. */
  readonly from: number;
  readonly to: number;
}

export interface Held {
  readonly status: number;
  readonly headers: HeaderList;
  /** `null`: not known yet. */
  readonly length: number | null;
}

/** Applies a request's method, conditions and range (RFC 9110 §13.2.2) to a whole answer. */
export function shape({ status, headers, length }: Held, request: CacheRequest): Shaped {
  const { headers: asked, method } = request;
  const success = status >= 200 && status < 300;
  if (success && (asked['if-none-match'] !== undefined || asked['if-modified-since'] !== undefined)) {
    if (isNotModified(asked, headers, request.now)) {
      return { status: 304, headers: headersOf304(headers), from: 0, to: 0 };
    }
  }
  if (method === 'HEAD') return { status, headers, from: 0, to: 0 };
  const to = length ?? Number.POSITIVE_INFINITY;
  if (status !== 200 || length === null || asked['range'] === undefined)
    return { status, headers, from: 0, to };
  const range = rangeOf(asked, headers, length);
  if (range === 'whole') return { status, headers, from: 0, to };
  if (range === 'none') {
    const refused = [...headersOf304(headers), 'Content-Range', `bytes */${length}`, 'Content-Length', '0'];
    return { status: 416, headers: refused, from: 0, to: 0 };
  }
  return { status: 206, headers: headersOf206(headers, { ...range, of: length }), ...range };
}

/** The headers of an entry for clients, with a rule's browser lifetime where it has one. Kept for the next client. */
function clientHeaders(entry: Entry, browserTtl: number | null): HeaderList {
  const { prepared, status, headers, terms } = entry;
  if (prepared.browserTtl !== browserTtl) {
    prepared.browserTtl = browserTtl;
    prepared.headers = ruledHeaders({ status, headers, length: null }, browserTtl, terms.mode === 'force');
  }
  return prepared.headers;
}

/** An answer's headers with a rule's browser lifetime, where that holds for it. */
export function ruledHeaders(
  { status, headers }: Held,
  browserTtl: number | null,
  forced: boolean,
): HeaderList {
  const life = { status, headers, browserTtl, forced };
  return setsBrowserLife(life) ? withBrowserLife(life) : headers;
}

/**
 * The answer to one client out of an entry, without what comes of its body. PERF: most hits are whole answers, whose
 * headers are a list made once and four more.
 */
export function shapeEntry(entry: Entry, request: CacheRequest, result: string): Shaped {
  const { browserTtl } = request.directive;
  const headers = clientHeaders(entry, browserTtl);
  const shaped = shape({ status: entry.status, headers, length: entry.length }, request);
  const status = `edgeplan; ${result}`;
  // Under a browser lifetime the edge speaks as the origin: the answer is as old as this moment.
  if (headers !== entry.headers) return { ...shaped, headers: [...shaped.headers, 'Cache-Status', status] };
  const age = String(ageOf(entry, request.now));
  return { ...shaped, headers: [...shaped.headers, 'Age', age, 'Cache-Status', status] };
}

/** Pushes an answer whose body lies in memory. */
export function pushMemory(shaped: Shaped, body: Uint8Array, sink: ResponseSink): ResponseSource {
  let at = shaped.from;
  let paused = false;
  let over = false;
  let pushing = false;
  function push(): void {
    if (pushing || over) return;
    pushing = true;
    while (at < shaped.to && !paused && !over) {
      const until = Math.min(shaped.to, at + PUSH_OCTETS);
      const chunk = at === 0 && until === body.length ? body : body.subarray(at, until);
      at = until;
      sink.data(chunk);
    }
    pushing = false;
    if (over || at < shaped.to) return;
    over = true;
    sink.end([]);
  }
  const source: ResponseSource = {
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
      push();
    },
    abort: () => {
      over = true;
    },
  };
  sink.head({ status: shaped.status, headers: shaped.headers, madeBy: 'origin' }, source);
  push();
  return source;
}
