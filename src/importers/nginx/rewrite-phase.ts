/**
 * Translates the directives of nginx's rewrite phase (`return`, `rewrite`, `if`, `set`, `break`), in their order: they
 * become redirect, drop and rewrite rules.
 */
import {
  addDrop,
  addGuard,
  addRule,
  type DraftEntry,
  markDifference,
  markMissing,
  markNeedless,
} from '../draft.ts';
import {
  areDisjoint,
  bothFilters,
  EVERY_REQUEST,
  foreignFilter,
  type ImportedFilter,
  placeFields,
} from '../filter.ts';
import { regexText, type TextTest } from '../text-test.ts';
import { casesOfIf } from './conditions.ts';
import { differ, type EarlierOutcome, entryOf, loseDirective, type NginxImport } from './context.ts';
import { answersRefusal } from './guards.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { pathRegex } from './regions.ts';
import {
  captureOf,
  isUpgrade,
  matchesAll,
  redirectTarget,
  rewriteTarget,
  UPGRADE_OF_PATTERNS,
  type ValueContext,
  valuePieces,
} from './targets.ts';
import {
  commonBindings,
  fillCaptures,
  hasHost,
  matchRewritten,
  type RewrittenPath,
  withoutRequests,
} from './worlds.ts';

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
  /** Only requests over plain http: redirects to https act on them alone. */
  readonly onPlain?: boolean;
  /** The path that a `rewrite` without a flag has changed. */
  readonly rewritten?: RewrittenPath & { readonly directive: NginxDirective };
}

/** Worlds after a directive: those that go on, and those that `break` and `last` take out of the block. */
interface Worlds {
  readonly going: readonly RewriteScope[];
  readonly stopped: readonly RewriteScope[];
}

/** Worlds of one block at most; with more, variables that an `if` sets depend on the request. */
const MAX_WORLDS = 16;

const ACTS = ['return', 'rewrite', 'if', 'set', 'break'];

/** Runs the directives of a block; true: every request of the scope is answered. */
export function runRewritePhase(
  state: NginxImport,
  block: readonly NginxDirective[],
  scope: RewriteScope,
): boolean {
  const { going, stopped } = runDirectives(state, block, scope);
  for (const world of going) if (world.rewritten !== undefined) emitRewritten(state, world);
  const left = [...going, ...stopped];
  for (const [name, value] of commonBindings(left.map(({ bindings }) => bindings)))
    scope.bindings.set(name, value);
  return left.length === 0;
}

/** Runs directives one after another, each for every world that goes on. */
function runDirectives(state: NginxImport, block: readonly NginxDirective[], scope: RewriteScope): Worlds {
  const directives = block.filter(({ name }) => ACTS.includes(name));
  let going: readonly RewriteScope[] = [scope];
  const stopped: RewriteScope[] = [];
  // Redirects are in their order among each other, and need no excludes of those before.
  const lastOther = directives.findLastIndex((one) => one.name !== 'rewrite' || !isRedirect(one));
  for (const [index, directive] of directives.entries()) {
    if (going.length === 0) {
      markNeedless(entryOf(state, directive), 'a directive before it ends every request');
      continue;
    }
    const isLast = index === directives.length - 1 || (isRedirect(directive) && index > lastOther);
    const after = going.map((world) => runDirective(state, directive, { world, isLast }));
    stopped.push(...after.flatMap((one) => one.stopped));
    const next = after.flatMap((one) => one.going);
    going = next.length <= MAX_WORLDS ? next : going.map((world) => forgetting(world, next));
  }
  return { going, stopped };
}

/** A world in which variables that differ in others depend on the request. */
function forgetting(world: RewriteScope, others: readonly RewriteScope[]): RewriteScope {
  return { ...world, bindings: commonBindings([world, ...others].map(({ bindings }) => bindings)) };
}

/** Runs one directive for one world. */
function runDirective(
  state: NginxImport,
  directive: NginxDirective,
  { world, isLast }: { readonly world: RewriteScope; readonly isLast: boolean },
): Worlds {
  const entry = entryOf(state, directive);
  switch (directive.name) {
    case 'set':
      return { going: [setVariable(directive, entry, world)], stopped: [] };
    case 'break':
      markNeedless(entry, 'it ends the directives before');
      return { going: [], stopped: [world] };
    case 'return':
      runReturn(state, directive, world);
      return { going: [], stopped: [] };
    case 'if':
      return runIf(state, directive, world);
    default:
      return runRewrite(state, directive, { world, isLast });
  }
}

