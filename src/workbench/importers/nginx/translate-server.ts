/** Translates one `server`: its rewrite phase, its locations, their access lists, limits and origins. */
import { encodeUri } from '../../../base/octets/octets.ts';
import { addGuard, addRule, type DraftOrigin, markDifference, markMissing, markNeedless } from '../draft.ts';
import { bothFilters, EVERY_REQUEST, type ImportedFilter, ruleFields } from '../filter.ts';
import { equalsText, escapeRegex } from '../text-test.ts';
import { type AccessScope, emitAccess, emitLimit, guardsOf, refusesSome } from './access.ts';
import { differ, type EarlierOutcome, entryOf, loseDirective, type NginxImport } from './context.ts';
import {
  emitErrorPages,
  fallbackOf,
  isSameOrigin,
  loseNamed,
  type NginxFallback,
  type NginxPass,
  readPass,
} from './origins.ts';
import { lastOf, type NginxDirective } from './parse-nginx.ts';
import { type LostLocation, type NginxRegion, regionsOf } from './regions.ts';
import { runRewritePhase } from './rewrite-phase.ts';
import { type RewriteScope, replacementStart, withoutRequests } from './targets.ts';

/** The requests of one server. */
export interface ServerScope {
  /** Its hosts. */
  readonly filter: ImportedFilter;
  readonly hosts: readonly string[];
  readonly hasOtherHosts: boolean;
  /** `$server_name`: its first name, whichever the visitor names. */
  readonly serverName: string;
  /** Redirects that were translated before and win over this server. */
  readonly earlier: readonly EarlierOutcome[];
  /** The server, where the record of some of its hosts has the origin of another; `null`: its records are its own. */
  readonly sharing: NginxDirective | null;
  /** The record of its hosts has an origin of another server. */
  readonly besideOrigin: boolean;
}

/** A region with what applies in it. */
interface RegionContent {
  readonly region: NginxRegion;
  readonly filter: ImportedFilter;
  readonly block: readonly NginxDirective[];
  /** Its rewrite phase answers every request. */
  ended: boolean;
  readonly earlier: EarlierOutcome[];
  pass: NginxPass | null;
  /** How many of `earlier` are of the server. */
  inherited: number;
  /** A guard refuses all its requests. */
  closed: boolean;
  fallback: FallbackContent | null;
}

/** What applies to the requests of a region that are of no file, beside the directives of the region. */
interface FallbackContent extends NginxFallback {
  readonly block: readonly NginxDirective[];
  /** Its redirects, and those before. */
  readonly earlier: EarlierOutcome[];
  /** Its rewrite phase answers every request. */
  readonly ended: boolean;
}

/** Translates a server. Returns the origin of its records; `null`: it names none for the path `/`. */
export function translateServer(
  state: NginxImport,
  block: readonly NginxDirective[],
  scope: ServerScope,
): DraftOrigin | null {
  const { regions, lost } = regionsOf(block);
  for (const one of lost) loseLocation(state, one, scope);
  const contents: RegionContent[] = [];
  for (const region of regions) {
    const paths = { ...scope.filter, pathIncludes: region.includes, pathExcludes: region.excludes };
    const own = region.location?.block ?? [];
    const nothing = { ended: false, earlier: [], pass: null, inherited: 0, closed: false, fallback: null };
    contents.push({ region, filter: paths, block: own, ...nothing });
  }
  const outer = [block, state.http];
  const rewriting: RewriteScope = {
    ...scope,
    differences: [],
    earlier: [...scope.earlier],
    bindings: new Map([['server_name', scope.serverName]]),
    reenter: reentering(state, contents, block),
    inLocation: false,
  };
  closeServer(state, block, scope);
  if (runRewritePhase(state, block, rewriting)) {
    loseLocations(state, block, 'the server answers every request before it');
    return null;
  }
  for (const content of contents) runLocation(state, content, { rewriting, outer });
  const fallbacks = contents.flatMap(({ fallback }) => fallback ?? []);
  const pages = emitErrorPages(
    state,
    contents
      .filter(({ region }) => region.kind !== 'slash')
      .map(({ filter, block: own, region }) => ({ filter, blocks: [own, ...region.outer, ...outer] })),
    { server: block, whole: scope.filter, used: fallbacks.map(({ directive }) => directive) },
  );
  loseNamed(state, block, [...pages, ...fallbacks.map(({ location }) => location)]);
  emitShared(state, contents, { block, scope });
  emitGuards(state, contents, { block, scope });
  const origin = emitOrigins(state, contents, scope);
  if (origin !== null || scope.besideOrigin) closeFiles(state, contents, scope.sharing);
  return origin;
}

