/** What rewrite, redirect and cache rules make of a URL (semantics §5 rewrite, redirect, cache). */
import type { CacheRule, RedirectRule, RewriteRule } from '../../src/rules/model/types.ts';
import type { Facts, Redirected } from './facts.ts';
import { pathForms } from './filters.ts';
import { parseAuthority } from './host.ts';
import { defaultPort, hasDotSegment } from './path.ts';
import { compiledRegex } from './patterns.ts';
import { encodeCapture, encodeUri, percentDecode, utf8 } from './text.ts';

/** One character of a path filter's view of the path, and the octets that the visitor sent for it. */
interface Unit {
  readonly text: string;
  readonly sent: string;
}

/** The characters of a path, from the forwarded one: what separates two segments counts as one slash. */
function unitsOf(forwarded: string, parameters: boolean): Unit[] {
  const escapePattern = '%(?!2[fF]|5[cC])[0-9A-Fa-f]{2}';
  const parts = forwarded.match(/\/|%2f|%5c|(?:(?!%2f|%5c)[^/])+/gi) ?? [];
  const units: Unit[] = [];
  let between = '';
  for (const part of parts) {
    const cut = /^(?:(?!;|%3b).)*/i.exec(part)![0];
    const isSlash = /^(?:\/|%2f|%5c)$/i.test(part);
    if (isSlash || cut === '') {
      between += isSlash || parameters ? part : '';
      continue;
    }
    units.push({ text: '/', sent: between });
    between = '';
    const rest = parameters ? part : cut;
    for (const run of rest.match(new RegExp(`(?:${escapePattern})+|.`, 'g')) ?? [])
      units.push(...charactersOf(run));
  }
  return between === '' ? units : [...units, { text: '/', sent: between }];
}

/** A run of escapes, or one character. */
function charactersOf(run: string): Unit[] {
  if (!run.startsWith('%')) return [{ text: run, sent: run }];
  let at = 0;
  return Array.from(percentDecode(run).matchAll(/%[0-9A-F]{2}(?=.*)|./gsu), ([text]) => {
    const octets = text.length === 3 && run.slice(at, at + 3).toUpperCase() === text ? 1 : utf8(text).length;
    const sent = run.slice(at, at + octets * 3);
    at += octets * 3;
    return { text, sent };
  });
}

/** The octets that the visitor sent for a part; a part that cuts an escape is encoded from its text. */
function sentFor(units: readonly Unit[], from: number, part: string): string {
  let at = 0;
  let sent = '';
  let text = '';
  for (const unit of units) {
    if (at >= from && at + unit.text.length <= from + part.length) {
      sent += unit.sent;
      text += unit.text;
    }
    at += unit.text.length;
  }
  return text === part ? sent : encodeCapture(part);
}

/** Looks up a group of the first include entry that matches; `null` for one that is unset or unknown. */
function groupsOf(rule: RewriteRule | RedirectRule, facts: Facts): (name: string) => string | null {
  for (const entry of rule.path_includes) {
    for (const path of pathForms(facts)) {
      const regex = compiledRegex(entry, { ignoreCase: false });
      const matcher = regex.matcher(path);
      if (!matcher.find()) continue;
      const named = regex.namedGroups();
      return (name) => {
        const index = /^[0-9]+$/.test(name) ? Number(name) : (named[name] ?? Infinity);
        const text = index > matcher.groupCount() ? null : matcher.group(index);
        if (text === null) return null;
        const units = unitsOf(facts.forwarded, path === facts.path);
        return sentFor(units, matcher.start(index), text);
      };
    }
  }
  return () => null;
}

/** A text with the groups of a rule in their places. */
function substituted(text: string, group: (name: string) => string): string {
  return text.replace(/\$(?:\$|([0-9]+)|\{(\w+)\})/g, (reference, digits?: string, name?: string) =>
    reference === '$$' ? '$' : group((digits ?? name)!),
  );
}

/** The path the origin gets, or the status that refuses a request whose path holds a dot segment or is too long. */
export function rewritePath(rule: RewriteRule, facts: Facts): string | 400 | 414 {
  if (rule.path_target === '') return facts.forwarded;
  let path = rule.path_target;
  if (rule.path_match_type === 'regex') {
    const group = groupsOf(rule, facts);
    path = substituted(path, (name) => group(name) ?? '');
  }
  path = encodeUri(path.replace(/^\/+/, '/'));
  if (path.length > 16_384) return 414;
  return hasDotSegment(percentDecode(path)) ? 400 : path;
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

/** A target whose groups are in their places, part by part. */
function computed(target: Parts, rule: RedirectRule, facts: Facts): Parts {
  const group = groupsOf(rule, facts);
  const plain = (text: string): string => substituted(text, (name) => group(name) ?? '');
  const path = plain(target.path);
  return {
    ...target,
    path: target.scheme === '' ? path.replace(/^\/+/, '/') : path,
    query: substituted(target.query, (name) => (group(name) ?? '').replace(/[&+]/g, encodeURIComponent)),
    fragment: plain(target.fragment),
  };
}

/** The `Location` of a redirect; the status of a refusal if its groups make none. */
export function redirectLocation(given: RedirectRule, facts: Facts): string | number {
  const rule = { ...given, target: redirectEntry(given, facts)?.to ?? given.target };
  if (rule.target_mode !== 'captures') return wholeLocation(cut(rule.target), rule, facts);
  const location = wholeLocation(computed(cut(rule.target), rule, facts), rule, facts);
  if (location.length > 16_384) return 414;
  return hasDotSegment(percentDecode(cut(location).path)) ? 400 : location;
}

function wholeLocation(target: Parts, rule: RedirectRule, facts: Facts): string {
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

/** The entry of a redirect's list for the request's path; `null`: the rule has no list, or the list no entry for it. */
export function redirectEntry({ targets }: RedirectRule, facts: Facts): Redirected | null {
  if (targets === undefined) return null;
  const entries = facts.redirects.get(targets) ?? [];
  const has = (path: string) => entries.find(({ from }) => percentDecode(from) === path);
  return has(facts.path) ?? (facts.twin === null ? null : (has(facts.twin) ?? null)) ?? null;
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
