/** The variables of the request line (REQUEST_METHOD, REQUEST_URI, QUERY_STRING …), as libmodsecurity 3 defines them. */
import { decodeEscapes } from '../../transformations/escapes.ts';
import { readOctet } from '../../transformations/url-decode.ts';
import type { InspectedRequest } from '../inspection.ts';
import { headerAsLatin1, utf8AsLatin1 } from './octet-text.ts';

/** The variables of one request line. */
export interface RequestLine {
  readonly method: string;
  /** `HTTP/1.1`. */
  readonly protocol: string;
  /** The target as sent. */
  readonly raw: string;
  /** The target without scheme and authority. */
  readonly uri: string;
  /** The path, percent-decoded once. */
  readonly filename: string;
  /** The part of `filename` after its last `/` or `\`. */
  readonly basename: string;
  /** The text after the first `?`; `null`: there is none, or it is empty. */
  readonly query: string | null;
}

/** Computes the variables of a request. */
export function readRequestLine(request: InspectedRequest): RequestLine {
  const raw = utf8AsLatin1(textOf(request.target));
  const uri = withoutAuthority(raw);
  const mark = uri.indexOf('?');
  const filename = decodeEscapes(mark < 0 ? uri : uri.slice(0, mark), '%', readOctet);
  const slash = Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\'));
  const query = mark < 0 ? '' : uri.slice(mark + 1);
  return {
    method: headerAsLatin1(textOf(request.method)),
    protocol: typeof request.protocol === 'string' ? request.protocol : 'HTTP/1.1',
    raw,
    uri,
    filename,
    basename: filename.slice(slash + 1),
    query: query === '' ? null : query,
  };
}

/** A field of the request as text; anything else that an embedder passes counts as empty. */
export function textOf(field: unknown): string {
  return typeof field === 'string' ? field : '';
}

/** Converts the absolute form `http://host/path` (RFC 9112 §3.2.2) to `/path`; any other target stays. */
function withoutAuthority(target: string): string {
  if (target.startsWith('/')) return target;
  const colon = target.indexOf('://');
  if (colon < 1) return target;
  const path = target.indexOf('/', colon + 3);
  return path < 0 ? target : target.slice(path);
}
