/**
 * The addresses of origins that are host names. Concurrent connections share one DNS query, and its addresses are cached for
 * their TTL. While the DNS fails, the last addresses stay in use (serve-stale, RFC 8767).
 */
import { ADDRCONFIG, type LookupAddress, type LookupOptions, type RecordWithTtl } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIPv6, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { LRUCache } from 'lru-cache';
import { openHostsFile } from '../../../base/platform/hosts-file.ts';
import { fileMark } from '../../../base/platform/watched-file.ts';
import {
  MAX_ORIGIN_NAMES,
  NAME_CACHE_MS,
  NAME_RECHECK_MS,
  NAME_STALE_MS,
  ORIGIN_DNS_MS,
  ORIGIN_DNS_TRY_MS,
} from '../limits.ts';

export interface OriginNames {
  /** A `lookup` for `net.connect`. */
  readonly lookup: LookupFunction;
  /**
   * A number that changes when a name has none of its previous addresses: connections to those should be replaced.
   * Refreshes addresses that have expired in the background.
   */
  generation(name: string): number;
}

interface CachedName {
  six: readonly string[];
  four: readonly string[];
  /** Why there are no addresses, or why these are stale; `null`: they are the DNS's. */
  fault: NodeJS.ErrnoException | null;
  /** On the clock: no query before this time. */
  validUntil: number;
  /** On the clock: the addresses may be used until this time while the DNS fails. */
  usableUntil: number;
  /** The query under way. */
  query: Promise<void> | null;
  generation: number;
  /** Counts lookups: each starts with the next address. */
  turn: number;
}

/** `clock` in milliseconds, monotonic. */
export function createOriginNames({
  resolve,
  clock,
}: {
  readonly resolve: Resolve;
  readonly clock: () => number;
}): OriginNames {
  const names = new LRUCache<string, CachedName>({ max: MAX_ORIGIN_NAMES });

  function cachedName(name: string): CachedName {
    const before = names.get(name);
    if (before !== undefined) return before;
    const created: CachedName = {
      six: [],
      four: [],
      fault: null,
      validUntil: Number.NEGATIVE_INFINITY,
      usableUntil: Number.NEGATIVE_INFINITY,
      query: null,
      generation: 0,
      turn: 0,
    };
    names.set(name, created);
    return created;
  }

  /** Stores the result of a query. */
  function store(cached: CachedName, result: ResolvedAddresses, name: string): void {
    const now = clock();
    if (result.kind === 'addresses') {
      if (hasMoved(cached, result)) cached.generation++;
      cached.six = result.six;
      cached.four = result.four;
      cached.fault = null;
      cached.validUntil = now + result.validMs;
      cached.usableUntil = now + NAME_STALE_MS;
      return;
    }
    cached.fault = unresolved(name, result.reason);
    cached.validUntil = now + NAME_RECHECK_MS;
    if (result.kind === 'unknown' && now < cached.usableUntil) return;
    if (hasAddresses(cached)) cached.generation++;
    cached.six = [];
    cached.four = [];
  }

  function query(name: string, cached: CachedName): Promise<void> {
    cached.query ??= resolve(name).then((result) => {
      cached.query = null;
      store(cached, result, name);
    });
    return cached.query;
  }

  return {
    lookup(hostname, options, callback) {
      const name = hostname.toLowerCase();
      const cached = cachedName(name);
      const answer = (): void => answerWith(cached, options, callback as Callback);
      if (clock() < cached.validUntil) return process.nextTick(answer);
      const pending = query(name, cached);
      // While the DNS fails, only the first connection waits for it.
      if (cached.fault !== null && hasAddresses(cached)) process.nextTick(answer);
      else void pending.then(answer);
    },
    generation(name) {
      const cached = cachedName(name);
      if (clock() >= cached.validUntil) void query(name, cached);
      return cached.generation;
    },
  };
}