/** Reports a location that is not carried over. What it may refuse is refused, as its paths are now in another. */
function loseLocation(
  state: NginxImport,
  { directive, reason, tests }: LostLocation,
  scope: ServerScope,
): void {
  const block = directive.block ?? [];
  const isOpen = lastOf(block, 'proxy_pass') !== undefined && !refusesSome(block);
  if (isOpen) {
    loseDirective(state, directive, reason);
    return;
  }
  const pathIncludes = tests.length === 0 ? null : tests;
  addGuard(state.draft, entryOf(state, directive), { reason, filters: [{ ...scope.filter, pathIncludes }] });
}

/** Refuses all requests of a server that asks for certificates of clients: nginx does before any directive of it. */
function closeServer(state: NginxImport, block: readonly NginxDirective[], { filter }: ServerScope): void {
  for (const { directive, reason } of guardsOf([block, state.http])) {
    if (directive.name === 'ssl_verify_client')
      addGuard(state.draft, entryOf(state, directive), { reason, filters: [filter] });
  }
}

/** Refuses the requests of locations that are guarded in a way that no rule has. */
function emitGuards(state: NginxImport, contents: readonly RegionContent[], { block, scope }: Sharing): void {
  const found = new Map<NginxDirective, { readonly reason: string; readonly filters: ImportedFilter[] }>();
  for (const content of contents) {
    const { region, filter } = content;
    if (content.ended && region.kind !== 'slash') continue;
    const { fallback } = content;
    let isClosed = content.closed;
    const own = guardsOf([content.block, ...region.outer, block, state.http]);
    const later = fallback === null ? [] : guardsOf([fallback.block, block, state.http]);
    for (const { directive, reason } of [
      ...own,
      // Requests reach a named location inside nginx alone.
      ...(fallback?.ended === true ? [] : later.filter((one) => one.directive.name !== 'internal')),
    ]) {
      if (directive.name === 'ssl_verify_client') continue;
      // A redirect to the path with a slash comes before passwords.
      if (region.kind === 'slash' && directive.name !== 'internal') continue;
      const guard = found.get(directive) ?? { reason, filters: [] };
      const isOwn = own.some((one) => one.directive === directive);
      const earlier = isOwn ? content.earlier : fallback!.earlier;
      const rest = directive.name === 'internal' ? filter : behindRedirects({ ...content, earlier });
      if (!isClosed && rest !== null) guard.filters.push(rest);
      isClosed = true;
      found.set(directive, guard);
    }
    content.closed = isClosed;
  }
  for (const [directive, { reason, filters }] of found) {
    const isWhole =
      filters.length === contents.length && contents.every(({ filter }) => filters.includes(filter));
    addGuard(state.draft, entryOf(state, directive), { reason, filters: isWhole ? [scope.filter] : filters });
  }
}

/** The requests of a location that its own redirects leave: they come before what guards it; `null`: there are none. */
function behindRedirects({ filter, earlier, inherited: count }: RegionContent): ImportedFilter | null {
  let rest = filter;
  for (const { filter: redirected } of earlier.slice(count)) {
    const { pathIncludes, pathExcludes, ipIncludes, ipExcludes, hostIncludes, facts } = redirected;
    if (ipIncludes !== null || ipExcludes !== null || facts.length > 0) continue;
    if (JSON.stringify(hostIncludes) !== JSON.stringify(filter.hostIncludes)) continue;
    if (JSON.stringify(pathExcludes) !== JSON.stringify(filter.pathExcludes)) continue;
    const left = withoutRequests(rest, { ...EVERY_REQUEST, pathIncludes });
    if (left === null) return null;
    if (typeof left !== 'string') rest = left;
  }
  return rest;
}