/** The world in which a variable has the value that it has here. */
function setVariable({ args }: NginxDirective, entry: DraftEntry, world: RewriteScope): RewriteScope {
  const [name = '', value = ''] = args;
  markNeedless(entry, 'its value is used where it is named');
  const pieces = valuePieces(value, world.bindings);
  // A capture is of the regex before, and a path may be rewritten later.
  const isKnown = pieces.every((piece) => piece.kind === 'text' || /^[a-z_]+$/.test(piece.name));
  const text = pieces.map((piece) => (piece.kind === 'text' ? piece.text : `\${${piece.name}}`)).join('');
  return { ...world, bindings: new Map(world.bindings).set(name.replace(/^\$/, ''), isKnown ? text : null) };
}

/** Conditions that hold over plain http, where the edge has redirects that https skips. */
const PLAIN =
  /^\(\s*\$(?:scheme (?:= http|!= https)|(?:http_)?x_forwarded_proto (?:= http|!= https)|http_x_forwarded_proto (?:= http|!= https)|https (?:= |!= on)|server_port (?:= 80|!= 443)|ssl_protocol = ?)\s*\)$/;

/** Runs the body of an `if` for each case of its condition. */
function runIf(state: NginxImport, directive: NginxDirective, world: RewriteScope): Worlds {
  const body = directive.block ?? [];
  if (PLAIN.test(directive.args.join(' '))) {
    runDirectives(state, body, { ...world, onPlain: true });
    return { going: [withUnknown(world, body)], stopped: [] };
  }
  const cases = casesOfIf(state, directive, world.bindings);
  if (typeof cases === 'string') return loseIf(state, directive, { world, reason: cases });
  if (cases.some(({ differences }) => differences !== undefined)) {
    const reason = cases.find(({ differences }) => differences !== undefined)!.differences!;
    if (answersRefusal(body)) return loseIf(state, directive, { world, reason });
    markDifference(entryOf(state, directive), reason);
  }
  const map = /^\(?\s*\$(\w+)\s*\)?$/.exec(directive.args.join(' '))?.[1];
  if (map !== undefined && state.maps.has(map)) entryOf(state, state.maps.get(map)!);
  const going: RewriteScope[] = [];
  const stopped: RewriteScope[] = [];
  let rest: RewriteScope | null = world;
  let isExact = true;
  let isMet = false;
  for (const { filter, bindings } of cases) {
    const both = bothFilters(world.filter, filter);
    if (both === null) continue;
    isMet = true;
    if (typeof both === 'string') return loseIf(state, directive, { world, reason: both });
    const inner = { ...narrowed(world, both), bindings: new Map([...world.bindings, ...bindings]) };
    const after = runDirectives(state, body, inner);
    const isUnchanged = after.stopped.length === 0 && after.going.every((one) => sameState(one, inner));
    if (isUnchanged && after.going.length > 0 && bindings.size === 0) continue;
    going.push(...after.going);
    stopped.push(...after.stopped);
    const left =
      rest === null || cases.length > MAX_WORLDS ? 'too many cases' : withoutRequests(rest.filter, filter);
    if (left === null) rest = null;
    else if (typeof left === 'string') isExact = false;
    else rest = narrowed(rest!, left);
    if (rest !== null && rest.hosts.length === 0 && !rest.hasOtherHosts && world.hosts.length > 0)
      rest = null;
  }
  if (!isMet) markNeedless(entryOf(state, directive), 'no request meets its condition');
  if (isExact || rest === null) return { going: [...going, ...(rest === null ? [] : [rest])], stopped };
  if (stopped.length > 0) markDifference(entryOf(state, directive), 'what follows acts on its requests too');
  return { going: [forgetting(world, going)], stopped: [] };
}

/** A world with fewer requests. */
function narrowed(world: RewriteScope, filter: ImportedFilter): RewriteScope {
  return { ...world, filter, hosts: world.hosts.filter((host) => hasHost(filter, host)) };
}

function sameState(one: RewriteScope, other: RewriteScope): boolean {
  const textOf = ({ bindings, rewritten }: RewriteScope): string =>
    JSON.stringify([[...bindings], rewritten?.replacement]);
  return textOf(one) === textOf(other);
}

/** An `if` that is not carried over: what it may refuse is refused, and what it sets depends on the request. */
function loseIf(
  state: NginxImport,
  directive: NginxDirective,
  { world, reason }: { readonly world: RewriteScope; readonly reason: string },
): Worlds {
  const body = directive.block ?? [];
  if (answersRefusal(body))
    addGuard(state.draft, entryOf(state, directive), { reason, filters: [world.filter] });
  else loseDirective(state, directive, reason);
  return { going: [withUnknown(world, body)], stopped: [] };
}

