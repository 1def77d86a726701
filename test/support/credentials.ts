/** A registry with consumers, keys and issuers, and requests that carry credentials of them. */

import { sha256 } from '../../src/base/platform/cryptography.ts';
import type { CredentialsWanted } from '../../src/engine/evaluator/gateways.ts';
import type { OpenedRegistry, RegisteredIssuer } from '../../src/engine/evaluator/index.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
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
  readonly issuers?: readonly RegisteredIssuer[];
}

const CONSUMER = {
  customId: null,
  group: null,
  labels: [],
  metadata: {},
  enabled: true,
  usagePlan: null,
  acl: [],
  scopes: [],
  expiresAt: null,
};

export function registryOf({
  keys = {},
  expiries = {},
  consumers = [],
  issuers = [],
}: RegistryContent): OpenedRegistry {
  const usernames = new Set([...consumers, ...Object.values(keys)]);
  const byDigest = new Map(Object.entries(keys).map(([text, username]) => [hexOf(text), { text, username }]));
  const consumer = (username: string) => (usernames.has(username) ? { ...CONSUMER, username } : null);
  return {
    octets: 0,
    consumer,
    consumerOfClaim: consumer,
    key(digest) {
      const id = Buffer.from(digest).toString('hex');
      const found = byDigest.get(id);
      if (found === undefined) return null;
      const { text, username } = found;
      return { consumer: { ...CONSUMER, username }, id: id.slice(0, 8), expiresAt: expiries[text] ?? null };
    },
    usagePlan: () => null,
    issuer: (name) => issuers.find((issuer) => issuer.name === name) ?? null,
  };
}

function hexOf(text: string): string {
  return Buffer.from(sha256(text)).toString('hex');
}

/** An issuer with the defaults of its form. */
export function issuerOf(
  name: string,
  keys: readonly IssuerKey[],
  more: Partial<RegisteredIssuer> = {},
): RegisteredIssuer {
  return {
    name,
    issuer: `https://${name}.example/`,
    audiences: ['https://api.example'],
    algorithms: ['ES256', 'RS256', 'EdDSA'],
    keys: keys.map(({ jwk }) => jwk),
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
  issuers: readonly RegisteredIssuer[],
  apiKeySources: CredentialsWanted['apiKeySources'] = [],
): CredentialsWanted {
  return { registry, issuers, apiKeySources };
}
