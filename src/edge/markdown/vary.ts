/** Adds `Accept` to `Vary`, since a page has two representations (RFC 9110 §12.5.5). */
import { splitList } from '../../base/http/cache-control.ts';
import { type HeaderList, headerOf, withoutHeaders } from '../../base/http/response.ts';

const VARY: ReadonlySet<string> = new Set(['vary']);

/** The headers with `Accept` in their `Vary`. */
export function varyingByAccept(headers: HeaderList): HeaderList {
  const vary = headerOf(headers, 'vary');
  if (vary === null) return [...headers, 'Vary', 'Accept'];
  const names = splitList(vary.toLowerCase());
  if (names.includes('accept') || names.includes('*')) return headers;
  return [...withoutHeaders(headers, VARY), 'Vary', `${vary}, Accept`];
}
