/**
 * Values of the rewrite phase: literal text and variables of `return` and `rewrite`, as the target of a redirect or the
 * path of a rewrite, and the worlds of requests for which the variables and the path are the same at one directive.
 */
import { captureGroups } from '../../../base/regex/regex.ts';
import { oppositeOf } from '../facts.ts';
import { areDisjoint, bothFilters, EVERY_REQUEST, type ImportedFilter } from '../filter.ts';
import { passes } from '../text-test.ts';
import type { EarlierOutcome } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import type { PathGroups } from './path-groups.ts';

/** A piece of a value. */
type ValuePiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string };

/** What is known where a value is used. */
export interface ValueContext {
  /** The host of the requests; `null`: several. */
  readonly host: string | null;
  /** Values of variables that `set` and `map` define. */
  readonly bindings: ReadonlyMap<string, string | null>;
  /** What `$1` is: the whole path, or the path without its first slash; `null`: something else. */
  readonly capture: 'path' | 'rest' | null;
}

/** The fields of a redirect, and how it differs; a text is the reason why it has none. */
export interface RedirectTarget {
  readonly target: string;
  readonly preserve_path: boolean;
  readonly preserve_query: boolean;
  readonly differences: readonly string[];
  /** The regex whose groups the target names, as the one include; absent: the target is literal. */
  readonly captures?: string;
}

/** Splits a value into its pieces. */
export function valuePieces(
  value: string,
  bindings: ReadonlyMap<string, string | null>,
): readonly ValuePiece[] {
  const pieces: ValuePiece[] = [];
  let at = 0;
  for (const match of value.matchAll(/\$(?:\{([A-Za-z0-9_]+)\}|([A-Za-z_][A-Za-z0-9_]*|[0-9]))/g)) {
    if (match.index > at) pieces.push({ kind: 'text', text: value.slice(at, match.index) });
    at = match.index + match[0].length;
    const name = match[1] ?? match[2]!;
    const bound = bindings.get(name);
    // `set` has replaced the variables of a value already; those left are nginx's own.
    if (bound === null) pieces.push({ kind: 'variable', name: `${name} of this request` });
    else if (bound !== undefined) pieces.push(...valuePieces(bound, new Map()));
    else pieces.push({ kind: 'variable', name });
  }
  if (at < value.length) pieces.push({ kind: 'text', text: value.slice(at) });
  return pieces;
}

const HOSTS = ['host', 'http_host'];
const PATHS = ['uri', 'document_uri', 'request_uri'];

/** Reads the target of a redirect. `appendsQuery`: the query is appended, as `rewrite` does. */
export function redirectTarget(
  value: string,
  { host, bindings, capture }: ValueContext,
  appendsQuery: boolean,
): RedirectTarget | string {
  const differences: string[] = [];
  let text = '';
  let path = false;
  let query = appendsQuery;
  const pieces = valuePieces(value, bindings);
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind === 'text') {
      if (path && piece.text !== '?') return `text after \`$${PATHS[2]}\` cannot be appended to a path`;
      if (query && !appendsQuery) return 'text behind the query of the request has no place in a target';
      text += isQuery(pieces[index + 1]) ? withoutMark(piece.text, differences) : piece.text;
      continue;
    }
    const { name } = piece;
    if (name === 'scheme' && index === 0) text += '$scheme';
    else if (HOSTS.includes(name)) text += host ?? '$host';
    else if (PATHS.includes(name) || (name === '1' && capture !== null)) {
      path = true;
      if (name === 'request_uri' && appendsQuery) differences.push('nginx appends the query twice');
      if (name === 'request_uri') query = true;
      if (name === 'uri' || name === 'document_uri')
        differences.push('the path is written as the client sent it, not decoded');
      if (capture === 'rest' && name === '1' && !text.endsWith('/')) {
        return '`$1` without a slash before it cannot be appended to a target';
      }
      if (!(name === '1' && capture === 'rest') && /[^/:]\/$/.test(text))
        differences.push('nginx writes two slashes before the path, the rule one');
    } else if (isQuery(piece) || (name === 'is_args' && isQuery(pieces[index + 1]))) query = true;
    else
      return /^[0-9]$/.test(name)
        ? `\`$${name}\` is no group of a path's regex that one rule has`
        : `\`$${name}\` has no equivalent in a target`;
  }
  return settleTarget(text, { path, query, host, differences });
}

