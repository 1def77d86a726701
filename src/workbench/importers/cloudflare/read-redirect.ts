/** Reads the target of a redirect of Cloudflare: a static URL, or an expression that appends the path. */
import { numberAt, objectAt, type SourceFields, textAt } from '../json-source.ts';
import { type CloudflareValue, parseValueExpression } from './parse-expression.ts';

/** The fields of a redirect, and how it differs. */
export interface CloudflareRedirect {
  readonly target: string;
  readonly status_code: number;
  readonly preserve_path: boolean;
  readonly preserve_query: boolean;
  readonly differences: readonly string[];
}

/** Reads `from_value`; a text is the reason why it has no equivalent. */
export function readRedirect(value: SourceFields): CloudflareRedirect | string {
  const status_code = numberAt(value, 'status_code') ?? 301;
  const preserve_query = value['preserve_query_string'] === true;
  const url = objectAt(value, 'target_url');
  const differences: string[] = [];
  const target = textAt(url, 'value');
  if (target !== '') return { target, status_code, preserve_path: false, preserve_query, differences };
  const parsed = parseValueExpression(textAt(url, 'expression'));
  if (!parsed.ok) return `its target cannot be read: ${parsed.reason}`;
  const read = readTarget(parsed.value);
  if (typeof read === 'string') return read;
  return { ...read, status_code, preserve_query: preserve_query || read.preserve_query, differences };
}

type ReadTarget = Pick<CloudflareRedirect, 'target' | 'preserve_path' | 'preserve_query'>;

function readTarget(value: CloudflareValue): ReadTarget | string {
  if (value.kind === 'text') return { target: value.text, preserve_path: false, preserve_query: false };
  if (value.kind === 'call' && value.name === 'concat') return readConcat(value.args);
  if (value.kind === 'call' && value.name === 'wildcard_replace') return readWildcard(value.args);
  return 'only `concat` with the path, and `wildcard_replace` of a whole host, have an equivalent as the target of a redirect';
}

/** `concat("https://host", http.request.uri.path)`. */
function readConcat(args: readonly CloudflareValue[]): ReadTarget | string {
  const last = args.at(-1);
  const before = args.slice(0, -1);
  if (before.some(({ kind }) => kind !== 'text'))
    return 'a redirect target is literal text, with the path after it';
  const text = before.map((one) => (one.kind === 'text' ? one.text : '')).join('');
  if (last?.kind === 'text') return { target: text + last.text, preserve_path: false, preserve_query: false };
  const name = last?.kind === 'field' ? last.name : '';
  if (text.endsWith('/')) return 'the path begins with `/`, so that Cloudflare writes two of them';
  if (name === 'http.request.uri.path') return { target: text, preserve_path: true, preserve_query: false };
  if (name === 'http.request.uri') return { target: text, preserve_path: true, preserve_query: true };
  return `\`${name}\` has no equivalent in the target of a redirect`;
}

/** `wildcard_replace(http.request.full_uri, "http*://a/*", "https://b/${2}")`. */
function readWildcard(args: readonly CloudflareValue[]): ReadTarget | string {
  const [field, pattern, replacement] = args.map((one) =>
    one.kind === 'field' ? one.name : one.kind === 'text' ? one.text : '',
  );
  const reason =
    'of `wildcard_replace` only that of a whole host has an equivalent, which keeps path and query';
  if (field !== 'http.request.full_uri' || pattern === undefined || replacement === undefined) return reason;
  const [, scheme, host] = /^(http\*|https|http):\/\/([^/*]+)\/\*$/.exec(pattern) ?? [];
  const [, target, index] = /^(https?:\/\/[^$]+)\/\$\{(\d)\}$/.exec(replacement) ?? [];
  if (host === undefined || target === undefined) return reason;
  if (index !== (scheme === 'http*' ? '2' : '1') || scheme !== 'http*') return reason;
  return { target, preserve_path: true, preserve_query: true };
}
