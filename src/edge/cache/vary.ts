/** Secondary keys (RFC 9111 §4.1): which request headers select a variant of a resource, and their values. */
import { splitList } from '../../base/http/cache-control.ts';
import type { RequestHeaders } from '../../base/http/conditions.ts';
import { type HeaderList, headerOf } from '../../base/http/response.ts';
import { MAX_VARIANT_OCTETS, MAX_VARY } from './limits.ts';

/**
 * Lower-case names, sorted, without duplicates; `null`: the response matches no other request (`*`), or
 * varies by too many headers.
 */
export function varyNames(headers: HeaderList): readonly string[] | null {
  const value = headerOf(headers, 'vary');
  if (value === null) return [];
  const names = new Set(splitList(value).map((name) => name.toLowerCase()));
  if (names.has('*') || names.size > MAX_VARY) return null;
  return [...names].sort();
}

/**
 * The union of both lists; `null` if it has too many names. Names are only ever added, so that two
 * variants are never confused.
 */
export function joinNames(before: readonly string[], more: readonly string[]): readonly string[] | null {
  const names = new Set([...before, ...more]);
  return names.size > MAX_VARY ? null : [...names].sort();
}

/** The request's values for these names as one text; `null`: too long. */
export function variantOf(names: readonly string[], headers: RequestHeaders): string | null {
  let variant = '';
  for (const name of names) {
    const sent = headers[name];
    const value =
      sent === undefined ? '' : normalized(name, typeof sent === 'string' ? sent : sent.join(','));
    // Distinguishes a missing header from an empty one.
    variant += `${sent === undefined ? '-' : '='}${value}\n`;
  }
  return variant.length > MAX_VARIANT_OCTETS ? null : variant;
}

/**
 * A normalised value, so that equivalent values are equal: no space around commas (RFC 9111 §4.1), and for
 * the two headers with a known grammar lower case and no `q=1`. `Accept-Encoding` is sorted as well: its
 * order has no meaning. The order of `Accept-Language` is preserved: sites choose the first language,
 * although no RFC requires it (RFC 9110 §12.5.4).
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
