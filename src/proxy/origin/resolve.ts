/**
 * Asks for the addresses of a name: the system's table of hosts, then the DNS. Not by way of `getaddrinfo`, which Node
 * runs on two threads: two names whose servers say nothing would keep every other origin's name waiting. The system is
 * asked only for names that are its own affair: of a single label, below `localhost`, and those that the DNS says there
 * are not, which it may complete (`search` in `resolv.conf(5)`, as in Kubernetes) or know from elsewhere (`nsswitch.conf(5)`).
 */
import { ADDRCONFIG, type RecordWithTtl } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { fileMark } from '../../platform/file-mark.ts';
import { NAME_CACHE_MS, NAME_RECHECK_MS, ORIGIN_DNS_MS, ORIGIN_DNS_TRY_MS } from '../limits.ts';
import { openHostsFile } from './hosts-file.ts';

export type ResolvedAddresses =
  | {
      readonly kind: 'addresses';
      readonly six: readonly string[];
      readonly four: readonly string[];
      /** How long they may be believed. */
      readonly keptMs: number;
    }
  /** There are none, or nobody could say. */
  | { readonly kind: 'none' | 'unknown'; readonly reason: string };

/** Finds the addresses of a lower-case name; never rejects. */
export type Resolve = (name: string) => Promise<ResolvedAddresses>;

export interface ResolveOptions {
  /** Addresses with an optional port each (`192.0.2.53`, `192.0.2.53:5353`, `[::1]:53`); none: the system's. */
  readonly servers: readonly string[];
  /** Default: the system's. */
  readonly hosts?: string;
}

/** Where the system names its resolvers. */
const RESOLVERS_FILE = '/etc/resolv.conf';
/** Codes by which the DNS says that there is nothing, and c-ares that no such name can be. */
const NOTHING: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
/** Milliseconds for the other family, once one has addresses (RFC 8305 §3): some servers never answer for IPv6. */
const OTHER_FAMILY_MS = 300;

export function createResolve({ servers, hosts = '/etc/hosts' }: ResolveOptions): Resolve {
  const table = openHostsFile(hosts);
  const current = resolverOf(servers);

  return async (name) => {
    const listed = await table.addressesOf(name);
    if (listed.length > 0) return addresses(listed, NAME_RECHECK_MS);
    if (isOwn(name)) return fromSystem(name);
    const found = await fromDns(await current(), name);
    return found.kind === 'none' && servers.length === 0 ? fromSystem(name) : found;
  };
}

/** A resolver that goes by what the system says now: c-ares reads it once. */
function resolverOf(servers: readonly string[]): () => Promise<Resolver> {
  let seen = '';
  let resolver = createResolver(servers);
  return async () => {
    if (servers.length > 0) return resolver;
    const mark = await fileMark(RESOLVERS_FILE);
    if (mark !== seen && seen !== '') resolver = createResolver(servers);
    seen = mark;
    return resolver;
  };
}

function createResolver(servers: readonly string[]): Resolver {
  const resolver = new Resolver({ timeout: ORIGIN_DNS_TRY_MS, tries: 2 });
  if (servers.length > 0) resolver.setServers([...servers]);
  return resolver;
}

function isOwn(name: string): boolean {
  return !name.includes('.') || name.endsWith('.localhost');
}

async function fromSystem(name: string): Promise<ResolvedAddresses> {
  try {
    const found = await lookup(name, { all: true, hints: ADDRCONFIG });
    return addresses(
      found.map(({ address }) => address),
      NAME_RECHECK_MS,
    );
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    return { kind: NOTHING.has(code) ? 'none' : 'unknown', reason: message };
  }
}

/** What one family's question came to. */
type Part = readonly RecordWithTtl[] | NodeJS.ErrnoException;

function fromDns(resolver: Resolver, name: string): Promise<ResolvedAddresses> {
  const asked = [resolver.resolve4(name, { ttl: true })];
  if (hasIPv6()) asked.push(resolver.resolve6(name, { ttl: true }));
  return new Promise((resolve) => {
    const parts: Part[] = [];
    const settle = (): void => {
      clearTimeout(late);
      resolve(together(parts, name));
    };
    let late = setTimeout(settle, ORIGIN_DNS_MS);
    const add = (part: Part): void => {
      parts.push(part);
      if (parts.length === asked.length) settle();
      else if (!(part instanceof Error) && part.length > 0) {
        clearTimeout(late);
        late = setTimeout(settle, OTHER_FAMILY_MS);
      }
    };
    for (const one of asked) one.then(add, add);
  });
}

function together(parts: readonly Part[], name: string): ResolvedAddresses {
  const faults: NodeJS.ErrnoException[] = [];
  const records: RecordWithTtl[] = [];
  for (const part of parts) {
    if (part instanceof Error) faults.push(part);
    else records.push(...part);
  }
  if (records.length > 0) {
    const ttl = Math.min(...records.map((record) => record.ttl)) * 1_000;
    const keptMs = Math.min(Math.max(ttl, NAME_CACHE_MS.least), NAME_CACHE_MS.most);
    return addresses(
      records.map(({ address }) => address),
      keptMs,
    );
  }
  const unknown = faults.find(({ code = '' }) => !NOTHING.has(code));
  if (unknown !== undefined) return { kind: 'unknown', reason: unknown.message };
  if (parts.length === 0)
    return { kind: 'unknown', reason: `no answer about ${name} in ${ORIGIN_DNS_MS} ms` };
  // An alias of a name without addresses is answered without them.
  return { kind: 'none', reason: faults[0]?.message ?? `${name} is an alias and has no address` };
}

function addresses(all: readonly string[], keptMs: number): ResolvedAddresses {
  return {
    kind: 'addresses',
    six: all.filter(isIPv6),
    four: all.filter((address) => !isIPv6(address)),
    keptMs,
  };
}

/** Whether this machine could reach any IPv6 address but its own, as `getaddrinfo` asks it (RFC 3493 §6.1). */
function hasIPv6(): boolean {
  return Object.values(networkInterfaces()).some((bound) =>
    bound?.some(({ family, internal }) => family === 'IPv6' && !internal),
  );
}
