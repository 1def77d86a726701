/** Translates the items of a bulk redirect list: one redirect for each source URL. */
import { addEntry, addRule, markMissing } from '../draft.ts';
import { EVERY_REQUEST, type ImportedFilter, placeFields } from '../filter.ts';
import { numberAt, objectAt, type SourceObject, textAt } from '../json-source.ts';
import { endsWithText, equalsText, startsWithText } from '../text-test.ts';
import type { CloudflareImport } from './zone.ts';

/** Translates items; the longest path is added first, as the most specific item wins. */
export function translateBulkRedirects(state: CloudflareImport, items: readonly SourceObject[]): void {
  const entries = items.map((item) => {
    const redirect = objectAt(item.value, 'redirect');
    const source = textAt(redirect, 'source_url');
    const entry = addEntry(state.draft, item.place, `${source} → ${textAt(redirect, 'target_url')}`);
    return { redirect, source, entry };
  });
  const ordered = [...entries].sort((one, other) => other.source.length - one.source.length);
  for (const { redirect, source, entry } of ordered) {
    const filter = filterOf(
      source,
      redirect['subpath_matching'] === true,
      redirect['include_subdomains'] === true,
    );
    if (typeof filter === 'string') {
      markMissing(entry, filter);
      continue;
    }
    const keepsSuffix = redirect['preserve_path_suffix'] !== false && redirect['subpath_matching'] === true;
    const isRoot = /^[^/]+\/?$/.test(source.replace(/^https?:\/\//, ''));
    if (keepsSuffix && !isRoot) {
      markMissing(
        entry,
        'a redirect appends the whole path, and this item only what follows its source path',
      );
      continue;
    }
    addRule(state.draft, entry, 'redirect', {
      ...placeFields(filter),
      target: textAt(redirect, 'target_url'),
      status_code: numberAt(redirect, 'status_code') ?? 301,
      preserve_query: redirect['preserve_query_string'] === true,
      preserve_path: keepsSuffix,
    });
    const host = /^(?:https?:\/\/)?([^/]+)/.exec(source)?.[1]?.toLowerCase();
    if (host !== undefined && ![...state.draft.hosts.values()].some((origin) => origin !== null))
      state.draft.hosts.set(host, null);
  }
}

/** The filter of a source URL; a text is the reason why it has none. */
function filterOf(source: string, isPrefix: boolean, hasSubdomains: boolean): ImportedFilter | string {
  if (/^https?:\/\//.test(source)) return 'it is of one scheme, and rules have no filter on the scheme';
  const [, host = '', path = '/'] = /^([^/?]+)(\/[^?]*)?$/.exec(source) ?? [];
  if (host === '') return 'a source with a query has no equivalent';
  if (/[%\\]|[^\u0021-\u007e]/.test(path))
    return 'Cloudflare compares percent-encoded paths, rules decoded ones';
  const name = host.toLowerCase();
  const hosts = hasSubdomains ? [equalsText(name), endsWithText(`.${name}`)] : [equalsText(name)];
  const base = path.replace(/\/$/, '');
  const paths = isPrefix ? [equalsText(path), startsWithText(`${base}/`)] : [equalsText(path)];
  return { ...EVERY_REQUEST, hostIncludes: hosts, pathIncludes: isPrefix && base === '' ? null : paths };
}
