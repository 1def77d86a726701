/** Certificates of clients and of their authorities, made while tests run, with any mistake: DER by hand, signed by `node:crypto`. */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

// DER (X.690).

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 128
      ? [length]
      : length < 256
        ? [0x81, length]
        : length < 65_536
          ? [0x82, length >> 8, length & 255]
          : [0x83, length >> 16, (length >> 8) & 255, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);

function oid(text: string): Buffer {
  const [first, second, ...rest] = text.split('.').map(BigInt) as [bigint, bigint, ...bigint[]];
  const octets = [first * 40n + second, ...rest].flatMap((arc) => {
    const digits = [Number(arc & 127n)];
    for (let left = arc >> 7n; left > 0n; left >>= 7n) digits.unshift(Number(left & 127n) | 128);
    return digits;
  });
  return der(0x06, Buffer.from(octets));
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(0x18, Buffer.from(digits));
}

const TRUE = der(0x01, Buffer.from([255]));

/** An extension. */
export function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(oid(id), ...(isCritical ? [TRUE] : []), der(0x04, value));
}

export const EXTENSIONS = {
  authority: (pathLength?: number) =>
    extension(
      '2.5.29.19',
      sequence(TRUE, ...(pathLength === undefined ? [] : [der(0x02, Buffer.from([pathLength]))])),
      true,
    ),
  notAuthority: extension('2.5.29.19', sequence(), true),
  usage: (bits: number) => extension('2.5.29.15', der(0x03, Buffer.from([0, bits])), true),
  purposes: (...ids: readonly string[]) => extension('2.5.29.37', sequence(...ids.map(oid))),
  names: (...names: readonly (readonly [tag: number, text: string])[]) =>
    extension('2.5.29.17', sequence(...names.map(([tag, text]) => der(tag, Buffer.from(text, 'latin1'))))),
  /** Only DNS names below a name may be issued. */
  constraints: (name: string) =>
    extension('2.5.29.30', sequence(der(0xa0, sequence(der(0x82, Buffer.from(name))))), true),
  unknown: extension('1.2.3.4', der(0x04), true),
} as const;

/** Tags of names in `subjectAltName`. */
export const DNS = 0x82;
export const URI = 0x86;
export const EMAIL = 0x81;
export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
export const ANY_PURPOSE = '2.5.29.37.0';

/** A certificate with its key, PEM and DER. */
export interface Issued {
  readonly name: string;
  readonly der: Buffer;
  readonly pem: string;
  readonly privateKey: KeyObject;
  readonly keyPem: string;
}

export type KeyChoice = 'P-256' | 'Ed25519' | 'RSA 1024' | 'RSA 2048';

export interface IssueRequest {
  /** The common name; empty: the subject has none. */
  readonly name: string;
  readonly extensions?: readonly Buffer[];
  readonly notBefore?: number;
  readonly notAfter?: number;
  readonly key?: KeyChoice;
  /** The key of another certificate, for one that renews it. */
  readonly ofKey?: Issued;
  readonly digest?: 'sha1' | 'sha256';
  /** Tag of the common name's text. Default: UTF8String. */
  readonly textTag?: number;
}

const DAY = 86_400_000;

function makeKeys(key: KeyChoice): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  switch (key) {
    case 'P-256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' });
    case 'Ed25519':
      return generateKeyPairSync('ed25519');
    default:
      return generateKeyPairSync('rsa', { modulusLength: Number(key.slice(4)) });
  }
}

function algorithmOf(key: KeyObject, digest: 'sha1' | 'sha256'): Buffer {
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return sequence(oid('1.3.101.112'));
    case 'rsa':
      return sequence(oid(digest === 'sha1' ? '1.2.840.113549.1.1.5' : '1.2.840.113549.1.1.11'), der(0x05));
    default:
      return sequence(oid(digest === 'sha1' ? '1.2.840.10045.4.1' : '1.2.840.10045.4.3.2'));
  }
}

function nameOf(name: string, tag: number): Buffer {
  return name === ''
    ? sequence()
    : sequence(der(0x31, sequence(oid('2.5.4.3'), der(tag, Buffer.from(name, 'utf8')))));
}

/** Issues a certificate. @param issuer `null`: it issues itself */
export function issue(issuer: Issued | null, request: IssueRequest): Issued {
  const { name, extensions = [], key = 'P-256', ofKey, digest = 'sha256', textTag = 0x0c } = request;
  const { notBefore = Date.now() - DAY, notAfter = Date.now() + DAY } = request;
  const made = ofKey === undefined ? makeKeys(key) : null;
  const privateKey = made?.privateKey ?? ofKey!.privateKey;
  const spki = made?.publicKey.export({ type: 'spki', format: 'der' }) ?? publicOf(ofKey!);
  const signer = issuer?.privateKey ?? privateKey;
  const algorithm = algorithmOf(signer, digest);
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(12)])),
    algorithm,
    nameOf(issuer?.name ?? name, 0x0c),
    sequence(time(notBefore), time(notAfter)),
    nameOf(name, textTag),
    spki,
    ...(extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]),
  );
  const signature = sign(signer.asymmetricKeyType === 'ed25519' ? null : digest, body, signer);
  const whole = sequence(body, algorithm, der(0x03, Buffer.from([0]), signature));
  const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { name, der: whole, pem: pemOf(whole), privateKey, keyPem };
}

function publicOf({ keyPem }: Issued): Buffer {
  return createPublicKey(keyPem).export({ type: 'spki', format: 'der' });
}

function pemOf(octets: Buffer): string {
  const lines = octets.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

/** An authority: a root, or an intermediate one of `issuer`. */
export function makeClientAuthority(
  name: string,
  { issuer = null, ...more }: Partial<IssueRequest> & { readonly issuer?: Issued | null } = {},
): Issued {
  return issue(issuer, { name, extensions: [EXTENSIONS.authority(), EXTENSIONS.usage(0x06)], ...more });
}

/** A certificate of a client. */
export function issueClient(authority: Issued, name: string, more: Partial<IssueRequest> = {}): Issued {
  const extensions = [EXTENSIONS.notAuthority, EXTENSIONS.usage(0x80), EXTENSIONS.purposes(CLIENT_AUTH)];
  return issue(authority, { name, extensions, ...more });
}
