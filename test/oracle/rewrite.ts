/** What rewrite, redirect and cache rules make of a URL (semantics §5 rewrite, redirect, cache). */
import type { CacheRule, RedirectRule, RewriteRule } from '../../src/model/types.ts';
import type { Facts } from './facts.ts';
import { pathForms, pathRegex } from './filters.ts';
import { parseAuthority } from './host.ts';
import { defaultPort, hasDotSegment } from './path.ts';
import { encodeCapture, encodeUri, percentDecode } from './text.ts';

/** Looks up a group of the first include entry that matches; `null` for one that is unset or unknown. */
function groupsOf(rule: RewriteRule, facts: Facts): (name: string) => string | null {
  for (const entry of rule.path_includes) {
    for (const path of pathForms(facts)) {
      const regex = pathRegex(entry);
      const matcher = regex.matcher(path);
      if (!matcher.find()) continue;
      const named = regex.namedGroups();
      return (name) => {
        const index = /^[0-9]+$/.test(name) ? Number(name) : (named[name] ?? Infinity);
        return index > matcher.groupCount() ? null : matcher.group(index);
      };
    }
  }
  return () => null;
}

/** The path the origin gets; `null` when the outcome holds a dot segment and the request is refused. */
export function rewritePath(rule: RewriteRule, facts: Facts): string | null {
  if (rule.path_target === '') return facts.forwarded;
  let path = rule.path_target;
  if (rule.path_match_type === 'regex') {
    const group = groupsOf(rule, facts);
    path = path.replace(/\$(?:\$|([0-9]+)|\{(\w+)\})/g, (reference, digits?: string, name?: string) =>
      reference === '$$' ? '$' : encodeCapture(group((digits ?? name)!) ?? ''),
    );
  }
  path = encodeUri(path.replace(/^\/+/, '/'));
  return hasDotSegment(percentDecode(path)) ? null : path;
}

/** The query the origin gets; `kept` is what the cache rule, if any, left of the visitor's. */
export function rewriteQuery(rule: RewriteRule | null, kept: string | null): string | null {
  switch (rule?.query_mode) {
    case 'strip':
      return null;
    case 'replace':
      return encodeUri(rule.query_target);
    default:
      return kept;
  }
}

/** The parameters a cache rule keeps, as sent, joined by `&`; `null` when none is kept. */
function keptParameters(rule: CacheRule, query: string | null): string | null {
  const kept = (query ?? '').split('&').filter((piece) => {
    return (
      piece !== '' &&
      rule.query_params.some((name) => percentDecode(name) === percentDecode(piece.split('=')[0]!))
    );
  });
  return kept.length === 0 ? null : kept.join('&');
}

/** The part of the visitor's query that a cache rule keys and lets through to the origin. */
export function cachedQuery(rule: CacheRule | null, facts: Facts): string | null {
  if (rule === null || rule.mode === 'bypass' || rule.query_mode === 'all') return facts.query;
  return rule.query_mode === 'none' ? null : keptParameters(rule, facts.query);
}

/** The cache key of a request under a rule that does not bypass. */
export function cacheKey(rule: CacheRule, facts: Facts): string {
  const query = cachedQuery(rule, facts);
  return `${facts.scheme}://${facts.host}${facts.forwarded}${query === null ? '' : `?${query}`}`;
}

/** A target or location cut into its parts; each keeps its own mark (`?`, `#`). */
interface Parts {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

function cut(url: string): Parts {
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] =
    /^(?:([A-Za-z]+):\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url)!;
  return { scheme, authority, path, query, fragment };
}

/** The `Location` of a redirect. */
export function redirectLocation(rule: RedirectRule, facts: Facts): string {
  const target = cut(rule.target);
  const origin = target.scheme === '' ? '' : `${target.scheme}://${target.authority}`;
  const path = rule.preserve_path
    ? `${target.path.replace(/\/+$/, '')}/${facts.forwarded.replace(/^\/+/, '')}`
    : target.path;
  let query = target.query;
  if (rule.preserve_query && facts.query) {
    const joint = query === '' ? '?' : /[?&]$/.test(query) ? '' : '&';
    query += joint + facts.query;
  }
  return encodeUri(origin + path + query + target.fragment);
}

/** Whether a location is the request's own URL. */
export function isOwnUrl(location: string, facts: Facts): boolean {
  const { scheme, authority, path, query } = cut(location);
  if (scheme !== '') {
    const place = parseAuthority(authority);
    const own = facts.listenerPort;
    if (scheme.toLowerCase() !== facts.scheme || place?.host !== facts.host) return false;
    if ((place.port ?? defaultPort(facts.scheme)) !== own) return false;
  }
  return (path || '/') === facts.forwarded && query.slice(1) === (facts.query ?? '');
}
