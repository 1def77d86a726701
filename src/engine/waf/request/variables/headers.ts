/** The variables REQUEST_HEADERS and REQUEST_COOKIES: named values, also several with the same name. */
import { trimLeft, trimRight } from '../../transformations/trim.ts';
import type { InspectedRequest } from '../inspection.ts';
import type { NamedValue } from '../named-value.ts';
import { headerAsLatin1, utf8AsLatin1 } from './octet-text.ts';

/** The headers in the order of the request. The host of the request becomes `host` if there is no such header. */
export function readHeaders(request: InspectedRequest): readonly NamedValue[] {
  const found: NamedValue[] = [];
  const headers = request.headers ?? {};
  if (headers['host'] === undefined && request.host !== '') add(found, 'host', request.host);
  for (const name of Object.keys(headers)) add(found, utf8AsLatin1(name), headers[name]);
  return found;
}

/** Adds a header for each text of a value; ignores anything else that an embedder may pass. */
function add(found: NamedValue[], name: string, value: unknown): void {
  if (typeof value === 'string') found.push({ name, value: headerAsLatin1(value) });
  else if (Array.isArray(value)) for (const one of value) add(found, name, one);
}

/** The first value of a header (its name in lower case); `null`: the request does not have it. */
export function headerOf(headers: readonly NamedValue[], name: string): string | null {
  for (const header of headers) if (header.name === name) return header.value;
  return null;
}

/**
 * The cookies of all Cookie headers, parsed as libmodsecurity 3 parses them: split at `;` and at the first `=`, not
 * decoded; a cookie without name is ignored.
 */
export function readCookies(headers: readonly NamedValue[]): readonly NamedValue[] {
  const found: NamedValue[] = [];
  for (const { name, value } of headers) {
    if (name !== 'cookie') continue;
    for (const piece of trimRight(value).split(';')) {
      const equals = piece.indexOf('=');
      const key = trimLeft(equals < 0 ? piece : piece.slice(0, equals));
      if (key !== '') found.push({ name: key, value: equals < 0 ? '' : piece.slice(equals + 1) });
    }
  }
  return found;
}
