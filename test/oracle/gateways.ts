/**
 * What gateways make of requests (semantics §15), by comparing every template and asking the registry as it was written. In: the
 * gateway, the facts. Out: why it refuses the request or that it admits it, for whom, and what the answer and the origin get.
 */
import type {
  Consumer,
  CorsSettings,
  GatewayOperation,
  GatewayRule,
  HeadersRule,
  Rule,
  UsagePlan,
} from '../../src/rules/model/types.ts';
import { type BodyFault, bodyFault } from './bodies.ts';
import type { Facts } from './facts.ts';
import { pathForms } from './filters.ts';
import { escaped, operationsAt } from './path-templates.ts';
import { percentDecode } from './text.ts';
import type { CredentialsWanted, GatewayOutcome, HeaderChange, IdentityFailure } from './types.ts';
import { headerValues, lines } from './values.ts';

/** The objects that gateways refer to. */
export interface NaiveRegistry {
  readonly consumers: readonly Consumer[];
  readonly usage_plans: readonly UsagePlan[];
}

/** What a gateway says of a request before its usage plan. */
export interface GatewayVerdict {
  readonly reason: GatewayOutcome['reason'];
  readonly operation: GatewayOperation | null;
  /** The operations of the path. */
  readonly ofPath: readonly GatewayOperation[];
  readonly consumer: Consumer | null;
  readonly failure: IdentityFailure | null;
  /** What is wrong with the body. */
  readonly fault: BodyFault | null;
  /** Whether `limits` of the operation refuse the request. */
  readonly isOfOperation?: boolean;
}

/** The base path in canonical form, empty for `/`. */
function baseOf({ base_path }: GatewayRule): string {
  return base_path === '/' ? '' : percentDecode(base_path);
}

/** Whether a path is the base path or below it; with `;params`, whether either of its forms is. */
export function baseMatches(rule: GatewayRule, facts: Facts): boolean {
  return pathForms(facts).some((form) => belowBase(rule, form) !== null);
}

/** The part of a path below the base path, from its slash; `null`: it is elsewhere. */
function belowBase(rule: GatewayRule, path: string): string | null {
  const base = baseOf(rule);
  if (path === base) return '/';
  return path.startsWith(`${base}/`) ? path.slice(base.length) : null;
}

/** The order in which gateways take requests: the longest base path, then the order of all rules. */
export function inGatewayOrder<R extends Rule>(rules: readonly R[]): R[] {
  const length = (rule: Rule): number => (rule.type === 'gateway' ? baseOf(rule).length : 0);
  // The sort is stable.
  return [...rules].sort((a, b) => length(b) - length(a));
}

function operationsOf(rule: GatewayRule, facts: Facts): readonly GatewayOperation[] {
  const [first = [], other] = pathForms(facts).map((form) => {
    const below = belowBase(rule, form);
    return below === null ? [] : operationsAt(rule.operations, below);
  });
  const differ = other !== undefined && JSON.stringify(other) !== JSON.stringify(first);
  return differ ? [] : first;
}

function operationFor(ofPath: readonly GatewayOperation[], method: unknown): GatewayOperation | null {
  const lists = (wanted: unknown): GatewayOperation | undefined =>
    ofPath.find(({ methods }) => methods.some((one) => one === wanted));
  return lists(method) ?? (method === 'HEAD' ? lists('GET') : undefined) ?? null;
}

/** Whether a request is a preflight that the gateway answers. */
export function isPreflight({ cors }: GatewayRule, { method, request }: Facts): boolean {
  const has = (name: string): boolean => headerValues(request.headers, name).length > 0;
  return cors !== undefined && method === 'OPTIONS' && has('origin') && has('access-control-request-method');
}

type Kind = 'api_key' | 'jwt' | 'mtls';

function kindsOf({ auth }: GatewayRule): readonly Kind[] {
  return (['api_key', 'jwt', 'mtls'] as const).filter((kind) => auth[kind] !== undefined);
}

const FAILURES: readonly unknown[] = [
  'missing',
  'doubled',
  'conflict',
  'too_long',
  'malformed',
  'unknown_key',
  'expired',
  'not_yet_valid',
  'wrong_issuer',
  'wrong_audience',
  'wrong_algorithm',
  'wrong_type',
  'wrong_signature',
  'unknown_key_id',
  'no_keys',
  'claim_missing',
  'unknown_consumer',
] satisfies readonly IdentityFailure[];

