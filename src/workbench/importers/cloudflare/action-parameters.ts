/** Reads the parameters of Cloudflare's actions: the settings of a cache rule, and a URL rewrite. */
import type { ImportedFilter } from '../filter.ts';
import { numberAt, objectAt, type SourceFields, textAt, textsAt } from '../json-source.ts';
import { combineTests, escapeRegex, literalOf, passes, regexText, type TextTest } from '../text-test.ts';
import { type CloudflareValue, parseValueExpression } from './parse-expression.ts';

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

/** The regex of the whole path with its groups, and the target that inserts them. */
interface PathReplacement {
  readonly test: TextTest;
  readonly target: string;
}

function readPath(value: CloudflareValue): PathReplacement | string {
  const reason =
    'of path expressions only `concat`, `regex_replace` from the start and `wildcard_replace` have an equivalent';
  if (value.kind !== 'call') return reason;
  const isPath = (one: CloudflareValue | undefined): boolean =>
    one?.kind === 'field' && one.name === 'http.request.uri.path';
  const texts = value.args.map((one) => (one.kind === 'text' ? one.text : ''));
  if (value.name === 'concat') {
    const [before = '', after = ''] = [texts[0] ?? '', texts[2] ?? ''];
    const isPrefix = value.args.length === 2 && value.args[0]!.kind === 'text' && isPath(value.args[1]);
    return isPrefix ? replacement('^(.*)$', `${escapeDollar(before)}\${1}${after}`) : reason;
  }
  if (!isPath(value.args[0])) return reason;
  if (value.name === 'regex_replace') return regexReplacement(texts[1] ?? '', texts[2] ?? '') ?? reason;
  if (value.name !== 'wildcard_replace') return reason;
  const pieces = (texts[1] ?? '').split('*');
  const isStrict = texts[3]?.includes('s') === true;
  return replacement(`${isStrict ? '' : '(?i)'}^${pieces.map(escapeRegex).join('(.*)')}$`, texts[2] ?? '');
}

function escapeDollar(text: string): string {
  return text.replaceAll('$', '$$$$');
}

function replacement(source: string, target: string): PathReplacement | string {
  const test = regexText(source);
  return typeof test === 'string' ? test : { test, target };
}

/** `regex_replace` replaces the first match alone, so that what follows a literal start stays. */
function regexReplacement(source: string, target: string): PathReplacement | string | null {
  if (/^\^(?:[\w/~:@,;=&!-]|\\[./-])+$/.test(source)) {
    const rest = target.includes('$') ? null : `${target}\${1}`;
    return rest === null ? null : replacement(`${source}(.*)$`, rest);
  }
  return source.startsWith('^') && source.endsWith('$') && !source.endsWith('\\$') && !source.includes('|')
    ? replacement(source, target)
    : null;
}

/** The include entry of a rewrite: its regex, where the filter has no paths outside or beside it. */
function narrowed(test: TextTest, { pathIncludes }: ImportedFilter): TextTest | string {
  if (pathIncludes === null) return test;
  const both = combineTests(pathIncludes, [test]);
  const isWhole = both?.length === 1 && JSON.stringify(both[0]) === JSON.stringify(test);
  if (isWhole) return test;
  const [first] = pathIncludes;
  // The regex of a wildcard and the filter of the same wildcard differ in the group alone.
  const isSame =
    pathIncludes.length === 1 &&
    first?.kind === 'regex' &&
    test.kind === 'regex' &&
    first.source === test.source.replace(/\(\.\*\)\$$/, '');
  if (isSame) return test;
  // One literal path that the regex matches has the same groups as the regex on that path.
  const [only] = pathIncludes;
  const literal = only === undefined || pathIncludes.length > 1 ? null : literalOf(only);
  if (literal !== null && !passes(test, literal))
    return 'its path expression does not match the paths of its filter';
  return 'its filter has other paths than its path expression, and one rule has one regex';
}
