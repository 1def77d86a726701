/**
 * Translates a HAProxy configuration to an edge file: the frontends of http and https with their rules, and the backends that they
 * choose. Read this file first: it chooses the frontends, and walks through them and their backends in HAProxy's order.
 */
import { createDraft, type DraftOrigin } from '../draft.ts';
import { filtersOf, type ImportedCondition } from '../filter.ts';
import { domainOf, finishDraft } from '../finish-draft.ts';
import type { Importer, OpenIncludes } from '../importer.ts';
import {
  type ImportedEdge,
  type ImporterOptions,
  type ImportRefusal,
  refusedImport,
  type SourceFile,
} from '../report.ts';
import { passes } from '../text-test.ts';
import type { HaproxyServers } from './backends.ts';
import { ALWAYS, allOf, anyOf, type HaproxyImport, reportRest, type Walk } from './context.ts';
import { type ChosenFrontend, chooseFrontends } from './frontends.ts';
import { noteHosts } from './note-hosts.ts';
import { type HaproxySection, isConfiguration, parseHaproxy } from './parse-haproxy.ts';
import { refuseUnrouted } from './refusals.ts';
import { emitRoutes, type HaproxyRoute, joinRequests, readRoutes, unrouted } from './routes.ts';
import { createWalk, walkSection } from './walk-section.ts';

/** How the edge reads every request, where HAProxy differs. */
const NOTES: readonly string[] = [
  'HAProxy compares paths as sent; rules compare them decoded, without `//` and dot segments, and `/a;x` also as `/a`: a refusal of `/admin` also refuses `/%61dmin`, which HAProxy lets through, and what is refused unless the path is `/public` lets `/%70ublic` through, which is the same path',
  'hosts are compared without case and without the port of the scheme; values of the query are compared decoded, and a parameter without a value (`?x`) is present, which HAProxy does not find',
  'the origin gets paths with dot segments resolved; HAProxy forwards them as sent',
  'headers of responses are also set on answers of the edge itself, such as redirects and refusals',
  'a redirect to the URL of the request itself is left out, and the request goes on; HAProxy answers it',
  'hosts for which the file has no record are answered 421; HAProxy has a default backend for them',
];

/** Translates the files; `open` opens those that ACLs and maps name. */
export function importHaproxy(
  files: readonly SourceFile[],
  open: OpenIncludes,
  options: ImporterOptions,
): ImportedEdge | ImportRefusal {
  const sections = parseHaproxy(files.filter(isConfiguration));
  if (!Array.isArray(sections)) return sections as ImportRefusal;
  const state: HaproxyImport = {
    draft: createDraft(),
    entries: new Map(),
    sections: sections as readonly HaproxySection[],
    data: files.filter((file) => !isConfiguration(file)),
    open,
    hosts: new Set(),
    wildcards: new Set(),
  };
  const frontends = chooseFrontends(state);
  if (frontends.length === 0)
    return refusedImport(
      files[0]?.name ?? null,
      'the configuration has no frontend in mode http',
      'name a haproxy.cfg whose frontends have `mode http`',
    );
  noteHosts(state);
  const domain = options.domain?.toLowerCase() ?? domainOf([...state.hosts, ...state.wildcards]);
  if (domain === null)
    return refusedImport(frontends[0]!.section.head.place, 'no ACL names a host of a domain', REMEDY);
  if (frontends.some(({ hasDefault }) => hasDefault) || state.hosts.size + state.wildcards.size === 0) {
    state.hosts.add(domain);
    state.wildcards.add(`*.${domain}`);
    // A name with others below it exists, and the wildcard above does not cover it (RFC 4592).
    for (const one of state.wildcards) state.hosts.add(one.slice(2));
  }
  translate(state, frontends);
  reportRest(state);
  state.draft.notes.push(...NOTES);
  return finishDraft(state.draft, { ...options, domain });
}

const REMEDY = 'name the domain: --domain example.com';

/** A frontend with what it does. */
interface WalkedFrontend {
  readonly walk: Walk;
  readonly routes: readonly HaproxyRoute[];
}

