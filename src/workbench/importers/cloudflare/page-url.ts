/**
 * Reads the URL of a page rule, `scheme://host:port/path?query` with stars, and the URL that it forwards to (Cloudflare, "Page
 * Rules", "Wildcard matching and referencing", "Page Rules are case-insensitive").
 */
import { bothFilters, EVERY_REQUEST, type ImportedFilter } from '../filter.ts';
import { MAX_ALTERNATIVES } from '../limits.ts';
import {
  combineTests,
  coversAll,
  equalsText,
  type TextTest,
  wildcardText,
  withoutCase,
} from '../text-test.ts';

/** A URL of a page rule, read. */
export interface PageUrl {
  readonly scheme: 'http' | 'https' | null;
  /** In lower case. */
  readonly host: string;
  readonly path: string;
  readonly filter: ImportedFilter;
  /** The filter in lower case, for comparisons with those of other page rules. */
  readonly lowered: ImportedFilter;
  readonly differences: readonly string[];
}

/** Reads a URL; a text is the reason why no filter is it. `exactCase`: paths are compared with case. */
export function readPageUrl(url: string, exactCase: boolean): PageUrl | string {
  const [, written = '', rest = ''] = /^(?:(https?|http\*|\*):\/\/)?(.*)$/is.exec(url)!;
  const [, authority = '', written_path = ''] = /^([^/?]*)(.*)$/s.exec(rest)!;
  const [, name = '', port = ''] = /^([^:]*)(:.*)?$/.exec(authority)!;
  if (port !== '') return 'no rule has a filter on the port';
  if (written_path.includes('?')) return 'no rule has a filter on the query';
  if (/[%\\]|[^\u0021-\u007e]/.test(written_path))
    return 'Cloudflare compares percent-encoded paths, rules decoded ones';
  const host = name.toLowerCase();
  const path = written_path === '' ? '/' : written_path;
  const scheme = written.toLowerCase();
  const differences: string[] = [];
  const isCaseless = /[a-z]/i.test(path);
  if (isCaseless && exactCase) differences.push('paths are compared with case; Cloudflare ignores it');
  if (path.indexOf('*') !== path.length - 1)
    differences.push('the path is compared alone; Cloudflare compares it together with the query');
  const hosts = [host.includes('*') ? wildcardText(host) : equalsText(host)];
  const test = path.includes('*') ? wildcardText(path) : equalsText(path);
  const filterOf = (paths: TextTest): ImportedFilter => ({
    ...EVERY_REQUEST,
    hostIncludes: /^\*+$/.test(host) ? null : hosts,
    pathIncludes: coversAll(paths) ? null : [paths],
  });
  const lowered = path.includes('*') ? wildcardText(path.toLowerCase()) : equalsText(path.toLowerCase());
  return {
    scheme: scheme === 'http' || scheme === 'https' ? scheme : null,
    host,
    path,
    filter: filterOf(isCaseless && !exactCase ? withoutCase(test) : test),
    lowered: filterOf(lowered),
    differences,
  };
}

/** The filters of a URL without the requests of others that overlap it; a text: no filters are exact. */
export function withoutUrls(url: PageUrl, taken: readonly PageUrl[]): readonly ImportedFilter[] | string {
  let left: readonly ImportedFilter[] = [url.filter];
  for (const one of taken) {
    const next: ImportedFilter[] = [];
    for (const filter of left) {
      const parts = withoutUrl(filter, one.filter);
      if (typeof parts === 'string') return parts;
      next.push(...parts);
    }
    if (next.length > MAX_ALTERNATIVES)
      return `the rules before it leave more than ${MAX_ALTERNATIVES} parts of it`;
    left = next;
  }
  return left;
}

function withoutUrl(filter: ImportedFilter, taken: ImportedFilter): readonly ImportedFilter[] | string {
  const { hostIncludes, pathIncludes } = taken;
  const hosts = hostIncludes ?? [];
  const excluded = filter.hostExcludes.map((test) => JSON.stringify(test));
  if (hostIncludes?.every((test) => excluded.includes(JSON.stringify(test))) === true) return [filter];
  const isInside =
    hostIncludes === null ||
    (filter.hostIncludes !== null &&
      JSON.stringify(combineTests(filter.hostIncludes, hosts)) === JSON.stringify(filter.hostIncludes));
  const outside = isInside ? [] : [{ ...filter, hostExcludes: [...filter.hostExcludes, ...hosts] }];
  if (pathIncludes === null) return outside;
  const inside = isInside ? filter : bothFilters(filter, { ...EVERY_REQUEST, hostIncludes });
  if (typeof inside === 'string') return inside;
  if (inside === null) return outside;
  return [...outside, { ...inside, pathExcludes: [...inside.pathExcludes, ...pathIncludes] }];
}

/** The target of a forwarding URL. */
export interface ForwardTarget {
  readonly target: string;
  readonly preserve_path: boolean;
  readonly preserve_query: boolean;
}

/** Reads a forwarding URL, in which `$1` is what the first star is; a text is the reason why there is no target. */
export function readForward(written: string, { host, path }: PageUrl): ForwardTarget | string {
  const references = [...written.matchAll(/(?<!\\)\$(\d)/g)];
  const literal = (text: string): string => text.replaceAll('\\$', '$');
  const [first] = references;
  if (first === undefined) return { target: literal(written), preserve_path: false, preserve_query: false };
  const stars = [...`${host}${path}`.matchAll(/\*/g)].length;
  const isWhole =
    references.length === 1 &&
    Number(first[1]) === stars &&
    first.index + 2 === written.length &&
    path.indexOf('*') === path.length - 1;
  const before = written.slice(0, first.index);
  const start = path.slice(0, -1);
  // The rule appends the whole path, which begins with what is before the star.
  if (!isWhole || !before.endsWith(start))
    return `\`${written}\`: a redirect appends the whole path, and has no captures`;
  return {
    target: literal(before.slice(0, before.length - start.length)),
    preserve_path: true,
    preserve_query: true,
  };
}
