/**
 * Addresses that no customer's origin has. Sources: the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890,
 * as of RFC 9637), the IPv4 Multicast and IPv6 Address Space registries (RFC 5771, RFC 4291 §2.4), and what cloud
 * operators document of their metadata services.
 */
import { compareIp, formatIp, type IpInterval, parseIp, parseIpEntry } from './ip.ts';

export type SpecialKind =
  | 'benchmarking'
  | 'broadcast'
  | 'documentation'
  | 'link-local'
  | 'loopback'
  | 'metadata'
  | 'multicast'
  | 'private'
  | 'reserved'
  | 'shared'
  | 'unique-local'
  | 'unspecified';

/** The kinds in order: the first with a range that contains an address is its kind. */
const TABLE: readonly (readonly [prefix: string, kind: SpecialKind])[] = [
  // AWS, Azure, Google and others; AWS ECS; Azure's wire server; Alibaba; Oracle.
  ['169.254.169.254', 'metadata'],
  ['169.254.170.2', 'metadata'],
  ['168.63.129.16', 'metadata'],
  ['100.100.100.200', 'metadata'],
  ['192.0.0.192', 'metadata'],
  // AWS, Google and Scaleway.
  ['fd00:ec2::/32', 'metadata'],
  ['fd20:ce::254', 'metadata'],
  ['fd00:42::42', 'metadata'],
  ['0.0.0.0', 'unspecified'],
  // "This network" reaches the machine itself on several systems (RFC 1122 §3.2.1.3).
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', 'reserved'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['255.255.255.255', 'broadcast'],
  ['240.0.0.0/4', 'reserved'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['fc00::/7', 'unique-local'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'private'],
  ['ff00::/8', 'multicast'],
  ['100::/64', 'reserved'],
  // Benchmarking, Teredo, ORCHID and the rest of the IETF's assignments.
  ['2001:2::/48', 'benchmarking'],
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'documentation'],
  ['3fff::/20', 'documentation'],
];

const SPECIAL = TABLE.map(([prefix, kind]) => ({ interval: intervalOf(prefix), kind }));
/** All that IANA has given out for global unicast; IPv4-compatible and -translated forms are outside. */
const GLOBAL_UNICAST = intervalOf('2000::/3');
/** IPv6 forms with an embedded IPv4 address, which is checked in their place, and the bit it begins at (RFC 3056, RFC 6052). */
const CARRIERS = [
  { interval: intervalOf('2002::/16'), bit: 16 },
  { interval: intervalOf('64:ff9b::/96'), bit: 96 },
];

/** @throws for text that is not a prefix; options are checked before */
function intervalOf(text: string): IpInterval {
  const read = parseIpEntry(text);
  if (!read.ok) throw new Error(`${text}: ${read.reason}`);
  return read;
}

function holds({ family, first, last }: IpInterval, of: 4 | 6, address: Uint32Array): boolean {
  return family === of && compareIp(address, first) >= 0 && compareIp(address, last) <= 0;
}

function kindOf(family: 4 | 6, address: Uint32Array): SpecialKind | null {
  const entry = SPECIAL.find(({ interval }) => holds(interval, family, address));
  if (entry !== undefined) return entry.kind;
  if (family === 4) return null;
  const carrier = CARRIERS.find(({ interval }) => holds(interval, family, address));
  if (carrier !== undefined) return kindOf(4, carried(address, carrier.bit));
  return holds(GLOBAL_UNICAST, family, address) ? null : 'reserved';
}

function carried(address: Uint32Array, bit: number): Uint32Array {
  const word = bit >> 5;
  const shift = bit & 31;
  if (shift === 0) return address.slice(word, word + 1);
  return Uint32Array.of((address[word]! << shift) | (address[word + 1]! >>> (32 - shift)));
}

/** What an address is; `null` for one of the public Internet, and for a text that is no address. */
export function specialKind(text: string): SpecialKind | null {
  const words = new Uint32Array(4);
  const family = parseIp(text, words);
  return family === 0 ? null : kindOf(family, words.slice(0, family === 4 ? 1 : 4));
}

/** One text for each address, an IPv4-mapped one being its IPv4 address; `null` for what is no address. */
export function canonicalAddress(text: string): string | null {
  const words = new Uint32Array(4);
  const family = parseIp(text, words);
  return family === 0 ? null : formatIp(family, words);
}

/** What is allowed of special addresses. */
export interface AllowedOrigins {
  /** Addresses, prefixes or ranges. */
  readonly prefixes: readonly string[];
  /** Loopback and private ones too. */
  readonly local: boolean;
}

/** The kind of special address that excludes an origin; `null` for a public address, an allowed one, and a name. */
export type SpecialJudge = (address: string) => SpecialKind | null;

const LOCAL: ReadonlySet<SpecialKind> = new Set(['loopback', 'private', 'unique-local']);

/**
 * Returns which kind excludes an address as an origin; `null` if nothing does, and for a text that is
 * no address.
 * @throws for text that is not a prefix
 */
export function createSpecialJudge({ prefixes, local }: AllowedOrigins): SpecialJudge {
  const allowed = prefixes.map(intervalOf);
  return (text) => {
    const kind = specialKind(text);
    if (kind === null || (local && LOCAL.has(kind))) return null;
    const words = new Uint32Array(4);
    const family = parseIp(text, words) as 4 | 6;
    const address = words.slice(0, family === 4 ? 1 : 4);
    return allowed.some((interval) => holds(interval, family, address)) ? null : kind;
  };
}
