/**
 * The addresses of hosts that the server connects to: receivers of webhooks, and the operator's relay, gateway, CA and
 * collector. In: a name, and the account that has chosen it. Out: a `lookup` for sockets, by the hosts file and the DNS. Not by
 * `getaddrinfo`, which runs on libuv's threads without a deadline: a few names whose servers are silent would stop every
 * other name and all file access. Each account resolves a few names at once; a name without a prompt answer, and a new name
 * of an account with such names, is resolved in a circle of its own, so that it delays no other.
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIPv6, type LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import { openHostsFile } from '../../base/platform/hosts-file.ts';
import { createSemaphore, type Semaphore, withDeadline } from '../../base/platform/tasks.ts';
import { fileMark } from '../../base/platform/watched-file.ts';
import { DnsFault } from './message.ts';
import {
  createDns,
  type Dns,
  type DnsOptions,
  type HostAddresses,
  RESOLVER_CONCURRENCY,
} from './resolver.ts';

/** Milliseconds to resolve one name, the wait for its turn included: a third of the time of one delivery. */
const HOST_NAME_MS = 5_000;
/** Milliseconds after which a name is late: resolvers answer nearly all names, cached or not, within them. */
const PROMPT_NAME_MS = 1_000;
/** Milliseconds of one attempt at a prompt name, so that a lost datagram is repeated within `PROMPT_NAME_MS`. */
const PROMPT_TRY_MS = 500;
/** Milliseconds for the second family, once the first has addresses (RFC 8305 §3). */
const OTHER_FAMILY_MS = 300;
/** Names of one account that are resolved at once: as many as it has deliveries under way. */
export const NAMES_OF_ACCOUNT = 2;
/** Names of one circle that are resolved at once; each is two queries, so `RESOLVER_CONCURRENCY` is never exceeded. */
export const NAMES_AT_ONCE = RESOLVER_CONCURRENCY / 2;
/** Milliseconds for which a name without a prompt answer, and its account, are late: name servers are repaired in minutes. */
const FAILING_NAME_MS = 600_000;
/** Names of hosts in each table: above it the least recently used are asked for again. */
const MAX_HOST_NAMES = 1_000;
/** Bounds of the time, in milliseconds, for which addresses are cached, and names that do not exist. */
const HOST_TTL_MS = { least: 1_000, most: 60_000 } as const;
/** Maximum number of domains of a search list (glibc reads any number; older resolvers six). */
const MAX_SEARCH_DOMAINS = 6;

/** Who has chosen a name: an account by its id, or the operator. */
export type NameOwner = number | 'operator';

/** Resolves names of hosts. */
export interface HostNames {
  /** A `lookup` for `net.connect`; its errors have the codes of `getaddrinfo`: `ENOTFOUND`, `EAI_AGAIN`. */
  lookupFor(owner: NameOwner): LookupFunction;
}

/** Resolvers are those of `DnsOptions`; the search list applies to the system's only. */
export interface HostNamesOptions {
  /** Resolvers for names of accounts. Default: the system's. */
  readonly accounts?: DnsOptions['resolvers'];
  /** Resolvers for the operator's names, which may be known inside its own network only. Default: the system's. */
  readonly operator?: DnsOptions['resolvers'];
  /** The path of the hosts file. Default: `/etc/hosts`. */
  readonly hosts?: string;
  /** The file with the search list. Default: `/etc/resolv.conf`. */
  readonly searchFile?: string;
}

/** Names that share the queries under way to the resolvers. */
interface Circle {
  readonly dns: Dns;
  readonly search: SearchList;
  readonly places: Semaphore;
  /** Milliseconds for one name, from its first query. */
  readonly limitMs: number;
  readonly underWay: Map<string, Promise<HostAddresses>>;
  readonly cache: LRUCache<string, HostAddresses>;
}

interface State {
  readonly hosts: ReturnType<typeof openHostsFile>;
  readonly operator: Circle;
  readonly prompt: Circle;
  readonly failing: Circle;
  /** Names at once, by account; an account without a name under way has no entry. */
  readonly shares: Map<number, Semaphore>;
  /** Names that had an address once. */
  readonly answered: LRUCache<string, true>;
  /** Names, and ids of accounts, without a prompt answer. */
  readonly late: LRUCache<string | number, true>;
}