/** A text before the query of the request, without the mark that the rule writes itself. */
export function withoutMark(text: string, differences: string[]): string {
  if (!/[?&]$/.test(text)) return text;
  if (text.endsWith('&')) differences.push('without a query nginx leaves a `&` at the end');
  return text.slice(0, -1);
}

/** Settles scheme and host of a target. */
export function settleTarget(
  text: string,
  {
    path,
    query,
    host,
    differences,
  }: {
    readonly path: boolean;
    readonly query: boolean;
    readonly host: string | null;
    readonly differences: string[];
  },
): RedirectTarget | string {
  let target = text;
  const own = host ?? '$host';
  if (target.startsWith(`$scheme://${own}`)) {
    const rest = target.slice(`$scheme://${own}`.length);
    // A path of the same site keeps scheme and host.
    if (rest === '' || rest.startsWith('/')) target = rest === '' ? '/' : rest;
  }
  if (target.startsWith('$scheme://')) {
    target = `https${target.slice('$scheme'.length)}`;
    differences.push('the target is always https; nginx preserves the scheme');
  }
  if (target.includes('$host'))
    return '`$host` of hosts that are not listed one by one has no equivalent in a target';
  if (target === '' && path) target = '/';
  return { target, preserve_path: path, preserve_query: query, differences };
}

/** Whether a piece is the query of the request. */
export function isQuery(piece: ValuePiece | undefined): boolean {
  return piece?.kind === 'variable' && ['args', 'query_string'].includes(piece.name);
}

/** Whether a redirect leads to https on the same host with the same path. */
export function isUpgrade({ target, preserve_path }: RedirectTarget, host: string): boolean {
  return preserve_path && target.replace(/\/$/, '') === `https://${host}`;
}

/** Why hosts of wildcards and regexes have no redirect to https. */
export const UPGRADE_OF_PATTERNS =
  'plain http of hosts of wildcards and regexes is forwarded, not redirected to https: the target of a redirect is literal; add a redirect for each host, such as `host_includes: [a.example.com]` with `target: https://a.example.com` and `preserve_path: true`';

/** What `$1` of a regex is, for redirects: the whole path or the path after its first slash. */
export function captureOf(source: string): 'path' | 'rest' | null {
  if (/^\^?\((?:\.\*|\.\+|\/\.\*)\)\$?$/.test(source)) return 'path';
  return /^\^\/\((?:\.\*|\.\+)\)\$?$/.test(source) ? 'rest' : null;
}

/** Whether a regex of a `rewrite` matches every path. */
export function matchesAll(source: string): boolean {
  return /^(?:\^|\^?\/|\^?\(?(?:\/?\.\*)\)?\$?|\^\/\(\.\*\)\$?)$/.test(source);
}

/** The path and query of an internal rewrite. */
export interface RewriteTarget {
  readonly path_target: string;
  readonly query_mode: 'preserve' | 'strip' | 'replace';
  readonly query_target: string;
}

/** Reads the replacement of a `rewrite` that stays inside nginx; a text is the reason why it has none. */
export function rewriteTarget(
  replacement: string,
  bindings: ReadonlyMap<string, string | null>,
): RewriteTarget | string {
  const drops = replacement.endsWith('?');
  const value = drops ? replacement.slice(0, -1) : replacement;
  const pieces = valuePieces(value, bindings);
  let text = '';
  for (const piece of pieces) {
    if (piece.kind === 'text') text += piece.text.replaceAll('$', '$$$$').replaceAll(' ', '%20');
    else if (/^[1-9]$/.test(piece.name)) text += `\${${piece.name}}`;
    else return `\`$${piece.name}\` has no equivalent in the target of a rewrite`;
  }
  const question = text.indexOf('?');
  if (question < 0) return { path_target: text, query_mode: drops ? 'strip' : 'preserve', query_target: '' };
  const query_target = text.slice(question + 1);
  if (query_target.includes('$')) return 'captures in the query have no equivalent';
  if (!drops) return 'nginx appends the query to one of the replacement, which a rewrite rule cannot';
  return { path_target: text.slice(0, question), query_mode: 'replace', query_target };
}