/** The identity, whatever an embedder has given as one. */
function identityOf({ request }: Facts): Record<string, unknown> | null {
  const { identity } = request as { readonly identity?: unknown };
  return typeof identity === 'object' && identity !== null ? (identity as Record<string, unknown>) : null;
}

/** The consumer that valid credentials name, or why they name none. */
function consumerOf(
  rule: GatewayRule,
  facts: Facts,
  { registry, isOpen }: { readonly registry: NaiveRegistry; readonly isOpen: boolean },
): Consumer | IdentityFailure {
  const identity = identityOf(facts);
  if (identity === null) return 'missing';
  const { consumer, failure, verified } = identity;
  if (failure !== undefined && failure !== null)
    return FAILURES.includes(failure) ? (failure as IdentityFailure) : 'malformed';
  if (typeof consumer !== 'string') return 'missing';
  if (verified !== undefined) {
    const given: readonly unknown[] = Array.isArray(verified) ? verified : [];
    const taken = kindsOf(rule);
    const isVerified = (kind: Kind): boolean => given.includes(kind);
    const needsAll = rule.auth.require === 'all' && !isOpen;
    if (!(needsAll ? taken.every(isVerified) : taken.some(isVerified))) return 'missing';
  }
  return registry.consumers.find(({ username }) => username === consumer) ?? 'unknown_consumer';
}

/** Judges a request that the gateway matches, without its usage plan. */
export function judgeRequest(rule: GatewayRule, facts: Facts, registry: NaiveRegistry): GatewayVerdict {
  const none = { operation: null, ofPath: [], consumer: null, failure: null, fault: null };
  if (isPreflight(rule, facts)) return { ...none, reason: 'preflight' };
  const ofPath = operationsOf(rule, facts);
  const operation = operationFor(ofPath, facts.method);
  const known = { ...none, operation, ofPath };
  if (rule.operations.length > 0 && operation === null && rule.on_unknown_operation === 'block') {
    return { ...known, reason: ofPath.length === 0 ? 'unknown_operation' : 'method_not_allowed' };
  }
  const isOpen = rule.auth.require === 'none' || operation?.auth === 'none';
  const found = consumerOf(rule, facts, { registry, isOpen });
  if (typeof found === 'string') {
    if (!isOpen) return { ...known, reason: 'credentials', failure: found };
    return { ...known, reason: 'admitted' };
  }
  const isExpired = found.expires_at !== null && facts.now >= Date.parse(found.expires_at.toUpperCase());
  if (isOpen) return { ...known, reason: 'admitted', consumer: found.enabled && !isExpired ? found : null };
  const named = { ...known, consumer: found };
  if (!found.enabled) return { ...named, reason: 'consumer_disabled' };
  if (isExpired) return { ...named, reason: 'consumer_expired' };
  const names = [operation?.operation_id, ...(operation?.tags ?? [])];
  if (found.acl.length > 0 && !names.some((name) => name !== undefined && found.acl.includes(name)))
    return { ...named, reason: 'acl' };
  const given = identityOf(facts)!['scopes'];
  const scopes: readonly unknown[] = [...(Array.isArray(given) ? given : []), ...found.scopes];
  const hasAll = (operation?.scopes ?? []).every((scope) => scopes.includes(scope));
  return { ...named, reason: hasAll ? 'admitted' : 'scopes' };
}

/** The verdict on an admitted request with its body. */
export function withBody(rule: GatewayRule, facts: Facts, verdict: GatewayVerdict): GatewayVerdict {
  const fault = bodyFault(rule, verdict.operation, facts);
  return { ...verdict, fault, reason: fault?.isBlocked === true ? fault.reason : 'admitted' };
}

/** The usage plan that a request counts under; `null`: none limits it. */
export function planOf(
  rule: GatewayRule,
  { consumer }: GatewayVerdict,
  { usage_plans }: NaiveRegistry,
): UsagePlan | null {
  const name = consumer?.usage_plan ?? rule.default_plan;
  const plan = usage_plans.find((one) => one.name === name);
  return plan ?? null;
}

const DAY_SEC = 86_400;

/** The seconds of a quota's period. */
function periodSec({ period }: NonNullable<UsagePlan['quota']>, now: number): number {
  if (period !== 'month') return { day: DAY_SEC, week: 7 * DAY_SEC, rolling_30d: 30 * DAY_SEC }[period];
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate() * DAY_SEC;
}

