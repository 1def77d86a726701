/**
 * Hosts as URL parsers of clients read them: IPv4 addresses in the number forms of the WHATWG URL standard (decimal, octal,
 * hexadecimal, fewer than four parts), enclosed letters and digits and other full stops (UTS 46), IPv6 with an embedded
 * IPv4 address.
 */
import { type SpecialKind, specialKind } from '../../../../base/addresses/special-addresses.ts';
import { isDigit } from '../../octets/latin1.ts';

/** What a host is. */
export interface HostMeaning {
  /** `public`: an address or a name of the Internet; `disguised`: a name of it in enclosed letters. */
  readonly kind: SpecialKind | 'public' | 'localhost' | 'cluster' | 'wildcard' | 'disguised';
  /** Whether it is written as people write it: four decimal numbers, plain IPv6, or ASCII. */
  readonly plain: boolean;
}

const PUBLIC: HostMeaning = { kind: 'public', plain: true };

/** Names of metadata services: AWS, Google, Azure, Packet, Tencent, Rancher. */
const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata.google.internal',
  'metadata.goog',
  'metadata',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.azure.com',
  'metadata.azure.internal',
  'metadata.packet.net',
  'metadata.tencentyun.com',
  'rancher-metadata',
]);

/** Domains whose names resolve to loopback or to an address of the client's choice. */
const WILDCARD_DOMAINS = [
  'localtest.me',
  'lvh.me',
  'vcap.me',
  'lacolhost.com',
  'localh.st',
  'localho.st',
  'fuf.me',
  'rbndr.us',
  'r3dir.me',
  '1u.ms',
] as const;
/** Domains whose names contain the address that they resolve to. */
const ADDRESS_DOMAINS = ['nip.io', 'sslip.io', 'xip.io'] as const;

/** Names that a cluster or a container engine resolves. */
const CLUSTER_NAMES: ReadonlySet<string> = new Set([
  'kubernetes.default',
  'kubernetes.default.svc',
  'host.docker.internal',
  'gateway.docker.internal',
]);
const CLUSTER_SUFFIXES = ['.svc.cluster.local', '.service.consul'] as const;

const LOCAL_NAMES: ReadonlySet<string> = new Set(['localhost', 'ip6-localhost', 'ip6-loopback', 'loopback']);

/** Returns what a host (without user and port) is. */
export function meaningOf(written: string): HostMeaning {
  const ascii = unenclosed(written.toLowerCase());
  const host = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii;
  const plain = host === written.toLowerCase();
  if (host.startsWith('[')) return literalMeaning(host);
  const address = numberAddress(host);
  if (address !== null) return { kind: specialKind(address) ?? 'public', plain: plain && address === host };
  const kind = nameKind(host);
  return { kind: kind === 'public' && ascii !== written.toLowerCase() ? 'disguised' : kind, plain };
}

/** The meaning of an IPv6 literal in brackets, with or without a zone. */
function literalMeaning(host: string): HostMeaning {
  const [inner] = host.slice(1).split(/[\]%]/, 1) as [string];
  const kind = specialKind(inner);
  if (kind === null) return PUBLIC;
  // An embedded IPv4 address serves only to hide it; so do zeros written out.
  const plain =
    !inner.includes('.') && !inner.includes('ffff:') && !inner.startsWith('0:') && kind !== 'reserved';
  return { kind, plain: plain && !inner.startsWith('0000:') };
}

function nameKind(host: string): HostMeaning['kind'] {
  if (METADATA_NAMES.has(host)) return 'metadata';
  if (LOCAL_NAMES.has(host)) return 'localhost';
  if (host.startsWith('localhost.localdomain') || isBelow(host, WILDCARD_DOMAINS)) return 'wildcard';
  if (isBelow(host, ADDRESS_DOMAINS) && containsInternalAddress(host)) return 'wildcard';
  if (CLUSTER_NAMES.has(host) || CLUSTER_SUFFIXES.some((suffix) => host.endsWith(suffix))) return 'cluster';
  return host.endsWith('.localhost') ? 'localhost' : 'public';
}

/** Whether a host is one of the domains or below one. */
function isBelow(host: string, domains: readonly string[]): boolean {
  return domains.some(
    (domain) => host.endsWith(domain) && (host === domain || host.at(-domain.length - 1) === '.'),
  );
}

