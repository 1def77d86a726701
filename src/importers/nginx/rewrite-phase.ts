/**
 * Translates the directives of nginx's rewrite phase (`return`, `rewrite`, `if`, `set`, `break`), in their order: they
 * become redirect, drop and rewrite rules.
 */
import { addDrop, addRule, type DraftEntry, markDifference, markMissing, markNeedless } from '../draft.ts';
import {
  areDisjoint,
  bothFilters,
  EVERY_REQUEST,
  foreignFilter,
  type ImportedFilter,
  placeFields,
} from '../filter.ts';
import { literalOf } from '../text-test.ts';
import { casesOfIf } from './conditions.ts';
import { differ, type EarlierOutcome, entryOf, loseDirective, type NginxImport } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { pathRegex } from './regions.ts';
import { captureOf, matchesAll, redirectTarget, rewriteTarget, type ValueContext } from './targets.ts';

/** Where directives act. */
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
  readonly bindings: Map<string, string>;
  /** Why a rewrite to another location cannot be carried over; `null`: it can. `start`: the text it begins with. */
  readonly reenter: (directive: NginxDirective, replacement: string) => string | null;
  /** Inside a location, where `break` ends the search. */
  readonly inLocation: boolean;
}

/** Runs the directives of a block; true: every request of the scope is answered. */
export function runRewritePhase(
  state: NginxImport,
  block: readonly NginxDirective[],
  scope: RewriteScope,
): boolean {
  let ended = false;
  for (const [index, directive] of block.entries()) {
    if (!['return', 'rewrite', 'if', 'set', 'break'].includes(directive.name)) continue;
    const entry = entryOf(state, directive);
    if (ended) {
      if (entry.becomes.length === 0) markNeedless(entry, 'a directive before it ends every request');
      continue;
    }
    if (directive.name === 'if') runIf(state, directive, scope);
    else if (directive.name === 'set') setVariable(directive, entry, scope);
    else if (directive.name === 'break')
      ended = markNeedless(entry, 'it ends the directives before') === undefined;
    else if (directive.name === 'return') {
      runReturn(state, directive, scope);
      return endRest(state, block.slice(index + 1));
    } else if (runRewrite(state, directive, scope)) return endRest(state, block.slice(index + 1));
  }
  return false;
}

/** Reports what follows an unconditional answer. */
function endRest(state: NginxImport, rest: readonly NginxDirective[]): true {
  for (const directive of rest) {
    if (!['return', 'rewrite', 'if', 'set', 'break'].includes(directive.name)) continue;
    const entry = entryOf(state, directive);
    if (entry.becomes.length === 0) markNeedless(entry, 'a directive before it ends every request');
  }
  return true;
}

function setVariable({ args }: NginxDirective, entry: DraftEntry, { bindings }: RewriteScope): void {
  const [name = '', value = ''] = args;
  bindings.set(name.replace(/^\$/, ''), value);
  markNeedless(entry, 'its value is used where it is named');
}

/** Runs the body of an `if` for each case of its condition. */
function runIf(state: NginxImport, directive: NginxDirective, scope: RewriteScope): void {
  const cases = casesOfIf(state, directive);
  if (typeof cases === 'string') {
    loseDirective(state, directive, cases);
    return;
  }
  const map = /^\(?\s*\$(\w+)\s*\)?$/.exec(directive.args.join(' '))?.[1];
  if (map !== undefined && state.maps.has(map)) entryOf(state, state.maps.get(map)!);
  for (const { filter, bindings } of cases) {
    const both = bothFilters(scope.filter, filter);
    if (both === null) continue;
    if (typeof both === 'string') {
      loseDirective(state, directive, both);
      return;
    }
    const hosts = scope.hosts.filter(
      (host) => both.hostIncludes?.some((test) => literalOf(test) === host) ?? true,
    );
    runRewritePhase(state, directive.block ?? [], {
      ...scope,
      filter: both,
      hosts,
      hasOtherHosts: scope.hasOtherHosts && filter.hostIncludes === null,
      bindings: new Map([...scope.bindings, ...bindings]),
      reenter: () => 'a rewrite inside `if` is not carried over',
    });
  }
}

/** Statuses of redirects. */
const REDIRECTS = [301, 302, 303, 307, 308];

function runReturn(state: NginxImport, directive: NginxDirective, scope: RewriteScope): void {
  const entry = entryOf(state, directive);
  const [first = '', second] = directive.args;
  const isStatus = /^\d{3}$/.test(first);
  const status = isStatus ? Number(first) : 302;
  if (REDIRECTS.includes(status) && (second !== undefined || !isStatus)) {
    emitRedirects(
      state,
      entry,
      { status, value: second ?? first, capture: null, appendsQuery: false },
      scope,
    );
    return;
  }
  if (status >= 400) {
    emitDrop(state, entry, status, scope);
    return;
  }
  markMissing(entry, `no rule answers ${status} with a text`);
}

/** Refuses the requests of the scope. */
function emitDrop(state: NginxImport, entry: DraftEntry, status: number, scope: RewriteScope): void {
  if (!addDrop(state.draft, entry, scope.filter)) return;
  differ(entry, scope.differences);
  if (status === 444) markDifference(entry, 'the edge answers 403; nginx closes the connection');
  else if (status !== 403) markDifference(entry, `the edge answers 403; nginx answers ${status}`);
  noteEarlier(entry, scope.filter, scope.earlier);
}

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
interface RedirectSource {
  readonly status: number;
  readonly value: string;
  readonly capture: ValueContext['capture'];
  readonly appendsQuery: boolean;
}