/** The literal text with which a replacement starts. */
export function replacementStart(replacement: string): string {
  return replacement.split(/[$?]/)[0]!;
}

// Worlds of the rewrite phase: requests for which the variables and the path are the same at one directive. An `if` divides a
// world in two; what it sets is known in the one and not in the other.

/** Where directives act: one world of requests. */
export interface RewriteScope {
  readonly filter: ImportedFilter;
  /** Exact hosts of the server, for which `$host` is expanded. */
  readonly hosts: readonly string[];
  /** The server has hosts beside the exact ones. */
  readonly hasOtherHosts: boolean;
  /** What the paths of the location have beyond nginx's. */
  readonly differences: readonly string[];
  /** Requests that redirects end before, in order. */
  readonly earlier: EarlierOutcome[];
  /** After the phase: what all requests that go on have in common. */
  readonly bindings: Map<string, string | null>;
  /** Why a rewrite to another location cannot be carried over; `null`: it can. `start`: the text it begins with. */
  readonly reenter: (directive: NginxDirective, replacement: string) => string | null;
  /** Inside a location, where `break` ends the search. */
  readonly inLocation: boolean;
  /** The regex whose groups `$1` and names are; `null`: of none, or it depends on the request. */
  readonly groups: PathGroups | null;
  /** Only requests over plain http: redirects to https act on them alone. */
  readonly onPlain?: boolean;
  /** The path that a `rewrite` without a flag has changed. */
  readonly rewritten?: RewrittenPath & { readonly directive: NginxDirective };
}

/** Worlds after a directive: those that go on, and those that `break` and `last` take out of the block. */
export interface Worlds {
  readonly going: readonly RewriteScope[];
  readonly stopped: readonly RewriteScope[];
}

/** Values of variables; `null`: one that depends on the request. */
export type Bindings = ReadonlyMap<string, string | null>;

/** Excludes of one world at most: a list of a rule has few more, and each rule after them repeats them. */
const MAX_EXCLUDES = 100;

/** The requests of a filter without those of another; `null`: there are none. A text: no filter is exact. */
export function withoutRequests(
  filter: ImportedFilter,
  taken: ImportedFilter,
): ImportedFilter | null | string {
  const { hostIncludes, hostExcludes, pathIncludes, pathExcludes, ipIncludes, ipExcludes, facts } = taken;
  const { countryIncludes, countryExcludes } = taken;
  const limits = [
    hostIncludes === null ? null : { hostExcludes: hostIncludes },
    hostExcludes.length === 0 ? null : { hostIncludes: hostExcludes },
    pathIncludes === null ? null : { pathExcludes: pathIncludes },
    pathExcludes.length === 0 ? null : { pathIncludes: pathExcludes },
    ipIncludes === null ? null : { ipExcludes: ipIncludes },
    ipExcludes === null ? null : { ipIncludes: ipExcludes },
    countryIncludes === null ? null : { countryExcludes: countryIncludes },
    countryExcludes.length === 0 ? null : { countryIncludes: countryExcludes },
    ...facts.map((fact) => ({ facts: [oppositeOf(fact)] })),
  ].filter((limit) => limit !== null);
  if (limits.length === 0) return null;
  if (limits.length > 1) return 'its opposite has several tests';
  const left = bothFilters(filter, { ...EVERY_REQUEST, ...limits[0] });
  if (left === null || typeof left === 'string') return left;
  if (left.pathExcludes.length + left.hostExcludes.length > MAX_EXCLUDES)
    return 'its opposite has too many tests';
  const paths = { ...EVERY_REQUEST, pathIncludes: left.pathIncludes };
  const isCovered =
    left.pathIncludes !== null && areDisjoint({ ...EVERY_REQUEST, pathExcludes: left.pathExcludes }, paths);
  return isCovered ? null : left;
}

