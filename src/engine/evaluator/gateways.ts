/**
 * Gateways of a plan, decoded at their first use, and what one says of a request (semantics §15): its operation, its consumer, and
 * why it is refused. In: a gateway, the facts. Out: a verdict. Usage plans are applied by the phase, which counts.
 */
import {
  AUTH_REQUIREMENTS,
  type AuthRequirement,
  CREDENTIAL_KINDS,
  CREDENTIAL_PLACES,
  type CredentialKind,
  type CredentialSource,
  IDENTITY_FAILURES,
  type IdentityFailure,
  UNKNOWN_OPERATION_MODES,
} from '../../base/vocabulary/vocabulary.ts';
import {
  CORS,
  GATEWAY_FIELDS,
  GATEWAY_OPTIONS,
  KEY_SOURCE,
  META,
  NONE,
  OPERATION,
  OPERATION_SETTING,
  OPERATION_SETTINGS,
  SLOT,
  THROTTLE,
  WIDE_GATEWAYS,
} from '../plan/layout.ts';
import type { OpenedRegistry, RegisteredConsumer } from '../plan/open-registry.ts';
import type { RegisteredIssuer } from '../plan/registry.ts';
import type { Facts } from './facts.ts';
import { type BodyFinding, findingOf, type LoadedValidation, loadValidation } from './gateway-bodies.ts';
import { type LoadedPlan, textOf, textsAt } from './loaded.ts';
import {
  createRouter,
  type LoadedOperation,
  type PathOperations,
  type Router,
  type Throttle,
} from './operations.ts';

/** What the credentials of a request are verified with. */
export interface CredentialsWanted {
  /** Where API keys may be; empty: none is taken. */
  readonly apiKeySources: readonly CredentialSource[];
  /** The issuers whose tokens are taken; empty: none is. */
  readonly issuers: readonly RegisteredIssuer[];
  /** Whose certificates of clients are taken; `null`: none is. */
  readonly clients: ClientAuthorities | null;
  /** Whether the request is refused without a client certificate, whatever other credentials it has. */
  readonly needsCertificate: boolean;
  readonly registry: OpenedRegistry;
}

/** The authorities whose certificates a gateway takes. One object as long as the gateway is loaded: what is verified by it is cached. */
export interface ClientAuthorities {
  /** Certificates as DER in Base64. */
  readonly certificates: readonly string[];
}

/** What pages of other origins may do. */
export interface LoadedCors {
  readonly origins: readonly string[];
  /** `null`: those of the operations of the path. */
  readonly methods: readonly string[] | null;
  /** `null`: `Authorization`, `Content-Type` and the headers that have API keys. */
  readonly allowed: readonly string[] | null;
  readonly exposed: readonly string[];
  readonly credentials: boolean;
  readonly maxAge: number;
}

/** A gateway. */
export interface LoadedGateway {
  readonly name: string;
  /** In canonical form; empty for `/`. */
  readonly base: string;
  readonly require: AuthRequirement;
  readonly hide: boolean;
  readonly unknown: (typeof UNKNOWN_OPERATION_MODES)[number];
  /** The usage plan of consumers without one; empty: they have none. */
  readonly plan: string;
  readonly sources: readonly CredentialSource[];
  readonly issuers: readonly string[];
  readonly clients: ClientAuthorities | null;
  /** The kinds of credentials that it takes. */
  readonly kinds: readonly CredentialKind[];
  readonly cors: LoadedCors | null;
  /** `null`: it has no operations, and takes every path and method. */
  readonly router: Router | null;
  /** Offset in `words` of the changes of the request; NONE: it changes nothing. */
  readonly headers: number;
  /** `null`: bodies are not compared. */
  readonly validation: LoadedValidation | null;
}

/** Whether the rows of gateways have the words that version 7 of the plan added. */
export function isWide({ plan }: LoadedPlan): boolean {
  return (plan.meta[META.switches]! & WIDE_GATEWAYS) !== 0;
}

function hasSettings({ plan }: LoadedPlan): boolean {
  return (plan.meta[META.switches]! & OPERATION_SETTINGS) !== 0;
}

