/**
 * The addresses of origins that are host names. Concurrent connections share one DNS query, and its addresses are cached for
 * their TTL. While the DNS fails, the last addresses stay in use (serve-stale, RFC 8767).
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import { MAX_ORIGIN_NAMES, NAME_RECHECK_MS, NAME_STALE_MS } from '../limits.ts';
import { createResolve, type Resolve, type ResolvedAddresses } from './resolve.ts';

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