/** What a response states of a quota that the consumer of the request has exhausted; `null`: it may send more. */
export function exhaustedQuota(
  facts: Facts,
  { consumer }: GatewayVerdict,
  { quota }: Pick<UsagePlan, 'quota'>,
): { readonly policy: string; readonly limit: string; readonly retryAfter: number } | null {
  const until = consumer === null ? undefined : identityOf(facts)?.['exhaustedUntil'];
  if (quota === null || typeof until !== 'number' || !Number.isInteger(until)) return null;
  if (until > Date.parse('9999-12-31T23:59:59.999Z')) return null;
  if (until <= facts.now) return null;
  const retryAfter = Math.ceil((until - facts.now) / 1000);
  const policy = `q=${quota.limit};w=${periodSec(quota, facts.now)}`;
  return { policy, limit: `r=0;t=${retryAfter}`, retryAfter };
}

/** The decision's account of a verdict. */
export function outcomeOf(rule: GatewayRule, verdict: GatewayVerdict): GatewayOutcome {
  const { reason, operation, consumer, failure, fault } = verdict;
  const logged = reason === 'admitted' ? (fault?.reason ?? reason) : reason;
  const isLogged =
    reason === 'admitted' &&
    operation === null &&
    rule.operations.length > 0 &&
    rule.on_unknown_operation === 'log';
  return {
    reason: isLogged ? 'unknown_operation' : logged,
    operation: operation === null ? null : (operation.operation_id ?? operation.path),
    consumer: consumer?.username ?? null,
    ...(failure === null ? {} : { failure }),
    ...(fault === null || fault.errors.length === 0 ? {} : { errors: fault.errors }),
  };
}

/** Status, title and detail of each refusal; 401 has one text, whatever is wrong. */
const PROBLEMS: Readonly<Record<string, readonly [number, string, string]>> = {
  unknown_operation: [404, 'Not Found', 'the API has no such path'],
  method_not_allowed: [405, 'Method Not Allowed', 'the API does not take this method here'],
  credentials: [401, 'Unauthorized', 'valid credentials are required'],
  consumer_disabled: [403, 'Forbidden', 'the consumer is not active'],
  consumer_expired: [403, 'Forbidden', 'the consumer is not active'],
  acl: [403, 'Forbidden', 'the consumer may not call this operation'],
  scopes: [403, 'Forbidden', 'the credentials lack a scope of this operation'],
  concurrency: [429, 'Too Many Requests', 'the usage plan allows no more requests at the same time'],
  throttled: [429, 'Too Many Requests', 'the usage plan allows no more requests now'],
  quota: [429, 'Too Many Requests', 'the quota of the usage plan is exhausted'],
  content_type: [415, 'Unsupported Media Type', 'the operation does not take this media type'],
  body_too_large: [413, 'Content Too Large', 'the body is longer than the API takes'],
  body_uninspected: [415, 'Unsupported Media Type', 'the body cannot be read whole'],
  body_invalid: [400, 'Bad Request', 'the body is not what the operation takes'],
};

/** An answer of a gateway. */
export interface GatewayAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: readonly HeaderChange[];
}

function set(name: string, value: string): HeaderChange {
  return { op: 'set', name, value };
}

function add(name: string, value: string): HeaderChange {
  return { op: 'add', name, value };
}

/** The answer to a request that is refused, or to a preflight. */
export function answerOf(rule: GatewayRule, facts: Facts, verdict: GatewayVerdict): GatewayAnswer {
  if (verdict.reason === 'preflight') return preflightAnswer(rule, facts);
  const [status, title, usual] = PROBLEMS[verdict.reason]!;
  const detail =
    verdict.isOfOperation === true ? 'the limits of the operation allow no more requests now' : usual;
  const { id } = facts.request;
  const isReference = typeof id === 'string' && id.length <= 256 && /^[A-Za-z0-9._~:-]+$/.test(id);
  const problem = {
    ...{ type: 'about:blank', title, status, detail },
    ...(isReference ? { instance: id } : {}),
    ...(status === 400 ? { errors: verdict.fault?.errors } : {}),
  };
  const isCoded = verdict.reason === 'body_uninspected' && typeof facts.request.bodyError === 'string';
  return {
    status,
    body: `${JSON.stringify(problem)}\n`,
    headers: [
      set('Content-Type', 'application/problem+json'),
      set('Cache-Control', 'no-store'),
      ...challenges(rule, verdict).map((value, index) =>
        (index === 0 ? set : add)('WWW-Authenticate', value),
      ),
      ...(status === 405 ? [set('Allow', allowed(verdict.ofPath).join(', '))] : []),
      ...(verdict.reason === 'content_type' ? [set('Accept', verdict.fault!.types.join(', '))] : []),
      ...(isCoded ? [set('Accept-Encoding', 'identity')] : []),
      ...corsFields(rule, facts),
    ],
  };
}