/** Walks through the frontends, then through the backends that they choose. */
function translate(state: HaproxyImport, frontends: readonly ChosenFrontend[]): void {
  const walked: WalkedFrontend[] = [];
  let leaked: readonly ImportedCondition[] = [];
  for (const { section, scope } of frontends) {
    // What a redirect of plain http leaves is guarded as it would be on https.
    const own = leaked.length === 0 ? scope : anyOf([scope, ...leaked]);
    const walk = createWalk(section, own);
    walkSection(state, walk);
    walked.push({ walk, routes: readRoutes(state, walk) });
    leaked = walk.leaked.map((one) => allOf(one, scope)).filter((one) => !isNever(one));
  }
  const routes = walked.flatMap((one) => one.routes);
  const headers = walkBackends(state, walked, routes);
  const servers = emitRoutes(state, routes, headers);
  for (const one of walked) refuseUnrouted(state, one.walk.section, unrouted(one.walk, one.routes));
  addRecords(state, { routes, servers, headers });
}

function isNever(condition: ImportedCondition): boolean {
  const read = filtersOf(condition);
  return read.ok && read.filters.length === 0;
}

/** Walks through the backends; returns the Host headers that they set. */
function walkBackends(
  state: HaproxyImport,
  walked: readonly WalkedFrontend[],
  routes: readonly HaproxyRoute[],
): ReadonlyMap<HaproxySection, string> {
  const hostHeaders = new Map<HaproxySection, string>();
  const fronts = walked.map(({ walk }) => walk);
  const [only] = fronts;
  const before = fronts.length === 1 ? only : undefined;
  for (const section of new Set(routes.map((route) => route.section))) {
    const front = fronts.find((walk) => walk.section === section);
    const walk =
      front ?? createWalk(section, joinRequests(routes.filter((one) => one.section === section)), before);
    if (front === undefined) {
      for (const one of fronts) walk.carried.push(...one.carried.map((carried) => allOf(carried, one.scope)));
      walkSection(state, walk);
      refuseWithoutServers(state, walk);
    }
    const host = walk.hostHeader ?? (fronts.length === 1 ? only!.hostHeader : undefined);
    if (host !== undefined) hostHeaders.set(section, host);
  }
  return hostHeaders;
}

/** Requests that reach a backend without a server are answered 503, unless a line answers them. */
function refuseWithoutServers(state: HaproxyImport, walk: Walk): void {
  const isServing = walk.section.lines.some(({ words }) => words[0] === 'server');
  if (!isServing) refuseUnrouted(state, walk.section, unrouted(walk, []));
}

/** What records are made of. */
interface Served {
  readonly routes: readonly HaproxyRoute[];
  readonly servers: ReadonlyMap<HaproxySection, HaproxyServers>;
  readonly headers: ReadonlyMap<HaproxySection, string>;
}

/** Adds the records: each forwards to what serves its host where no rule chooses another origin. */
function addRecords(state: HaproxyImport, { routes, servers, headers }: Served): void {
  for (const host of [...state.hosts, ...state.wildcards]) {
    const route = routes.findLast(({ condition }) => servesHost(condition, host));
    const origin =
      route === undefined ? null : servers.get(route.section)?.origins.find(({ weight }) => weight > 0);
    if (origin === undefined || origin === null) {
      state.draft.hosts.set(host, null);
      continue;
    }
    const { address, port, scheme } = origin;
    const record: DraftOrigin = {
      address,
      port,
      scheme: scheme === 'https' ? 'Https' : 'Http',
      hostHeader: headers.get(route!.section) ?? '',
    };
    state.draft.hosts.set(host, record);
  }
}

/** Whether a condition holds for a host whatever else the request has. */
function servesHost(condition: ImportedCondition, host: string): boolean {
  if (condition === ALWAYS) return true;
  if (condition.kind === 'all') return condition.of.every((one) => servesHost(one, host));
  if (condition.kind === 'any') return condition.of.some((one) => servesHost(one, host));
  return condition.kind === 'host' && condition.tests.some((test) => passes(test, host));
}

/** The importer of HAProxy. */
export const HAPROXY: Importer = {
  name: 'haproxy',
  files: 'haproxy.cfg, and files of ACLs and maps; - is stdin',
  summary: 'translate a HAProxy configuration to an edge file',
  description:
    'Translates frontends, backends and listen sections in mode http: ACLs and conditions, deny, redirect, return, headers, ' +
    'set-path and replace-path, rates of stick tables, use_backend and servers. Files of ACLs and maps are read below the ' +
    'folder of haproxy.cfg, which stands for /etc/haproxy.',
  examples: [
    'edgeplan import haproxy /etc/haproxy/haproxy.cfg -o edge.yaml',
    'edgeplan import haproxy haproxy.cfg hosts.map --domain example.com --json',
  ],
  translate: (files, options, open) => importHaproxy(files, open, options),
};
