/**
 * The redirects and rewrites that directives of the rewrite phase give. In: a value, a status and the world of requests.
 * Out: redirect rules, one for each host where the value names `$host`, and rewrite rules.
 */
import { REDIRECT_STATUSES } from '../../../base/vocabulary/vocabulary.ts';
import { addRule, type DraftEntry, markDifference, markMissing, markNeedless } from '../draft.ts';
import { areDisjoint, bothFilters, EVERY_REQUEST, type ImportedFilter, ruleFields } from '../filter.ts';
import { coversAll, equalsText, regexText, startsWithText } from '../text-test.ts';
import { captureTarget } from './captures.ts';
import { differ, type EarlierOutcome, entryOf, type NginxImport } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { groupsOf, type PathGroups } from './path-groups.ts';
import { pathRegex } from './regions.ts';
import {
  captureOf,
  fillCaptures,
  hasHost,
  isUpgrade,
  matchesAll,
  matchRewritten,
  type RedirectTarget,
  type RewriteScope,
  redirectTarget,
  rewriteTarget,
  UPGRADE_OF_PATTERNS,
  type ValueContext,
  type Worlds,
  withoutRequests,
} from './targets.ts';

/** States that an earlier redirect wins in nginx, where the edge refuses first. */
export function noteEarlier(
  entry: DraftEntry,
  filter: ImportedFilter,
  earlier: readonly EarlierOutcome[],
): void {
  for (const { filter: other, place } of earlier) {
    if (areDisjoint(filter, other)) continue;
    markDifference(entry, `requests that ${place} redirects are refused first; nginx redirects them`);
    return;
  }
}

/** One redirect of the source. */
export interface RedirectSource {
  readonly status: number;
  readonly value: string;
  readonly capture: ValueContext['capture'];
  /** The query is appended, as `rewrite` does. */
  readonly appendsQuery: boolean;
  /** nginx escapes captures in it. */
  readonly escapes: boolean;
  /** The regex whose groups the value names; `null`: it names none. */
  readonly groups: PathGroups | null;
}

/** Stands for a host of a wildcard or a regex. */
const ANY_HOST = 'any.invalid';

/** Adds the redirects of a value: one, or one for each host where it names `$host`. */
export function emitRedirects(
  state: NginxImport,
  entry: DraftEntry,
  source: RedirectSource,
  scope: RewriteScope,
): void {
  if (scope.onPlain === true) {
    emitUpgrade(state, entry, scope, null, source);
    return;
  }
  // One rule serves every host when the target is the same for all.
  const common = targetFor(null, source, scope);
  if (typeof common !== 'string') {
    emitRedirect(state, entry, { ...common, ...source }, scope);
    return;
  }
  if (scope.hosts.length === 0) {
    const target = targetFor(ANY_HOST, source, scope);
    const upgrades = typeof target !== 'string' && isUpgrade(target, ANY_HOST);
    markMissing(entry, upgrades ? UPGRADE_OF_PATTERNS : common);
    return;
  }
  for (const host of scope.hosts) {
    const target = targetFor(host, source, scope);
    if (typeof target === 'string') {
      markMissing(entry, target);
      return;
    }
    const own = bothFilters(scope.filter, hostFilter(host));
    if (own === null || typeof own === 'string') continue;
    emitRedirect(state, entry, { ...target, ...source }, { ...scope, filter: own });
  }
  if (!scope.hasOtherHosts) return;
  const upgrades = scope.hosts.some((host) => {
    const target = targetFor(host, source, scope);
    return typeof target !== 'string' && isUpgrade(target, host);
  });
  if (upgrades) markMissing(entry, UPGRADE_OF_PATTERNS);
  else markDifference(entry, 'hosts of wildcards and regexes are not among its hosts');
}

/**
 * Redirects plain http to https on the same host: the edge skips it on https. `why`: what nginx does instead; `null`: the
 * redirect `source`.
 */