/** Refuses the requests of locations that no carried origin answers, where the origin of the record is another's. */
function closeFiles(
  state: NginxImport,
  contents: readonly RegionContent[],
  sharing: NginxDirective | null,
): void {
  for (const content of contents) {
    const { region, pass, fallback } = content;
    const earlier = fallback?.earlier ?? content.earlier;
    const filter = behindRedirects({ ...content, earlier });
    const isAnswered = content.ended || fallback?.ended === true || pass !== null;
    if (filter === null || isAnswered || content.closed) continue;
    const directive = region.location ?? sharing;
    if (directive === null) continue;
    const reason =
      'nginx answers from files or over another protocol, and the origin of the record is another';
    addGuard(state.draft, entryOf(state, directive), { reason, filters: [filter] });
  }
}

/** Reports locations and access lists that no request reaches. */
function loseLocations(state: NginxImport, block: readonly NginxDirective[], reason: string): void {
  for (const directive of block) {
    if (!['location', 'allow', 'deny', 'limit_req'].includes(directive.name)) continue;
    const entry = entryOf(state, directive);
    if (entry.outcome === 'exact') markNeedless(entry, reason);
  }
}

/** Runs the rewrite phase of a location and reads its origin. */
function runLocation(
  state: NginxImport,
  content: RegionContent,
  {
    rewriting,
    outer,
  }: { readonly rewriting: RewriteScope; readonly outer: readonly (readonly NginxDirective[])[] },
): void {
  const { region, block, filter } = content;
  content.earlier.push(...rewriting.earlier);
  content.inherited = content.earlier.length;
  const isInternal = [block, ...region.outer].some((one) => lastOf(one, 'internal') !== undefined);
  if (region.kind === 'slash') {
    if (!isInternal) addSlash(state, content);
    return;
  }
  // nginx answers 404 before any of its directives.
  if (isInternal) {
    loseUnreached(state, block, 'it answers internal requests only');
    return;
  }
  const scope: RewriteScope = {
    ...rewriting,
    filter,
    differences: region.differences,
    earlier: content.earlier,
    bindings: new Map(rewriting.bindings),
    inLocation: true,
  };
  if (region.location !== null) content.ended = runRewritePhase(state, block, scope);
  if (content.ended) {
    loseUnreached(state, block, 'a directive before it ends every request');
    return;
  }
  const [server = []] = outer;
  const fallback = fallbackOf(region.location === null ? server : block, server, [...region.outer, ...outer]);
  if (fallback === null) {
    content.pass = passOf(state, block, [...region.outer, ...outer]);
    return;
  }
  const later = fallback.location.block ?? [];
  const earlier = [...content.earlier];
  const ended = runRewritePhase(state, later, { ...scope, earlier });
  content.fallback = { ...fallback, block: later, earlier, ended };
  if (ended) loseUnreached(state, later, 'a directive before it ends every request');
  else content.pass = passOf(state, later, outer);
  if (!ended && content.pass === null) return;
  markDifference(
    entryOf(state, fallback.directive),
    `the edge serves no files: \`${fallback.location.args[0]}\` answers for those on the disk of nginx too`,
  );
}

/** The `proxy_pass` of a block; `null`: it has none that is carried over. */
function passOf(
  state: NginxImport,
  block: readonly NginxDirective[],
  outer: readonly (readonly NginxDirective[])[],
): NginxPass | null {
  const pass = readPass(state, block, outer);
  if (typeof pass !== 'string') return pass;
  markMissing(entryOf(state, lastOf(block, 'proxy_pass')!), pass);
  return null;
}

/** Reports what no request of a location reaches. */
function loseUnreached(state: NginxImport, block: readonly NginxDirective[], reason: string): void {
  for (const directive of block) {
    if (!['allow', 'deny', 'limit_req', 'proxy_pass', 'root', 'try_files'].includes(directive.name)) continue;
    const entry = entryOf(state, directive);
    if (entry.becomes.length === 0) markNeedless(entry, reason);
  }
}

/** The redirect to the path with a slash. */
function addSlash(state: NginxImport, content: RegionContent): void {
  const { region, filter } = content;
  content.ended = true;
  const pass = region.location!.block?.find(({ name }) => name.endsWith('_pass'));
  const target = { target: encodeUri(`${region.path}/`), status_code: 301, preserve_query: true };
  addRule(state.draft, entryOf(state, pass!), 'redirect', { ...ruleFields(filter), ...target });
}

/**
 * Decides whether a rewrite that lets nginx choose a location anew can be carried over: when every location forwards to one
 * origin alike, the choice has no effect.
 */
