/**
 * Credentials by who issues them (semantics §15): keys of consumers by their hashes, tokens by their issuers, client certificates by
 * their authorities. In: a gateway, a consumer, gateways of another rule set. Out: for each combination of credentials that the
 * gateway takes of the consumer what those gateways read of it, as `edge/credentials` verifies requests.
 *
 * Credentials differ from the first of their kind in one respect each: verification is a conjunction, so one respect decides. Keys
 * that are at an address are not known: two addresses may have the same ones.
 */
import { quoteValue } from '../../base/diagnostics/diagnostic.ts';
import type { CredentialKind, CredentialSource } from '../../base/vocabulary/vocabulary.ts';
import { readAuthorities } from '../../rules/model/gateway/client-certificates.ts';
import { algorithmsOf } from '../../rules/model/registry/jwk.ts';
import type { Consumer, GatewayRule, Registry, TokenIssuer } from '../../rules/model/types.ts';

/** A gateway with the registry of its domain. */
export interface RegisteredGateway {
  readonly gateway: GatewayRule;
  readonly registry: Registry;
}

/** What a gateway reads of credentials. */
interface Reading {
  /** Also one that is disabled; `null`: it finds no credentials, or refuses them. */
  readonly consumer: Consumer | null;
  readonly verified: readonly CredentialKind[];
  /** Whether scopes of the token are read. */
  readonly hasScopes: boolean;
}

/** Credentials of a consumer, one of each kind that a gateway requires together. */
export interface IssuedCredentials {
  readonly verified: readonly CredentialKind[];
  /** `a token of \`login\``. */
  readonly words: string;
  /** What each gateway reads; `null`: not known. */
  readonly readings: ReadonlyMap<GatewayRule, Reading | null>;
}

/** One credential. */
interface Form {
  readonly kind: CredentialKind;
  readonly words: string;
  /** What a gateway makes of it; `null`: not known. */
  judge(at: RegisteredGateway): Verdict | null;
}

/** `unread`: the gateway does not look where it is. */
type Verdict = 'unread' | 'refused' | { readonly consumer: Consumer; readonly hasScopes: boolean };

/** The credentials that a gateway takes of a consumer: of those that all others read alike the first. */
export function issuedTo(
  consumer: Consumer,
  own: RegisteredGateway,
  others: readonly RegisteredGateway[],
): readonly IssuedCredentials[] {
  const { auth } = own.gateway;
  const isOwn = (form: Form): boolean => {
    const verdict = form.judge(own);
    return typeof verdict === 'object' && verdict?.consumer === consumer;
  };
  const kinds = [keysOf(consumer, own), tokensOf(consumer, own), certificatesOf(consumer, own)]
    .filter((forms) => forms.length > 0)
    .map((forms) =>
      distinct(forms.filter(isOwn), (form) => others.map((other) => textOf(form.judge(other)))),
    );
  const all = auth.require === 'all' ? product(kinds) : kinds.flat().map((form) => [form]);
  const issued = all.map(
    (forms): IssuedCredentials => ({
      verified: forms.map(({ kind }) => kind),
      words: forms.map(({ words }) => words).join(' and '),
      readings: new Map(others.map((other) => [other.gateway, readingOf(forms, other)])),
    }),
  );
  return distinct(issued, ({ verified, readings }) => [verified, [...readings.values()].map(textOf)]);
}

/** The first of those that a description does not distinguish. */
function distinct<T>(all: readonly T[], describe: (one: T) => unknown): readonly T[] {
  const found = new Map<string, T>();
  for (const one of all) {
    const key = JSON.stringify(describe(one));
    if (!found.has(key)) found.set(key, one);
  }
  return [...found.values()];
}

function textOf(one: Verdict | Reading | null): unknown {
  return one === null || typeof one === 'string' ? one : { ...one, consumer: one.consumer?.username };
}

