/**
 * Translates an nginx configuration to an edge file: each `server` becomes records and rules for its hosts, each `location` the
 * path filters of its rules. Read this file first: it chooses the server of each host and joins those of port 80 and 443.
 */

import { normalizeName } from '../../base/host.ts';
import { domainOf } from '../domain-name.ts';
import {
  createDraft,
  type DraftOrigin,
  finishDraft,
  markDifference,
  markMissing,
  markNeedless,
} from '../draft.ts';
import { EVERY_REQUEST, type ImportedFilter } from '../filter.ts';
import type { ImportedEdge, ImporterOptions, ImportRefusal, SourceFile } from '../report.ts';
import { refusedImport } from '../report.ts';
import { type EarlierOutcome, entryOf, loseDirective, type NginxImport, reportRest } from './context.ts';
import { withFiniteNames } from './finite-names.ts';
import { foldPatterns, foldPlain } from './fold-plain.ts';
import { type NginxDirective, type OpenIncludes, parseNginx } from './parse-nginx.ts';
import {
  defaultServer,
  hostTests,
  isNamed,
  type NginxServer,
  readServer,
  recordOfRegex,
  serverOfHost,
} from './servers.ts';
import { translateServer } from './translate-server.ts';

/** How the edge reads every request, where nginx differs. */
const NOTES: readonly string[] = [
  'paths are compared decoded, without `//` and dot segments, as nginx does; unlike nginx, a path with parameters (`/a;x`) also matches as `/a`, and an empty query (`/a?`) counts as none',
  'the origin gets paths with dot segments resolved; nginx forwards them as sent',
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
  const draft = createDraft();
  const top = parsed.directives;
  const http = [...top, ...blocksOf(top, 'http')].filter(({ name }) => name !== 'http');
  const state: NginxImport = {
    draft,
    entries: new Map(),
    http: http.filter(({ name }) => name !== 'server'),
    upstreams: byArgument(http, 'upstream', 0),
    maps: byArgument(http, 'map', 1),
    geos: byArgument(http, 'geo', -1),
    zones: zonesOf(http),
  };
  const read = http.filter(({ name, block }) => name === 'server' && block !== null).map(readServer);
  const servers = read.map((one) => withFiniteNames(one, read));
  if (servers.length === 0) {
    const unread = http.find((one) => one.unread !== undefined)?.unread;
    return refusedImport(files[0]?.name ?? null, 'the configuration has no `server`', unread);
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
  const plain = new Map<NginxServer, EarlierOutcome[]>();
  const mains = chooseMains(state, servers, plain);
  const [only] = mains.keys();
  const isOnly = mains.size === 1 && only!.regexes.length === 0;
  for (const [server, hosts] of mains) {
    const filter = isOnly ? EVERY_REQUEST : filterOf(server, [...mains.keys()], hosts);
    const origin = translateServer(state, server.block, {
      filter,
      hosts,
      serverName: server.firstName,
      hasOtherHosts: server.wildcards.length + server.regexes.length > 0,
      earlier: plain.get(server) ?? [],
    });
    addHosts(state, server, hosts, origin);
  }
  return null;
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
  };
  const origin = translateServer(state, main.block, scope);
  state.draft.hosts.set(domain.toLowerCase(), origin);
  state.draft.hosts.set(`*.${domain.toLowerCase()}`, origin);
  return null;
}

/**
 * The server of each host, with its hosts: that of TLS where there is one. A server of plain http beside it is folded into
 * redirects, which `plain` collects.
 */
