/** Secondary keys (RFC 9111 §4.1): which request headers tell the variants of a resource apart, and their values. */
import { type HeaderList, headerOf } from '../response.ts';
import type { CacheRequest } from '../services.ts';
import { splitList } from './directives.ts';
import { MAX_VARIANT_OCTETS, MAX_VARY } from './limits.ts';

export type RequestHeaders = CacheRequest['headers'];

/**
 * Lower-case names, sorted, none twice; `null`: the answer fits no other request (`*`), or varies by more than is
 * looked at.
 */
export function varyNames(headers: HeaderList): readonly string[] | null {
  const value = headerOf(headers, 'vary');
  if (value === null) return [];
  const names = new Set(splitList(value).map((name) => name.toLowerCase()));
  if (names.has('*') || names.size > MAX_VARY) return null;
  return [...names].sort();
}

/** Both lists in one; `null` where that is more than is looked at. Names only ever join, so that no variant is mixed up. */
export function joinNames(before: readonly string[], more: readonly string[]): readonly string[] | null {
  const names = new Set([...before, ...more]);
  return names.size > MAX_VARY ? null : [...names].sort();
}

/** The request's values for these names as one text; `null`: too long to be told apart by. */
export function variantOf(names: readonly string[], headers: RequestHeaders): string | null {
  let variant = '';
  for (const name of names) {
    const sent = headers[name];
    const value =
      sent === undefined ? '' : normalized(name, typeof sent === 'string' ? sent : sent.join(','));
    // What is absent is told from what is empty.
    variant += `${sent === undefined ? '-' : '='}${value}\n`;
  }
  return variant.length > MAX_VARIANT_OCTETS ? null : variant;
}

/**
 * A value in the form in which equal ones are equal: no space around commas (RFC 9111 §4.1), and for the two headers
 * whose grammar is known lower case, no `q=1`. `Accept-Encoding` is sorted as well: its order means nothing. That of
 * `Accept-Language` stays: sites take the first language, though nobody promises it (RFC 9110 §12.5.4).
 */
function normalized(name: string, value: string): string {
  const elements = splitList(value);
  if (name !== 'accept-encoding' && name !== 'accept-language') return elements.join(',');
  const known = elements.map((element) => withoutFullWeight(element.toLowerCase().replaceAll(' ', '')));
  return (name === 'accept-encoding' ? known.sort() : known).join(',');
}

function withoutFullWeight(element: string): string {
  const at = element.indexOf(';q=1');
  return at < 0 || at + 4 < element.length ? element : element.slice(0, at);
}
