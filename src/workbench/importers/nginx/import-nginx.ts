/**
 * Translates an nginx configuration to an edge file: each `server` becomes records and rules for its hosts, each `location` the
 * path filters of its rules. Read this file first: it chooses the server of each host and joins those of port 80 and 443.
 */
import { normalizeName } from '../../../base/addresses/host.ts';
import { createDraft, markDifference, markMissing } from '../draft.ts';
import { EVERY_REQUEST } from '../filter.ts';
import { domainOf, finishDraft } from '../finish-draft.ts';
import type { Importer, OpenIncludes } from '../importer.ts';
import {
  type ImportedEdge,
  type ImporterOptions,
  type ImportRefusal,
  refusedImport,
  type SourceFile,
} from '../report.ts';
import { chooseUnits, filtersOfUnit, recordsOfUnits, sharesRecords } from './choose-servers.ts';
import { entryOf, loseDirective, type NginxImport, reportRest } from './context.ts';
import { type NginxDirective, parseNginx } from './parse-nginx.ts';
import {
  defaultServer,
  isNamed,
  type NginxServer,
  readServer,
  recordOfRegex,
  withFiniteNames,
} from './servers.ts';
import { translateServer } from './translate-server.ts';

/** How the edge reads every request, where nginx differs. */
const NOTES: readonly string[] = [
  'paths are compared decoded, without `//` and dot segments, as nginx does; unlike nginx, a path with parameters (`/a;x`) also matches as `/a`, and an empty query (`/a?`) counts as none',
  'the origin gets paths with dot segments resolved; nginx forwards them as sent',
  'redirects and rewrites merge slashes at the start of a path; nginx merges all in `$uri`, captures and rewritten paths, and none in `$request_uri`',
  'captures have the escapes that the visitor sent; nginx decodes them, and escapes them again in redirects of `rewrite` alone',
  'headers follow the path; what nginx answers before it chooses a location, as by an `if` of the server, has the headers of the server alone',
  'hosts for which the file has no record are answered 421; nginx has a default server for them',
];

/** Translates the files; `open` opens what they include. */
export function importNginx(
  files: readonly SourceFile[],
  open: OpenIncludes,
  options: ImporterOptions,
): ImportedEdge | ImportRefusal {
  const parsed = parseNginx(files, open);
  if (!parsed.ok) return parsed;
  return importDirectives(parsed.directives, options, { place: files[0]?.name ?? null });
}

/** Where directives come from. */
export interface DirectiveSource {
  /** The first file. */
  readonly place: string | null;
  /** Adds what the source has beside its directives, once these are translated. */
  readonly finish?: (state: NginxImport) => void;
}

/** Translates directives, which another product may have written for nginx. */
export function importDirectives(
  top: readonly NginxDirective[],
  options: ImporterOptions,
  { place, finish }: DirectiveSource,
): ImportedEdge | ImportRefusal {
  const draft = createDraft();
  const http = [...top, ...blocksOf(top, 'http')].filter(({ name }) => name !== 'http');
  const state: NginxImport = {
    draft,
    entries: new Map(),
    http: http.filter(({ name }) => name !== 'server'),
    upstreams: byArgument(http, 'upstream', 0),
    maps: byArgument(http, 'map', 1),
    geos: byArgument(http, 'geo', -1),
    zones: zonesOf(http),
    hasUnderscores: hasUnderscores(top),
  };
  const read = http.filter(({ name, block }) => name === 'server' && block !== null).map(readServer);
  const servers = read.map((one) => withFiniteNames(one, read));
  if (servers.length === 0) {
    const unread = http.find((one) => one.unread !== undefined)?.unread;
    return refusedImport(place, 'the configuration has no `server`', unread);
  }
  const names = servers.flatMap(({ exact, wildcards, regexes }) => [
    ...exact,
    ...wildcards,
    ...regexes.flatMap((source) => recordOfRegex(source) ?? []),
  ]);
  const domain = options.domain === null ? domainOf(names) : normalizeName(options.domain);
  const own = domain === null ? servers : servers.map((one) => leaveForeignNames(state, one, domain));
  const problem = translateServers(state, own, options.domain ?? domain);
  if (problem !== null) return problem;
  reportRest(state, top);
  finish?.(state);
  draft.notes.push(...NOTES);
  return finishDraft(draft, { ...options, domain: options.domain ?? domain });
}

/** The server without its names of other domains. */
function leaveForeignNames(state: NginxImport, server: NginxServer, domain: string): NginxServer {
  const isOwn = (name: string): boolean =>
    name === domain || name === `*.${domain}` || name.endsWith(`.${domain}`);
  const isOwnRegex = (source: string): boolean => isOwn(recordOfRegex(source) ?? domain);
  const own = {
    ...server,
    exact: server.exact.filter(isOwn),
    wildcards: server.wildcards.filter(isOwn),
    regexes: server.regexes.filter(isOwnRegex),
  };
  const { exact, wildcards, regexes } = server;
  const foreign = [...exact, ...wildcards, ...regexes.map((source) => `~${source}`)].filter((name) =>
    name.startsWith('~') ? !isOwnRegex(name.slice(1)) : !isOwn(name),
  );
  if (foreign.length === 0) return server;
  const shown = foreign.map((name) => `\`${name}\``).join(', ');
  const reason = `${shown}: not of \`${domain}\`, and a file has one domain; import it with --domain`;
  const written = server.block.find(({ name }) => name === 'server_name') ?? server.directive;
  loseDirective(state, isNamed(own) ? written : server.directive, reason);
  return own;
}

function blocksOf(directives: readonly NginxDirective[], name: string): readonly NginxDirective[] {
  return directives.flatMap((one) => (one.name === name ? (one.block ?? []) : []));
}

