/** Headers for requests that depend on what was read before (RFC 9110 §13.1). */

/** A response, or its `ETag`. */
export type Version = string | { readonly headers: Headers };

function tagOf(version: Version): string | null {
  return typeof version === 'string' ? version : version.headers.get('etag');
}

/**
 * `headers: ifMatch(read.response)`: the write is refused with 412 when the object has changed since it was read.
 */
export function ifMatch(version: Version): { readonly 'If-Match'?: string } {
  const tag = tagOf(version);
  // Without an ETag the write must not become unconditional; no object has this tag.
  return { 'If-Match': tag ?? '"none"' };
}

/**
 * `headers: ifNoneMatch(read.response)`: the response is 304, without data and without an error, while nothing has
 * changed.
 */
export function ifNoneMatch(version: Version): { readonly 'If-None-Match'?: string } {
  const tag = tagOf(version);
  return tag === null ? {} : { 'If-None-Match': tag };
}