export function emitUpgrade(
  state: NginxImport,
  entry: DraftEntry,
  scope: RewriteScope,
  why: string | null,
  source: RedirectSource | null = null,
): void {
  const status = source?.status ?? 301;
  if (scope.hasOtherHosts) markMissing(entry, UPGRADE_OF_PATTERNS);
  for (const host of scope.hosts) {
    const own = bothFilters(scope.filter, hostFilter(host));
    if (own === null) continue;
    if (typeof own === 'string') {
      markMissing(entry, own);
      continue;
    }
    const target = { target: `https://${host}`, preserve_path: true, preserve_query: true };
    if (!addRule(state.draft, entry, 'redirect', { ...ruleFields(own), ...target, status_code: status }))
      continue;
    differ(entry, scope.differences);
    if (why !== null) markDifference(entry, `${why}; the edge redirects it to https`);
    const meant = source === null ? null : targetFor(host, source, scope);
    if (meant !== null && (typeof meant === 'string' || !isUpgrade(meant, host)))
      markDifference(
        entry,
        `\`${host}\`: plain http goes to https of the same host, nginx redirects it to \`${source!.value}\``,
      );
    scope.earlier.push({ filter: own, place: entry.place, leadsElsewhere: false });
  }
}

/** The target for one host, or for all; a text is the reason why it has none. `rewrite` alone appends queries and escapes. */
function targetFor(
  host: string | null,
  { value, capture, groups, escapes, appendsQuery }: RedirectSource,
  { bindings, filter }: RewriteScope,
): RedirectTarget | string {
  const context = { host, bindings, capture };
  const literal = redirectTarget(value, context, appendsQuery);
  if (typeof literal !== 'string' || groups === null) return literal;
  const captured = captureTarget(value, context, groups, { appendsQuery, escapes });
  if (typeof captured === 'string' || captured.captures === undefined) return captured;
  return isWhole(filter, groups)
    ? captured
    : 'its paths have two patterns, and a rule has the groups of one that is its only include';
}

/** Whether the paths of a filter are all that a regex matches. */
function isWhole({ pathIncludes }: ImportedFilter, { test }: Pick<PathGroups, 'test'>): boolean {
  return pathIncludes === null ? coversAll(test) : JSON.stringify(pathIncludes) === JSON.stringify([test]);
}

/** The filter of one host. */
export function hostFilter(host: string): ImportedFilter {
  return { ...EVERY_REQUEST, hostIncludes: [{ kind: 'pieces', pieces: [host] }] };
}

function emitRedirect(
  state: NginxImport,
  entry: DraftEntry,
  redirect: RedirectSource & RedirectTarget,
  scope: RewriteScope,
): void {
  const { target, preserve_path, preserve_query, differences, status, captures } = redirect;
  // Groups need the regex itself as the one include entry.
  const place =
    captures === undefined
      ? ruleFields(scope.filter)
      : {
          ...ruleFields({ ...scope.filter, pathIncludes: [{ kind: 'regex', source: captures }] }),
          target_mode: 'captures',
        };
  const fields = { ...place, target, status_code: status, preserve_path, preserve_query };
  if (!addRule(state.draft, entry, 'redirect', fields)) return;
  differ(entry, [...differences, ...scope.differences]);
  scope.earlier.push({
    filter: scope.filter,
    place: entry.place,
    leadsElsewhere: leadsElsewhere(fields, scope),
  });
}

