/**
 * The DNS client: recursive resolvers find the servers of a zone, and those are queried directly. Addresses that are not
 * public are excluded unless allowed: names and servers come from customers, who must not be able to make this process
 * send packets to machines inside its own network (SSRF).
 */
import { getServers } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { createSemaphore, type Semaphore } from '../../base/platform/tasks.ts';
import {
  ASK_TIMEOUT_MS,
  canonical,
  type DnsAnswer,
  DnsFault,
  type DnsQuestion,
  type QueryType,
  queryServer,
  type Reply,
} from './message.ts';
import { parseServerAddress, type ServerAddress } from './server-address.ts';

/**
 * Maximum number of concurrent queries of this process to one authoritative server: the servers of one registry have the
 * delegations of thousands of domains, whose checks come together.
 */
export const SERVER_CONCURRENCY = 4;
/** Maximum number of concurrent queries of this process to one resolver, which serves every check. */
export const RESOLVER_CONCURRENCY = 32;
/** Maximum number of servers considered per zone; the root and the largest registries have 13. */
const MAX_SERVERS = 13;
/** Maximum number of addresses, of each family, considered per server name. */
const MAX_ADDRESSES = 4;
/** Maximum number of CNAMEs followed inside one answer: a chain is short, and a loop must end. */
const MAX_ALIASES = 8;
/** Seconds for which a negative answer without an SOA record is valid; RFC 2308 §5 leaves it open, §7 allows 5 minutes. */
const NEGATIVE_TTL_SEC = 300;