/** The gateway in a slot. */
export function loadGateway(loaded: LoadedPlan, slot: number): LoadedGateway {
  const { slots, words } = loaded.plan;
  const at = slots[slot * SLOT.size + SLOT.fields]!;
  const field = (offset: number): number => words[at + offset]!;
  const options = field(GATEWAY_FIELDS.options);
  const sources = sourcesAt(loaded, field(GATEWAY_FIELDS.sources));
  const issuers = textsAt(loaded, field(GATEWAY_FIELDS.issuers));
  const cors = field(GATEWAY_FIELDS.cors);
  const settings = hasSettings(loaded) ? field(GATEWAY_FIELDS.settings) : NONE;
  const operations = operationsAt(loaded, { at: field(GATEWAY_FIELDS.operations), settings });
  const authorities = isWide(loaded) ? field(GATEWAY_FIELDS.clients) : NONE;
  const clients = authorities === NONE ? null : { certificates: textsAt(loaded, authorities) };
  const validation = isWide(loaded) ? field(GATEWAY_FIELDS.validation) : NONE;
  const takes = { api_key: sources.length > 0, jwt: issuers.length > 0, mtls: clients !== null };
  return {
    name: textOf(loaded, field(GATEWAY_FIELDS.name)),
    base: textOf(loaded, field(GATEWAY_FIELDS.base)),
    require: AUTH_REQUIREMENTS[options & GATEWAY_OPTIONS.require]!,
    hide: (options & GATEWAY_OPTIONS.hide) !== 0,
    unknown: UNKNOWN_OPERATION_MODES[(options & GATEWAY_OPTIONS.unknown) >> GATEWAY_OPTIONS.unknownShift]!,
    plan: textOf(loaded, field(GATEWAY_FIELDS.plan)),
    sources,
    issuers,
    clients,
    kinds: CREDENTIAL_KINDS.filter((kind) => takes[kind]),
    cors: cors === NONE ? null : corsAt(loaded, cors),
    router: operations.length === 0 ? null : createRouter(operations),
    headers: field(GATEWAY_FIELDS.headers),
    validation:
      validation === NONE
        ? null
        : loadValidation(loaded, { at: validation, settings, count: operations.length }),
  };
}

function sourcesAt(loaded: LoadedPlan, at: number): readonly CredentialSource[] {
  const { words } = loaded.plan;
  return Array.from({ length: words[at]! }, (_, index) => {
    const row = at + 1 + index * KEY_SOURCE.size;
    return {
      in: CREDENTIAL_PLACES[words[row + KEY_SOURCE.place]!]!,
      name: textOf(loaded, words[row + KEY_SOURCE.name]!),
    };
  });
}

function corsAt(loaded: LoadedPlan, at: number): LoadedCors {
  const { words } = loaded.plan;
  const optional = (offset: number): readonly string[] | null =>
    words[at + offset] === NONE ? null : textsAt(loaded, words[at + offset]!);
  return {
    origins: textsAt(loaded, words[at + CORS.origins]!),
    methods: optional(CORS.methods),
    allowed: optional(CORS.allowed),
    exposed: textsAt(loaded, words[at + CORS.exposed]!),
    credentials: words[at + CORS.credentials] === 1,
    maxAge: words[at + CORS.maxAge]!,
  };
}

/** @param places offsets in `words` of the operations and of their settings, NONE: they have none */
function operationsAt(
  loaded: LoadedPlan,
  { at, settings }: { readonly at: number; readonly settings: number },
): readonly LoadedOperation[] {
  const { words } = loaded.plan;
  return Array.from({ length: words[at]! }, (_, index) => {
    const row = at + 1 + index * OPERATION.size;
    return {
      index,
      id: textOf(loaded, words[row + OPERATION.id]!),
      path: textOf(loaded, words[row + OPERATION.path]!),
      methods: textsAt(loaded, words[row + OPERATION.methods]!),
      scopes: textsAt(loaded, words[row + OPERATION.scopes]!),
      tags: textsAt(loaded, words[row + OPERATION.tags]!),
      open: words[row + OPERATION.open] === 1,
      throttle: settings === NONE ? null : throttleAt(loaded, settings + index * OPERATION_SETTING.size),
    };
  });
}

function throttleAt({ plan: { words } }: LoadedPlan, row: number): Throttle | null {
  const at = words[row + OPERATION_SETTING.throttle]!;
  if (at === NONE) return null;
  const word = (offset: number): number => words[at + offset]!;
  return { rate: word(THROTTLE.rate), perSec: word(THROTTLE.perSec), burst: word(THROTTLE.burst) };
}