/** Creates the resolver of a process. @throws DnsFault `bad_resolver` */
export function createHostNames(options: HostNamesOptions = {}): HostNames {
  const { accounts, operator, hosts = '/etc/hosts', searchFile = '/etc/resolv.conf' } = options;
  const files = { searchFile };
  const prompt = createCircle({
    ...files,
    resolvers: accounts,
    limitMs: PROMPT_NAME_MS,
    tryMs: PROMPT_TRY_MS,
  });
  const state: State = {
    hosts: openHostsFile(hosts),
    operator: createCircle({ ...files, resolvers: operator, limitMs: HOST_NAME_MS }),
    prompt,
    failing: {
      ...createCircle({ ...files, resolvers: accounts, limitMs: HOST_NAME_MS }),
      cache: prompt.cache,
    },
    shares: new Map(),
    answered: new LRUCache({ max: MAX_HOST_NAMES }),
    late: new LRUCache({ max: MAX_HOST_NAMES, ttl: FAILING_NAME_MS }),
  };
  return {
    lookupFor: (owner) => (hostname, options, callback) => {
      const answer = callback as (
        error: Error | null,
        address: string | LookupAddress[],
        family?: number,
      ) => void;
      const name = hostname.toLowerCase();
      resolveInTime(state, owner, name).then(
        ({ addresses }) => {
          const wanted = addresses.filter((address) => isWanted(address, options.family)).map(entryOf);
          const [first] = wanted;
          if (first === undefined) answer(notFound(name), '');
          else if (options.all === true) answer(null, wanted);
          else answer(null, first.address, first.family);
        },
        (error: unknown) => answer(unanswered(name, error), ''),
      );
    },
  };
}

interface CircleOptions {
  readonly resolvers: DnsOptions['resolvers'];
  readonly searchFile: string;
  readonly limitMs: number;
  /** Milliseconds for one attempt. Default: `ASK_TIMEOUT_MS`. */
  readonly tryMs?: number;
}

function createCircle({ resolvers, searchFile, limitMs, tryMs }: CircleOptions): Circle {
  return {
    dns: createDns({
      ...(resolvers === undefined ? {} : { resolvers }),
      ...(tryMs === undefined ? {} : { timeoutMs: tryMs }),
    }),
    search: openSearchList(resolvers === undefined ? searchFile : null),
    places: createSemaphore(NAMES_AT_ONCE),
    limitMs,
    underWay: new Map(),
    cache: new LRUCache({ max: MAX_HOST_NAMES }),
  };
}

/** Resolves a name within `HOST_NAME_MS`, the wait for its turn included. @throws DnsFault */
function resolveInTime(state: State, owner: NameOwner, name: string): Promise<HostAddresses> {
  return withDeadline(HOST_NAME_MS, undefined, (signal) => {
    const late = new Promise<never>((_, reject) => {
      const fault = new DnsFault('timeout', `no answer about \`${name}\` within ${HOST_NAME_MS} ms`);
      signal.addEventListener('abort', () => reject(fault), { once: true });
    });
    return Promise.race([resolveName(state, { owner, name, signal }), late]);
  });
}

/** A name to resolve. */
interface Question {
  readonly owner: NameOwner;
  readonly name: string;
  readonly signal: AbortSignal;
}

async function resolveName(state: State, question: Question): Promise<HostAddresses> {
  const { owner, name, signal } = question;
  const listed = await state.hosts.addressesOf(name);
  if (listed.length > 0) return { addresses: listed, ttlSec: 0 };
  // RFC 6761 §6.3: no resolver is asked for these.
  if (name === 'localhost' || name.endsWith('.localhost'))
    return { addresses: ['127.0.0.1', '::1'], ttlSec: 0 };
  if (owner === 'operator') return state.operator.cache.get(name) ?? ask(state.operator, name);
  const share = state.shares.get(owner) ?? createSemaphore(NAMES_OF_ACCOUNT);
  state.shares.set(owner, share);
  try {
    return await share.run(
      async () => state.prompt.cache.get(name) ?? askInCircles(state, owner, name),
      signal,
    );
  } finally {
    if (share.isIdle()) state.shares.delete(owner);
  }
}

/** Asks for a name of an account: in the circle of prompt names, then in that of the others. @throws DnsFault */
async function askInCircles(state: State, account: number, name: string): Promise<HostAddresses> {
  const { late, answered } = state;
  if (!late.has(name) && (answered.has(name) || !late.has(account))) {
    try {
      const found = await ask(state.prompt, name);
      if (found.addresses.length > 0) answered.set(name, true);
      return found;
    } catch (error) {
      if (!(error instanceof DnsFault)) throw error;
      late.set(name, true);
      late.set(account, true);
    }
  }
  const found = await ask(state.failing, name);
  if (found.addresses.length > 0) answered.set(name, true);
  late.delete(name);
  late.delete(account);
  return found;
}

/** Resolves a name in a circle; those who ask for one at the same time share its queries. @throws DnsFault */
function ask(circle: Circle, name: string): Promise<HostAddresses> {
  const shared = circle.underWay.get(name);
  if (shared !== undefined) return shared;
  const asked = circle.places
    .run(() => withDeadline(circle.limitMs, undefined, (signal) => searchName(circle, name, signal)))
    .then((found) => {
      const ttl = Math.min(Math.max(found.ttlSec * 1_000, HOST_TTL_MS.least), HOST_TTL_MS.most);
      circle.cache.set(name, found, { ttl });
      return found;
    })
    .finally(() => circle.underWay.delete(name));
  circle.underWay.set(name, asked);
  return asked;
}

