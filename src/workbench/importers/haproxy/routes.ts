/** Which backend serves a request: `use_backend` and `default_backend` as origin_route and origin_pool rules. */
import { addRule, markDifference, markMissing } from '../draft.ts';
import {
  areDisjoint,
  filtersOf,
  type ImportedCondition,
  type ImportedFilter,
  ruleFields,
} from '../filter.ts';
import { addAlternatives } from '../guard.ts';
import { type HaproxyOrigin, type HaproxyServers, readServers } from './backends.ts';
import {
  ALWAYS,
  allOf,
  anyOf,
  entryOf,
  type HaproxyImport,
  noneOf,
  settingOf,
  type Walk,
} from './context.ts';
import { hostName } from './host-names.ts';
import { formatPieces } from './log-format.ts';
import { mapEntries } from './maps.ts';
import type { HaproxyLine, HaproxySection } from './parse-haproxy.ts';
import { readCondition, splitCondition } from './read-condition.ts';
import type { HaproxyContext } from './read-criterion.ts';
import { filterParts } from './refusals.ts';

/** One choice of a backend. */
export interface HaproxyRoute {
  readonly line: HaproxyLine;
  readonly section: HaproxySection;
  /** Its own condition. */
  readonly condition: ImportedCondition;
  /** Conditions of the choices before it that may hold at the same time. */
  readonly behind: readonly ImportedCondition[];
  /** The requests that reach the frontend. */
  readonly scope: ImportedCondition;
}

/** The requests that a route serves. */
export function requestsOf({ condition, behind, scope }: HaproxyRoute): ImportedCondition {
  return allOf(condition, scope, ...noneOf(behind));
}

/** Reads the routes of a frontend in order; those of a listen section end with itself. */
export function readRoutes(state: HaproxyImport, walk: Walk): readonly HaproxyRoute[] {
  const { section, scope } = walk;
  const routes: HaproxyRoute[] = [];
  const add = (line: HaproxyLine, target: HaproxySection | undefined, condition: ImportedCondition): void => {
    if (target === undefined) {
      markMissing(entryOf(state, line), 'no backend in mode http has the name');
      return;
    }
    const own = filtersOf(condition);
    if (own.ok && own.filters.length === 0) return;
    const earlier = routes.map((one) => one.condition).filter((one) => mayMeet(one, condition));
    routes.push({ line, section: target, condition, behind: earlier, scope });
  };
  const context: HaproxyContext = { state, walk, isGuard: false, differences: [] };
  for (const line of section.lines) {
    if (line.words[0] !== 'use_backend') continue;
    const { own, condition: asked } = splitCondition(line.words);
    const condition = readCondition(context, asked);
    for (const target of targetsOf(context, line, own[1] ?? ''))
      add(line, backendOf(state, target.name), allOf(target.condition, condition));
    for (const one of context.differences.splice(0)) markDifference(entryOf(state, line), one);
  }
  const last = settingOf(state, section, 'default_backend');
  if (section.kind === 'listen' && section.lines.some(({ words }) => words[0] === 'server'))
    add(section.head, section, ALWAYS);
  else if (last !== undefined) add(last, backendOf(state, last.words[1] ?? ''), ALWAYS);
  return routes;
}

/** Whether two conditions may hold at once; one that cannot be read is carried over to no rule. */
function mayMeet(earlier: ImportedCondition, condition: ImportedCondition): boolean {
  const [one, other] = [filtersOf(earlier), filtersOf(condition)];
  if (!one.ok) return false;
  if (!other.ok) return true;
  return one.filters.some((left) => other.filters.some((right) => !areDisjoint(left, right)));
}

function backendOf({ sections }: HaproxyImport, name: string): HaproxySection | undefined {
  return sections.find(
    (section) => (section.kind === 'backend' || section.kind === 'listen') && section.name === name,
  );
}

/** The backends that a name has: one, or those of the values of a map. */
function targetsOf(
  context: HaproxyContext,
  line: HaproxyLine,
  name: string,
): readonly { readonly name: string; readonly condition: ImportedCondition }[] {
  const pieces = formatPieces(name);
  if (typeof pieces !== 'string' && pieces.every(({ kind }) => kind === 'text'))
    return [{ name, condition: ALWAYS }];
  const { state } = context;
  if (typeof pieces !== 'string' && pieces.length === 1 && pieces[0]!.kind === 'host') {
    const named = state.sections.flatMap((one) => hostName(one.name) ?? []);
    return named.map((host) => ({
      name: host,
      condition: { kind: 'host', tests: [{ kind: 'pieces', pieces: [host] }] },
    }));
  }
  const sample = typeof pieces === 'string' ? undefined : pieces.find(({ kind }) => kind === 'sample');
  const entries = sample?.kind === 'sample' ? mapEntries(context, sample.calls) : 'has no equivalent';
  if (typeof pieces === 'string' || typeof entries === 'string') {
    markMissing(entryOf(state, line), `\`${name}\` ${entries as string}`);
    return [];
  }
  return entries.map(({ condition, value }) => {
    const texts = pieces.map((piece) => (piece === sample ? value : piece.kind === 'text' ? piece.text : ''));
    return { name: texts.join(''), condition };
  });
}