/** The configuration of a client. */
export interface DnsOptions {
  /** Recursive resolvers, an address with an optional port each: `192.0.2.53`, `192.0.2.53:5353`, `[::1]:53`. Default: the system's. */
  readonly resolvers?: readonly string[];
  /** The port of the servers of zones. Default: 53. */
  readonly authorityPort?: number;
  /** Also query servers at loopback, private and link-local addresses: all, or those the function accepts. Default: none. */
  readonly privateAddresses?: boolean | ((address: string) => boolean);
  /** Milliseconds for one attempt. Default: `ASK_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
}

/** A DNS client; names are canonical, without a trailing dot. */
export interface Dns {
  readonly resolvers: readonly ServerAddress[];
  /** Queries one resolver. @throws DnsFault */
  askResolver(resolver: ServerAddress, question: DnsQuestion, signal?: AbortSignal): Promise<Reply>;
  /**
   * Queries the resolvers one after the other until one replies `NOERROR` or `NXDOMAIN`.
   * @throws DnsFault `unanswered` when none does
   */
  lookup(question: DnsQuestion, signal?: AbortSignal): Promise<Reply>;
  /** Names of a zone's servers by its NS records; empty: no zone starts at this name. @throws DnsFault */
  zoneServers(zone: string, signal?: AbortSignal): Promise<readonly string[]>;
  /** Addresses of a server, IPv4 first, without those that are not allowed; may be empty. @throws DnsFault */
  addresses(name: string, signal?: AbortSignal): Promise<readonly ServerAddress[]>;
  /**
   * All addresses of a host, those that are not public included, by way of its CNAME records; empty: it has none, or does
   * not exist. Nothing is sent to them. @throws DnsFault `unanswered` when either family has no answer
   */
  hostAddresses(name: string, signal?: AbortSignal): Promise<HostAddresses>;
  /** The same for the family of a question of type A or AAAA. @throws DnsFault `unanswered` */
  familyAddresses(question: DnsQuestion, signal?: AbortSignal): Promise<HostAddresses>;
  /** Queries an authoritative server, without recursion. @throws DnsFault */
  askAuthority(server: ServerAddress, question: DnsQuestion, signal?: AbortSignal): Promise<Reply>;
}

/** The addresses of a host. */
export interface HostAddresses {
  /** IPv4 first. */
  readonly addresses: readonly string[];
  /** The lowest TTL of the records and, where there are none of a family, of the negative answer. */
  readonly ttlSec: number;
}

/** Creates the client. @throws DnsFault `bad_resolver` for a resolver that is not an address */
export function createDns(options: DnsOptions = {}): Dns {
  const { authorityPort = 53, privateAddresses = false, timeoutMs = ASK_TIMEOUT_MS } = options;
  const resolvers = (options.resolvers ?? getServers()).map((text) => {
    const address = parseServerAddress(text);
    if (address !== null) return address;
    const message = 'a resolver must be an address with an optional port, like `192.0.2.53:53`';
    throw new DnsFault('bad_resolver', `${message}, found \`${text}\``);
  });

  const isAllowed = typeof privateAddresses === 'function' ? privateAddresses : () => privateAddresses;

  const resolverLimit = createServerLimit(RESOLVER_CONCURRENCY);
  const serverLimit = createServerLimit(SERVER_CONCURRENCY);

  const askResolver: Dns['askResolver'] = (resolver, question, signal) =>
    resolverLimit.take(
      nameOf(resolver),
      () => queryServer(resolver, question, { recursive: true, timeoutMs, signal }),
      signal,
    );

  const lookup: Dns['lookup'] = async (question, signal) => {
    let cause: unknown = null;
    for (const resolver of resolvers) {
      try {
        const reply = await askResolver(resolver, question, signal);
        if (reply.rcode === 'NOERROR' || reply.rcode === 'NXDOMAIN') return reply;
        cause = new DnsFault('unanswered', `\`${resolver.address}\` answered ${reply.rcode}`);
      } catch (error) {
        if (signal?.aborted === true) throw error;
        cause = error;
      }
    }
    const what = `\`${question.name}\` ${question.type}`;
    throw new DnsFault('unanswered', `no resolver has an answer about ${what}${reason(cause)}`, cause);
  };

  const familyAddresses: Dns['familyAddresses'] = async (question, signal) =>
    readHost(await lookup(question, signal), question);

  return {
    resolvers,
    askResolver,
    lookup,
    familyAddresses,
    async zoneServers(zone, signal) {
      const { answers } = await lookup({ name: zone, type: 'NS' }, signal);
      return serverNames(answers, zone);
    },
    async addresses(name, signal) {
      const found = await Promise.allSettled([
        lookup({ name, type: 'A' }, signal),
        lookup({ name, type: 'AAAA' }, signal),
      ]);
      const [failed] = found.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      const texts = found.flatMap((result, index) => {
        if (result.status === 'rejected') return [];
        const type = index === 0 ? 'A' : 'AAAA';
        return dataOf(result.value.answers, name, type).slice(0, MAX_ADDRESSES).map(String);
      });
      if (texts.length === 0 && failed !== undefined) throw failed;
      return texts
        .filter((address) => isPublic(address) || isAllowed(address))
        .map((address) => ({ address, port: authorityPort }));
    },
    async hostAddresses(name, signal) {
      const questions: readonly DnsQuestion[] = [
        { name, type: 'A' },
        { name, type: 'AAAA' },
      ];
      const found = await Promise.all(questions.map((question) => familyAddresses(question, signal)));
      return {
        addresses: found.flatMap(({ addresses }) => addresses),
        ttlSec: Math.min(...found.map(({ ttlSec }) => ttlSec)),
      };
    },
    askAuthority: (server, question, signal) =>
      serverLimit.take(
        nameOf(server),
        () => queryServer(server, question, { recursive: false, timeoutMs, signal }),
        signal,
      ),
  };
}

/** The key of a server's concurrency limit. */
function nameOf({ address, port }: ServerAddress): string {
  return `${address} ${port}`;
}

/** `: <message>` of a fault, to append to another message; empty for any other cause. */
export function reason(cause: unknown): string {
  return cause instanceof DnsFault ? `: ${cause.message}` : '';
}

/** Whether an address is globally reachable unicast (IANA special-purpose registries, by ipaddr.js). */
function isPublic(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'unicast';
}

/** Names in the NS records of exactly this owner: canonical, distinct, sorted, at most `MAX_SERVERS`. */
export function serverNames(answers: readonly DnsAnswer[], owner: string): readonly string[] {
  const names = answers
    .filter(({ name, type, data }) => type === 'NS' && name === owner && typeof data === 'string')
    .map(({ data }) => canonical(data as string));
  return [...new Set(names)].sort().slice(0, MAX_SERVERS);
}

/**
 * Data of one type at a name, or at the end of the CNAME chain that starts there inside the answer. Follows at most
 * `MAX_ALIASES`; empty: no data.
 */
export function dataOf(answers: readonly DnsAnswer[], name: string, type: QueryType): readonly unknown[] {
  return endOfChain(answers, name, type).found.map(({ data }) => data);
}

/** Where a CNAME chain inside an answer ends. */
interface ChainEnd {
  /** The records of the type at its end; empty: there are none. */
  readonly found: readonly DnsAnswer[];
  /** The CNAME records of the chain. */
  readonly aliases: readonly DnsAnswer[];
}

function endOfChain(answers: readonly DnsAnswer[], name: string, type: QueryType): ChainEnd {
  const aliases: DnsAnswer[] = [];
  let owner = name;
  for (;;) {
    const found = answers.filter((answer) => answer.type === type && answer.name === owner);
    const alias = answers.find((answer) => answer.type === 'CNAME' && answer.name === owner);
    if (found.length > 0 || alias === undefined || typeof alias.data !== 'string') return { found, aliases };
    if (aliases.push(alias) > MAX_ALIASES) return { found: [], aliases };
    owner = canonical(alias.data);
  }
}

/** The addresses that a reply has at the end of its CNAME chain. @throws DnsFault `unanswered`: the chain does not end */
function readHost({ answers, authorities }: Reply, { name, type }: DnsQuestion): HostAddresses {
  const { found, aliases } = endOfChain(answers, name, type);
  if (aliases.length > MAX_ALIASES) {
    throw new DnsFault('unanswered', `more than ${MAX_ALIASES} CNAME records lead on from \`${name}\``);
  }
  const ttls = [...aliases, ...found].map(({ ttl }) => ttl);
  if (found.length === 0) ttls.push(negativeTtl(authorities));
  return { addresses: found.map(({ data }) => String(data)), ttlSec: Math.min(...ttls) };
}

/** Seconds for which a negative answer is valid (RFC 2308 §5). */
function negativeTtl(authorities: readonly DnsAnswer[]): number {
  const soa = authorities.find(({ type }) => type === 'SOA');
  if (soa === undefined) return NEGATIVE_TTL_SEC;
  const { minimum = NEGATIVE_TTL_SEC } = soa.data as { readonly minimum?: number };
  return Math.min(soa.ttl, minimum);
}

// Limits the concurrent queries to each DNS server; further ones wait, first come first served.

/** A limit on concurrent queries, separate for each server. */
export interface ServerLimit {
  /** Runs `work` when the server has a place. @throws DnsFault `cancelled` when `signal` aborts the wait */
  take<T>(server: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Limits for any number of servers, `places` queries at once for each; an idle server takes no memory. */
function createServerLimit(places: number): ServerLimit {
  const semaphores = new Map<string, Semaphore>();
  return {
    async take(server, work, signal) {
      const semaphore = semaphores.get(server) ?? createSemaphore(places);
      semaphores.set(server, semaphore);
      try {
        return await semaphore.run(work, signal);
      } catch (error) {
        if (signal?.aborted !== true || error !== signal.reason) throw error;
        throw new DnsFault('cancelled', 'the question was cancelled', error);
      } finally {
        if (semaphore.isIdle()) semaphores.delete(server);
      }
    },
  };
}