/** Resolves the forms of a name in the order of `resolv.conf(5)`; without addresses: none exists. @throws DnsFault */
async function searchName(
  { dns, search }: Circle,
  name: string,
  signal: AbortSignal,
): Promise<HostAddresses> {
  let fault: unknown = null;
  let nothing: HostAddresses | null = null;
  for (const full of await search.formsOf(name)) {
    try {
      const found = await eitherFamily(dns, full, signal);
      if (found.addresses.length > 0) return found;
      nothing ??= found;
    } catch (error) {
      if (signal.aborted) throw error;
      fault = error;
    }
  }
  if (fault !== null || nothing === null) throw fault;
  return nothing;
}

/**
 * The addresses of both families, or of the one that has some: the other's answer is awaited for `OTHER_FAMILY_MS`, since some
 * servers never answer for IPv6. @throws DnsFault when neither family has an address and one has no answer
 */
function eitherFamily(dns: Dns, name: string, signal: AbortSignal): Promise<HostAddresses> {
  const ended = new AbortController();
  const abort = (): void => ended.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  return new Promise((resolve, reject) => {
    const found: HostAddresses[] = [];
    let [fault, left, timer]: [unknown, number, NodeJS.Timeout | undefined] = [null, 2, undefined];
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      ended.abort();
      const addresses = found.flatMap((one) => one.addresses);
      if (addresses.length === 0 && fault !== null) reject(fault);
      else resolve({ addresses, ttlSec: Math.min(...found.map(({ ttlSec }) => ttlSec)) });
    };
    const end = (): void => {
      left -= 1;
      if (left === 0) settle();
      else if (found.some(({ addresses }) => addresses.length > 0))
        timer = setTimeout(settle, OTHER_FAMILY_MS);
    };
    for (const type of ['A', 'AAAA'] as const) {
      dns.familyAddresses({ name, type }, ended.signal).then(
        (one) => {
          found.push(one);
          end();
        },
        (error: unknown) => {
          fault ??= error;
          end();
        },
      );
    }
  });
}

function entryOf(address: string): LookupAddress {
  return { address, family: isIPv6(address) ? 6 : 4 };
}

/** Whether a socket wants an address of this family; 0 and `undefined` are both families. */
function isWanted(address: string, family: LookupOptions['family']): boolean {
  if (family === 4 || family === 'IPv4') return !isIPv6(address);
  return (family !== 6 && family !== 'IPv6') || isIPv6(address);
}

function notFound(name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND' });
}

function unanswered(name: string, cause: unknown): NodeJS.ErrnoException {
  return Object.assign(new Error(`${name} cannot be resolved`, { cause }), { code: 'EAI_AGAIN' });
}

// The search list of `resolv.conf(5)`: what completes a name of few labels, as in Kubernetes and company networks.

interface SearchList {
  /** The full names to ask for, in order; a name with a trailing dot is full. */
  formsOf(name: string): Promise<readonly string[]>;
}

/** The `search` and `ndots` of a file. */
interface Settings {
  readonly domains: readonly string[];
  /** Dots from which on a name is asked for as it is first. */
  readonly dots: number;
}

const NO_SEARCH: Settings = { domains: [], dots: 1 };
/** The most that `ndots` may be (resolv.conf(5)). */
const MOST_DOTS = 15;

/** Reads the file again when it has changed; `null`, and a file that cannot be read: no list. */
function openSearchList(path: string | null): SearchList {
  let lastMark = '';
  let settings = NO_SEARCH;
  return {
    async formsOf(name) {
      if (name.endsWith('.')) return [name.slice(0, -1)];
      if (path === null) return [name];
      const mark = await fileMark(path);
      if (mark !== lastMark) {
        settings = readSettings(await readFile(path, 'latin1').catch(() => ''));
        lastMark = mark;
      }
      const { domains, dots } = settings;
      const completed = domains.map((domain) => `${name}.${domain}`);
      return name.split('.').length > dots ? [name, ...completed] : [...completed, name];
    },
  };
}

/** The last `search` or `domain` line applies. */
function readSettings(text: string): Settings {
  let settings = NO_SEARCH;
  for (const line of text.split('\n')) {
    const [keyword = '', ...values] = line.split(/[#;]/, 1)[0]!.trim().split(/\s+/);
    if (keyword === 'search' || keyword === 'domain') settings = { ...settings, domains: domainsOf(values) };
    const dots = keyword === 'options' ? values.findLast((value) => /^ndots:\d+$/.test(value)) : undefined;
    if (dots !== undefined) settings = { ...settings, dots: Math.min(Number(dots.slice(6)), MOST_DOTS) };
  }
  return settings;
}

/** Domains without the root, which completes nothing. */
function domainsOf(values: readonly string[]): readonly string[] {
  return values
    .map((value) => value.toLowerCase().replace(/\.$/, ''))
    .filter((value) => value !== '')
    .slice(0, MAX_SEARCH_DOMAINS);
}
