/** Turns a stored response into the response for one client: conditions, range, `Age` and `Cache-Status`. */
import { headersOf304, isNotModified, rangeOf } from '../../base/http/conditions.ts';
import type { HeaderList, ResponsePart } from '../../base/http/response.ts';
import { ageOf, type CacheEntry } from './entry.ts';
import { headersOf206, setsBrowserLifetime, withBrowserLifetime } from './headers.ts';
import type { CacheRequest } from './request.ts';

/** A response as stored, or as it is being stored. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: HeaderList;
  /** `null`: not known yet. */
  readonly length: number | null;
}

/** Applies a request's method, conditions and range (RFC 9110 §13.2.2) to a whole response. */
export function shape({ status, headers, length }: StoredResponse, request: CacheRequest): ResponsePart {
  const { headers: requested, method } = request;
  const success = status >= 200 && status < 300;
  if (success && (requested['if-none-match'] !== undefined || requested['if-modified-since'] !== undefined)) {
    if (isNotModified(requested, headers, request.now)) {
      return { status: 304, headers: headersOf304(headers), from: 0, to: 0 };
    }
  }
  if (method === 'HEAD') return { status, headers, from: 0, to: 0 };
  const to = length ?? Number.POSITIVE_INFINITY;
  if (status !== 200 || length === null || requested['range'] === undefined)
    return { status, headers, from: 0, to };
  const range = rangeOf(requested, headers, length);
  if (range === 'whole') return { status, headers, from: 0, to };
  if (range === 'none') {
    const unsatisfied = [
      ...headersOf304(headers),
      'Content-Range',
      `bytes */${length}`,
      'Content-Length',
      '0',
    ];
    return { status: 416, headers: unsatisfied, from: 0, to: 0 };
  }
  return { status: 206, headers: headersOf206(headers, { ...range, of: length }), ...range };
}

/**
 * The client headers of an entry, with the settings' browser lifetime if there is one. Cached in the entry
 * for the next client.
 */
function clientHeaders(entry: CacheEntry, browserTtl: number | null): HeaderList {
  const { prepared, status, headers, terms } = entry;
  if (prepared.browserTtl !== browserTtl) {
    prepared.browserTtl = browserTtl;
    prepared.headers = browserHeaders({ status, headers, length: null }, browserTtl, terms.mode === 'force');
  }
  return prepared.headers;
}

/** The headers of a response with a browser lifetime, if the lifetime applies to it. */
export function browserHeaders(
  { status, headers }: StoredResponse,
  browserTtl: number | null,
  forced: boolean,
): HeaderList {
  const life = { status, headers, browserTtl, forced };
  return setsBrowserLifetime(life) ? withBrowserLifetime(life) : headers;
}

/**
 * The response to one client from an entry, without its body. PERF: most hits are whole responses, whose
 * headers are a list built once and four more items.
 */
export function shapeEntry(entry: CacheEntry, request: CacheRequest, result: string): ResponsePart {
  const { browserTtl } = request.settings;
  const headers = clientHeaders(entry, browserTtl);
  const shaped = shape({ status: entry.status, headers, length: entry.length }, request);
  const status = `edgeplan; ${result}`;
  // Under a browser lifetime the edge acts as the origin: the response has age 0.
  if (headers !== entry.headers) return { ...shaped, headers: [...shaped.headers, 'Cache-Status', status] };
  const age = String(ageOf(entry, request.now));
  return { ...shaped, headers: [...shaped.headers, 'Age', age, 'Cache-Status', status] };
}
