/** The settings of page rules: those of the cache as the fields of a cache rule, and why the others have no rule (Cloudflare, "Page Rules settings"). */
import { numberAt, type SourceFields, textAt } from '../json-source.ts';

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