/** Why a gateway refuses a request, or that it does not. */
export const GATEWAY_REASONS = [
  'admitted',
  'preflight',
  'unknown_operation',
  'method_not_allowed',
  'credentials',
  'consumer_disabled',
  'consumer_expired',
  'acl',
  'scopes',
  'throttled',
  'quota',
  'concurrency',
  'content_type',
  'body_too_large',
  'body_uninspected',
  'body_invalid',
] as const;
/** One of GATEWAY_REASONS. */
export type GatewayReason = (typeof GATEWAY_REASONS)[number];

/** What a gateway says of a request. */
export interface GatewayVerdict {
  readonly reason: GatewayReason;
  /** `null`: no operation describes the request. */
  readonly operation: LoadedOperation | null;
  /** `null`: the request has no valid credentials. */
  readonly consumer: RegisteredConsumer | null;
  /** Of `credentials`: what is wrong with them. */
  readonly failure: IdentityFailure | null;
  /** The operations of the path by method; `null`: no template matches. */
  readonly path: PathOperations | null;
  /** Of `scopes`: those that the request lacks. */
  readonly missing: readonly string[];
  /** Of `throttled`: by `limits` of the operation, not by the usage plan. */
  readonly byOperation: boolean;
  /** What is wrong with its body, also where the request is admitted; `null`: nothing that is looked for. */
  readonly body: BodyFinding | null;
}

/** Judges a request that the gateway matches and that is no preflight. */
export function judgeRequest(loaded: LoadedPlan, gateway: LoadedGateway, facts: Facts): GatewayVerdict {
  const path = operationsOf(gateway, facts);
  const operation = path === null ? null : operationIn(path, facts.request.method);
  const found = {
    operation,
    path,
    consumer: null,
    failure: null,
    missing: [],
    byOperation: false,
    body: null,
  };
  const reason = refusalOfUnknown(gateway, path, operation);
  if (reason !== null) return { ...found, reason };
  const isOpen = isOpenTo(gateway, operation);
  const { consumer, failure } = consumerOf(loaded, { gateway, isOpen }, facts);
  if (failure !== null && !isOpen) return { ...found, reason: 'credentials', failure };
  const refused = consumer === null ? null : inactive(consumer, facts);
  if (isOpen) {
    // Credentials that are not valid count as absent here.
    return { ...found, reason: 'admitted', consumer: refused === null ? consumer : null };
  }
  const known = { ...found, consumer };
  if (refused !== null) return { ...known, reason: refused };
  if (!isAllowed(consumer!, operation)) return { ...known, reason: 'acl' };
  const missing = missingScopes(consumer!, operation, facts);
  return missing.length > 0 ? { ...known, reason: 'scopes', missing } : { ...known, reason: 'admitted' };
}

/** Whether a request needs no credentials. */
function isOpenTo(gateway: LoadedGateway, operation: LoadedOperation | null): boolean {
  return gateway.require === 'none' || operation?.open === true;
}

/** Whether the gateway, where it is enforced, refuses the request without a client certificate. */
export function needsCertificate(gateway: LoadedGateway, facts: Facts): boolean {
  if (gateway.clients === null || (gateway.require !== 'all' && gateway.kinds.length > 1)) return false;
  const path = operationsOf(gateway, facts);
  return !isOpenTo(gateway, path === null ? null : operationIn(path, facts.request.method));
}

/** What is wrong with the body of a request that the gateway admits; `null`: nothing, or it does not ask. */
export function bodyFinding(
  { validation }: LoadedGateway,
  verdict: GatewayVerdict,
  facts: Facts,
): BodyFinding | null {
  if (validation === null || verdict.operation === null) return null;
  const body = validation.bodies[verdict.operation.index]!;
  return body === null ? null : findingOf(body, facts);
}

/** Why a gateway refuses a request without an operation, whatever its credentials are; `null`: it does not. */
export function refusalByOperation(gateway: LoadedGateway, facts: Facts): GatewayReason | null {
  const path = operationsOf(gateway, facts);
  return refusalOfUnknown(gateway, path, path === null ? null : operationIn(path, facts.request.method));
}

