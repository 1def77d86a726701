/** Opens signed requests (RFC 8555 section 6.2): signature, nonce and address are checked, ES256 and RS256 accepted. */
import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { Problem } from './problem.ts';
import type { Account, State } from './state.ts';

export type Payload = Readonly<Record<string, unknown>>;

export interface SignedRequest {
  /** `null`: POST-as-GET. */
  readonly payload: Payload | null;
  readonly signer: Signer;
}

export interface Signer {
  /** `null`: the request names a key instead of an account. */
  readonly account: Account | null;
  readonly key: KeyObject;
  readonly thumbprint: string;
}

interface SignedBody {
  readonly header: Payload;
  readonly payload: Payload | null;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** Opens the body of a request to an address; a valid nonce is used up. */
export function openSigned(
  state: State,
  { body, url }: { readonly body: string; readonly url: string },
): SignedRequest {
  const { header, payload, signed, signature } = parseBody(body);
  if (header['alg'] !== 'ES256' && header['alg'] !== 'RS256')
    throw malformed(`the algorithm \`${header['alg']}\` is not supported`, 'badSignatureAlgorithm');
  const signer = findSigner(state, header);
  const type = header['alg'] === 'ES256' ? 'ec' : 'rsa';
  if (signer.key.asymmetricKeyType !== type) throw malformed('the algorithm does not fit the key');
  if (!verify('sha256', signed, { key: signer.key, dsaEncoding: 'ieee-p1363' }, signature))
    throw malformed('the signature does not match the key');
  useNonce(state, header['nonce']);
  if (header['url'] !== url)
    throw new Problem('unauthorized', { detail: `signed for \`${header['url']}\`, sent to \`${url}\`` });
  return { payload, signer };
}

function parseBody(body: string): SignedBody {
  const parts = parseObject(body, 'the body');
  const { protected: head, payload, signature } = parts;
  if (typeof head !== 'string' || typeof payload !== 'string' || typeof signature !== 'string')
    throw malformed('the body is not a flattened JWS');
  if (parts['header'] !== undefined || parts['signatures'] !== undefined)
    throw malformed('an unprotected header and several signatures are not allowed');
  return {
    header: parseObject(Buffer.from(head, 'base64url').toString(), 'the protected header'),
    payload: payload === '' ? null : parseObject(Buffer.from(payload, 'base64url').toString(), 'the payload'),
    signed: Buffer.from(`${head}.${payload}`),
    signature: Buffer.from(signature, 'base64url'),
  };
}

function parseObject(text: string, what: string): Payload {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Payload;
  } catch {
    // The same answer as for a value of another type.
  }
  throw malformed(`${what} is no JSON object`);
}

function findSigner(state: State, { kid, jwk }: Payload): Signer {
  if ((kid === undefined) === (jwk === undefined)) throw malformed('one of `kid` and `jwk` is required');
  if (kid === undefined) return readKey(jwk as JsonWebKey);
  const account = state.accounts.get(String(kid));
  if (account === undefined) throw malformed(`there is no account \`${kid}\``, 'accountDoesNotExist');
  if (account.status !== 'valid')
    throw new Problem('unauthorized', { detail: 'the account is deactivated', status: 401 });
  return { account, key: account.key, thumbprint: account.thumbprint };
}

function readKey(jwk: JsonWebKey): Signer {
  const { kty, crv, x, y, e, n } = jwk;
  // The members that RFC 7638 names, in its order.
  const canonical = kty === 'RSA' ? { e, kty, n } : { crv, kty, x, y };
  const thumbprint = createHash('sha256').update(JSON.stringify(canonical)).digest('base64url');
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
    if (namedCurve === 'prime256v1' || modulusLength >= 2_048) return { account: null, key, thumbprint };
  } catch {
    // The same answer as for a key of another kind.
  }
  throw malformed('the key is neither P-256 nor RSA of at least 2,048 bits', 'badPublicKey');
}

function useNonce({ nonces }: State, nonce: unknown): void {
  if (typeof nonce !== 'string' || !nonces.delete(nonce))
    throw malformed('the nonce is unknown or was used before', 'badNonce');
}

function malformed(detail: string, type: ConstructorParameters<typeof Problem>[0] = 'malformed'): Problem {
  return new Problem(type, { detail });
}
