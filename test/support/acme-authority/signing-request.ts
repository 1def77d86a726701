/** Reads certificate signing requests (PKCS #10, RFC 2986) and checks their signature. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { type DerItem, oid, readDer, readParts, TAG } from './der.ts';

export interface SigningRequest {
  /** Common name and names of subjectAltName, in lower case, sorted, each once. */
  readonly names: readonly string[];
  readonly key: KeyObject;
  /** SubjectPublicKeyInfo. */
  readonly keyInfo: Buffer;
}

const HASHES = [
  { id: oid('1.2.840.10045.4.3.2'), hash: 'sha256' },
  { id: oid('1.2.840.10045.4.3.3'), hash: 'sha384' },
  { id: oid('1.2.840.10045.4.3.4'), hash: 'sha512' },
  { id: oid('1.2.840.113549.1.1.11'), hash: 'sha256' },
  { id: oid('1.2.840.113549.1.1.12'), hash: 'sha384' },
  { id: oid('1.2.840.113549.1.1.13'), hash: 'sha512' },
];
const COMMON_NAME = oid('2.5.4.3');
const EXTENSION_REQUEST = oid('1.2.840.113549.1.9.14');
const KEY_USAGE = oid('2.5.29.15');
const ALT_NAME = oid('2.5.29.17');
const BASIC_CONSTRAINTS = oid('2.5.29.19');
const DNS_NAME = 0x82;
const DIGITAL_SIGNATURE = 0x80;
const KEY_CERT_SIGN = 0x04;

/** Reads a request; throws with the reason why it is refused. */
export function readSigningRequest(bytes: Buffer): SigningRequest {
  const request = readDer(bytes);
  if (request.whole.length !== bytes.length) throw new Error('bytes follow the signing request');
  const [info, algorithm, signature] = readParts(request);
  if (info === undefined || algorithm === undefined || signature === undefined)
    throw new Error('a part of the signing request is missing');
  const [, subject, keyInfo, attributes] = readParts(info);
  if (subject === undefined || keyInfo === undefined) throw new Error('subject or key is missing');
  const key = createPublicKey({ key: keyInfo.whole, format: 'der', type: 'spki' });
  checkKey(key);
  const id = readParts(algorithm)[0]?.whole;
  const hash = HASHES.find((one) => id !== undefined && one.id.equals(id))?.hash;
  if (hash === undefined) throw new Error('the signature algorithm is not supported');
  if (!verify(hash, info.whole, key, signature.content.subarray(1)))
    throw new Error('the signature of the signing request does not match its key');
  const names = [...readCommonNames(subject), ...readAltNames(readExtensions(attributes))];
  return {
    names: [...new Set(names.map((name) => name.toLowerCase()))].sort(),
    key,
    keyInfo: keyInfo.whole,
  };
}

/** The keys that public authorities sign: P-256, P-384 and RSA of 2,048 to 4,096 bits. */
function checkKey(key: KeyObject): void {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  const isCurve = namedCurve === 'prime256v1' || namedCurve === 'secp384r1';
  const isRsa = key.asymmetricKeyType === 'rsa' && modulusLength >= 2_048 && modulusLength <= 4_096;
  if (!isCurve && !isRsa) throw new Error('the kind or the size of the key is not supported');
}

function readCommonNames(subject: DerItem): readonly string[] {
  return readParts(subject)
    .flatMap(readParts)
    .map(readParts)
    .filter(([id]) => id?.whole.equals(COMMON_NAME))
    .map(([, value]) => value?.content.toString() ?? '');
}

/** The values of the requested extensions that matter here, by identifier in hexadecimal. */
function readExtensions(attributes: DerItem | undefined): ReadonlyMap<string, DerItem> {
  const found = new Map<string, DerItem>();
  for (const attribute of attributes === undefined ? [] : readParts(attributes)) {
    const [id, values] = readParts(attribute);
    if (values === undefined || !id?.whole.equals(EXTENSION_REQUEST)) continue;
    for (const extension of readParts(values).flatMap(readParts)) {
      const parts = readParts(extension);
      const value = parts.at(-1);
      if (parts[0] !== undefined && value?.tag === TAG.octets)
        found.set(parts[0].whole.toString('hex'), readDer(value.content));
    }
  }
  checkUsage(found);
  return found;
}

function checkUsage(extensions: ReadonlyMap<string, DerItem>): void {
  const usage = extensions.get(KEY_USAGE.toString('hex'))?.content[1];
  if (usage !== undefined && (usage & DIGITAL_SIGNATURE) === 0)
    throw new Error('the key usage lacks digitalSignature');
  if (usage !== undefined && (usage & KEY_CERT_SIGN) !== 0)
    throw new Error('the key usage includes keyCertSign');
  const constraints = extensions.get(BASIC_CONSTRAINTS.toString('hex'));
  if (constraints !== undefined && readParts(constraints)[0]?.tag === TAG.boolean)
    throw new Error('the request is for an authority');
}

function readAltNames(extensions: ReadonlyMap<string, DerItem>): readonly string[] {
  const item = extensions.get(ALT_NAME.toString('hex'));
  return (item === undefined ? [] : readParts(item)).map(({ tag, content }) => {
    if (tag !== DNS_NAME) throw new Error('subjectAltName has an entry that is no DNS name');
    return content.toString('latin1');
  });
}