/** A `lookup` for the node's own connections, to its control plane and collector, by the system's resolvers. */
export function createOwnLookup(): LookupFunction {
  return createOriginNames({ resolve: createResolve({ servers: [] }), clock: () => performance.now() })
    .lookup;
}

type Callback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** Addresses by round robin, as DNS servers rotate them, and IPv6 first: Node tries the families alternately. */
function answerWith(cached: CachedName, { all: wantsAll, family }: LookupOptions, callback: Callback): void {
  const turn = cached.turn++;
  const six =
    family === 4 || family === 'IPv4' ? [] : cached.six.map((_, at) => entry(cached.six, at + turn, 6));
  const four =
    family === 6 || family === 'IPv6' ? [] : cached.four.map((_, at) => entry(cached.four, at + turn, 4));
  const all = [...six, ...four];
  const [first] = all;
  if (first === undefined) callback(cached.fault ?? unresolved('', 'no address of this family'), '');
  else if (wantsAll === true) callback(null, all);
  else callback(null, first.address, first.family);
}

function entry(list: readonly string[], turn: number, family: 4 | 6): LookupAddress {
  return { address: list[turn % list.length]!, family };
}

function hasAddresses({ six, four }: Pick<CachedName, 'six' | 'four'>): boolean {
  return six.length + four.length > 0;
}

/** Whether no address is left. Sets with a common address belong to one group of servers, of which the DNS returns some. */
function hasMoved(cached: CachedName, current: Pick<CachedName, 'six' | 'four'>): boolean {
  const before = new Set([...cached.six, ...cached.four]);
  return before.size > 0 && ![...current.six, ...current.four].some((address) => before.has(address));
}

/** The error code of a name without addresses. */
export const UNRESOLVED = 'EDGE_UNRESOLVED';

