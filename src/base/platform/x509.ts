/**
 * Reads X.509 certificates (RFC 5280 §4) without a platform's library: gateways' forms are also checked in pages. In: DER. Out: the
 * parts by which a path of certificates is judged, and the names of a subject. Signatures are not verified here.
 */
import { MAX_RSA_BITS, MIN_RSA_BITS } from '../vocabulary/limits.ts';

/** The kind of a public key, and its size in bits; 0 of a kind without sizes. */
export interface CertificateKey {
  readonly kind: 'RSA' | 'EC' | 'Ed25519' | 'other';
  readonly bits: number;
}

/** The parts of a certificate. Times in milliseconds since the epoch. */
export interface CertificateParts {
  /** Names as DER, in hexadecimal digits: RFC 5280 §7.1 compares them, and authorities copy them octet by octet. */
  readonly subject: string;
  readonly issuer: string;
  readonly notBefore: number;
  readonly notAfter: number;
  /** `cA` of `basicConstraints`. */
  readonly isAuthority: boolean;
  /** `pathLenConstraint`: how many certificates of authorities may follow below it; infinite: any number. */
  readonly pathLength: number;
  /** The first octet of `keyUsage`; `null`: without the extension, and every use is allowed. */
  readonly keyUsage: number | null;
  /** Object ids of `extKeyUsage`; `null`: without the extension, and every purpose is allowed. */
  readonly purposes: readonly string[] | null;
  /** Object ids of critical extensions that nothing here reads. */
  readonly unread: readonly string[];
  /** Whether it has `nameConstraints`. */
  readonly constrainsNames: boolean;
  /** DNS names, URIs and e-mail addresses of `subjectAltName`, in their order. */
  readonly names: readonly string[];
  /** The common names of the subject. */
  readonly commonNames: readonly string[];
  readonly key: CertificateKey;
  /** Object id of the algorithm of its signature. */
  readonly signedWith: string;
}

/** Bits of `keyUsage` (RFC 5280 §4.2.1.3). */
export const KEY_USAGE = { digitalSignature: 0x80, keyCertSign: 0x04 } as const;
/** `clientAuth` (RFC 5280 §4.2.1.12). */
export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/** The octets of a Base64 text (RFC 4648 §4) without line breaks; `null`: it is no Base64. */
export function octetsOfBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Whether a public key is long enough, and no longer than a verification may take. */
export function isStrong({ kind, bits }: CertificateKey): boolean {
  if (kind === 'RSA') return bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS;
  return kind === 'Ed25519' || (kind === 'EC' && bits > 0);
}

/** Whether a certificate has limits that are not read: then it must not be relied on (RFC 5280 §4.2). */
export function hasUnknownLimits({ unread, constrainsNames }: CertificateParts): boolean {
  return unread.length > 0 || constrainsNames;
}

/** Thrown by readers for octets that are not DER, and caught by `readCertificate` alone. */
class Malformed extends Error {}

interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
  /** With tag and length. */
  readonly whole: Uint8Array;
}

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utcTime: 0x17,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
  version: 0xa0,
  extensions: 0xa3,
} as const;

/** The elements of a constructed one, in their order (X.690 §10.1: definite lengths). */
function elementsOf(octets: Uint8Array): readonly Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < octets.length; ) {
    const element = elementAt(octets, at);
    elements.push(element);
    at += element.whole.length;
  }
  return elements;
}

function elementAt(octets: Uint8Array, at: number): Element {
  const [tag, first] = [octets[at], octets[at + 1]];
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw new Malformed();
  let [from, length] = [at + 2, first];
  if (first >= 0x80) {
    const size = first & 0x7f;
    if (size === 0 || size > 3) throw new Malformed();
    length = 0;
    for (let digit = 0; digit < size; digit++) length = length * 256 + (octets[from + digit] ?? 0);
    from += size;
  }
  const end = from + length;
  if (end > octets.length) throw new Malformed();
  return { tag, content: octets.subarray(from, end), whole: octets.subarray(at, end) };
}

/** The elements of an element of a tag. */
function childrenOf(element: Element | undefined, tag: number): readonly Element[] {
  return elementsOf(contentOf(element, tag));
}

function contentOf(element: Element | undefined, tag: number): Uint8Array {
  if (element === undefined || element.tag !== tag) throw new Malformed();
  return element.content;
}

