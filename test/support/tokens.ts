/** Tokens made without the package that verifies them: keys and signatures of `node:crypto`, any header, any payload. */
import {
  constants,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  type SignKeyObjectInput,
  sign,
} from 'node:crypto';

/** A key pair of an issuer. */
export interface IssuerKey {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The public key as an issuer publishes it. */
  readonly jwk: Readonly<Record<string, unknown>>;
}

/** Makes a key pair for an algorithm. */
export function makeKey(alg: string, kid: string | null = null): IssuerKey {
  const { privateKey, publicKey } = pairFor(alg);
  const jwk = { ...publicKey.export({ format: 'jwk' }), ...(kid === null ? {} : { kid }) };
  return { privateKey, publicKey, jwk };
}

function pairFor(alg: string): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  if (alg === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (alg === 'ES384') return generateKeyPairSync('ec', { namedCurve: 'P-384' });
  if (alg === 'EdDSA') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2_048 });
}

/** Octets or an object, as a part of a token. */
export function partOf(value: unknown): string {
  const octets = typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value);
  return Buffer.from(octets as string).toString('base64url');
}

/** Signs a header and a payload; either may be text of any kind in place of an object. */
export function signToken(header: unknown, payload: unknown, key: KeyObject, alg = algOf(header)): string {
  const input = `${partOf(header)}.${partOf(payload)}`;
  return `${input}.${signatureOf(input, key, alg).toString('base64url')}`;
}

function algOf(header: unknown): string {
  return String((header as { readonly alg?: unknown }).alg);
}

function signatureOf(input: string, key: KeyObject, alg: string): Buffer {
  const data = Buffer.from(input);
  if (alg === 'EdDSA') return sign(null, data, key);
  const digest = `sha${alg.slice(2)}`;
  const options: SignKeyObjectInput = { key };
  if (alg.startsWith('ES')) options.dsaEncoding = 'ieee-p1363';
  if (alg.startsWith('PS')) {
    options.padding = constants.RSA_PKCS1_PSS_PADDING;
    options.saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
  }
  return sign(digest, data, options);
}

/** Signs with HMAC under any octets as the secret: what an attacker does with a public key. */
export function signHmac(header: unknown, payload: unknown, secret: string | Buffer): string {
  const input = `${partOf(header)}.${partOf(payload)}`;
  return `${input}.${createHmac(`sha${algOf(header).slice(2)}`, secret)
    .update(input)
    .digest('base64url')}`;
}
