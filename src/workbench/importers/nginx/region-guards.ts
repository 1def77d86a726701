/**
 * Refuses what guards the requests of the regions of a server: access lists, `limit_except`, `internal`, passwords and the like, and
 * what no carried origin answers. Adds their limits too, which locations inherit as they do access lists.
 */
import { addDrop, addGuard, answerWith, markNeedless } from '../draft.ts';
import { EVERY_REQUEST, type ImportedFilter } from '../filter.ts';
import { type AccessScope, type ExceptScope, emitAccess, emitExcept } from './access.ts';
import { differ, type EarlierOutcome, entryOf, type NginxImport } from './context.ts';
import { guardsOf, innermost, isSatisfiedByAny, passwordsOf } from './guards.ts';
import type { NginxFallback, NginxPass } from './origins.ts';
import { lastOf, type NginxDirective } from './parse-nginx.ts';
import { emitLimit } from './rate-limits.ts';
import { noteEarlier } from './redirects.ts';
import type { NginxRegion } from './regions.ts';
import { asksVisitor, type Bindings, withoutRequests } from './targets.ts';

/** A region with what applies in it. */
export interface RegionContent {
  readonly region: NginxRegion;
  readonly filter: ImportedFilter;
  readonly block: readonly NginxDirective[];
  /** Its rewrite phase answers every request. */
  ended: boolean;
  /** … but those to whose own URL it redirects: the edge leaves such a redirect out. */
  loops: boolean;
  readonly earlier: EarlierOutcome[];
  pass: NginxPass | null;
  /** How many of `earlier` are of the server. */
  inherited: number;
  /** A guard refuses all its requests. */
  closed: boolean;
  fallback: FallbackContent | null;
  /** Variables after its rewrite phase. */
  bindings: Bindings;
}

/** What applies to the requests of a region that are of no file, beside the directives of the region. */
interface FallbackContent extends NginxFallback {
  readonly block: readonly NginxDirective[];
  /** Its redirects, and those before. */
  readonly earlier: EarlierOutcome[];
  /** Its rewrite phase answers every request. */
  readonly ended: boolean;
}

/** A server whose regions are guarded. */
interface GuardedServer {
  readonly block: readonly NginxDirective[];
  /** Its hosts. */
  readonly filter: ImportedFilter;
}

type Blocks = readonly (readonly NginxDirective[])[];

/** The blocks that apply in a region, the innermost first. */
function blocksOf(state: NginxImport, { block, region }: RegionContent, server: GuardedServer): Blocks {
  return [block, ...region.outer, server.block, state.http];
}

/** Refuses the requests of locations that are guarded in a way that no rule has, and those that are internal. */
export function emitGuards(
  state: NginxImport,
  contents: readonly RegionContent[],
  server: GuardedServer,
): void {
  const internal = emitInternal(state, contents, server);
  const reached = contents.filter((content) => !internal.includes(content));
  emitExcepts(state, reached, server);
  const found = new Map<NginxDirective, { readonly reason: string; readonly filters: ImportedFilter[] }>();
  for (const content of reached) {
    // A redirect to the path with a slash comes before passwords.
    if (content.ended && !content.loops) continue;
    const { fallback } = content;
    let isClosed = content.closed;
    const own = guardsOf(blocksOf(state, content, server));
    const later = fallback === null ? [] : guardsOf([fallback.block, server.block, state.http]);
    for (const { directive, reason } of [...own, ...(fallback?.ended === true ? [] : later)]) {
      if (directive.name === 'ssl_verify_client') continue;
      const guard = found.get(directive) ?? { reason, filters: [] };
      const isOwn = own.some((one) => one.directive === directive);
      const rest = behindRedirects({ ...content, earlier: isOwn ? content.earlier : fallback!.earlier });
      if (!isClosed && rest !== null) guard.filters.push(rest);
      isClosed = true;
      found.set(directive, guard);
    }
    content.closed = isClosed;
  }
  for (const [directive, { reason, filters }] of found) {
    const isWhole =
      filters.length === contents.length && contents.every(({ filter }) => filters.includes(filter));
    addGuard(state.draft, entryOf(state, directive), {
      reason,
      filters: isWhole ? [server.filter] : filters,
    });
  }
}

/** Answers 404 to requests of internal locations, as nginx does before any other directive of them. Returns those locations. */
function emitInternal(
  state: NginxImport,
  contents: readonly RegionContent[],
  server: GuardedServer,
): readonly RegionContent[] {
  const found = new Map<NginxDirective, RegionContent[]>();
  for (const content of contents) {
    const [directive] = innermost(blocksOf(state, content, server), ({ name }) => name === 'internal');
    if (directive === undefined) continue;
    content.closed = true;
    found.set(directive, [...(found.get(directive) ?? []), content]);
  }
  for (const [directive, internal] of found) {
    const entry = entryOf(state, directive);
    for (const { filter, region, earlier, inherited: count } of internal) {
      addDrop(state.draft, entry, filter);
      differ(entry, region.differences);
      noteEarlier(entry, filter, earlier.slice(0, count));
    }
    answerWith(state.draft, entry, { status: 404, product: 'nginx' });
  }
  return [...found.values()].flat();
}