/** An object id in decimal numbers (X.690 §8.19); one with a number above 32 bits (X.667) as hexadecimal digits of its octets. */
function objectId(element: Element | undefined): string {
  const content = contentOf(element, TAG.oid);
  const arcs: number[] = [];
  let arc = 0;
  for (const octet of content) {
    arc = arc * 128 + (octet & 0x7f);
    if (arc > 0xffffffff) return hexOf(content);
    if (octet >= 0x80) continue;
    if (arcs.length > 0) arcs.push(arc);
    else {
      const root = Math.min(2, Math.floor(arc / 40));
      arcs.push(root, arc - root * 40);
    }
    arc = 0;
  }
  return arcs.join('.');
}

/** Reads a certificate; `null`: the octets are malformed, or more of them follow it. */
export function readCertificate(der: Uint8Array): CertificateParts | null {
  try {
    const outer = elementAt(der, 0);
    if (outer.whole.length !== der.length) return null;
    const [body, algorithm] = childrenOf(outer, TAG.sequence);
    const fields = childrenOf(body, TAG.sequence);
    const start = fields[0]?.tag === TAG.version ? 1 : 0;
    const [, inner, issuer, validity, subject, key] = fields.slice(start);
    const extensions = readExtensions(fields.find(({ tag }) => tag === TAG.extensions));
    const signedWith = objectId(childrenOf(algorithm, TAG.sequence)[0]);
    // Both must be equal (RFC 5280 §4.1.1.2): the one inside is signed.
    if (objectId(childrenOf(inner, TAG.sequence)[0]) !== signedWith) return null;
    const [from, until] = childrenOf(validity, TAG.sequence);
    return {
      subject: nameText(subject),
      issuer: nameText(issuer),
      notBefore: readTime(from),
      notAfter: readTime(until),
      ...readConstraints(extensions.get(ID.basicConstraints)),
      keyUsage: readKeyUsage(extensions.get(ID.keyUsage)),
      purposes: readPurposes(extensions.get(ID.extKeyUsage)),
      unread: [...extensions].flatMap(([id, { isCritical }]) => (isCritical && !READ.has(id) ? [id] : [])),
      constrainsNames: extensions.has(ID.nameConstraints),
      names: readAltNames(extensions.get(ID.subjectAltName)),
      commonNames: readCommonNames(subject),
      key: readKey(key),
      signedWith,
    };
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
}

function nameText(name: Element | undefined): string {
  contentOf(name, TAG.sequence);
  return hexOf(name!.whole);
}

function hexOf(octets: Uint8Array): string {
  let text = '';
  for (const octet of octets) text += octet.toString(16).padStart(2, '0');
  return text;
}

/** UTCTime and GeneralizedTime in the forms of RFC 5280 §4.1.2.5. */
function readTime(element: Element | undefined): number {
  if (element?.tag !== TAG.utcTime && element?.tag !== TAG.time) throw new Malformed();
  const text = asciiOf(element.content);
  const digits = element.tag === TAG.utcTime ? 12 : 14;
  if (text.length !== digits + 1 || !/^[0-9]+Z$/.test(text)) throw new Malformed();
  const short = Number(text.slice(0, 2));
  const year = digits === 12 ? short + (short < 50 ? 2000 : 1900) : Number(text.slice(0, 4));
  const parts = [10, 8, 6, 4, 2].map((end) => Number(text.slice(digits - end, digits - end + 2)));
  const [month, day, hour, minute, second] = parts as [number, number, number, number, number];
  const time = Date.UTC(year, month - 1, day, hour, minute, second);
  if (new Date(time).getUTCMonth() !== month - 1) throw new Malformed();
  return time;
}

function asciiOf(octets: Uint8Array): string {
  let text = '';
  for (const octet of octets) text += String.fromCharCode(octet);
  return text;
}

/** Object ids of extensions (RFC 5280 §4.2.1). */
const ID = {
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  certificatePolicies: '2.5.29.32',
  extKeyUsage: '2.5.29.37',
} as const;
/** Those that are read, and policies, which limit nothing where no policy is required (RFC 5280 §6.1.1). */
const READ: ReadonlySet<string> = new Set(Object.values(ID));

interface Extension {
  readonly isCritical: boolean;
  readonly value: Uint8Array;
}

function readExtensions(element: Element | undefined): ReadonlyMap<string, Extension> {
  const extensions = new Map<string, Extension>();
  if (element === undefined) return extensions;
  for (const extension of childrenOf(elementsOf(element.content)[0], TAG.sequence)) {
    const [id, second, third] = childrenOf(extension, TAG.sequence);
    const isStated = second?.tag === TAG.boolean;
    const name = objectId(id);
    // A second one of a kind would leave open which counts (RFC 5280 §4.2).
    if (extensions.has(name)) throw new Malformed();
    const value = contentOf(isStated ? third : second, TAG.octets);
    extensions.set(name, { isCritical: isStated && second.content[0] !== 0, value });
  }
  return extensions;
}

function readConstraints(
  extension: Extension | undefined,
): Pick<CertificateParts, 'isAuthority' | 'pathLength'> {
  if (extension === undefined) return { isAuthority: false, pathLength: 0 };
  const [first, second] = childrenOf(elementAt(extension.value, 0), TAG.sequence);
  const isAuthority = first?.tag === TAG.boolean && first.content[0] !== 0;
  if (second === undefined) return { isAuthority, pathLength: Number.POSITIVE_INFINITY };
  const content = contentOf(second, TAG.integer);
  // More than 127 needs a second octet; no path is as long.
  return { isAuthority, pathLength: content.length === 1 ? content[0]! & 0x7f : Number.POSITIVE_INFINITY };
}

function readKeyUsage(extension: Extension | undefined): number | null {
  return extension === undefined ? null : (contentOf(elementAt(extension.value, 0), TAG.bits)[1] ?? 0);
}

function readPurposes(extension: Extension | undefined): readonly string[] | null {
  if (extension === undefined) return null;
  return childrenOf(elementAt(extension.value, 0), TAG.sequence).map(objectId);
}

/** Context tags of `GeneralName` that name a client: rfc822Name, dNSName, uniformResourceIdentifier. */
const NAME_TAGS: ReadonlySet<number> = new Set([0x81, 0x82, 0x86]);

function readAltNames(extension: Extension | undefined): readonly string[] {
  if (extension === undefined) return [];
  const names = childrenOf(elementAt(extension.value, 0), TAG.sequence);
  return names.flatMap(({ tag, content }) => (NAME_TAGS.has(tag) ? [asciiOf(content)] : []));
}

const COMMON_NAME = '2.5.4.3';

function readCommonNames(subject: Element | undefined): readonly string[] {
  const names: string[] = [];
  for (const set of childrenOf(subject, TAG.sequence)) {
    for (const attribute of childrenOf(set, TAG.set)) {
      const [type, value] = childrenOf(attribute, TAG.sequence);
      const name = objectId(type) === COMMON_NAME && value !== undefined ? textOf(value) : null;
      if (name !== null) names.push(name);
    }
  }
  return names;
}

/** A DirectoryString (RFC 5280 §4.1.2.4); `null`: in a form that new certificates must not have. */
function textOf({ tag, content }: Element): string | null {
  switch (tag) {
    case 0x0c:
      try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
      } catch {
        return null;
      }
    case 0x13:
    case 0x16:
      return asciiOf(content);
    default:
      return null;
  }
}

