/** Tells caches on the way that a page has two forms (RFC 9110 §12.5.5). */
import { splitList } from '../http/cache-control.ts';
import { type HeaderList, headerOf, withoutHeaders } from '../http/response.ts';

const VARY: ReadonlySet<string> = new Set(['vary']);

/** The headers with `Accept` in their `Vary`. */
export function varyingByAccept(headers: HeaderList): HeaderList {
  const said = headerOf(headers, 'vary');
  if (said === null) return [...headers, 'Vary', 'Accept'];
  const names = splitList(said.toLowerCase());
  if (names.includes('accept') || names.includes('*')) return headers;
  return [...withoutHeaders(headers, VARY), 'Vary', `${said}, Accept`];
}