function unresolved(name: string, reason: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${name} has no address: ${reason}`), { code: UNRESOLVED });
}

// Resolves a host name: by the system's hosts file, then the DNS. Not by `getaddrinfo`, which Node runs on two threads: two
// names whose servers do not respond would block the names of all other origins. `getaddrinfo` resolves only names of a
// single label, names below `localhost`, and names that the DNS does not have, which it may complete (`search` in
// `resolv.conf(5)`, as in Kubernetes) or find in other sources (`nsswitch.conf(5)`).

type ResolvedAddresses =
  | {
      readonly kind: 'addresses';
      readonly six: readonly string[];
      readonly four: readonly string[];
      /** Milliseconds for which they may be cached. */
      readonly validMs: number;
    }
  /** `none`: the name has no address; `unknown`: no server answered. */
  | { readonly kind: 'none' | 'unknown'; readonly reason: string };

/** Resolves a lower-case name; never rejects. */
export type Resolve = (name: string) => Promise<ResolvedAddresses>;

export interface ResolveOptions {
  /** Addresses with an optional port each (`192.0.2.53`, `192.0.2.53:5353`, `[::1]:53`); none: the system's. */
  readonly servers: readonly string[];
  /** The path of the hosts file. Default: `/etc/hosts`. */
  readonly hosts?: string;
}

/** The file that lists the system's resolvers. */
const RESOLVERS_FILE = '/etc/resolv.conf';
/** Error codes of names that do not exist or have no address, and of names that c-ares considers impossible. */
const NOTHING: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
/** Milliseconds for the second family, once the first has addresses (RFC 8305 §3): some servers never answer for IPv6. */
const OTHER_FAMILY_MS = 300;

export function createResolve({ servers, hosts = '/etc/hosts' }: ResolveOptions): Resolve {
  const table = openHostsFile(hosts);
  const current = resolverOf(servers);

  return async (name) => {
    const listed = await table.addressesOf(name);
    if (listed.length > 0) return addresses(listed, NAME_RECHECK_MS);
    if (isLocal(name)) return fromSystem(name);
    const result = await fromDns(await current(), name);
    return result.kind === 'none' && servers.length === 0 ? fromSystem(name) : result;
  };
}

/** The resolver; a new one after each change of `RESOLVERS_FILE`, which c-ares reads only once. */
function resolverOf(servers: readonly string[]): () => Promise<Resolver> {
  let lastMark = '';
  let resolver = createResolver(servers);
  return async () => {
    if (servers.length > 0) return resolver;
    const mark = await fileMark(RESOLVERS_FILE);
    if (mark !== lastMark && lastMark !== '') resolver = createResolver(servers);
    lastMark = mark;
    return resolver;
  };
}

function createResolver(servers: readonly string[]): Resolver {
  const resolver = new Resolver({ timeout: ORIGIN_DNS_TRY_MS, tries: 2 });
  if (servers.length > 0) resolver.setServers([...servers]);
  return resolver;
}

/** Whether only the system can resolve a name. */
function isLocal(name: string): boolean {
  return !name.includes('.') || name.endsWith('.localhost');
}

async function fromSystem(name: string): Promise<ResolvedAddresses> {
  try {
    const list = await lookup(name, { all: true, hints: ADDRCONFIG });
    return addresses(
      list.map(({ address }) => address),
      NAME_RECHECK_MS,
    );
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    return { kind: NOTHING.has(code) ? 'none' : 'unknown', reason: message };
  }
}

/** The result of one family's query. */
type FamilyResult = readonly RecordWithTtl[] | NodeJS.ErrnoException;

function fromDns(resolver: Resolver, name: string): Promise<ResolvedAddresses> {
  const queries = [resolver.resolve4(name, { ttl: true })];
  if (hasIPv6()) queries.push(resolver.resolve6(name, { ttl: true }));
  return new Promise((resolve) => {
    const parts: FamilyResult[] = [];
    const settle = (): void => {
      clearTimeout(timer);
      resolve(combine(parts, name));
    };
    let timer = setTimeout(settle, ORIGIN_DNS_MS);
    const add = (part: FamilyResult): void => {
      parts.push(part);
      if (parts.length === queries.length) settle();
      else if (!(part instanceof Error) && part.length > 0) {
        clearTimeout(timer);
        timer = setTimeout(settle, OTHER_FAMILY_MS);
      }
    };
    for (const query of queries) query.then(add, add);
  });
}

/** The result for the name from those of its families. */
function combine(parts: readonly FamilyResult[], name: string): ResolvedAddresses {
  const faults: NodeJS.ErrnoException[] = [];
  const records: RecordWithTtl[] = [];
  for (const part of parts) {
    if (part instanceof Error) faults.push(part);
    else records.push(...part);
  }
  if (records.length > 0) {
    const ttl = Math.min(...records.map((record) => record.ttl)) * 1_000;
    const validMs = Math.min(Math.max(ttl, NAME_CACHE_MS.least), NAME_CACHE_MS.most);
    return addresses(
      records.map(({ address }) => address),
      validMs,
    );
  }
  const unknown = faults.find(({ code = '' }) => !NOTHING.has(code));
  if (unknown !== undefined) return { kind: 'unknown', reason: unknown.message };
  if (parts.length === 0)
    return { kind: 'unknown', reason: `no answer about ${name} in ${ORIGIN_DNS_MS} ms` };
  // The DNS answers for an alias of a name without addresses with an empty list.
  return { kind: 'none', reason: faults[0]?.message ?? `${name} is an alias and has no address` };
}

function addresses(all: readonly string[], validMs: number): ResolvedAddresses {
  return {
    kind: 'addresses',
    six: all.filter(isIPv6),
    four: all.filter((address) => !isIPv6(address)),
    validMs,
  };
}

/** Whether this machine has an IPv6 address beyond the loopback, as `AI_ADDRCONFIG` requires (RFC 3493 §6.1). */
function hasIPv6(): boolean {
  return Object.values(networkInterfaces()).some((bound) =>
    bound?.some(({ family, internal }) => family === 'IPv6' && !internal),
  );
}