/** The requests of a filter without those of others, as `withoutRequests`. */
export function withoutAll(
  filter: ImportedFilter,
  taken: readonly ImportedFilter[],
): ImportedFilter | null | string {
  let left: ImportedFilter | null | string = filter;
  for (const one of taken) {
    if (left === null || typeof left === 'string') return left;
    left = areDisjoint(left, one) ? left : withoutRequests(left, one);
  }
  return left;
}

/** Whether a filter asks for more than the host and the path. */
export function asksVisitor(filter: ImportedFilter): boolean {
  const { ipIncludes, ipExcludes, countryIncludes, countryExcludes, botKinds, facts } = filter;
  const isListed =
    ipIncludes !== null || ipExcludes !== null || countryIncludes !== null || botKinds !== null;
  return isListed || countryExcludes.length > 0 || facts.length > 0;
}

/** Whether a filter lets requests of a host through, as far as the host decides. */
export function hasHost({ hostIncludes, hostExcludes }: ImportedFilter, host: string): boolean {
  const isIn = hostIncludes?.some((test) => passes(test, host)) ?? true;
  return isIn && !hostExcludes.some((test) => passes(test, host));
}

/** The variables that are the same in all worlds; the others depend on the request. */
export function commonBindings(worlds: readonly Bindings[]): Map<string, string | null> {
  const names = new Set(worlds.flatMap((one) => [...one.keys()]));
  return new Map(
    [...names].map((name) => {
      const values = new Set(worlds.map((one) => one.get(name)));
      const [only] = values;
      return [name, values.size === 1 && only !== undefined ? only : null];
    }),
  );
}

/** A path that `rewrite` has changed: the regex that it matched, and the replacement with captures of it. */
export interface RewrittenPath {
  readonly regex: string;
  readonly replacement: string;
}

/** The part of a regex after `^` that is literal, and whether `(.*)` follows; `null`: another form. */
function literalStart(regex: string): { readonly text: string; readonly hasRest: boolean } | null {
  if (regex === '^' || regex === '.*' || regex === '^.*') return { text: '', hasRest: false };
  const [, body, rest = ''] = /^\^((?:[\w/~@:,;=&!"' -]|\\[./_-])*)(\(\.\*\)\$?|)$/.exec(regex) ?? [];
  return body === undefined ? null : { text: body.replaceAll('\\', ''), hasRest: rest !== '' };
}

/**
 * What a regex does with a path that was rewritten: the captures it has, as text of the replacement before it. `no`: it does not
 * match; `unknown`: that depends on the request.
 */
export function matchRewritten(
  { regex: source, replacement }: RewrittenPath,
  regex: string,
): readonly string[] | 'no' | 'unknown' {
  const [path = ''] = replacement.split('?');
  if (!path.includes('$')) {
    const groups = captureGroups(regex, false, path)?.groups;
    return groups === undefined ? 'no' : groups.map((group) => group ?? '');
  }
  const pattern = literalStart(regex);
  const start = replacementStart(path);
  if (pattern === null) return matchesAll(regex) && !regex.includes('(') ? [] : 'unknown';
  if (!start.startsWith(pattern.text)) return pattern.text.startsWith(start) ? 'unknown' : 'no';
  // The rest of the path is the last capture, which runs to its end.
  const isOpen = /\(\.\*\)\$?$/.test(source) && path === `${start}$1`;
  if (pattern.hasRest && !isOpen) return 'unknown';
  return pattern.hasRest ? ['', `${start.slice(pattern.text.length)}$1`] : [];
}

/** A replacement with the captures of its own regex replaced; `null`: it has others. */
export function fillCaptures(replacement: string, groups: readonly string[]): string | null {
  let isKnown = true;
  const filled = replacement.replace(/\$(?:\{([1-9])\}|([1-9]))/g, (_, one?: string, other?: string) => {
    const group = groups[Number(one ?? other)];
    if (group === undefined) isKnown = false;
    return group ?? '';
  });
  return isKnown ? filled : null;
}