function reentering(
  state: NginxImport,
  contents: readonly RegionContent[],
  block: readonly NginxDirective[],
): RewriteScope['reenter'] {
  const inner = contents.flatMap((one) => one.block);
  const reason = 'the rewritten path is in another location, which rules cannot choose by it';
  return (directive, replacement) => {
    const isPlain = inner.every((one) => one === directive || !ACTING.includes(one.name));
    const passes = contents.flatMap((one) => {
      const pass = readPass(state, one.block, [block, state.http]);
      return one.region.kind === 'slash' || one.region.kind === 'rest' ? [] : [pass];
    });
    const [first] = passes;
    const isOne =
      first !== undefined &&
      first !== null &&
      typeof first !== 'string' &&
      passes.every(
        (one) => one !== null && typeof one !== 'string' && one.uri === null && isSameOrigin(one, first),
      );
    if (!isPlain || !isOne || contents.some(({ region }) => region.kind === 'slash')) return reason;
    // A location that rewrites into itself would rewrite again.
    const own = contents.find((one) => one.block.includes(directive));
    if (own === undefined) return null;
    const start = replacementStart(replacement);
    return own.region.path !== null && own.region.path !== '/' && !start.startsWith(own.region.path)
      ? null
      : reason;
  };
}

/** Directives that make locations differ. */
const ACTING = [
  'return',
  'rewrite',
  'if',
  'allow',
  'deny',
  'limit_req',
  'root',
  'alias',
  'try_files',
  'auth_basic',
];

/** The parts of a server for what several locations share. */
interface Sharing {
  readonly block: readonly NginxDirective[];
  readonly scope: ServerScope;
}

/** Translates access lists and limits, which locations inherit unless they have their own. */
function emitShared(state: NginxImport, contents: readonly RegionContent[], { block, scope }: Sharing): void {
  const reached = contents.filter(({ ended }) => !ended);
  const isAll =
    reached.length === contents.length && contents.every(({ region }) => region.differences.length === 0);
  const groups = new Map<NginxDirective, { list: readonly NginxDirective[]; contents: RegionContent[] }>();
  for (const content of reached) {
    for (const list of listsOf(content, [block, state.http])) {
      if (list[0]!.name === 'deny' && list[0]!.args[0] === 'all') content.closed = true;
      const group = groups.get(list[0]!) ?? { list, contents: [] };
      group.contents.push(content);
      groups.set(list[0]!, group);
    }
  }
  for (const { list, contents: members } of groups.values()) {
    const whole = isAll && members.length === contents.length;
    const earlierOf = ({ earlier, fallback }: RegionContent): readonly EarlierOutcome[] =>
      fallback?.block.includes(list[0]!) === true ? fallback.earlier : earlier;
    const earlier = members.flatMap(earlierOf);
    const scopes: readonly AccessScope[] = whole
      ? [{ filter: scope.filter, earlier, differences: [] }]
      : members.map((one) => ({
          filter: one.filter,
          earlier: earlierOf(one),
          differences: one.region.differences,
        }));
    if (list[0]!.name !== 'limit_req') {
      emitAccess(state, list, scopes);
      const any = members.some(
        (one) => inherited([one.block, block, state.http], ['satisfy'])[0]?.args[0] === 'any',
      );
      if (any)
        markDifference(
          entryOf(state, list[0]!),
          'a password does not let denied addresses through (`satisfy any`)',
        );
      continue;
    }
    const status = Number(
      inherited([members[0]!.block, block, state.http], ['limit_req_status'])[0]?.args[0] ?? 503,
    );
    for (const limit of list) emitLimit(state, limit, scopes, status);
    for (const one of [block, state.http, ...members.map((member) => member.block)]) {
      const statusOf = lastOf(one, 'limit_req_status');
      if (statusOf !== undefined) markNeedless(entryOf(state, statusOf), 'stated at `limit_req`');
    }
  }
}

/** The access lists and limits of a region: its own, and those of the named location that answers for it. */
function listsOf(
  { block, region, fallback }: RegionContent,
  outer: readonly (readonly NginxDirective[])[],
): readonly (readonly NginxDirective[])[] {
  const own = [block, ...region.outer, ...outer];
  const later = fallback === null || fallback.ended ? [] : [fallback.block, ...outer];
  const lists = [inherited(own, ['allow', 'deny']), inherited(later, ['allow', 'deny'])];
  const limit = inherited(own, ['limit_req']);
  // nginx counts a request once.
  const limits = limit.length > 0 ? limit : inherited(later, ['limit_req']);
  const distinct = new Map([...lists, limits].flatMap((list) => (list.length > 0 ? [[list[0]!, list]] : [])));
  return [...distinct.values()];
}

