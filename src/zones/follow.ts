/**
 * Finds the addresses behind the target of an alias: of a name inside the zone from the zone's own records, of any other
 * from its last answer. Inside the zone as resolvers do: the exact name, else the wildcard at the closest encloser
 * (RFC 4592), CNAME and ALIAS records followed.
 */
import { MAX_ALIAS_STEPS, MAX_FLATTENED, MAX_FLATTENED_ADDRESSES } from './limits.ts';
import { keyOf, type OwnName, type WireData } from './own-names.ts';
import { encodeData } from './rdata.ts';
import { TYPES } from './wire/records.ts';

/** The addresses behind a target. */
export interface TargetAddresses {
  /** A and AAAA; at most `MAX_FLATTENED_ADDRESSES` of each. */
  readonly addresses: readonly WireData[];
  /** Whether they depend on an answer about a name outside the zone. */
  readonly external: boolean;
  /** Why there are none, or not all; `null`: nothing is missing. */
  readonly problem: string | null;
}

/** Follows targets. */
export interface Follower {
  follow(target: string): TargetAddresses;
  /** The names outside the zone that were reached, in this order. */
  targets(): readonly string[];
}

export interface FollowerOptions {
  readonly domain: string;
  readonly names: ReadonlyMap<string, OwnName>;
  /** What proxied names have. */
  readonly edge: readonly WireData[];
  addressesOf(target: string): readonly string[] | null;
}

/** Creates a follower for one zone. */
export function createFollower({ domain, names, edge, addressesOf }: FollowerOptions): Follower {
  const targets = new Set<string>();
  const find = nameFinder(domain, names);
  /** PERF: many aliases may lead to one name, which may have many addresses. */
  const known = new Map<string, TargetAddresses>();

  function follow(target: string, steps: number): TargetAddresses {
    const key = `${steps} ${target}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = isInside(target) ? inside(target, steps) : outside(target);
    known.set(key, found);
    return found;
  }

  /** Names at or below a delegation are in another zone. */
  function isInside(target: string): boolean {
    if (target === domain) return true;
    if (!target.endsWith(`.${domain}`)) return false;
    for (let name = target; name !== domain; name = parentOf(name)) {
      if (names.get(name)?.others.some(({ type }) => type === TYPES.NS) === true) return false;
    }
    return true;
  }

  function inside(target: string, steps: number): TargetAddresses {
    const own = find(target);
    if (own === null) return nothing(`\`${target}\` does not exist`);
    if (own.proxied) return { addresses: edge, external: false, problem: null };
    if (own.aliases.length > 0 && steps === 0) {
      return nothing(`more than ${MAX_ALIAS_STEPS} aliases lead on from the target`);
    }
    const behind = own.aliases.map((alias) => follow(alias.target, steps - 1));
    const all = [...own.addresses, ...behind.flatMap(({ addresses }) => addresses)];
    const addresses = firstOfEach(all);
    const missing = all.length === 0 ? `\`${target}\` has no address` : null;
    return {
      addresses,
      external: behind.some(({ external }) => external),
      problem: behind.find(({ problem }) => problem !== null)?.problem ?? missing,
    };
  }

  function outside(target: string): TargetAddresses {
    if (!targets.has(target) && targets.size === MAX_FLATTENED) {
      return nothing(`only ${MAX_FLATTENED} targets outside the domain are resolved`);
    }
    targets.add(target);
    const texts = addressesOf(target);
    if (texts === null) return { ...nothing(`\`${target}\` is not resolved yet`), external: true };
    const addresses = firstOfEach(texts.map(addressData).filter((address) => address !== null));
    const problem = addresses.length === 0 ? `\`${target}\` has no address` : null;
    return { addresses, external: true, problem };
  }

  return { follow: (target) => follow(target, MAX_ALIAS_STEPS), targets: () => [...targets] };
}

/** The data of an address in text form; `null`: it is none. */
export function addressData(text: string): WireData | null {
  const type = text.includes(':') ? 'AAAA' : 'A';
  const rdata = encodeData(type, { destination: text, mx_priority: null });
  return rdata instanceof Uint8Array ? { type: TYPES[type], rdata } : null;
}

function nothing(problem: string): TargetAddresses {
  return { addresses: [], external: false, problem };
}

/** Sorted, distinct, at most `MAX_FLATTENED_ADDRESSES` of each family. */
function firstOfEach(addresses: readonly WireData[]): readonly WireData[] {
  const sorted = new Map(addresses.map((address) => [keyOf(address), address]));
  const keys = [...sorted.keys()].sort();
  const left = new Map([TYPES.A, TYPES.AAAA].map((type) => [type as number, MAX_FLATTENED_ADDRESSES]));
  return keys.flatMap((key) => {
    const address = sorted.get(key)!;
    const places = left.get(address.type)!;
    left.set(address.type, places - 1);
    return places > 0 ? [address] : [];
  });
}

function parentOf(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}

/** Finds the stored name that answers for any name at or below `domain`; `null`: the name does not exist, or has no data. */
function nameFinder(domain: string, names: ReadonlyMap<string, OwnName>): (name: string) => OwnName | null {
  // PERF: a search instead of a set of all parents, of which long names have a hundred each.
  let reversed: readonly string[] | null = null;
  /** Whether a name has no records and others below it. */
  function isBetween(name: string): boolean {
    reversed ??= [...names.keys()].map(backwards).sort();
    const start = `${backwards(name)}.`;
    let low = 0;
    let high = reversed.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (reversed[middle]! < start) low = middle + 1;
      else high = middle;
    }
    return reversed[low]?.startsWith(start) === true;
  }
  return (name) => {
    const exact = names.get(name);
    if (exact !== undefined) return exact;
    let encloser = name;
    while (encloser !== domain && !names.has(encloser) && !isBetween(encloser)) encloser = parentOf(encloser);
    return encloser === name ? null : (names.get(`*.${encloser}`) ?? null);
  };
}

function backwards(text: string): string {
  return text.split('').reverse().join('');
}