/** One of each list. */
function product<T>(lists: readonly (readonly T[])[]): readonly (readonly T[])[] {
  return lists.reduce<readonly (readonly T[])[]>(
    (all, list) => all.flatMap((before) => list.map((one) => [...before, one])),
    [[]],
  );
}

const NOTHING: Reading = { consumer: null, verified: [], hasScopes: false };

/** What a gateway reads of credentials together: nothing, if it refuses one or they name different consumers. */
function readingOf(forms: readonly Form[], at: RegisteredGateway): Reading | null {
  const verdicts = forms.map((form) => form.judge(at));
  if (verdicts.includes('refused')) return NOTHING;
  if (verdicts.includes(null)) return null;
  const read = forms.flatMap(({ kind }, index) => {
    const verdict = verdicts[index]!;
    return typeof verdict === 'object' && verdict !== null ? [{ kind, ...verdict }] : [];
  });
  const [first] = read;
  if (first === undefined || read.some(({ consumer }) => consumer !== first.consumer)) return NOTHING;
  return {
    consumer: first.consumer,
    verified: read.map(({ kind }) => kind),
    hasScopes: read.some(({ hasScopes }) => hasScopes),
  };
}

// Keys.

/** Where a key or token is, in words. */
function placeText({ in: place, name }: CredentialSource): string {
  return `in the ${place === 'query' ? 'query parameter' : place} ${quoteValue(name)}`;
}

function isSamePlace(a: CredentialSource, b: CredentialSource): boolean {
  if (a.in !== b.in) return false;
  return a.in === 'header' ? a.name.toLowerCase() === b.name.toLowerCase() : a.name === b.name;
}

function isAmong(source: CredentialSource, sources: readonly CredentialSource[] = []): boolean {
  return sources.some((one) => isSamePlace(one, source));
}

/** The keys of a consumer at each place; one that is not known, where the registry lists none of it. */
function keysOf({ username, keys = [] }: Consumer, { gateway }: RegisteredGateway): readonly Form[] {
  const { sources = [] } = gateway.auth.api_key ?? {};
  const [first] = sources;
  if (first === undefined) return [];
  const form = (source: CredentialSource, sha256: string | null, words: string): Form => ({
    kind: 'api_key',
    words,
    judge({ gateway: { auth }, registry }) {
      const isRead = isAmong(source, auth.api_key?.sources);
      if (!isRead) return takesTokensAt(source, auth, registry) ? 'refused' : 'unread';
      const found = registry.consumers.find((one) =>
        sha256 === null ? one.username === username : one.keys?.some((key) => key.sha256 === sha256),
      );
      return found === undefined ? 'refused' : { consumer: found, hasScopes: false };
    },
  });
  const [known] = keys;
  return [
    ...sources.map((source) => form(source, known?.sha256 ?? null, `a key ${placeText(source)}`)),
    ...keys
      .slice(1)
      .map(({ sha256, name }) => form(first, sha256, `the key ${quoteValue(name ?? sha256.slice(0, 12))}`)),
  ];
}

function takesTokensAt(source: CredentialSource, auth: GatewayRule['auth'], registry: Registry): boolean {
  return issuersOf(auth, registry).some(({ sources }) => isAmong(source, sources));
}

function issuersOf({ jwt }: GatewayRule['auth'], { token_issuers }: Registry): readonly TokenIssuer[] {
  return (jwt?.issuers ?? []).flatMap((name) => token_issuers.find((one) => one.name === name) ?? []);
}

// Tokens.

/** What a token has. */
interface Token {
  readonly issuer: TokenIssuer;
  readonly audience: string;
  readonly algorithm: string;
  /** The place of its key among those of the issuer; `null`: they are at an address. */
  readonly key: number | null;
  readonly source: CredentialSource;
  /** What names the consumer; `null`: nothing does. */
  readonly name: string | null;
  /** It has expired, and is within the difference of clocks alone. */
  readonly isLate: boolean;
}