/** Adds the rules of the routes, and returns the origin of each section. */
export function emitRoutes(
  state: HaproxyImport,
  routes: readonly HaproxyRoute[],
  hostHeaders: ReadonlyMap<HaproxySection, string>,
): ReadonlyMap<HaproxySection, HaproxyServers> {
  const servers = new Map<HaproxySection, HaproxyServers>();
  const pooled: ImportedCondition[] = [];
  for (const route of routes) {
    const { section, line } = route;
    const own = servers.get(section) ?? readServers(state, section);
    servers.set(section, own);
    const origins = own.origins.filter(({ weight }) => weight > 0);
    if (own.entry === null || origins.length === 0) continue;
    for (const one of own.differences) markDifference(own.entry, one);
    for (const one of own.lost) markDifference(own.entry, `a server is left out: ${one}`);
    const entry = entryOf(state, line);
    const host_header = hostHeaders.get(section) ?? '';
    const condition = allOf(route.condition, route.scope);
    const isPool = own.origins.length > 1 && hasNoPath(condition);
    const behind = isPool ? condition : allOf(condition, ...noneOf(pooled));
    if (own.origins.length > 1 && !isPool)
      markDifference(
        entry,
        'a pool has no filter on paths, so that only the first server of the backend is used',
      );
    addAlternatives(state.draft, entry, {
      condition: filtersOf(behind).ok ? behind : condition,
      differences: filtersOf(behind).ok ? [] : ['rules of pools before it come after it'],
      unmet: 'backends before it serve all its requests',
      emit: (filter) => {
        for (const part of filterParts(filter)) {
          if (isPool) addPool(state, { entry, servers: own, filter: part, host_header });
          else {
            const { address, port, scheme } = origins[0]!;
            addRule(state.draft, entry, 'origin_route', {
              ...ruleFields(part),
              address,
              port,
              scheme,
              host_header,
            });
          }
        }
        return null;
      },
    });
    if (isPool) pooled.push(condition);
  }
  return servers;
}

function hasNoPath(condition: ImportedCondition): boolean {
  const read = filtersOf(condition);
  return (
    read.ok &&
    read.filters.every(({ pathIncludes, pathExcludes }) => pathIncludes === null && pathExcludes.length === 0)
  );
}

interface Pool {
  readonly entry: ReturnType<typeof entryOf>;
  readonly servers: HaproxyServers;
  readonly filter: ImportedFilter;
  readonly host_header: string;
}

function addPool(state: HaproxyImport, { entry, servers, filter, host_header }: Pool): void {
  const { path_match_type: _, ...place } = ruleFields(filter) as Record<string, unknown>;
  const origins = servers.origins.map(({ address, port, scheme, weight }: HaproxyOrigin) => ({
    address,
    port,
    scheme,
    weight,
  }));
  addRule(state.draft, entry, 'origin_pool', { ...place, origins, lb_type: servers.lbType, host_header });
}

/** Requests that no route serves. */
export function unrouted(walk: Walk, routes: readonly HaproxyRoute[]): ImportedCondition {
  if (routes.some(({ condition }) => condition === ALWAYS)) return { kind: 'constant', value: false };
  const conditions = routes.map(({ condition }) => condition).filter((one) => filtersOf(one).ok);
  return allOf(walk.scope, ...noneOf([...walk.ended, ...conditions]));
}

/** The requests of several routes to one section; two that differ in the scheme alone become one. */
export function joinRequests(routes: readonly HaproxyRoute[]): ImportedCondition {
  const groups = new Map<string, HaproxyRoute[]>();
  const textOf = (value: unknown): string =>
    JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}n` : one));
  for (const route of routes) {
    const key = textOf([route.condition, route.behind]);
    groups.set(key, [...(groups.get(key) ?? []), route]);
  }
  return anyOf(
    [...groups.values()].map((group) => {
      const [first] = group;
      const scopes = new Set(group.map(({ scope }) => textOf(scope)));
      return requestsOf(scopes.size > 1 ? { ...first!, scope: ALWAYS } : first!);
    }),
  );
}