const KEY_KINDS: Readonly<Record<string, CertificateKey['kind']>> = {
  '1.2.840.113549.1.1.1': 'RSA',
  '1.2.840.10045.2.1': 'EC',
  '1.3.101.112': 'Ed25519',
};
const CURVE_BITS: Readonly<Record<string, number>> = {
  '1.2.840.10045.3.1.7': 256,
  '1.3.132.0.34': 384,
  '1.3.132.0.35': 521,
};

function readKey(element: Element | undefined): CertificateKey {
  const [algorithm, bits] = childrenOf(element, TAG.sequence);
  const [id, parameters] = childrenOf(algorithm, TAG.sequence);
  const name = objectId(id);
  const kind = Object.hasOwn(KEY_KINDS, name) ? KEY_KINDS[name]! : 'other';
  if (kind === 'EC')
    return { kind, bits: parameters?.tag === TAG.oid ? (CURVE_BITS[objectId(parameters)] ?? 0) : 0 };
  if (kind !== 'RSA') return { kind, bits: 0 };
  const [modulus] = childrenOf(elementAt(contentOf(bits, TAG.bits).subarray(1), 0), TAG.sequence);
  const content = contentOf(modulus, TAG.integer);
  const leading = content.findIndex((octet) => octet !== 0);
  if (leading < 0) return { kind, bits: 0 };
  return { kind, bits: (content.length - leading) * 8 - (Math.clz32(content[leading]!) - 24) };
}