/** The tokens of each issuer, the first of each with the first of everything. */
function tokensOf(consumer: Consumer, { gateway, registry }: RegisteredGateway): readonly Form[] {
  return issuersOf(gateway.auth, registry).flatMap((issuer) => {
    const of = `a token of ${quoteValue(issuer.name)}`;
    const { audiences, algorithms, keys = [], sources } = issuer;
    const signing =
      keys.length === 0
        ? algorithms.map((algorithm) => ({ algorithm, key: null }))
        : keys.flatMap((jwk, key) =>
            algorithmsOf(jwk)
              .filter((algorithm) => algorithms.includes(algorithm))
              .map((algorithm) => ({ algorithm, key })),
          );
    const names = namesOf(consumer, issuer);
    if (signing.length === 0) return [];
    const first: Token = {
      ...{
        issuer,
        audience: audiences[0]!,
        ...signing[0]!,
        source: sources[0]!,
        name: names[0]!,
        isLate: false,
      },
    };
    const others: readonly (readonly [Partial<Token>, string])[] = [
      ...audiences.slice(1).map((audience) => [{ audience }, ` for ${quoteValue(audience)}`] as const),
      ...signing
        .slice(1)
        .map((one) => [one, ` signed with ${one.algorithm}${keyText(issuer, one.key)}`] as const),
      ...sources.slice(1).map((source) => [{ source }, ` ${placeText(source)}`] as const),
      ...names
        .slice(1)
        .map(
          (name) =>
            [
              { name },
              name === null ? ' without a consumer' : ` for the consumer ${quoteValue(name)}`,
            ] as const,
        ),
      ...(issuer.clock_skew_sec === 0 ? [] : [[{ isLate: true }, ' that has just expired'] as const]),
    ];
    return [
      tokenForm(first, of),
      ...others.map(([fields, words]) => tokenForm({ ...first, ...fields }, `${of}${words}`)),
    ];
  });
}

function keyText({ keys = [] }: TokenIssuer, place: number | null): string {
  return place === null || keys.length === 1 ? '' : ` by its key ${place + 1}`;
}

/** What tokens name the consumer by. */
function namesOf(
  { username, custom_id }: Consumer,
  { default_consumer }: Partial<TokenIssuer>,
): readonly (string | null)[] {
  return [
    ...(custom_id === null ? [] : [custom_id]),
    username,
    ...(default_consumer === username ? [null] : []),
  ];
}

function tokenForm(token: Token, words: string): Form {
  return { kind: 'jwt', words, judge: (at) => judgeToken(token, at) };
}

function judgeToken(token: Token, { gateway: { auth }, registry }: RegisteredGateway): Verdict | null {
  const { issuer: own, audience, source, isLate } = token;
  const takers = issuersOf(auth, registry).filter(({ sources }) => isAmong(source, sources));
  if (takers.length === 0) return isAmong(source, auth.api_key?.sources) ? 'refused' : 'unread';
  const named = takers.filter(({ issuer }) => issuer === own.issuer);
  const issuer = named.find(({ audiences }) => audiences.includes(audience));
  if (issuer === undefined) return 'refused';
  if (!(issuer.algorithms as readonly string[]).includes(token.algorithm)) return 'refused';
  if (isLate && issuer.clock_skew_sec < own.clock_skew_sec) return 'refused';
  // The scopes of the token are any.
  if (
    Object.hasOwn(issuer.required_claims, own.scopes_claim) ||
    Object.hasOwn(own.required_claims, issuer.scopes_claim)
  )
    return wholeText(issuer) === wholeText(own) ? readAs(token, issuer, registry) : null;
  if (!Object.entries(issuer.required_claims).every(([name, value]) => hasClaim(token, name, value)))
    return 'refused';
  return readAs(token, issuer, registry);
}

/** What an issuer makes of a token with claims that it takes. */
function readAs(token: Token, issuer: TokenIssuer, registry: Registry): Verdict | null {
  const consumer = consumerNamed(token, issuer, registry);
  if (consumer === null) return 'refused';
  const isSigned = hasKey(token, issuer);
  if (isSigned !== true) return isSigned === false ? 'refused' : null;
  return { consumer, hasScopes: issuer.scopes_claim === token.issuer.scopes_claim };
}