/** Refuses what each `limit_except` refuses; locations inside do not inherit it. */
function emitExcepts(state: NginxImport, contents: readonly RegionContent[], server: GuardedServer): void {
  const found = new Map<NginxDirective, ExceptScope[]>();
  for (const content of contents) {
    const { block, fallback, region, filter, earlier, inherited: count } = content;
    if (region.kind === 'slash') continue;
    const named = fallback === null || fallback.ended ? [] : [[fallback.block, server.block, state.http]];
    for (const blocks of [blocksOf(state, content, server), ...named]) {
      const directive = lastOf(blocks[0]!, 'limit_except');
      if (directive === undefined) continue;
      const scopes = found.get(directive) ?? [];
      // nginx runs the redirects of the location for the other methods alone.
      const before = blocks[0] === block ? earlier.slice(0, count) : earlier;
      scopes.push({ filter, earlier: before, differences: region.differences, blocks });
      found.set(directive, scopes);
    }
  }
  for (const [directive, scopes] of found) emitExcept(state, directive, scopes);
}

/** The requests of a location that its own redirects leave: they come before what guards it; `null`: there are none. */
function behindRedirects({ filter, earlier, inherited: count }: RegionContent): ImportedFilter | null {
  let rest = filter;
  for (const { filter: redirected, leadsElsewhere } of earlier.slice(count)) {
    if (!leadsElsewhere) continue;
    const { pathIncludes, pathExcludes, hostIncludes } = redirected;
    if (asksVisitor(redirected)) continue;
    if (JSON.stringify(hostIncludes) !== JSON.stringify(filter.hostIncludes)) continue;
    if (JSON.stringify(pathExcludes) !== JSON.stringify(filter.pathExcludes)) continue;
    const left = withoutRequests(rest, { ...EVERY_REQUEST, pathIncludes });
    if (left === null) return null;
    if (typeof left !== 'string') rest = left;
  }
  return rest;
}

/** Refuses the requests of locations that no carried origin answers, where the origin of the record is another's. */
export function closeFiles(
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

/** Lists of one location, and what applies with them. */
interface SharedList {
  readonly list: readonly NginxDirective[];
  /** What lets in others than the list allows. */
  readonly passwords: readonly NginxDirective[];
}

/** Translates access lists and limits, which locations inherit unless they have their own. */
export function emitShared(
  state: NginxImport,
  contents: readonly RegionContent[],
  server: GuardedServer,
): void {
  const { block } = server;
  const reached = contents.filter(({ ended, loops }) => !ended || loops);
  const isAll =
    reached.length === contents.length && contents.every(({ region }) => region.differences.length === 0);
  const groups = new Map<string, SharedList & { readonly members: RegionContent[] }>();
  for (const content of reached) {
    for (const one of listsOf(state, content, server)) {
      const [first] = one.list;
      if (first!.name === 'deny' && first!.args[0] === 'all') content.closed = true;
      const key = [first!, ...one.passwords].map((of) => numberOf(state, of)).join();
      const group = groups.get(key) ?? { ...one, members: [] };
      group.members.push(content);
      groups.set(key, group);
    }
  }
  for (const { list, passwords, members } of groups.values()) {
    const whole = isAll && members.length === contents.length;
    const earlierOf = ({ earlier, fallback }: RegionContent): readonly EarlierOutcome[] =>
      fallback?.block.includes(list[0]!) === true ? fallback.earlier : earlier;
    const scopes: readonly AccessScope[] = whole
      ? [{ filter: server.filter, earlier: members.flatMap(earlierOf), differences: [] }]
      : members.map((one) => ({
          filter: one.filter,
          earlier: earlierOf(one),
          differences: one.region.differences,
        }));
    if (list[0]!.name !== 'limit_req') {
      emitAccess(state, { list, passwords }, scopes);
      continue;
    }
    const blocks = [members[0]!.block, block, state.http];
    const [statusOf] = innermost(blocks, ({ name }) => name === 'limit_req_status');
    for (const limit of list) emitLimit(state, limit, scopes, Number(statusOf?.args[0] ?? 503));
    for (const one of [block, state.http, ...members.map((member) => member.block)]) {
      const written = lastOf(one, 'limit_req_status');
      if (written !== undefined) markNeedless(entryOf(state, written), 'stated at `limit_req`');
    }
  }
}

/** The number of a directive's entry, which is its own. */
function numberOf(state: NginxImport, directive: NginxDirective): number {
  return state.draft.entries.indexOf(entryOf(state, directive));
}

/** The access lists and limits of a region: its own, and those of the named location that answers for it. */
function listsOf(state: NginxImport, content: RegionContent, server: GuardedServer): readonly SharedList[] {
  const { fallback } = content;
  const own = blocksOf(state, content, server);
  const later: Blocks = fallback === null || fallback.ended ? [] : [fallback.block, server.block, state.http];
  const isLimit = ({ name }: NginxDirective): boolean => name === 'limit_req';
  const limit = innermost(own, isLimit);
  const lists = [
    ...[own, later].map((blocks) => ({
      list: innermost(blocks, ({ name }) => name === 'allow' || name === 'deny'),
      passwords: isSatisfiedByAny(blocks) ? passwordsOf(blocks) : [],
    })),
    // nginx counts a request once.
    { list: limit.length > 0 ? limit : innermost(later, isLimit), passwords: [] },
  ];
  const distinct = new Map(lists.flatMap((one) => (one.list.length > 0 ? [[one.list[0]!, one]] : [])));
  return [...distinct.values()];
}
