/** A registry with consumers, keys and issuers, and requests that carry credentials of them. */

import { sha256Hex } from '../../src/base/platform/cryptography.ts';
import { sealRegistry } from '../../src/engine/compiler/seal-registry.ts';
import type { CredentialsWanted } from '../../src/engine/evaluator/gateways.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { OpenedRegistry } from '../../src/engine/plan/open-registry.ts';
import { openRegistry } from '../../src/engine/plan/open-registry.ts';
import type { RegisteredIssuer } from '../../src/engine/plan/registry.ts';
import type { Consumer, ConsumerKey } from '../../src/rules/model/types.ts';
import type { IssuerKey } from './tokens.ts';

/** 2026-11-30. */
export const NOW = Date.UTC(2026, 10, 30);
export const NOW_SEC = NOW / 1_000;

/** What a registry of a test has. */
export interface RegistryContent {
  /** Usernames, by the text of their keys. */
  readonly keys?: Readonly<Record<string, string>>;
  /** When keys expire, milliseconds since the epoch, by their text. */
  readonly expiries?: Readonly<Record<string, number>>;
  readonly consumers?: readonly string[];
  /** `custom_id` by username. */
  readonly customIds?: Readonly<Record<string, string>>;
}

export function registryOf({
  keys = {},
  expiries = {},
  consumers = [],
  customIds = {},
}: RegistryContent): OpenedRegistry {
  const usernames = new Set([...consumers, ...Object.values(keys)]);
  const listed = [...usernames].map((username): Consumer => {
    const own = Object.keys(keys).filter((text) => keys[text] === username);
    const hashed = own.map((text) => keyOf(text, expiries[text] ?? null));
    return {
      ...CONSUMER,
      username,
      custom_id: customIds[username] ?? null,
      ...(hashed.length === 0 ? {} : { keys: hashed }),
    };
  });
  return openRegistry(sealRegistry({ consumers: listed, usage_plans: [], token_issuers: [] }));
}

function keyOf(text: string, expiresAt: number | null): ConsumerKey {
  return {
    name: null,
    sha256: sha256Hex(text),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}

/** The defaults of a consumer's form. */
const CONSUMER: Omit<Consumer, 'username'> = {
  custom_id: null,
  group: null,
  labels: [],
  enabled: true,
  usage_plan: null,
  acl: [],
  scopes: [],
  metadata: {},
  expires_at: null,
};

/** An issuer as a registry of another version, or a damaged one, may have it. */
export interface AnyIssuer extends Omit<RegisteredIssuer, 'keys' | 'algorithms'> {
  readonly keys: readonly object[];
  readonly algorithms: readonly string[];
}

/** An issuer with the defaults of its form. */
export function issuerOf(name: string, keys: readonly IssuerKey[], more: Partial<AnyIssuer> = {}): AnyIssuer {
  return {
    name,
    issuer: `https://${name}.example/`,
    audiences: ['https://api.example'],
    algorithms: ['ES256', 'RS256', 'EdDSA'],
    keys: keys.map(({ jwk }) => jwk),
    jwksUrl: null,
    sources: [{ in: 'header', name: 'Authorization' }],
    requiredClaims: {},
    clockSkewSec: 60,
    consumerClaim: 'sub',
    scopesClaim: 'scope',
    defaultConsumer: null,
    ...more,
  };
}

/** Claims of a valid token of an issuer for a consumer. */
export function claimsFor(name: string, sub: string, more: object = {}): Record<string, unknown> {
  return {
    iss: `https://${name}.example/`,
    sub,
    aud: 'https://api.example',
    iat: NOW_SEC - 10,
    exp: NOW_SEC + 600,
    ...more,
  };
}

export function requestOf(
  headers: Readonly<Record<string, string | readonly string[]>>,
  target = '/orders',
): EdgeRequest {
  return { scheme: 'https', method: 'GET', host: 'api.example', target, headers };
}

export function wantedOf(
  registry: OpenedRegistry,
  issuers: readonly AnyIssuer[],
  apiKeySources: CredentialsWanted['apiKeySources'] = [],
): CredentialsWanted {
  const clients = null;
  return {
    registry,
    issuers: issuers as readonly RegisteredIssuer[],
    apiKeySources,
    clients,
    needsCertificate: false,
  };
}