function refusalOfUnknown(
  { router, unknown }: LoadedGateway,
  path: PathOperations | null,
  operation: LoadedOperation | null,
): GatewayReason | null {
  if (router === null || operation !== null || unknown !== 'block') return null;
  return path === null ? 'unknown_operation' : 'method_not_allowed';
}

/**
 * The operations of the request's path. A path with `;params` must lead to the same ones with and without them, since origins differ
 * in which of the two they read.
 */
export function operationsOf({ base, router }: LoadedGateway, facts: Facts): PathOperations | null {
  if (router === null) return null;
  const found = below(facts.path, base, router);
  if (facts.pathWithoutParameters === null || found === null) return found;
  return below(facts.pathWithoutParameters, base, router) === found ? found : null;
}

function below(path: string, base: string, router: Router): PathOperations | null {
  if (base === '') return router.find(path);
  if (path === base) return router.find('/');
  return path.startsWith(base) && path[base.length] === '/' ? router.find(path.slice(base.length)) : null;
}

/** The operation of a method; HEAD is answered as GET unless an operation lists it (RFC 9110 §9.3.2). */
function operationIn(path: PathOperations, method: unknown): LoadedOperation | null {
  if (typeof method !== 'string') return null;
  return path.get(method) ?? (method === 'HEAD' ? path.get('GET') : undefined) ?? null;
}

/** Who asks for credentials. */
interface Asked {
  readonly gateway: LoadedGateway;
  /** The request needs none. */
  readonly isOpen: boolean;
}

/** The consumer of the request, and why it has none. */
function consumerOf(
  { registry }: LoadedPlan,
  asked: Asked,
  { request }: Facts,
): Pick<GatewayVerdict, 'consumer' | 'failure'> {
  const identity: unknown = request.identity;
  const none = (failure: IdentityFailure) => ({ consumer: null, failure });
  if (typeof identity !== 'object' || identity === null) return none('missing');
  const { consumer: name, failure, verified } = identity as Record<string, unknown>;
  if (failure !== undefined && failure !== null) {
    const known = IDENTITY_FAILURES.find((one) => one === failure);
    return none(known ?? 'malformed');
  }
  if (typeof name !== 'string') return none('missing');
  if (!hasKinds(asked, verified)) return none('missing');
  const consumer = registry?.consumer(name) ?? null;
  return consumer === null ? none('unknown_consumer') : { consumer, failure: null };
}

/** Whether the kinds of credentials that are valid are those that the gateway requires; where it requires none, any of them. */
function hasKinds({ gateway, isOpen }: Asked, verified: unknown): boolean {
  const { kinds } = gateway;
  if (verified === undefined) return true;
  if (!Array.isArray(verified)) return false;
  const isVerified = (kind: CredentialKind): boolean => verified.includes(kind);
  return gateway.require === 'all' && !isOpen ? kinds.every(isVerified) : kinds.some(isVerified);
}

function inactive(
  { enabled, expiresAt }: RegisteredConsumer,
  { now }: Facts,
): 'consumer_disabled' | 'consumer_expired' | null {
  if (!enabled) return 'consumer_disabled';
  return expiresAt !== null && now >= expiresAt ? 'consumer_expired' : null;
}

/** Whether the consumer may call an operation: by its id or one of its tags. */
function isAllowed({ acl }: RegisteredConsumer, operation: LoadedOperation | null): boolean {
  if (acl.length === 0) return true;
  if (operation === null) return false;
  return (
    (operation.id !== '' && acl.includes(operation.id)) || operation.tags.some((tag) => acl.includes(tag))
  );
}

function missingScopes(
  consumer: RegisteredConsumer,
  operation: LoadedOperation | null,
  { request }: Facts,
): readonly string[] {
  if (operation === null || operation.scopes.length === 0) return [];
  const given: unknown = request.identity?.scopes;
  const scopes: readonly unknown[] = Array.isArray(given) ? given : [];
  return operation.scopes.filter((scope) => !scopes.includes(scope) && !consumer.scopes.includes(scope));
}

/** A claim of the request's token as text: of a text, a number or a boolean; `null`: it has none such. */
export function claimText({ request }: Facts, name: string): string | null {
  const claims: unknown = request.identity?.claims;
  if (typeof claims !== 'object' || claims === null || !Object.hasOwn(claims, name)) return null;
  const value = (claims as Record<string, unknown>)[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : null;
}
