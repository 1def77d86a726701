/** Reads the parameters of Cloudflare's actions: the settings of a cache rule, and a URL rewrite. */
import type { ImportedFilter } from '../filter.ts';
import { numberAt, objectAt, type SourceFields, textAt, textsAt } from '../json-source.ts';
import type { TextTest } from '../text-test.ts';
import { parseValueExpression } from './parse-expression.ts';
import { narrowed, readPath } from './path-expression.ts';

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
  const query = readQueryKey(
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
function readQueryKey(query: SourceFields): Pick<CloudflareCache, 'query_mode' | 'query_params'> | string {
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

// Reads a URL rewrite of Cloudflare: a static path or query, or an expression over the path.

/** The fields of a rewrite. */
export interface CloudflareRewrite {
  readonly fields: {
    readonly path_target: string;
    readonly query_mode: 'preserve' | 'strip' | 'replace';
    readonly query_target: string;
  };
  /** The one include entry whose groups the target inserts; `null`: the target is literal. */
  readonly captured: TextTest | null;
}

/** Reads `uri`; a text is the reason why it has no equivalent. */
export function readRewrite(uri: SourceFields, filter: ImportedFilter): CloudflareRewrite | string {
  const query = readQueryTarget(uri);
  if (typeof query === 'string') return query;
  const path = objectAt(uri, 'path');
  const literal = textAt(path, 'value');
  const expression = textAt(path, 'expression');
  if (expression === '') {
    if (literal === '' && query.query_mode === 'preserve')
      return 'it rewrites neither the path nor the query; headers have no equivalent';
    if (literal.includes('$') && filter.pathIncludes?.some(({ kind }) => kind === 'regex'))
      return '`$` in the path has another meaning beside a regex';
    return { fields: { ...query, path_target: literal }, captured: null };
  }
  const parsed = parseValueExpression(expression);
  if (!parsed.ok) return `its path cannot be read: ${parsed.reason}`;
  const replaced = readPath(parsed.value);
  if (typeof replaced === 'string') return replaced;
  const captured = narrowed(replaced.test, filter);
  if (typeof captured === 'string') return captured;
  return { fields: { ...query, path_target: replaced.target }, captured };
}

function readQueryTarget(uri: SourceFields): Omit<CloudflareRewrite['fields'], 'path_target'> | string {
  if (uri['query'] === undefined || uri['query'] === null)
    return { query_mode: 'preserve', query_target: '' };
  const query = objectAt(uri, 'query');
  if (textAt(query, 'expression') !== '') return 'an expression for the query has no equivalent';
  const value = textAt(query, 'value');
  return value === ''
    ? { query_mode: 'strip', query_target: '' }
    : { query_mode: 'replace', query_target: value };
}