/** Whether four numbers with dots or dashes between them, or eight hexadecimal digits, are an internal address. */
function containsInternalAddress(host: string): boolean {
  const labels = host.split(/[.-]/);
  for (let at = 0; at < labels.length; at++) {
    const quad = labels.slice(at, at + 4).join('.');
    if (isInternal(specialKind(quad))) return true;
    const hex = labels[at]!;
    const digits = hex.startsWith('0x') ? hex.slice(2) : hex;
    if (digits.length === 8 && isInternal(specialKind(numberAddress(`0x${digits}`) ?? ''))) return true;
  }
  return false;
}

/** Whether a kind of address is inside a network rather than on the Internet. */
export function isInternal(kind: SpecialKind | null): boolean {
  return kind !== null && kind !== 'documentation' && kind !== 'multicast' && kind !== 'benchmarking';
}

/** The most octets of a number; more zeros before it are of no use. */
const LONGEST_NUMBER = 32;

/** The IPv4 address that a host denotes (WHATWG URL, "ends in a number" and the IPv4 parser), or `null`. */
export function numberAddress(host: string): string | null {
  if (!isDigit(host.charCodeAt(0))) return null;
  const parts = host.split('.', 5);
  if (parts.length > 4) return null;
  if (parts.length === 1) return wrappedAddress(host);
  let address = 0;
  for (const [index, part] of parts.entries()) {
    const value = numberOf(part);
    const last = index === parts.length - 1;
    if (value < 0 || value >= (last ? 256 ** (5 - parts.length) : 256)) return null;
    address += last ? value : value * 256 ** (3 - index);
  }
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
}

/** The address of one number; libraries that do not check its range drop what is above 32 bits. */
function wrappedAddress(host: string): string | null {
  if (numberOf(host) < 0) return null;
  const hex = host.startsWith('0x');
  const base = hex ? 16 : host.startsWith('0') && host.length > 1 ? 8 : 10;
  let address = 0;
  for (let at = hex ? 2 : 0; at < host.length; at++) {
    address = (address * base + Number.parseInt(host.charAt(at), base)) % 2 ** 32;
  }
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
}

/** The value of a decimal, octal (`0…`) or hexadecimal (`0x…`) number; -1: the text is no number. */
function numberOf(part: string): number {
  if (part === '' || part.length > LONGEST_NUMBER) return -1;
  const hex = part.startsWith('0x');
  const base = hex ? 16 : part.startsWith('0') && part.length > 1 ? 8 : 10;
  let value = 0;
  // Python and others write octal numbers as `0o177`.
  for (let at = hex || part.startsWith('0o') ? 2 : 0; at < part.length; at++) {
    const digit = Number.parseInt(part.charAt(at), base);
    if (Number.isNaN(digit)) return -1;
    value = value * base + digit;
  }
  return value;
}

/** Replaces enclosed letters and digits (U+2460 to U+24EA) and other full stops (U+3002, U+FF61) in UTF-8 octets. */
function unenclosed(host: string): string {
  if (!host.includes('\xe2') && !host.includes('\xe3') && !host.includes('\xef')) return host;
  let ascii = '';
  for (let at = 0; at < host.length; at++) {
    const code =
      ((host.charCodeAt(at) & 0x0f) << 12) |
      ((host.charCodeAt(at + 1) & 0x3f) << 6) |
      (host.charCodeAt(at + 2) & 0x3f);
    const three = host.charCodeAt(at) >= 0xe0 && at + 2 < host.length;
    const replaced = three ? asciiOf(code) : null;
    ascii += replaced ?? host.charAt(at);
    if (replaced !== null) at += 2;
  }
  return ascii;
}

/** The ASCII text of a code point; `null`: it has none. */
function asciiOf(code: number): string | null {
  if (code === 0x3002 || code === 0xff61) return '.';
  if (code >= 0x2460 && code <= 0x2473) return String(code - 0x245f);
  if (code === 0x24ea) return '0';
  if (code >= 0x24b6 && code <= 0x24e9) return String.fromCharCode(0x61 + ((code - 0x24b6) % 26));
  return null;
}