/** Directives of a name by one of their arguments, without `$`; -1: the last. */
function byArgument(
  directives: readonly NginxDirective[],
  name: string,
  position: number,
): ReadonlyMap<string, NginxDirective> {
  const found = directives.filter((one) => one.name === name && one.args.at(position) !== undefined);
  return new Map(found.map((one) => [one.args.at(position)!.replace(/[${}]/g, ''), one]));
}

/** `limit_req_zone` by the name of the zone. */
function zonesOf(http: readonly NginxDirective[]): ReadonlyMap<string, NginxDirective> {
  const zones = new Map<string, NginxDirective>();
  for (const one of http) {
    if (one.name !== 'limit_req_zone') continue;
    const zone = one.args.find((arg) => arg.startsWith('zone='))?.slice('zone='.length);
    if (zone !== undefined) zones.set(zone.split(':')[0]!, one);
  }
  return zones;
}

function hasUnderscores(directives: readonly NginxDirective[]): boolean {
  return directives.some(
    ({ name, args, block }) =>
      (name === 'underscores_in_headers' && args[0] === 'on') || hasUnderscores(block ?? []),
  );
}

/** Translates all servers; a refusal when no host is known. */
function translateServers(
  state: NginxImport,
  servers: readonly NginxServer[],
  domain: string | null,
): ImportRefusal | null {
  const named = servers.filter(isNamed);
  if (named.length === 0) {
    // Servers that have names of other domains alone are reported already.
    const nameless = servers.filter(({ directive }) => !state.entries.has(directive));
    return nameless.length === 0 ? null : translateUnnamed(state, nameless, domain);
  }
  for (const { unknown, directive } of servers) {
    const written = directive.block?.find(({ name }) => name === 'server_name');
    if (unknown.length === 0 || written === undefined) continue;
    markMissing(
      entryOf(state, written),
      `${unknown.map((name) => `\`${name}\``).join(', ')}: a record needs a whole name of a domain`,
    );
  }
  const units = chooseUnits(state, servers);
  const records = recordsOfUnits(units);
  for (const unit of units) {
    for (const { filter, server } of filtersOfUnit(unit, units)) {
      const isPatterned = server.wildcards.length + server.regexes.length > 0;
      const isShared = isPatterned && sharesRecords(server, unit.source, records);
      const isPlain = unit.scheme === 'http';
      // Units of plain http come last, so that the origins of their records are known.
      const hasOrigin = server.exact.some((host) => (state.draft.hosts.get(host) ?? null) !== null);
      const origin = translateServer(state, server.block, {
        filter,
        hosts: server.exact,
        serverName: server.firstName,
        hasOtherHosts: isPatterned,
        earlier: server.exact.length > 0 ? unit.earlier : [],
        isTlsAlone: isTlsAlone(server, servers),
        sharing: isPlain || isShared ? server.directive : null,
        besideOrigin: isShared || (isPlain && hasOrigin),
      });
      for (const [name, owner] of records) {
        const known = state.draft.hosts.get(name) ?? null;
        if (owner === unit.source && known === null) state.draft.hosts.set(name, origin);
      }
      reportUnrecorded(state, server);
    }
  }
  return null;
}

/** Whether a server has listeners of TLS alone, and another has plain http. */
function isTlsAlone({ listeners }: NginxServer, servers: readonly NginxServer[]): boolean {
  return listeners.every(({ ssl }) => ssl) && servers.some((one) => one.listeners.some(({ ssl }) => !ssl));
}

/** A configuration whose servers have no names serves every host of the domain. */
function translateUnnamed(
  state: NginxImport,
  servers: readonly NginxServer[],
  domain: string | null,
): ImportRefusal | null {
  if (domain === null) {
    const message = 'no `server` names a host of a domain';
    return refusedImport(servers[0]!.directive.place, message, 'name the domain: --domain example.com');
  }
  const main = defaultServer(servers, 443) ?? defaultServer(servers, 80) ?? servers[0]!;
  for (const server of servers) {
    if (server !== main)
      loseDirective(state, server.directive, 'no request of the domain reaches it but by its port');
  }
  const scope = {
    filter: EVERY_REQUEST,
    hosts: [],
    serverName: main.firstName,
    hasOtherHosts: true,
    earlier: [],
    isTlsAlone: isTlsAlone(main, servers),
    sharing: null,
    besideOrigin: false,
  };
  const origin = translateServer(state, main.block, scope);
  state.draft.hosts.set(domain.toLowerCase(), origin);
  state.draft.hosts.set(`*.${domain.toLowerCase()}`, origin);
  return null;
}

/** Reports regexes from which no record follows. */
function reportUnrecorded(state: NginxImport, { block, regexes }: NginxServer): void {
  const written = block.find(({ name }) => name === 'server_name');
  for (const source of regexes) {
    if (recordOfRegex(source) !== null || written === undefined) continue;
    const reason = `\`~${source}\`: no wildcard record follows from it; add the records of its hosts`;
    markDifference(entryOf(state, written), reason);
  }
}

/** The importer of nginx. */
export const NGINX: Importer = {
  name: 'nginx',
  files: 'nginx.conf or files of sites; - is stdin',
  summary: 'translate an nginx configuration to an edge file',
  description:
    'Translates server names, locations, return, rewrite, if, map and geo, allow and deny, limit_except, limit_req, ' +
    'proxy_pass, upstream, and what changes headers. Includes are read below the folder of nginx.conf, which stands for /etc/nginx.',
  examples: [
    'edgeplan import nginx /etc/nginx/nginx.conf -o edge.yaml',
    'edgeplan import nginx /etc/nginx/sites-enabled/shop --domain example.com --json',
  ],
  translate: (files, options, open) => importNginx(files, open, options),
};
