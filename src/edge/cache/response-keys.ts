/**
 * The keys of a stored response besides its URL: the request headers that select its variant (RFC 9111 §4.1), and the
 * tags by which it is purged.
 */
import { splitList } from '../../base/http/cache-control.ts';
import type { RequestHeaders } from '../../base/http/conditions.ts';
import { TAG_HEADERS } from '../../base/http/header-fields.ts';
import { type HeaderList, headerOf } from '../../base/http/response.ts';
import { tagOf } from '../../base/paths/purge-values.ts';
import { MAX_TAGS, MAX_TAGS_CHARACTERS, MAX_VARIANT_OCTETS, MAX_VARY } from './limits.ts';

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

// The tags of a response, by which it is purged. In: its headers. Out: tags in lower case, each once. A response with more
// than the bounds allow has unknown tags and is covered by every purge of a tag: to purge too much costs a request to the
// origin, too little shows old content.

const SEPARATORS: Readonly<Record<(typeof TAG_HEADERS)[number], string>> = {
  'cache-tag': ',',
  'surrogate-key': ' ',
};

/** Whether a response has tags. */
export function hasTags(headers: HeaderList): boolean {
  return valuesOf(headers).length > 0;
}

/** The tags; `null`: more than the bounds allow. Those with other characters than tags have cannot be purged. */
export function tagsOf(headers: HeaderList): readonly string[] | null {
  const values = valuesOf(headers);
  if (values.length === 0) return NONE;
  if (values.reduce((sum, { text }) => sum + text.length, 0) > MAX_TAGS_CHARACTERS) return null;
  const tags = new Set<string>();
  for (const { text, separator } of values) {
    for (const part of text.split(separator)) {
      const tag = tagOf(part.trim());
      if (tag !== null) tags.add(tag);
      if (tags.size > MAX_TAGS) return null;
    }
  }
  return [...tags];
}

const NONE: readonly string[] = [];

interface TagValue {
  readonly text: string;
  readonly separator: string;
}

function valuesOf(headers: HeaderList): readonly TagValue[] {
  const values: TagValue[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const length = headers[at]!.length;
    const name = TAG_HEADERS.find((one) => one.length === length && headers[at]!.toLowerCase() === one);
    if (name !== undefined) values.push({ text: headers[at + 1]!, separator: SEPARATORS[name] });
  }
  return values;
}
