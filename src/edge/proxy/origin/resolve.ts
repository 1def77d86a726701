/**
 * Resolves a host name: by the system's hosts file, then the DNS. Not by `getaddrinfo`, which Node runs on two threads: two
 * names whose servers do not respond would block the names of all other origins. `getaddrinfo` resolves only names of a
 * single label, names below `localhost`, and names that the DNS does not have, which it may complete (`search` in
 * `resolv.conf(5)`, as in Kubernetes) or find in other sources (`nsswitch.conf(5)`).
 */
import { ADDRCONFIG, type RecordWithTtl } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { openHostsFile } from '../../../base/platform/hosts-file.ts';
import { fileMark } from '../../../base/platform/watched-file.ts';
import { NAME_CACHE_MS, NAME_RECHECK_MS, ORIGIN_DNS_MS, ORIGIN_DNS_TRY_MS } from '../limits.ts';

export type ResolvedAddresses =
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
