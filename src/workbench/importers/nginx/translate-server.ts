/** Translates one `server`: its rewrite phase, its locations, their access lists, limits and origins. */
import { encodeUri } from '../../../base/octets/octets.ts';
import { addGuard, addRule, type DraftOrigin, markDifference, markMissing, markNeedless } from '../draft.ts';
import { areDisjoint, bothFilters, type ImportedFilter, ruleFields } from '../filter.ts';
import { equalsText, escapeRegex } from '../text-test.ts';
import { differ, type EarlierOutcome, entryOf, loseDirective, type NginxImport } from './context.ts';
import { guardsOf, refusesSome } from './guards.ts';
import { emitHeaders, type HeaderScope } from './headers.ts';
import { emitErrorPages, fallbackOf, isSameOrigin, loseNamed, type NginxPass, readPass } from './origins.ts';
import { lastOf, type NginxDirective } from './parse-nginx.ts';
import { groupsOfLocation } from './path-groups.ts';
import { closeFiles, emitGuards, emitShared, type RegionContent } from './region-guards.ts';
import { type LostLocation, type NginxRegion, regionsOf } from './regions.ts';
import { runRewritePhase } from './rewrite-phase.ts';
import { type RewriteScope, replacementStart } from './targets.ts';

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
  /** nginx answers plain http with another server. */
  readonly isTlsAlone: boolean;
  /** The server, where the record of some of its hosts has the origin of another; `null`: its records are its own. */
  readonly sharing: NginxDirective | null;
  /** The record of its hosts has an origin of another server. */
  readonly besideOrigin: boolean;
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
    const nothing = {
      ended: false,
      loops: false,
      earlier: [],
      pass: null,
      inherited: 0,
      closed: false,
      fallback: null,
      bindings: new Map(),
    };
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
    groups: null,
  };
  closeServer(state, block, scope);
  if (runRewritePhase(state, block, rewriting)) {
    loseLocations(state, block, 'the server answers every request before it');
    const { bindings, filter } = rewriting;
    const all = { filter, blocks: outer, bindings, hostHeader: '', passing: null, differences: [] };
    emitHeaders(state, [all], { whole: filter, isTlsAlone: scope.isTlsAlone });
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
  emitShared(state, contents, { block, filter: scope.filter });
  emitGuards(state, contents, { block, filter: scope.filter });
  emitHeaders(
    state,
    contents.map((content) => headerScope(content, outer, scope.earlier.length)),
    { whole: scope.filter, isTlsAlone: scope.isTlsAlone },
  );
  const origin = emitOrigins(state, contents, scope);
  if (origin !== null || scope.besideOrigin) closeFiles(state, contents, scope.sharing);
  return origin;
}

/** The requests of a region with the blocks that change their headers. */
function headerScope(
  { region, filter, block, bindings, pass, fallback, earlier, inherited: count }: RegionContent,
  outer: readonly (readonly NginxDirective[])[],
  ofPlain: number,
): HeaderScope {
  const blocks = [block, ...region.outer, ...outer];
  const [own] = outer;
  const passing = pass === null ? null : fallback === null ? blocks : [fallback.block, ...outer];
  const redirected = earlier.slice(ofPlain, count).some((one) => !areDisjoint(one.filter, filter));
  const isOwn = blocks.some((one) => one !== own && one.some(({ name }) => name === 'add_header'));
  const differences = redirected && isOwn ? [REDIRECTED_BEFORE] : [];
  const hostHeader = pass?.hostHeader ?? '';
  return {
    filter,
    blocks,
    bindings,
    passing,
    hostHeader,
    differences: [...region.differences, ...differences],
  };
}

const REDIRECTED_BEFORE =
  'redirects of the server have them too; nginx gives these the headers of the server';

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
  content.bindings = rewriting.bindings;
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
    groups: region.location === null ? null : groupsOfLocation(region.location),
  };
  content.bindings = scope.bindings;
  if (region.location !== null) content.ended = runRewritePhase(state, block, scope);
  content.loops = content.earlier.slice(content.inherited).some((one) => !one.leadsElsewhere);
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
  const ended = runRewritePhase(state, later, { ...scope, earlier, groups: null });
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

/** Directives of a location that act on no request which its rewrite phase answers. */
const UNREACHED = [
  ...['allow', 'deny', 'auth_basic', 'auth_request', 'limit_req'],
  ...['proxy_pass', 'root', 'try_files'],
];

/** Reports what no request of a location reaches. */
function loseUnreached(state: NginxImport, block: readonly NginxDirective[], reason: string): void {
  for (const directive of block) {
    if (!UNREACHED.includes(directive.name)) continue;
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