function chooseMains(
  state: NginxImport,
  servers: readonly NginxServer[],
  plain: Map<NginxServer, EarlierOutcome[]>,
): ReadonlyMap<NginxServer, readonly string[]> {
  const ports = [...new Set(servers.flatMap(({ listeners }) => listeners.map(({ port }) => port)))];
  const mains = new Map<NginxServer, string[]>();
  const listens = (one: NginxServer, port: number): boolean =>
    one.listeners.some((listener) => listener.port === port);
  const byTls = (one: NginxServer): number =>
    (one.listeners.some(({ ssl }) => ssl) ? 0 : 4) + (listens(one, 443) ? 0 : listens(one, 80) ? 1 : 2);
  const hosts = [...new Set(servers.flatMap(({ exact }) => exact))];
  for (const host of hosts) {
    const answering = ports.flatMap((port) => {
      const listening = servers.filter(({ listeners }) => listeners.some((one) => one.port === port));
      const server = serverOfHost(listening, host) ?? defaultServer(listening, port);
      return server === null ? [] : [server];
    });
    const distinct = [...new Set(answering)].sort((one, other) => rank(one, host) - rank(other, host));
    const [main, ...others] = distinct.sort((one, other) => byTls(one) - byTls(other));
    mains.set(main!, [...(mains.get(main!) ?? []), host]);
    const isTls = main!.listeners.some(({ ssl }) => ssl);
    for (const other of others) {
      if (!isTls) {
        const reason = `\`${host}\`: another server answers it on another port, and rules have no filter on the port`;
        markMissing(entryOf(state, other.directive), reason);
        continue;
      }
      const earlier = foldPlain(state, host, { plain: other, main: main! });
      plain.set(main!, [...(plain.get(main!) ?? []), ...earlier]);
    }
  }
  for (const server of [...servers].sort((one, other) => byTls(one) - byTls(other))) {
    const isPatterned = server.wildcards.length + server.regexes.length > 0;
    const covered = [...mains.keys()].some((main) => main !== server && haveSamePatterns(main, server));
    if (isPatterned && !covered && !mains.has(server)) mains.set(server, []);
  }
  for (const one of servers) {
    const main = [...mains.keys()].find((other) => other !== one && sharesPattern(other, one));
    if (!mains.has(one) && main !== undefined) foldPatterns(state, { plain: one, main });
  }
  reportOthers(state, servers, mains);
  return new Map(servers.flatMap((one) => (mains.has(one) ? [[one, mains.get(one)!]] : [])));
}

/** Servers that name the host come before default servers. */
function rank(server: NginxServer, host: string): number {
  return server.exact.includes(host) ? 0 : 1;
}

function sharesPattern(one: NginxServer, other: NginxServer): boolean {
  return (
    one.wildcards.some((name) => other.wildcards.includes(name)) ||
    one.regexes.some((name) => other.regexes.includes(name))
  );
}

function haveSamePatterns(one: NginxServer, other: NginxServer): boolean {
  return JSON.stringify([one.wildcards, one.regexes]) === JSON.stringify([other.wildcards, other.regexes]);
}

/** Reports servers that answer no host of the file. */
function reportOthers(
  state: NginxImport,
  servers: readonly NginxServer[],
  mains: ReadonlyMap<NginxServer, readonly string[]>,
): void {
  for (const server of servers) {
    if (mains.has(server)) continue;
    if (server.block.some((one) => one.name !== 'server_name' && holds(state, one))) {
      // A server that was folded into redirects answers its hosts before what follows them.
      for (const one of server.block) {
        if (
          ['return', 'rewrite', 'root', 'location'].includes(one.name) &&
          !state.entries.has(one) &&
          !holds(state, one)
        )
          markNeedless(entryOf(state, one), 'the hosts of the server are answered before it');
      }
      continue;
    }
    const entry = entryOf(state, server.directive);
    if (isNamed(server)) {
      markMissing(
        entry,
        'another server answers its hosts, and rules have no filter on the port or the scheme',
      );
    } else markNeedless(entry, 'it answers hosts that no server names; the edge answers 421 for them');
  }
}

/** Whether a directive or one of its block has an entry. */
function holds(state: NginxImport, directive: NginxDirective): boolean {
  return state.entries.has(directive) || (directive.block ?? []).some((one) => holds(state, one));
}

/** The filter of a server's hosts. */
function filterOf(
  server: NginxServer,
  mains: readonly NginxServer[],
  hosts: readonly string[],
): ImportedFilter {
  const own = { ...server, exact: server.exact.filter((name) => hosts.includes(name)) };
  const { includes, excludes } = hostTests(
    own,
    mains.map((one) => (one === server ? own : one)),
  );
  return { ...EVERY_REQUEST, hostIncludes: includes, hostExcludes: excludes };
}

/** Adds the records of a server's hosts. */
function addHosts(
  state: NginxImport,
  server: NginxServer,
  hosts: readonly string[],
  origin: DraftOrigin | null,
): void {
  const names = [...hosts, ...server.wildcards];
  const written = server.block.find(({ name }) => name === 'server_name');
  for (const source of server.regexes) {
    const name = recordOfRegex(source);
    if (name !== null) names.push(name);
    else if (written !== undefined) {
      const reason = `\`~${source}\`: no wildcard record follows from it; add the records of its hosts`;
      markDifference(entryOf(state, written), reason);
    }
  }
  for (const name of names) {
    const known = state.draft.hosts.get(name);
    if (known === undefined || known === null) state.draft.hosts.set(name, origin);
  }
}