/** Whether the token has a value of a claim: it has those alone that its own issuer requires, and the consumer's name. */
function hasClaim({ issuer, name: consumer }: Token, name: string, value: unknown): boolean {
  if (name === issuer.consumer_claim) return consumer === String(value);
  return (
    Object.hasOwn(issuer.required_claims, name) && String(issuer.required_claims[name]) === String(value)
  );
}

function consumerNamed(
  { issuer: own, name }: Token,
  issuer: TokenIssuer,
  registry: Registry,
): Consumer | null {
  const { consumer_claim: claim } = issuer;
  const required = own.required_claims[claim];
  const given = claim === own.consumer_claim ? name : required === undefined ? null : String(required);
  return (
    (given === null ? null : consumerOfClaim(given, registry)) ??
    registry.consumers.find(({ username }) => username === issuer.default_consumer) ??
    null
  );
}

function consumerOfClaim(name: string, { consumers }: Registry): Consumer | null {
  return (
    consumers.find(({ custom_id }) => custom_id === name) ??
    consumers.find(({ username }) => username === name) ??
    null
  );
}

/** Whether an issuer has the key of the token; `null`: not known. */
function hasKey({ issuer: own, key }: Token, issuer: TokenIssuer): boolean | null {
  if (key === null) return own.jwks_url === issuer.jwks_url ? true : null;
  if (issuer.keys === undefined || issuer.keys.length === 0) return null;
  const jwk = own.keys![key]!;
  const same = issuer.keys.filter((one) => publicText(one) === publicText(jwk));
  if (same.length === 0) return false;
  return same.some((one) => wholeText(one) === wholeText(jwk)) ? true : null;
}

/** The members that make a public key (RFC 7518 §6). */
function publicText(jwk: object): string {
  const members = jwk as Readonly<Record<string, unknown>>;
  return JSON.stringify(['kty', 'crv', 'x', 'y', 'n', 'e'].map((name) => members[name] ?? null));
}

function wholeText(jwk: object): string {
  return JSON.stringify(Object.entries(jwk).sort(([a], [b]) => (a < b ? -1 : 1)));
}

// Client certificates.

/** Certificates of each authority; those that another one has issued to it are no part of the path. */
function certificatesOf(consumer: Consumer, { gateway }: RegisteredGateway): readonly Form[] {
  const names = namesOf(consumer, {});
  return authoritiesOf(gateway).flatMap((authority, index) =>
    (index === 0 ? names : names.slice(0, 1)).map(
      (name): Form => ({
        kind: 'mtls',
        words: `a client certificate of authority ${index + 1}`,
        judge({ gateway: other, registry }) {
          if (other.auth.mtls === undefined) return 'unread';
          const theirs = authoritiesOf(other);
          const isKnown = theirs.some(({ base64 }) => base64 === authority.base64);
          // Another certificate of the same name may have the same key.
          if (!isKnown) return theirs.some(({ subject }) => subject === authority.subject) ? null : 'refused';
          const found = consumerOfClaim(name!, registry);
          return found === null ? 'refused' : { consumer: found, hasScopes: false };
        },
      }),
    ),
  );
}

/** An authority whose certificates are taken. */
interface Authority {
  readonly base64: string;
  readonly subject: string;
}

const AUTHORITIES = new WeakMap<GatewayRule, readonly Authority[]>();

function authoritiesOf(gateway: GatewayRule): readonly Authority[] {
  const known = AUTHORITIES.get(gateway);
  if (known !== undefined) return known;
  const read = gateway.auth.mtls === undefined ? [] : readAuthorities(gateway.auth.mtls.ca_pem);
  const found = 'code' in read ? [] : read.map(({ base64, parts: { subject } }) => ({ base64, subject }));
  AUTHORITIES.set(gateway, found);
  return found;
}