/** Adds the redirects of a value: one, or one for each host where it names `$host`. */
function emitRedirects(
  state: NginxImport,
  entry: DraftEntry,
  source: RedirectSource,
  scope: RewriteScope,
): void {
  const foreign = foreignFilter(scope.filter, 'redirect');
  if (foreign !== null) {
    markMissing(entry, foreign);
    return;
  }
  // One rule serves every host when the target is the same for all.
  const common = targetFor(null, source, scope);
  if (typeof common !== 'string') {
    emitRedirect(state, entry, { ...common, ...source }, scope);
    return;
  }
  if (scope.hosts.length === 0) {
    markMissing(entry, common);
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
  if (scope.hasOtherHosts) markDifference(entry, 'hosts of wildcards and regexes are not among its hosts');
}

function targetFor(host: string | null, source: RedirectSource, { bindings }: RewriteScope) {
  return redirectTarget(source.value, { host, bindings, capture: source.capture }, source.appendsQuery);
}

/** The filter of one host. */
export function hostFilter(host: string): ImportedFilter {
  return { ...EVERY_REQUEST, hostIncludes: [{ kind: 'pieces', pieces: [host] }] };
}

function emitRedirect(
  state: NginxImport,
  entry: DraftEntry,
  redirect: RedirectSource & Exclude<ReturnType<typeof targetFor>, string>,
  scope: RewriteScope,
): void {
  const { target, preserve_path, preserve_query, differences, status } = redirect;
  const fields = { ...placeFields(scope.filter), target, status_code: status, preserve_path, preserve_query };
  if (!addRule(state.draft, entry, 'redirect', fields)) return;
  differ(entry, [...differences, ...scope.differences]);
  scope.earlier.push({ filter: scope.filter, place: entry.place });
}

/** Translates a `rewrite`; true: it matches every path of the scope and ends the request. */
function runRewrite(state: NginxImport, directive: NginxDirective, scope: RewriteScope): boolean {
  const entry = entryOf(state, directive);
  const [regex = '', replacement = '', flag = ''] = directive.args;
  const all = matchesAll(regex);
  const test = all ? null : pathRegex(regex, false);
  if (!all && test === null) {
    markMissing(entry, `\`${regex}\` is not in RE2 syntax`);
    return false;
  }
  const matched: ImportedFilter = test === null ? EVERY_REQUEST : { ...EVERY_REQUEST, pathIncludes: [test] };
  const filter = bothFilters(scope.filter, matched);
  if (filter === null || typeof filter === 'string') {
    if (filter === null) markNeedless(entry, 'no path of its location matches it');
    else markMissing(entry, filter);
    return false;
  }
  const isRedirect =
    /^(?:https?:\/\/|\$scheme)/.test(replacement) || flag === 'redirect' || flag === 'permanent';
  if (isRedirect) {
    const drops = replacement.endsWith('?');
    const value = drops ? replacement.slice(0, -1) : replacement;
    const status = flag === 'permanent' ? 301 : 302;
    const source = { status, value, capture: captureOf(regex), appendsQuery: !drops };
    emitRedirects(state, entry, source, { ...scope, filter });
    return all;
  }
  // Captures are of the regex alone, whose paths may be more than those of the location.
  const isWhole =
    test === null
      ? scope.filter.pathIncludes === null
      : JSON.stringify(filter.pathIncludes) === JSON.stringify([test]);
  runInternal(state, directive, { ...scope, filter }, isWhole);
  return all && flag !== '';
}

/** Translates a rewrite of the path that the origin gets. */
function runInternal(
  state: NginxImport,
  directive: NginxDirective,
  scope: RewriteScope,
  isWhole: boolean,
): void {
  const entry = entryOf(state, directive);
  const [regex = '', replacement = '', flag = ''] = directive.args;
  const stays = scope.inLocation && flag === 'break';
  const reason = stays ? null : scope.reenter(directive, replacement);
  const foreign = reason ?? foreignFilter(scope.filter, 'rewrite');
  if (foreign !== null) {
    markMissing(entry, foreign);
    return;
  }
  const target = rewriteTarget(replacement, scope.bindings);
  if (typeof target === 'string') {
    markMissing(entry, target);
    return;
  }
  const hasCaptures = /\$\{/.test(target.path_target);
  if (hasCaptures && !isWhole) {
    markMissing(entry, 'its pattern has other paths than its location');
    return;
  }
  // Captures need the regex itself as the one include entry.
  const place = hasCaptures
    ? placeFields({ ...scope.filter, pathIncludes: [{ kind: 'regex', source: regex }] })
    : { ...placeFields(scope.filter) };
  const isLiteralPath = !hasCaptures && 'path_match_type' in place && place.path_match_type === 'wildcard';
  const path_target = isLiteralPath ? target.path_target.replaceAll('$$', '$') : target.path_target;
  if (!addRule(state.draft, entry, 'rewrite', { ...place, ...target, path_target })) return;
  differ(entry, scope.differences);
}
