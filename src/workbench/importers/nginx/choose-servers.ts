/**
 * Chooses the server of each host of the file. In: the servers. Out: units of hosts with the server that answers them, the units
 * that win first. A server of plain http beside one of TLS is folded into redirects, or has a unit of its own.
 */
import { markDifference, markMissing, markNeedless } from '../draft.ts';
import { EVERY_REQUEST, type ImportedFilter } from '../filter.ts';
import { passes, type TextTest } from '../text-test.ts';
import { type EarlierOutcome, entryOf, type NginxImport } from './context.ts';
import { foldPatterns, foldPlain, isWholeUpgrade } from './fold-plain.ts';
import {
  coversRecord,
  defaultServer,
  hostTests,
  isNamed,
  type NginxServer,
  recordOfRegex,
  serverOfHost,
} from './servers.ts';

/** Hosts that one server answers. */
export interface HostUnit {
  /** Requests over this scheme alone, where servers of both answer its hosts; `null`: over both. */
  readonly scheme: 'http' | 'https' | null;
  /** With the names of the unit alone. */
  readonly server: NginxServer;
  /** The server as it is written. */
  readonly source: NginxServer;
  /** Units of a lower tier win: names of TLS, other names, hosts that only a wildcard record names. */
  readonly tier: 0 | 1 | 2;
  /** Redirects of plain http, which come before its directives. */
  readonly earlier: EarlierOutcome[];
}

/** Chooses the units, in the order of the servers within a tier. */
export function chooseUnits(state: NginxImport, servers: readonly NginxServer[]): readonly HostUnit[] {
  const units: HostUnit[] = [];
  const unitOf = (source: NginxServer, tier: HostUnit['tier'], scheme: HostUnit['scheme']): HostUnit => {
    const known = units.find((one) => one.source === source && one.tier === tier && one.scheme === scheme);
    if (known !== undefined) return known;
    const unit = { source, server: withNames(source, {}), tier, scheme, earlier: [] };
    units.push(unit);
    return unit;
  };
  const add = (
    source: NginxServer,
    tier: HostUnit['tier'],
    names: Partial<Names>,
    scheme: HostUnit['scheme'] = null,
  ): HostUnit => {
    const unit = unitOf(source, tier, scheme);
    const { exact, wildcards, regexes } = unit.server;
    const more = {
      exact: [...exact, ...(names.exact ?? [])],
      wildcards: [...new Set([...wildcards, ...(names.wildcards ?? [])])],
      regexes: [...regexes, ...(names.regexes ?? [])],
    };
    const grown = { ...unit, server: withNames(source, more) };
    units[units.indexOf(unit)] = grown;
    return grown;
  };
  const byPort = serversByPort(servers);
  for (const host of new Set(servers.flatMap(({ exact }) => exact))) {
    const { main, plain, earlier } = chooseExact(state, byPort, host);
    if (plain !== null) add(plain, 0, { exact: [host] }, 'http');
    add(main, 0, { exact: [host] }, plain === null ? null : 'https').earlier.push(...earlier);
  }
  const fallback = defaultOf(servers, true);
  for (const source of [...servers].sort((one, other) => byTls(one) - byTls(other))) {
    const own = { wildcards: source.wildcards, regexes: source.regexes };
    if (own.wildcards.length + own.regexes.length === 0) continue;
    if (isTls(source)) {
      add(source, 0, own);
      continue;
    }
    const ofTls = units.filter((one) => isTls(one.source));
    const left = withoutAnswered(own, { ofTls, plain: units.filter(({ tier }) => tier === 1) });
    const main = ofTls.find(({ server }) => sharesPattern(server, source))?.source;
    if (main !== undefined) foldPatterns(state, { plain: source, main });
    if (left.wildcards.length + left.regexes.length === 0) continue;
    if (fallback !== null && isWholeUpgrade(state, source, patternHost(source))) {
      // What is redirected to https is answered by the default server of TLS.
      foldPatterns(state, { plain: source, main: fallback });
      add(fallback, 1, left);
    } else add(source, 1, left);
  }
  for (const { source, server } of [...units]) {
    const claimed = units.flatMap((one) => one.server.wildcards);
    const records = server.regexes.flatMap((regex) =>
      coversRecord(regex) ? [] : (recordOfRegex(regex) ?? []),
    );
    const strays = records.filter((name) => !claimed.some((one) => name.slice(1).endsWith(one.slice(1))));
    // nginx answers hosts that no regex matches with its default server.
    if (strays.length > 0) add(defaultOf(servers, isTls(source)) ?? source, 2, { wildcards: strays });
  }
  reportOthers(
    state,
    servers,
    units.map(({ source }) => source),
  );
  const isPlain = ({ scheme }: HostUnit): number => (scheme === 'http' ? 1 : 0);
  return [...units].sort(
    (one, other) =>
      one.tier - other.tier ||
      isPlain(one) - isPlain(other) ||
      servers.indexOf(one.source) - servers.indexOf(other.source),
  );
}