/** Whether no request of the scope has the URL that a redirect leads to, as far as host and path show. */
function leadsElsewhere(
  { target, preserve_path }: { readonly target: string; readonly preserve_path: boolean },
  { filter, hosts, hasOtherHosts }: RewriteScope,
): boolean {
  const [, host = null, rest = ''] = /^(?:https?:\/\/([^/?#]*))?(.*)$/is.exec(target) ?? [];
  if (host !== null && !hosts.includes(host) && !(hasOtherHosts && hasHost(filter, host))) return true;
  const path = /^[^?#]*/.exec(rest)![0];
  // Other spellings of a path match its filters.
  if (/[%;\\]|\/\//.test(path)) return false;
  if (preserve_path) return path !== '' && path !== '/';
  const start = /^[^$]*/.exec(path)![0];
  const test = start === path ? equalsText(path === '' ? '/' : path) : startsWithText(start);
  return areDisjoint({ ...EVERY_REQUEST, pathIncludes: [test] }, filter);
}

// Translates `rewrite`: to a redirect, to a rewrite rule, or to the path that the directives after it see.

/** Translates a `rewrite`. */
export function runRewrite(
  state: NginxImport,
  directive: NginxDirective,
  { world, isLast }: { readonly world: RewriteScope; readonly isLast: boolean },
): Worlds {
  const entry = entryOf(state, directive);
  const [regex = ''] = directive.args;
  const unmatched = { ...world, groups: null };
  const alone: Worlds = { going: [unmatched], stopped: [] };
  if (world.rewritten !== undefined) return rewriteAgain(state, directive, { world, path: world.rewritten });
  const all = matchesAll(regex);
  const test = all ? null : pathRegex(regex, false);
  if (!all && test === null) {
    markMissing(entry, `\`${regex}\` is not in RE2 syntax`);
    return alone;
  }
  const matched: ImportedFilter = test === null ? EVERY_REQUEST : { ...EVERY_REQUEST, pathIncludes: [test] };
  const filter = bothFilters(world.filter, matched);
  if (filter === null || typeof filter === 'string') {
    if (filter === null) markNeedless(entry, 'no path of its location matches it');
    else markMissing(entry, filter);
    return alone;
  }
  const left = all ? null : isLast ? world.filter : withoutRequests(world.filter, matched);
  const going = left === null ? [] : [typeof left === 'string' ? unmatched : { ...unmatched, filter: left }];
  if (isRedirect(directive)) {
    emitRewriteRedirect(state, directive, {
      world: { ...world, filter },
      capture: captureOf(regex),
      groups: groupsOf(regex, false),
    });
    return { going, stopped: [] };
  }
  const inner = { ...unmatched, filter };
  const [, replacement = '', flag = ''] = directive.args;
  if (flag === '')
    return { going: [...going, rewrittenWorld(inner, { regex, replacement, directive })], stopped: [] };
  // Captures are of the regex alone, whose paths may be more than those of the location.
  runInternal(
    state,
    directive,
    inner,
    test === null ? world.filter.pathIncludes === null : isWhole(filter, { test }),
  );
  return { going, stopped: [inner] };
}

/** Whether a `rewrite` answers with a redirect. */
export function isRedirect({ args }: NginxDirective): boolean {
  const [, replacement = '', flag = ''] = args;
  return /^(?:https?:\/\/|\$scheme)/.test(replacement) || flag === 'redirect' || flag === 'permanent';
}

function emitRewriteRedirect(
  state: NginxImport,
  directive: NginxDirective,
  { world, capture, groups }: Pick<RedirectSource, 'capture' | 'groups'> & { readonly world: RewriteScope },
): void {
  emitRedirects(state, entryOf(state, directive), redirectOf(directive, { capture, groups }), world);
}

/** The redirect of a `rewrite`. */
export function redirectOf(
  { args }: NginxDirective,
  named: Pick<RedirectSource, 'capture' | 'groups'>,
): RedirectSource {
  const [, replacement = '', flag = ''] = args;
  const drops = replacement.endsWith('?');
  const value = drops ? replacement.slice(0, -1) : replacement;
  return { status: flag === 'permanent' ? 301 : 302, value, ...named, appendsQuery: !drops, escapes: true };
}

/** The redirect of a `return`; `null`: it answers otherwise. */
export function returnedRedirect(
  { args }: NginxDirective,
  groups: RedirectSource['groups'],
): RedirectSource | null {
  const [first = '', second] = args;
  const isStatus = /^\d{3}$/.test(first);
  const status = isStatus ? Number(first) : 302;
  if (!REDIRECT_STATUSES.some((one) => one === status) || (second === undefined && isStatus)) return null;
  return { status, value: second ?? first, capture: null, groups, appendsQuery: false, escapes: false };
}

/** The world of a path that was rewritten without a flag: what follows sees the new path. */
function rewrittenWorld(
  world: RewriteScope,
  rewritten: NonNullable<RewriteScope['rewritten']>,
): RewriteScope {
  const [path = ''] = rewritten.replacement.split('?');
  const known = path.includes('$') ? null : path;
  const bindings = new Map(world.bindings).set('uri', known).set('document_uri', known);
  return { ...world, rewritten, bindings };
}

/** A `rewrite` of a path that was rewritten before. */
function rewriteAgain(
  state: NginxImport,
  directive: NginxDirective,
  { world, path }: { readonly world: RewriteScope; readonly path: NonNullable<RewriteScope['rewritten']> },
): Worlds {
  const entry = entryOf(state, directive);
  const [regex = '', replacement = '', flag = ''] = directive.args;
  const groups = typeof regexText(regex) === 'string' ? 'unknown' : matchRewritten(path, regex);
  if (groups === 'no') return { going: [world], stopped: [] };
  const filled = groups === 'unknown' ? null : fillCaptures(replacement, groups);
  if (filled === null) {
    markMissing(
      entry,
      `${path.directive.place} rewrites paths that it may match, and rules take one of both`,
    );
    return { going: [world], stopped: [] };
  }
  if (isRedirect(directive)) {
    const args = [regex, filled, ...directive.args.slice(2)];
    const { rewritten: _, ...plain } = world;
    const shown = { ...directive, args };
    state.entries.set(shown, entry);
    emitRewriteRedirect(state, shown, { world: plain, capture: null, groups: groupsOf(path.regex, false) });
    return { going: [], stopped: [] };
  }
  const next = rewrittenWorld(world, { regex: path.regex, replacement: filled, directive });
  if (flag === '') return { going: [next], stopped: [] };
  emitRewritten(state, next, flag);
  return { going: [], stopped: [next] };
}

/** Translates the path at the end of a chain of rewrites. */
export function emitRewritten(state: NginxImport, world: RewriteScope, flag = ''): void {
  const { directive, regex, replacement } = world.rewritten!;
  const entry = entryOf(state, directive);
  const joined = { ...directive, args: [regex, replacement, flag] };
  state.entries.set(joined, entry);
  const all = matchesAll(regex);
  const test = all ? null : pathRegex(regex, false);
  const isAll = test === null ? world.filter.pathIncludes === null : isWhole(world.filter, { test });
  runInternal(state, joined, world, isAll, directive);
}

/** Translates a rewrite of the path that the origin gets. */
function runInternal(
  state: NginxImport,
  directive: NginxDirective,
  scope: RewriteScope,
  isAll: boolean,
  written: NginxDirective = directive,
): void {
  const entry = entryOf(state, directive);
  const [regex = '', replacement = '', flag = ''] = directive.args;
  const stays = scope.inLocation && flag === 'break';
  const reason = stays ? null : scope.reenter(written, replacement);
  if (reason !== null) {
    markMissing(entry, reason);
    return;
  }
  const target = rewriteTarget(replacement, scope.bindings);
  if (typeof target === 'string') {
    markMissing(entry, target);
    return;
  }
  const hasCaptures = /\$\{/.test(target.path_target);
  if (hasCaptures && !isAll) {
    markMissing(entry, 'its pattern has other paths than its location');
    return;
  }
  // Captures need the regex itself as the one include entry.
  const place = hasCaptures
    ? ruleFields({ ...scope.filter, pathIncludes: [{ kind: 'regex', source: regex }] })
    : { ...ruleFields(scope.filter) };
  const isLiteralPath = !hasCaptures && 'path_match_type' in place && place.path_match_type === 'wildcard';
  const path_target = isLiteralPath ? target.path_target.replaceAll('$$', '$') : target.path_target;
  if (!addRule(state.draft, entry, 'rewrite', { ...place, ...target, path_target })) return;
  differ(entry, scope.differences);
}
