/**
 * Reads the parts of a page rule: its URL, `scheme://host:port/path?query` with stars, the URL that it forwards to, and
 * its settings (Cloudflare, "Page Rules", "Wildcard matching and referencing", "Page Rules are case-insensitive").
 */
import { bothFilters, EVERY_REQUEST, type ImportedFilter, MAX_ALTERNATIVES } from '../filter.ts';
import { numberAt, type SourceFields, textAt } from '../json-source.ts';
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

// The settings of page rules: those of the cache as the fields of a cache rule, and why the others have no rule (Cloudflare, "Page Rules settings").

/** Settings of a page rule, by their ids. */
export type PageSettings = ReadonlyMap<string, SourceFields>;

/** The cache settings of a page rule. */
export interface PageCacheSettings {
  /** The settings as text. */
  readonly shown: string;
  readonly fields: object;
  readonly differences: readonly string[];
  /** Why there is no rule; `null`: there is one, or none is needed. */
  readonly reason: string | null;
  /** Why no rule is needed. */
  readonly needless: string | null;
}

/** Settings of the cache that a rule of type cache leaves out. */
const MINOR = [
  'cache_ttl_by_status',
  'sort_query_string_for_cache',
  'cache_deception_armor',
  'explicit_cache_control',
  'respect_strong_etag',
];

/** Settings by which responses of one URL differ: a rule without them would answer one visitor with another's page. */
const SEPARATING: Readonly<Record<string, string>> = {
  bypass_cache_on_cookie:
    'no rule has a filter on cookies, and the stored pages would be for visitors with the cookie too',
  cache_on_cookie: 'no rule has a filter on cookies',
  cache_key_fields: 'a cache key of its own has no equivalent',
  cache_key: 'a cache key of its own has no equivalent',
  cache_by_device_type: 'a cache key by device has no equivalent',
};

const CACHE = ['cache_level', 'edge_cache_ttl', 'browser_cache_ttl', ...MINOR, ...Object.keys(SEPARATING)];

/** Reads the cache settings; `null`: there are none. */
export function readPageCache(settings: PageSettings): PageCacheSettings | null {
  const ids = CACHE.filter((id) => settings.has(id));
  if (ids.length === 0) return null;
  const settingOf = (id: string): string => textAt(settings.get(id) ?? {}, 'value');
  const shown = ids.map((id) => `${id} ${settingOf(id)}`.trim()).join(', ');
  const result = { shown, fields: {}, differences: [], reason: null, needless: null };
  const level = settingOf('cache_level');
  if (level === 'bypass') return { ...result, fields: { mode: 'bypass' } };
  const separating = ids.find((id) => Object.hasOwn(SEPARATING, id) && settingOf(id) !== 'off');
  if (separating !== undefined) return { ...result, reason: SEPARATING[separating]! };
  if (level === 'basic') return { ...result, reason: 'no rule has a filter on the query' };
  if (level !== 'cache_everything') {
    const isDefault = ids.every((id) => id === 'cache_level') && level === 'aggressive';
    if (isDefault) return { ...result, needless: 'it is the default' };
    return {
      ...result,
      reason: 'without `cache_everything` it is of static files alone, and a cache rule is of every response',
    };
  }
  const edgeTtl = numberAt(settings.get('edge_cache_ttl') ?? {}, 'value') ?? 0;
  const browserTtl = numberAt(settings.get('browser_cache_ttl') ?? {}, 'value') ?? 0;
  const differences = ids.filter((id) => MINOR.includes(id)).map((id) => `\`${id}\` is not carried over`);
  if (edgeTtl === 0)
    differences.push('responses without Cache-Control are stored as the edge does by default');
  const fields = {
    mode: edgeTtl > 0 ? 'force' : 'standard',
    ...(edgeTtl > 0 ? { edge_ttl_sec: edgeTtl } : {}),
    ...(browserTtl > 0 ? { browser_ttl_sec: browserTtl } : {}),
  };
  return { ...result, fields, differences };
}

/** Why a setting has no rule. */
interface OtherSetting {
  readonly ids: readonly string[];
  readonly text: string;
  /** Turned off, it does what the edge does. */
  readonly isSafeOff: boolean;
}

const OTHERS: readonly OtherSetting[] = [
  {
    ids: [
      'automatic_https_rewrites',
      'email_obfuscation',
      'server_side_exclude',
      'rocket_loader',
      'mirage',
      'polish',
      'minify',
      'opportunistic_encryption',
      'response_buffering',
    ],
    text: 'the edge does not change the pages of an origin',
    isSafeOff: true,
  },
  {
    ids: ['security_level', 'browser_check', 'waf'],
    text: "it is Cloudflare's own protection; write a rule of type waf or captcha",
    isSafeOff: true,
  },
  {
    ids: ['disable_security'],
    text: 'rules of the file refuse and challenge its requests too; Cloudflare turns its own protection off',
    isSafeOff: false,
  },
  { ids: ['ssl'], text: 'how the edge connects is the `scheme` of a record', isSafeOff: false },
  {
    ids: ['ip_geolocation', 'true_client_ip_header'],
    text: 'no rule sets a request header',
    isSafeOff: true,
  },
  {
    ids: ['origin_error_page_pass_thru'],
    text: 'pages of errors are rules of type error_page',
    isSafeOff: false,
  },
];

/** Settings that have rules of their own. */
const TRANSLATED = [
  'forwarding_url',
  'always_use_https',
  'host_header_override',
  'resolve_override',
  ...CACHE,
];

/** Settings that turn off what the edge does not do. */
const DISABLING = ['disable_apps', 'disable_performance', 'disable_railgun', 'disable_zaraz'];

/** Why a setting has no rule, and whether it needs one; `null`: other parts of the importer translate it. */
export function otherSetting(
  id: string,
  value: string,
): { readonly text: string; readonly isNeedless: boolean } | null {
  if (TRANSLATED.includes(id) || (id === 'security_level' && value === 'under_attack')) return null;
  if (DISABLING.includes(id)) return { text: 'it turns off what the edge does not do', isNeedless: true };
  const other = OTHERS.find(({ ids }) => ids.includes(id));
  if (other === undefined) return { text: 'the setting has no equivalent', isNeedless: false };
  return { text: other.text, isNeedless: value === 'off' && other.isSafeOff };
}
