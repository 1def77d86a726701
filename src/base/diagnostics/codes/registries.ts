/** Codes of registries: consumers with their keys, usage plans and token issuers. */
import type { CodeList } from './code.ts';

export const REGISTRY_CODES = {
  client_authority: {
    severity: 'error',
    meaning: '`ca_pem` of a gateway is no list of certificates of authorities that issue those of clients',
    remedy:
      'write the certificates of the authorities as PEM, with `CA:TRUE`, RSA from 2,048 bits, P-256, P-384, P-521 or Ed25519',
  },
  duplicate_consumer: {
    severity: 'error',
    meaning: 'a token with this name would act as either of two consumers',
    remedy: 'give each consumer a `username` and a `custom_id` that no other one has as either',
  },
  duplicate_hash: {
    severity: 'error',
    meaning: 'two entries have the hash of one key, which would name two consumers',
    remedy: 'make a key for each with `edgeplan consumer-key`',
  },
  expired_authority: {
    severity: 'warning',
    meaning: 'an authority of client certificates of a gateway has expired, and nodes refuse what it issued',
    remedy: 'remove it from `ca_pem`, or add the certificate that replaces it',
  },
  invalid_jwk: {
    severity: 'error',
    meaning: 'the key of a token issuer is no JSON Web Key that signatures of tokens can be checked with',
    remedy: 'copy a key of kind EC (P-256, P-384), RSA (2,048 bits or more) or OKP (Ed25519) from its JWKS',
  },
  jwks_url: {
    severity: 'error',
    meaning: '`jwks_url` is no address that the control plane may fetch keys from',
    remedy: 'write `https://`, a host and a path, without user name and fragment',
  },
  key_hash: {
    severity: 'error',
    meaning: 'the value is no SHA-256 hash of a key; a key itself does not belong in a file',
    remedy: 'write the line that `edgeplan consumer-key` prints',
  },
  key_sources: {
    severity: 'error',
    meaning: 'a token issuer has neither `jwks_url` nor `keys`, or both',
    remedy: 'write one of the two',
  },
  keys_not_fetched: {
    severity: 'warning',
    meaning:
      'a token issuer of a file has `jwks_url`: only a control plane fetches keys, and edges refuse tokens without one',
    remedy: 'list the public keys of the issuer in `keys`, or apply the file to a control plane',
  },
  live_keys: {
    severity: 'error',
    meaning: 'a consumer has more than two keys that are valid at once',
    remedy: 'remove the oldest, or set its `expires_at`',
  },
  private_key: {
    severity: 'error',
    meaning:
      'the key of a token issuer has private or symmetric parts, with which every reader of the file could sign tokens, or `ca_pem` has a private key',
    remedy: 'write the public key alone, and replace the private one, which was disclosed',
  },
  quota_not_counted: {
    severity: 'warning',
    meaning: 'a usage plan of a file has a quota, which only a control plane counts',
    remedy: 'apply the file to a control plane, or limit consumers by `throttle`',
  },
  registry_too_large: {
    severity: 'error',
    meaning:
      'consumers, usage plans and token issuers take more octets than a domain may have once they are compiled',
    remedy: 'write fewer labels, operations and values of `metadata`',
  },
  unknown_consumer: {
    severity: 'error',
    meaning: '`default_consumer` of a token issuer names no consumer',
    remedy: 'write the `username` of a consumer',
  },
  unknown_token_issuer: {
    severity: 'error',
    meaning: 'a gateway names a token issuer that the domain does not have',
    remedy: 'name one of `token_issuers`, or make it',
  },
  unknown_usage_plan: {
    severity: 'error',
    meaning: 'a consumer or a gateway names a usage plan that the domain does not have',
    remedy: 'name one of `usage_plans`, or make it',
  },
} as const satisfies CodeList;
