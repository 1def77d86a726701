/**
 * JA4, the fingerprint of a TLS client (FoxIO, "JA4: TLS Client Fingerprinting", technical_details/JA4.md of
 * github.com/FoxIO-LLC/ja4; this one method is BSD 3-Clause, the rest of the JA4+ suite is not and is not computed).
 * Written from that description. Here for TLS over TCP only. A ClientHello is read first, then the fingerprint is made of it.
 */

// Parses the ClientHello of TLS (RFC 8446 §4.1.2, RFC 5246 §7.4.1.2) for what is needed before the handshake: the server
// name and the parts of the fingerprint. The TLS library validates the rest.

/** The parts of a ClientHello that fingerprints and certificates need. */
export interface ClientHello {
  /** `legacy_version`. */
  readonly version: number;
  /** Cipher suites in the order sent, GREASE included. */
  readonly ciphers: readonly number[];
  /** Types of the extensions in the order sent, GREASE included. */
  readonly extensions: readonly number[];
  /** The host name of the server_name extension as sent, octets as characters; `null` without one. */
  readonly serverName: string | null;
  /** The first protocol of the ALPN extension; `null` without the extension or with an empty list. */
  readonly firstProtocol: Uint8Array | null;
  /** The signature_algorithms extension, in the order sent. */
  readonly signatureAlgorithms: readonly number[];
  /** The supported_versions extension; empty without one. */
  readonly supportedVersions: readonly number[];
}

/** Extension types (IANA, TLS ExtensionType Values). */
const SERVER_NAME = 0x0000;
/** RFC 7301. */
const ALPN = 0x0010;
const SIGNATURE_ALGORITHMS = 0x000d;
const SUPPORTED_VERSIONS = 0x002b;

const CLIENT_HELLO = 1;
const HEADER = 4;
const RANDOM = 32;

/** A position in octets; a read past the end sets `short` and returns zeros. */
interface Cursor {
  readonly octets: Uint8Array;
  at: number;
  readonly end: number;
  short: boolean;
}

/**
 * Reads a ClientHello: a whole handshake message, its header of four octets included, without record headers. `null`
 * for another message, and if a length exceeds what contains it.
 */
export function readClientHello(message: Uint8Array): ClientHello | null {
  if (message.length < HEADER || message[0] !== CLIENT_HELLO) return null;
  const length = (message[1]! << 16) | (message[2]! << 8) | message[3]!;
  if (message.length < HEADER + length) return null;
  const body: Cursor = { octets: message, at: HEADER, end: HEADER + length, short: false };
  const version = take(body, 2);
  body.at += RANDOM;
  part(body, 1);
  const ciphers = numbers(part(body, 2));
  part(body, 1);
  const found = { ...NO_EXTENSIONS };
  const extensions: number[] = [];
  // A hello may end before its extensions (RFC 5246 §7.4.1.2).
  const list = body.at === body.end ? body : part(body, 2);
  while (!list.short && list.at < list.end) {
    const type = take(list, 2);
    extensions.push(type);
    readExtension(type, part(list, 2), found);
  }
  if (body.short || list.short || found.short) return null;
  const { serverName, firstProtocol, signatureAlgorithms, supportedVersions } = found;
  return { version, ciphers, extensions, serverName, firstProtocol, signatureAlgorithms, supportedVersions };
}

interface FoundExtensions {
  serverName: string | null;
  firstProtocol: Uint8Array | null;
  signatureAlgorithms: readonly number[];
  supportedVersions: readonly number[];
  short: boolean;
}

const NO_EXTENSIONS: Readonly<FoundExtensions> = {
  serverName: null,
  firstProtocol: null,
  signatureAlgorithms: [],
  supportedVersions: [],
  short: false,
};

function readExtension(type: number, content: Cursor, found: FoundExtensions): void {
  if (type === SERVER_NAME && content.at < content.end) {
    const list = part(content, 2);
    const kind = take(list, 1);
    const name = octetsOf(part(list, 2));
    // 0 is host_name, the only kind there is (RFC 6066 §3).
    if (kind === 0 && !list.short) found.serverName = characters(name);
    content.short ||= list.short;
  } else if (type === ALPN) {
    const list = part(content, 2);
    if (list.at < list.end) found.firstProtocol = octetsOf(part(list, 1));
    content.short ||= list.short;
  } else if (type === SIGNATURE_ALGORITHMS) found.signatureAlgorithms = numbers(part(content, 2));
  else if (type === SUPPORTED_VERSIONS) found.supportedVersions = numbers(part(content, 1));
  found.short ||= content.short;
}

function take(cursor: Cursor, octets: 1 | 2): number {
  if (cursor.at + octets > cursor.end) {
    cursor.short = true;
    return 0;
  }
  const first = cursor.octets[cursor.at++]!;
  return octets === 1 ? first : (first << 8) | cursor.octets[cursor.at++]!;
}

/** What a length of so many octets announces, as a cursor of its own; empty when it reaches too far. */
function part(cursor: Cursor, lengthOctets: 1 | 2): Cursor {
  const length = take(cursor, lengthOctets);
  const at = cursor.at;
  if (cursor.short || at + length > cursor.end) {
    cursor.short = true;
    return { octets: cursor.octets, at, end: at, short: true };
  }
  cursor.at += length;
  return { octets: cursor.octets, at, end: at + length, short: false };
}

function octetsOf({ octets, at, end }: Cursor): Uint8Array {
  return octets.subarray(at, end);
}

/** A list of 16-bit numbers. */
function numbers({ octets, at, end }: Cursor): number[] {
  const list: number[] = [];
  for (let i = at; i + 1 < end; i += 2) list.push((octets[i]! << 8) | octets[i + 1]!);
  return list;
}

function characters(octets: Uint8Array): string {
  let text = '';
  for (const octet of octets) text += String.fromCharCode(octet);
  return text;
}

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
