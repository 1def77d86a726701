/** Reads the target of a redirect of Cloudflare: a static URL, or an expression over the path. */
import type { ImportedFact } from '../facts.ts';
import { bothFilters, EVERY_REQUEST, type ImportedFilter } from '../filter.ts';
import { numberAt, objectAt, type SourceFields, textAt } from '../json-source.ts';
import { equalsText, escapeRegex, regexText, type TextTest } from '../text-test.ts';
import { type CloudflareValue, parseValueExpression } from './parse-expression.ts';
import { narrowed, readPath } from './path-expression.ts';

/** The fields of a redirect, and the requests that it answers. */
export interface CloudflareRedirect {
  readonly fields: {
    readonly target: string;
    readonly status_code: number;
    readonly preserve_path: boolean;
    readonly preserve_query: boolean;
    readonly target_mode?: 'captures';
  };
  readonly filter: ImportedFilter;
}

/** Reads `from_value`; a text is the reason why it has no equivalent. */
export function readRedirect(value: SourceFields, filter: ImportedFilter): CloudflareRedirect | string {
  const status_code = numberAt(value, 'status_code') ?? 301;
  const keepsQuery = value['preserve_query_string'] === true;
  const url = objectAt(value, 'target_url');
  const target = textAt(url, 'value');
  if (target !== '') {
    const fields = { target, status_code, preserve_path: false, preserve_query: keepsQuery };
    return { fields, filter };
  }
  const parsed = parseValueExpression(textAt(url, 'expression'));
  if (!parsed.ok) return `its target cannot be read: ${parsed.reason}`;
  const read = readTarget(parsed.value);
  if (typeof read === 'string') return read;
  const { captured, urls, ...fields } = read;
  const own = narrowedTo(filter, { captured, urls });
  if (typeof own === 'string') return own;
  const preserve_query = keepsQuery || read.preserve_query;
  return { fields: { ...fields, status_code, preserve_query }, filter: own };
}

/** What an expression is as a target. */
interface ReadTarget {
  readonly target: string;
  readonly preserve_path: boolean;
  readonly preserve_query: boolean;
  readonly target_mode?: 'captures';
  /** The regex whose groups the target inserts. */
  readonly captured?: TextTest | undefined;
  /** The URLs that it replaces. */
  readonly urls?: ImportedFilter | undefined;
}

function readTarget(value: CloudflareValue): ReadTarget | string {
  if (value.kind === 'text') return { target: value.text, preserve_path: false, preserve_query: false };
  const reason =
    'only `concat` with the path, `regex_replace` and `wildcard_replace` of the whole path have an equivalent as the target of a redirect';
  if (value.kind !== 'call') return reason;
  if (value.name === 'concat') return readConcat(value.args);
  if (
    value.name === 'wildcard_replace' &&
    value.args[0]?.kind === 'field' &&
    value.args[0].name !== 'http.request.uri.path'
  )
    return readWildcard(value.args);
  return value.name === 'regex_replace' || value.name === 'wildcard_replace' ? captureOf('', value) : reason;
}

/** A target that inserts groups of the path after a literal text. */
function captureOf(before: string, value: CloudflareValue): ReadTarget | string {
  const replaced = readPath(value);
  if (typeof replaced === 'string') return replaced;
  const { test, target } = replaced;
  const written = `${before.replaceAll('$', '$$$$')}${target}`;
  return {
    target: written,
    target_mode: 'captures',
    preserve_path: false,
    preserve_query: false,
    captured: test,
  };
}

/** `concat("https://host", http.request.uri.path)`; the last argument may replace parts of the path. */
function readConcat(args: readonly CloudflareValue[]): ReadTarget | string {
  const last = args.at(-1);
  const before = args.slice(0, -1);
  if (before.some(({ kind }) => kind !== 'text'))
    return 'a redirect target is literal text, with the path after it';
  const text = before.map((one) => (one.kind === 'text' ? one.text : '')).join('');
  if (last?.kind === 'text') return { target: text + last.text, preserve_path: false, preserve_query: false };
  if (last?.kind === 'call') return captureOf(text, last);
  const name = last?.kind === 'field' ? last.name : '';
  if (text.endsWith('/')) return 'the path begins with `/`, so that Cloudflare writes two of them';
  if (name === 'http.request.uri.path') return { target: text, preserve_path: true, preserve_query: false };
  if (name === 'http.request.uri') return { target: text, preserve_path: true, preserve_query: true };
  return `\`${name}\` has no equivalent in the target of a redirect`;
}

/** `wildcard_replace(http.request.full_uri, "http*://a/b/*", "https://c/${2}")`: what the last star matches has the query. */
function readWildcard(args: readonly CloudflareValue[]): ReadTarget | string {
  const [field, pattern, replacement, flags] = args.map((one) =>
    one.kind === 'field' ? one.name : one.kind === 'text' ? one.text : '',
  );
  const reason =
    'of `wildcard_replace` over a URL only that of one host, which keeps all after a path, has an equivalent';
  if (field !== 'http.request.full_uri' || pattern === undefined || replacement === undefined) return reason;
  const [, scheme, host, path] = /^(http\*|https|http):\/\/([^/*?\\]+)(\/[^*?%\\]*)\*$/.exec(pattern) ?? [];
  const [, target, index] = /^(https?:\/\/[^$\\]+)\$\{(\d)\}$/.exec(replacement) ?? [];
  if (host === undefined || path === undefined || target === undefined) return reason;
  const isAny = scheme === 'http*';
  if (index !== (isAny ? '2' : '1')) return reason;
  const urls = {
    ...EVERY_REQUEST,
    hostIncludes: [equalsText(host.toLowerCase())],
    facts: isAny ? [] : [schemeOf(scheme!)],
  };
  if (path === '/' && target.endsWith('/'))
    return { target: target.slice(0, -1), preserve_path: true, preserve_query: true, urls };
  const source = `${flags?.includes('s') === true ? '' : '(?i)'}^${escapeRegex(path)}(.*)$`;
  const captured = regexText(source);
  if (typeof captured === 'string') return captured;
  return {
    target: `${target}\${1}`,
    target_mode: 'captures',
    preserve_path: false,
    preserve_query: true,
    captured,
    urls,
  };
}

function schemeOf(scheme: string): ImportedFact {
  return { member: 'schemes', values: [scheme], negated: false };
}

/** The requests of a filter whose path and host an expression replaces. */
function narrowedTo(
  filter: ImportedFilter,
  { captured, urls = EVERY_REQUEST }: Pick<ReadTarget, 'captured' | 'urls'>,
): ImportedFilter | string {
  const test = captured === undefined ? null : narrowed(captured, filter);
  if (typeof test === 'string') return test;
  const own = test === null ? filter : { ...filter, pathIncludes: [test] };
  return bothFilters(own, urls) ?? 'its target replaces other URLs than its filter has';
}