/** The directives of these names of the innermost block that has one. */
function inherited(
  blocks: readonly (readonly NginxDirective[])[],
  names: readonly string[],
): readonly NginxDirective[] {
  for (const block of blocks) {
    const found = block.filter(({ name }) => names.includes(name));
    if (found.length > 0) return found;
  }
  return [];
}

/** Translates the origins of all locations. Returns that of the records. */
function emitOrigins(
  state: NginxImport,
  contents: readonly RegionContent[],
  { filter, sharing }: ServerScope,
): DraftOrigin | null {
  const passes = contents.filter((one) => one.pass !== null);
  const root = contents.find(({ region }) => region.path === '/' && region.kind !== 'exact');
  // Where nothing is forwarded for `/`, the record takes the first origin only if `/` is answered without one.
  const isAnswered = root?.ended === true || root?.fallback?.ended === true;
  const main = root?.pass ?? (isAnswered ? passes[0]?.pass : null) ?? null;
  for (const { region, pass, filter: paths } of passes) {
    const entry = entryOf(state, pass!.directive);
    differ(entry, [...pass!.differences, ...region.differences]);
    emitUri(state, pass!, region, paths);
    if (main !== null && isSameOrigin(pass!, main)) {
      if (!entry.becomes.includes('record')) entry.becomes.push('record');
      continue;
    }
    const [origin] = pass!.origins.filter(({ weight }) => weight > 0);
    const { address, port, scheme } = origin!;
    const fields = { ...ruleFields(paths), address, port, scheme, host_header: pass!.hostHeader };
    addRule(state.draft, entry, 'origin_route', fields);
    if (pass!.origins.length > 1)
      markDifference(
        entry,
        'a pool has no path filter, so that only the first server of the upstream is used',
      );
  }
  if (main === null) return null;
  if (main.origins.length > 1) emitPool(state, main, filter);
  const { address, port, scheme } = main.origins.find(({ weight }) => weight > 0)!;
  if (sharing !== null && main.origins.length === 1) {
    const fields = { ...ruleFields(filter), address, port, scheme, host_header: main.hostHeader };
    addRule(state.draft, entryOf(state, main.directive), 'origin_route', fields);
  }
  return { address, port, scheme: scheme === 'http' ? 'Http' : 'Https', hostHeader: main.hostHeader };
}

/** The pool of an upstream with several servers. */
function emitPool(state: NginxImport, main: NginxPass, filter: ImportedFilter): void {
  const { path_match_type: _, ...hosts } = ruleFields(filter) as Record<string, unknown>;
  const origins = main.origins.map(({ address, port, scheme, weight }) => ({
    address,
    port,
    scheme,
    weight,
  }));
  const group = state.upstreams.get(/^https?:\/\/([^/]+)/.exec(main.directive.args[0] ?? '')?.[1] ?? '');
  const entry = entryOf(state, group ?? main.directive);
  differ(entry, main.differences);
  const fields = { ...hosts, origins, lb_type: main.lbType, host_header: main.hostHeader };
  addRule(state.draft, entry, 'origin_pool', fields);
}

/** The rewrite that replaces the location's path by the URI of `proxy_pass`. */
function emitUri(state: NginxImport, pass: NginxPass, region: NginxRegion, filter: ImportedFilter): void {
  const { uri } = pass;
  if (uri === null || region.path === null || uri === region.path) return;
  const entry = entryOf(state, pass.directive);
  if (region.kind === 'exact') {
    const exact = bothFilters(filter, { ...filter, pathIncludes: [equalsText(region.path)] });
    if (exact === null || typeof exact === 'string') return;
    addRule(state.draft, entry, 'rewrite', { ...ruleFields(exact), path_target: uri });
    return;
  }
  const source = `^${escapeRegex(region.path)}(.*)$`;
  const fields = ruleFields({ ...filter, pathIncludes: [{ kind: 'regex', source }] });
  addRule(state.draft, entry, 'rewrite', { ...fields, path_target: `${uri.replaceAll('$', '$$$$')}\${1}` });
}
