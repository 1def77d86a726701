/**
 * The tags of a response, by which it is purged. In: its headers. Out: tags in lower case, each once. A response with more
 * than the bounds allow has unknown tags and is covered by every purge of a tag: to purge too much costs a request to the
 * origin, too little shows old content.
 */
import { TAG_HEADERS } from '../../base/http/header-fields.ts';
import type { HeaderList } from '../../base/http/response.ts';
import { tagOf } from '../../base/paths/purge-values.ts';
import { MAX_TAGS, MAX_TAGS_CHARACTERS } from './limits.ts';

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
