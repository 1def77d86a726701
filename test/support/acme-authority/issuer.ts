/** A root, an issuing authority below it, and the leaves that it signs (RFC 5280): P-256 throughout, dated by the caller. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { bitString, date, der, integer, oid, sequence, TAG } from './der.ts';

export interface LeafOrder {
  readonly names: readonly string[];
  readonly key: KeyObject;
  /** SubjectPublicKeyInfo of the key. */
  readonly keyInfo: Buffer;
  /** Milliseconds since the epoch, as for `notAfter`; a certificate has whole seconds. */
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface Leaf {
  /** The leaf and the issuing authority. */
  readonly pem: string;
  readonly der: Buffer;
  /** In hexadecimal, as `X509Certificate.serialNumber` has it. */
  readonly serial: string;
  /** The identifier of RFC 9773 section 4.1. */
  readonly certId: string;
}

export interface Issuer {
  /** The root's certificate. */
  readonly pem: string;
  issue(leaf: LeafOrder): Leaf;
}

interface Body {
  readonly serial: Buffer;
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly keyInfo: Buffer;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly extensions: readonly Buffer[];
}

const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const TRUE = der(TAG.boolean, Buffer.from([0xff]));
const CA_EXTENSIONS = [
  extension('2.5.29.19', { value: sequence(TRUE), critical: true }),
  // keyCertSign and cRLSign.
  extension('2.5.29.15', { value: bitString(Buffer.from([0x06]), 1), critical: true }),
];
/** Longest common name (RFC 5280, ub-common-name). */
const COMMON_NAME_CHARACTERS = 64;
const YEAR_MS = 365 * 86_400_000;

/** Creates both authorities; they are valid from a year before `now` to twenty years after it. */
export function createIssuer(now: number): Issuer {
  const [root, issuing] = [createKey(), createKey()];
  const dates = { notBefore: now - YEAR_MS, notAfter: now + 20 * YEAR_MS };
  const [rootName, issuingName] = [nameOf('Test root'), nameOf('Test issuing authority')];
  const rootBytes = signBody(root.privateKey, {
    ...dates,
    serial: randomSerial(false),
    issuer: rootName,
    subject: rootName,
    keyInfo: root.keyInfo,
    extensions: [...CA_EXTENSIONS, subjectKey(root.keyId)],
  });
  const issuingBytes = signBody(root.privateKey, {
    ...dates,
    serial: randomSerial(false),
    issuer: rootName,
    subject: issuingName,
    keyInfo: issuing.keyInfo,
    extensions: [...CA_EXTENSIONS, subjectKey(issuing.keyId), authorityKey(root.keyId)],
  });
  let count = 0;
  return {
    pem: pemOf(rootBytes),
    issue({ names, key, keyInfo, notBefore, notAfter }) {
      count++;
      // Every second serial starts with a one bit: its identifier has a zero byte in front.
      const serial = randomSerial(count % 2 === 0);
      const [first = ''] = names;
      const hasName = first.length <= COMMON_NAME_CHARACTERS;
      const bytes = signBody(issuing.privateKey, {
        serial,
        issuer: issuingName,
        subject: hasName ? nameOf(first) : sequence(),
        keyInfo,
        notBefore,
        notAfter,
        extensions: [
          ...leafExtensions(key),
          altNames(names, !hasName),
          subjectKey(keyIdOf(keyInfo)),
          authorityKey(issuing.keyId),
        ],
      });
      return {
        pem: pemOf(bytes) + pemOf(issuingBytes),
        der: bytes,
        serial: serial.toString('hex').toUpperCase(),
        certId: `${issuing.keyId.toString('base64url')}.${integer(serial).subarray(2).toString('base64url')}`,
      };
    },
  };
}

function createKey(): { readonly privateKey: KeyObject; readonly keyInfo: Buffer; readonly keyId: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyInfo = publicKey.export({ format: 'der', type: 'spki' });
  return { privateKey, keyInfo, keyId: keyIdOf(keyInfo) };
}

/** A key's identifier: any hash serves (RFC 5280 section 4.2.1.2 proposes SHA-1 of the bare key). */
function keyIdOf(keyInfo: Buffer): Buffer {
  return createHash('sha1').update(keyInfo).digest();
}

/** 16 bytes whose first bit is as wanted and whose first byte is not zero. */
function randomSerial(isHigh: boolean): Buffer {
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x3f) | (isHigh ? 0x80 : 0x40);
  return serial;
}

function signBody(signer: KeyObject, body: Body): Buffer {
  const info = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(body.serial),
    ECDSA_SHA256,
    body.issuer,
    sequence(date(body.notBefore), date(body.notAfter)),
    body.subject,
    body.keyInfo,
    der(0xa3, sequence(...body.extensions)),
  );
  return sequence(info, ECDSA_SHA256, bitString(sign('sha256', info, signer)));
}

function extension(id: string, { value, critical }: { readonly value: Buffer; readonly critical: boolean }) {
  return sequence(oid(id), critical ? TRUE : Buffer.alloc(0), der(TAG.octets, value));
}

function leafExtensions(key: KeyObject): readonly Buffer[] {
  // digitalSignature, and keyEncipherment of an RSA key.
  const usage =
    key.asymmetricKeyType === 'rsa' ? bitString(Buffer.from([0xa0]), 5) : bitString(Buffer.from([0x80]), 7);
  return [
    extension('2.5.29.15', { value: usage, critical: true }),
    extension('2.5.29.37', { value: sequence(oid('1.3.6.1.5.5.7.3.1')), critical: false }),
    extension('2.5.29.19', { value: sequence(), critical: true }),
  ];
}

/** subjectAltName; critical if the subject is empty (RFC 5280 section 4.2.1.6). */
function altNames(names: readonly string[], critical: boolean): Buffer {
  const value = sequence(...names.map((name) => der(0x82, Buffer.from(name))));
  return extension('2.5.29.17', { value, critical });
}

function subjectKey(keyId: Buffer): Buffer {
  return extension('2.5.29.14', { value: der(TAG.octets, keyId), critical: false });
}

function authorityKey(keyId: Buffer): Buffer {
  return extension('2.5.29.35', { value: sequence(der(0x80, keyId)), critical: false });
}

function nameOf(commonName: string): Buffer {
  return sequence(der(TAG.set, sequence(oid('2.5.4.3'), der(TAG.utf8, Buffer.from(commonName)))));
}

function pemOf(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