/** A world in which the variables that a block sets depend on the request. */
function withUnknown(world: RewriteScope, body: readonly NginxDirective[]): RewriteScope {
  const set = body.flatMap(({ name, args }) => (name === 'set' ? [args[0]?.replace(/^\$/, '') ?? ''] : []));
  if (set.length === 0) return world;
  return { ...world, bindings: new Map([...world.bindings, ...set.map((name) => [name, null] as const)]) };
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
    if (scope.onPlain === true) emitUpgrade(state, entry, scope, `nginx answers ${status} over plain http`);
    else emitDrop(state, entry, status, scope);
    return;
  }
  const reason = `no rule answers ${status} with a text`;
  addGuard(state.draft, entry, { reason, filters: [scope.filter] });
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

/**
 * Redirects plain http to https on the same host: the edge skips it on https. `why`: what nginx does instead; `null`: the
 * redirect `source`.
 */
function emitUpgrade(
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
    const foreign = typeof own === 'string' ? own : foreignFilter(own, 'redirect');
    if (foreign !== null || typeof own === 'string') {
      markMissing(entry, foreign ?? String(own));
      continue;
    }
    const target = { target: `https://${host}`, preserve_path: true, preserve_query: true };
    if (!addRule(state.draft, entry, 'redirect', { ...placeFields(own), ...target, status_code: status }))
      continue;
    differ(entry, scope.differences);
    if (why !== null) markDifference(entry, `${why}; the edge redirects it to https`);
    const meant = source === null ? null : targetFor(host, source, scope);
    if (meant !== null && (typeof meant === 'string' || !isUpgrade(meant, host)))
      markDifference(
        entry,
        `\`${host}\`: plain http goes to https of the same host, nginx redirects it to \`${source!.value}\``,
      );
    scope.earlier.push({ filter: own, place: entry.place });
  }
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

/** Translates a `rewrite`. */
function runRewrite(
  state: NginxImport,
  directive: NginxDirective,
  { world, isLast }: { readonly world: RewriteScope; readonly isLast: boolean },
): Worlds {
  const entry = entryOf(state, directive);
  const [regex = ''] = directive.args;
  const alone: Worlds = { going: [world], stopped: [] };
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
  const going = left === null ? [] : [typeof left === 'string' ? world : { ...world, filter: left }];
  if (isRedirect(directive)) {
    emitRewriteRedirect(state, directive, { world: { ...world, filter }, capture: captureOf(regex) });
    return { going, stopped: [] };
  }
  const inner = { ...world, filter };
  const [, replacement = '', flag = ''] = directive.args;
  if (flag === '')
    return { going: [...going, rewrittenWorld(inner, { regex, replacement, directive })], stopped: [] };
  // Captures are of the regex alone, whose paths may be more than those of the location.
  runInternal(state, directive, inner, isWhole(world, filter, test));
  return { going, stopped: [inner] };
}

/** Whether the paths of a filter are all that a regex matches. */
function isWhole(world: RewriteScope, filter: ImportedFilter, test: TextTest | null): boolean {
  return test === null
    ? world.filter.pathIncludes === null
    : JSON.stringify(filter.pathIncludes) === JSON.stringify([test]);
}

function isRedirect({ args }: NginxDirective): boolean {
  const [, replacement = '', flag = ''] = args;
  return /^(?:https?:\/\/|\$scheme)/.test(replacement) || flag === 'redirect' || flag === 'permanent';
}

function emitRewriteRedirect(
  state: NginxImport,
  directive: NginxDirective,
  { world, capture }: { readonly world: RewriteScope; readonly capture: ValueContext['capture'] },
): void {
  const [, replacement = '', flag = ''] = directive.args;
  const drops = replacement.endsWith('?');
  const value = drops ? replacement.slice(0, -1) : replacement;
  const source = { status: flag === 'permanent' ? 301 : 302, value, capture, appendsQuery: !drops };
  emitRedirects(state, entryOf(state, directive), source, world);
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
    emitRewriteRedirect(state, shown, { world: plain, capture: null });
    return { going: [], stopped: [] };
  }
  const next = rewrittenWorld(world, { regex: path.regex, replacement: filled, directive });
  if (flag === '') return { going: [next], stopped: [] };
  emitRewritten(state, next, flag);
  return { going: [], stopped: [next] };
}

/** Translates the path at the end of a chain of rewrites. */
function emitRewritten(state: NginxImport, world: RewriteScope, flag = ''): void {
  const { directive, regex, replacement } = world.rewritten!;
  const entry = entryOf(state, directive);
  const joined = { ...directive, args: [regex, replacement, flag] };
  state.entries.set(joined, entry);
  const all = matchesAll(regex);
  const test = all ? null : pathRegex(regex, false);
  const isAll = isWhole(world, world.filter, test);
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
  if (hasCaptures && !isAll) {
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
