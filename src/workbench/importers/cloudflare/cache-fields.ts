/** Reads the settings of a cache rule of Cloudflare. */
import { numberAt, objectAt, type SourceFields, textAt, textsAt } from '../json-source.ts';

/** The fields of a cache rule, and how it differs. */
export interface CloudflareCache {
  readonly mode: 'standard' | 'force' | 'bypass';
  readonly edge_ttl_sec?: number;
  readonly browser_ttl_sec?: number;
  readonly query_mode?: 'all' | 'none' | 'include';
  readonly query_params?: readonly string[];
  readonly differences: readonly string[];
}

/** Settings of a cache rule without an equivalent. */
const UNKNOWN = ['serve_stale', 'cache_reserve', 'additional_cacheable_ports', 'read_timeout'];

/** Translates the settings; a text is the reason why they have no equivalent. */
export function cacheFields(parameters: SourceFields): CloudflareCache | string {
  if (parameters['cache'] === false) return { mode: 'bypass', differences: [] };
  const differences = [
    'Cloudflare joins the settings of all cache rules that match; the edge takes one rule',
  ];
  const edge = objectAt(parameters, 'edge_ttl');
  const browser = objectAt(parameters, 'browser_ttl');
  const edgeTtl = textAt(edge, 'mode') === 'override_origin' ? numberAt(edge, 'default') : null;
  const browserTtl = textAt(browser, 'mode') === 'override_origin' ? numberAt(browser, 'default') : null;
  if (textAt(edge, 'mode') === 'bypass_by_default')
    differences.push('responses without Cache-Control are stored as the edge does by default');
  if (Array.isArray(edge['status_code_ttl'])) differences.push('times by status are not carried over');
  for (const name of UNKNOWN)
    if (parameters[name] !== undefined) differences.push(`\`${name}\` is not carried over`);
  const query = readQuery(
    objectAt(objectAt(objectAt(parameters, 'cache_key'), 'custom_key'), 'query_string'),
  );
  if (typeof query === 'string') return query;
  return {
    mode: edgeTtl === null ? 'standard' : 'force',
    ...(edgeTtl === null ? {} : { edge_ttl_sec: edgeTtl }),
    ...(browserTtl === null ? {} : { browser_ttl_sec: browserTtl }),
    ...query,
    differences,
  };
}

/** The query parameters of the cache key. */
function readQuery(query: SourceFields): Pick<CloudflareCache, 'query_mode' | 'query_params'> | string {
  const include = query['include'];
  const exclude = query['exclude'];
  if (isAll(exclude)) return { query_mode: 'none' };
  const listed = namesOf(include);
  if (listed.length > 0 && !isAll(include)) return { query_mode: 'include', query_params: listed };
  return namesOf(exclude).length > 0
    ? 'a cache key without some parameters has no equivalent; list those it has'
    : {};
}

function isAll(value: unknown): boolean {
  return (
    value === '*' ||
    (Array.isArray(value) && value[0] === '*') ||
    (typeof value === 'object' && value !== null && 'all' in value)
  );
}

function namesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.filter((one): one is string => typeof one === 'string');
  return typeof value === 'object' && value !== null ? textsAt(value as SourceFields, 'list') : [];
}