/** `WWW-Authenticate` (RFC 9110 §11.6.1, RFC 6750 §3): the scheme of each kind that the gateway takes, of 401 and of a missing scope. */
function challenges(rule: GatewayRule, { reason, operation, failure }: GatewayVerdict): string[] {
  // A quoted string has visible ASCII and blanks; names with others are left out.
  const realm = /^[ !#-[\]-~]+$/.test(rule.name) ? [`realm="${rule.name}"`] : [];
  const written = (scheme: string, parameters: readonly string[]): string =>
    [scheme, parameters.join(', ')].filter((part) => part !== '').join(' ');
  if (reason === 'scopes' && rule.auth.jwt !== undefined) {
    const scope = `scope="${(operation?.scopes ?? []).join(' ')}"`;
    return [written('Bearer', [...realm, 'error="insufficient_scope"', scope])];
  }
  if (reason !== 'credentials') return [];
  const error = failure === 'missing' ? [] : ['error="invalid_token"'];
  return kindsOf(rule).map((kind) =>
    kind === 'jwt'
      ? written('Bearer', [...realm, ...error])
      : written(kind === 'api_key' ? 'ApiKey' : 'ClientCertificate', realm),
  );
}

/** The methods that the operations of a path list, HEAD beside GET. */
function allowed(ofPath: readonly GatewayOperation[]): readonly string[] {
  const listed = [...new Set(ofPath.flatMap(({ methods }) => methods))];
  return listed.includes('GET') && !listed.includes('HEAD') ? [...listed, 'HEAD'] : listed;
}

/** The origin that may read the response, as the field has it; `null`: none may. */
function readingOrigin({ allow_origins }: CorsSettings, { request }: Facts): string | null {
  if (allow_origins.includes('*')) return '*';
  const origin = headerValues(request.headers, 'origin')[0]?.text;
  if (origin === undefined) return null;
  const fits = allow_origins.some((entry) => {
    if (!entry.includes('*')) return entry === origin;
    const [scheme = '', rest = ''] = entry.split('*');
    return new RegExp(`^${escaped(scheme)}[a-z0-9_-]+(?:\\.[a-z0-9_-]+)*${escaped(rest)}$`).test(origin);
  });
  return fits ? origin : null;
}

function originFields({ allow_credentials }: CorsSettings, origin: string): HeaderChange[] {
  const own = set('Access-Control-Allow-Origin', origin);
  return allow_credentials ? [own, set('Access-Control-Allow-Credentials', 'true')] : [own];
}

/** The fields of a response by which pages of other origins may read it (Fetch standard, CORS protocol). */
export function corsFields({ cors }: GatewayRule, facts: Facts): readonly HeaderChange[] {
  if (cors === undefined) return [];
  const origin = readingOrigin(cors, facts);
  const vary = cors.allow_origins.includes('*') ? [] : [add('Vary', 'Origin')];
  const exposed = cors.expose_headers ?? [];
  const given: HeaderChange[] = [];
  if (origin !== null) {
    given.push(...originFields(cors, origin));
    if (exposed.length > 0) given.push(set('Access-Control-Expose-Headers', exposed.join(', ')));
  }
  // What the origin says of pages does not count.
  const removed = ['Allow-Origin', 'Allow-Credentials', 'Expose-Headers']
    .map((name) => `Access-Control-${name}`)
    .filter((name) => given.every((field) => field.name !== name))
    .map((name): HeaderChange => ({ op: 'remove', name, value: null }));
  return [...given, ...removed, ...vary];
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

function preflightAnswer(rule: GatewayRule, facts: Facts): GatewayAnswer {
  const cors = rule.cors!;
  const origin = readingOrigin(cors, facts);
  const varied = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';
  const fixed = [set('Vary', varied), set('Cache-Control', 'no-store')];
  if (origin === null) return { status: 204, body: '', headers: fixed };
  const ofPath = rule.operations.length === 0 ? METHODS : allowed(operationsOf(rule, facts));
  const methods = cors.allow_methods ?? ofPath;
  const keys = (rule.auth.api_key?.sources ?? [])
    .filter((source) => source.in === 'header')
    .map(({ name }) => name.toLowerCase())
    .filter((name) => name !== 'authorization');
  const headers = cors.allow_headers ?? ['Authorization', 'Content-Type', ...keys];
  return {
    status: 204,
    body: '',
    headers: [
      ...fixed,
      ...originFields(cors, origin),
      ...(methods.length > 0 ? [set('Access-Control-Allow-Methods', methods.join(', '))] : []),
      ...(headers.length > 0 ? [set('Access-Control-Allow-Headers', headers.join(', '))] : []),
      set('Access-Control-Max-Age', String(cors.max_age_sec)),
    ],
  };
}

/** A claim of the request's token as text; `null`: it has none that is a text, a number or a boolean. */
export function claimOf(facts: Facts, name: string): string | null {
  const claims = identityOf(facts)?.['claims'];
  if (typeof claims !== 'object' || claims === null || !Object.hasOwn(claims, name)) return null;
  const value = (claims as Record<string, unknown>)[name];
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null;
}

/** The changes of the request that the origin gets; who sends it replaces what the visitor says of it, also under `add`. */
export function upstreamChanges({
  upstream_headers: { set = {}, add = {}, remove = [] } = {},
}: GatewayRule): readonly Pick<HeadersRule, 'request'>[] {
  const added = Object.entries(add).map(([name, text]) =>
    /\$\{(?:consumer|claim\([^}]+\))\}/.test(text.replaceAll('$$', ''))
      ? { set: { [name]: text } }
      : { add: { [name]: text } },
  );
  return [{ set }, ...added, { remove }].map((request) => ({ request }));
}

/** What hides the keys of a request from the origin: changes of its headers, and its query without them. */
export function hidden(
  { auth }: GatewayRule,
  { request }: Facts,
  query: string | null,
): { readonly changes: readonly HeaderChange[]; readonly query: string | null } {
  if (auth.api_key?.hide !== true) return { changes: [], query };
  const namesIn = (place: string): readonly string[] =>
    auth.api_key!.sources.filter((source) => source.in === place).map(({ name }) => name);
  const [headers, parameters, cookies] = [namesIn('header'), namesIn('query'), namesIn('cookie')];
  const changes: HeaderChange[] = headers.map((name) => ({
    op: 'remove',
    name: name.toLowerCase(),
    value: null,
  }));
  if (cookies.length > 0) {
    const rest = lines(request.headers, 'cookie')
      .flatMap((line) => line.split(';'))
      .map((pair) => pair.replace(/^[ \t]+|[ \t]+$/g, ''))
      .filter((pair) => pair !== '' && !cookies.includes(nameIn(pair)));
    changes.push(
      rest.length === 0
        ? { op: 'remove', name: 'cookie', value: null }
        : { op: 'set', name: 'cookie', value: rest.join('; ') },
    );
  }
  if (query === null || parameters.length === 0) return { changes, query };
  const others = query
    .split('&')
    .filter((pair) => !parameters.includes(percentDecode(nameIn(pair).replaceAll('+', ' '))));
  return { changes, query: others.length === 0 ? null : others.join('&') };
}

function nameIn(pair: string): string {
  return pair.split('=')[0]!.replace(/[ \t]+$/, '');
}

/** The Base64 texts of the blocks of a PEM text. */
function certificatesIn(pem: string): readonly string[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g)].map(([, text]) =>
    text!.split(/\s/).join(''),
  );
}

/** Where the gateway reads credentials of the request; `null`: none that it reads can matter to the request. */
export function wantedBy(rule: GatewayRule, facts: Facts, registry: NaiveRegistry): CredentialsWanted | null {
  const takes = kindsOf(rule).length > 0;
  const verdict = judgeRequest(rule, facts, registry);
  const isSettled = ['preflight', 'unknown_operation', 'method_not_allowed'].includes(verdict.reason);
  if (!takes || isSettled) return null;
  const sources = (rule.auth.api_key?.sources ?? []).map((source) =>
    source.in === 'header' ? { in: source.in, name: source.name.toLowerCase() } : { ...source },
  );
  const { mtls, require } = rule.auth;
  const isOpen = require === 'none' || verdict.operation?.auth === 'none';
  const isOnly = mtls !== undefined && (require === 'all' || kindsOf(rule).length === 1);
  const needsCertificate = rule.action_mode === 'enforce' && isOnly && !isOpen;
  const clients = mtls === undefined ? null : { certificates: certificatesIn(mtls.ca_pem) };
  return { apiKeySources: sources, issuers: [...(rule.auth.jwt?.issuers ?? [])], clients, needsCertificate };
}