type Names = Pick<NginxServer, 'exact' | 'wildcards' | 'regexes'>;

function withNames(
  server: NginxServer,
  { exact = [], wildcards = [], regexes = [] }: Partial<Names>,
): NginxServer {
  return { ...server, exact, wildcards, regexes };
}

function isTls({ listeners }: NginxServer): boolean {
  return listeners.some(({ ssl }) => ssl);
}

function listens({ listeners }: NginxServer, port: number): boolean {
  return listeners.some((one) => one.port === port);
}

/** The order of servers: those of TLS first, then by port. */
function byTls(server: NginxServer): number {
  return (isTls(server) ? 0 : 4) + (listens(server, 443) ? 0 : listens(server, 80) ? 1 : 2);
}

/** The default server of TLS, or of plain http; `null`: no server listens so. */
function defaultOf(servers: readonly NginxServer[], tls: boolean): NginxServer | null {
  const listeners = servers.flatMap((one) => one.listeners.filter(({ ssl }) => ssl === tls));
  const usual = tls ? 443 : 80;
  const port = listeners.some((one) => one.port === usual) ? usual : listeners[0]?.port;
  return port === undefined ? null : defaultServer(servers, port);
}

/** A host that a pattern of the server may match. */
function patternHost({ wildcards, regexes }: NginxServer): string {
  return `any${(wildcards[0] ?? recordOfRegex(regexes[0] ?? '') ?? '*.example.com').slice(1)}`;
}

/** The servers that listen on each port, ports and servers in the order of the file. */
function serversByPort(servers: readonly NginxServer[]): ReadonlyMap<number, readonly NginxServer[]> {
  const ports = new Set(servers.flatMap(({ listeners }) => listeners.map(({ port }) => port)));
  return new Map([...ports].map((port) => [port, servers.filter((one) => listens(one, port))]));
}

/** The server of an exact host; `plain`: the one that answers it over plain http, unless it is folded into redirects. */
function chooseExact(
  state: NginxImport,
  byPort: ReadonlyMap<number, readonly NginxServer[]>,
  host: string,
): {
  readonly main: NginxServer;
  readonly plain: NginxServer | null;
  readonly earlier: readonly EarlierOutcome[];
} {
  const answering = [...byPort].flatMap(
    ([port, listening]) => serverOfHost(listening, host) ?? defaultServer(listening, port) ?? [],
  );
  const rank = ({ exact }: NginxServer): number => (exact.includes(host) ? 0 : 1);
  const distinct = [...new Set(answering)].sort((one, other) => rank(one) - rank(other));
  const sorted = distinct.sort((one, other) => byTls(one) - byTls(other));
  const named = sorted.find((one) => serverOfHost([one], host) !== null)!;
  // A site of plain http alone is answered by its own server, unless that redirects everything to https.
  const main = isWholeUpgrade(state, named, host) ? sorted[0]! : named;
  const plain = isTls(main) ? (sorted.find((one) => !isTls(one)) ?? null) : null;
  const folded = plain === null ? [] : foldPlain(state, host, { plain, main });
  for (const other of sorted) {
    if (other === main || other === plain) continue;
    if (!isTls(main) && serverOfHost([other], host) === null && isTls(other)) {
      const written = main.block.find(({ name }) => name === 'server_name') ?? main.directive;
      const reason = `\`${host}\`: nginx answers https with its default server, as none of TLS names it; the edge answers as over plain http`;
      markDifference(entryOf(state, written), reason);
    } else {
      const reason = `\`${host}\`: another server answers it on another port, and rules have no filter on the port`;
      markMissing(entryOf(state, other.directive), reason);
    }
  }
  return { main, plain: folded === null ? plain : null, earlier: folded ?? [] };
}

/** The patterns that no unit answers yet: those of TLS answer all of their hosts, others what they name on another port. */
function withoutAnswered(
  { wildcards, regexes }: Omit<Names, 'exact'>,
  { ofTls, plain }: { readonly ofTls: readonly HostUnit[]; readonly plain: readonly HostUnit[] },
): Omit<Names, 'exact'> {
  const known = ofTls.flatMap(({ server }) => server.wildcards);
  const named = [...ofTls, ...plain].flatMap(({ server }) => [...server.wildcards, ...server.regexes]);
  const isInside = (name: string): boolean => known.some((one) => name.slice(1).endsWith(one.slice(1)));
  return {
    wildcards: wildcards.filter((name) => !isInside(name) && !named.includes(name)),
    regexes: regexes.filter((one) => !named.includes(one)),
  };
}

