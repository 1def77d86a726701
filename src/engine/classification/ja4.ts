/**
 * JA4, the fingerprint of a TLS client (FoxIO, "JA4: TLS Client Fingerprinting", technical_details/JA4.md of
 * github.com/FoxIO-LLC/ja4; this one method is BSD 3-Clause, the rest of the JA4+ suite is not and is not computed).
 * Written from that description. Here for TLS over TCP only.
 */
import { ALPN, type ClientHello, SERVER_NAME } from './client-hello.ts';

/** Numbers that clients send so that servers learn to ignore what they do not know: `0x?A?A` (RFC 8701 §2). */
function isGrease(value: number): boolean {
  return (value & 0x0f0f) === 0x0a0a && value >> 8 === (value & 0xff);
}

const VERSIONS: Readonly<Record<number, string>> = {
  772: '13',
  771: '12',
  770: '11',
  769: '10',
  768: 's3',
  2: 's2',
};

/** Counts are written with two digits. */
const MOST_COUNTED = 99;
/** Characters of a digest that are part of the fingerprint. */
const KEPT = 12;
const EMPTY = '0'.repeat(KEPT);

/**
 * The fingerprint, `t13d1516h2_8daaf6152771_e5627efa2ab1`.
 * @param sha256 the SHA-256 of ASCII text in lower-case hex digits
 */
export function ja4(hello: ClientHello, sha256: (text: string) => string): string {
  const { head, ciphers, rest } = ja4Parts(hello);
  const digest = (text: string): string => (text === '' ? EMPTY : sha256(text).slice(0, KEPT));
  return `${head}_${digest(ciphers)}_${digest(rest)}`;
}

/** The fingerprint's three parts before they are digested: what FoxIO calls JA4_r when joined by `_`. */
export interface Ja4Parts {
  readonly head: string;
  /** Sorted cipher suites. */
  readonly ciphers: string;
  /** Sorted extensions without server_name and ALPN, then `_` and the signature algorithms as sent, if any. */
  readonly rest: string;
}

/** The parts of a hello's fingerprint. */
export function ja4Parts(hello: ClientHello): Ja4Parts {
  const ciphers = withoutGrease(hello.ciphers);
  const extensions = withoutGrease(hello.extensions);
  const versions = withoutGrease(hello.supportedVersions);
  const version = VERSIONS[versions.length > 0 ? Math.max(...versions) : hello.version] ?? '00';
  const destination = extensions.includes(SERVER_NAME) ? 'd' : 'i';
  const head = `t${version}${destination}${counted(ciphers)}${counted(extensions)}${protocolOf(hello)}`;
  const kept = extensions.filter((type) => type !== SERVER_NAME && type !== ALPN);
  const algorithms = withoutGrease(hello.signatureAlgorithms);
  const listed = hexList(kept.sort(ascending));
  // Without extensions there is nothing that could have carried signature algorithms.
  const rest = algorithms.length === 0 ? listed : `${listed}_${hexList(algorithms)}`;
  return { head, ciphers: hexList(ciphers.sort(ascending)), rest };
}

function withoutGrease(values: readonly number[]): number[] {
  return values.filter((value) => !isGrease(value));
}

function ascending(a: number, b: number): number {
  return a - b;
}

function counted(values: readonly number[]): string {
  return String(Math.min(values.length, MOST_COUNTED)).padStart(2, '0');
}

function hexList(values: readonly number[]): string {
  return values.map((value) => value.toString(16).padStart(4, '0')).join(',');
}

/** First and last character of the first ALPN value, of its hex digits if either is not alphanumeric. */
function protocolOf({ firstProtocol }: ClientHello): string {
  if (firstProtocol === null || firstProtocol.length === 0) return '00';
  const first = firstProtocol[0]!;
  const last = firstProtocol[firstProtocol.length - 1]!;
  if (isAlphanumeric(first) && isAlphanumeric(last)) return String.fromCharCode(first, last);
  return `${(first >> 4).toString(16)}${(last & 0x0f).toString(16)}`;
}

function isAlphanumeric(octet: number): boolean {
  const lower = octet | 0x20;
  return (octet >= 0x30 && octet <= 0x39) || (lower >= 0x61 && lower <= 0x7a);
}