function sharesPattern(one: NginxServer, other: NginxServer): boolean {
  const names = one.wildcards.map((name) => name.slice(1));
  return (
    other.wildcards.some((name) => names.some((end) => name.endsWith(end) || end.endsWith(name.slice(1)))) ||
    one.regexes.some((name) => other.regexes.includes(name)) ||
    one.regexes.some((name) => other.wildcards.includes(recordOfRegex(name) ?? ''))
  );
}

/**
 * The filters of a unit's hosts: one, or one for its exact hosts and one for its patterns where other units win over the
 * patterns and not over the hosts.
 */
export function filtersOfUnit(
  { server, source, tier, scheme }: HostUnit,
  units: readonly HostUnit[],
): readonly { readonly filter: ImportedFilter; readonly server: NginxServer }[] {
  const isAlone = units.every((one) => one.source === source && one.scheme === null);
  const hasPatterns = units.some((one) => one.server.regexes.some((regex) => !coversRecord(regex)));
  if (isAlone && (!hasPatterns || units.some((one) => one.tier === 2)))
    return units[0]!.server === server ? [{ filter: EVERY_REQUEST, server: joined(units) }] : [];
  const others = units.filter((one) => one.source !== source || one.scheme !== scheme);
  const winners = others.filter((one) => one.tier < tier).map((one) => one.server);
  const rivals = units.filter((one) => one.tier === tier).map((one) => one.server);
  const testsOf = (own: NginxServer): ReturnType<typeof hostTests> => {
    const named = others.map((one) => withNames(one.server, { exact: one.server.exact }));
    const equals = rivals.map((one) => (one === server ? own : one));
    return hostTests(own, { rivals: [...named, ...equals], winners });
  };
  const whole = testsOf(server);
  const isIn = (test: TextTest): boolean => server.exact.some((host) => passes(test, host));
  const parts = whole.excludes.some(isIn)
    ? [withNames(server, { exact: server.exact }), { ...server, exact: [] }]
    : [server];
  return parts.map((own) => {
    const isExact = own.wildcards.length + own.regexes.length === 0;
    const { includes, excludes } = own === server ? whole : testsOf(own);
    const facts = scheme === null ? [] : [{ member: 'schemes', values: [scheme], negated: false } as const];
    const filter = { ...EVERY_REQUEST, hostIncludes: includes, hostExcludes: isExact ? [] : excludes, facts };
    return { filter, server: own };
  });
}

/** All names of units of one server. */
function joined(units: readonly HostUnit[]): NginxServer {
  return withNames(units[0]!.source, {
    exact: units.flatMap(({ server }) => server.exact),
    wildcards: units.flatMap(({ server }) => server.wildcards),
    regexes: units.flatMap(({ server }) => server.regexes),
  });
}

/**
 * The records of units, each with the first unit that claims it: those of names come before those of regexes, and those of plain
 * http alone claim none.
 */
export function recordsOfUnits(all: readonly HostUnit[]): ReadonlyMap<string, NginxServer> {
  const units = all.filter(({ scheme }) => scheme !== 'http');
  const records = new Map<string, NginxServer>();
  const claim = (name: string, server: NginxServer): void => {
    if (!records.has(name)) records.set(name, server);
  };
  const early = units.filter(({ tier }) => tier < 2);
  for (const { server, source } of early)
    for (const name of [...server.exact, ...server.wildcards]) claim(name, source);
  for (const { server, source } of early)
    for (const regex of server.regexes) claim(recordOfRegex(regex) ?? '', source);
  for (const { server, source } of units) for (const name of server.wildcards) claim(name, source);
  records.delete('');
  return records;
}

/** Whether a record for some hosts of the patterns is another server's. */
export function sharesRecords(
  { wildcards, regexes }: Names,
  source: NginxServer,
  records: ReadonlyMap<string, NginxServer>,
): boolean {
  const ends = [...wildcards, ...regexes.flatMap((regex) => recordOfRegex(regex) ?? [])].map((name) =>
    name.slice(1),
  );
  return [...records].some(
    ([name, owner]) =>
      owner !== source && name.startsWith('*') && ends.some((end) => name.slice(1).endsWith(end)),
  );
}

/** Reports servers that answer no host of the file. */
function reportOthers(
  state: NginxImport,
  servers: readonly NginxServer[],
  mains: readonly NginxServer[],
): void {
  for (const server of servers) {
    if (mains.includes(server)) continue;
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
      markMissing(entry, 'another server answers its hosts, and rules have no filter on the port');
    } else markNeedless(entry, 'it answers hosts that no server names; the edge answers 421 for them');
  }
}

/** Whether a directive or one of its block has an entry. */
function holds(state: NginxImport, directive: Parameters<typeof entryOf>[1]): boolean {
  return state.entries.has(directive) || (directive.block ?? []).some((one) => holds(state, one));
}
