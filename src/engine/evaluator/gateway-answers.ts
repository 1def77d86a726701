/**
 * Answers of gateways (semantics §15): problems (RFC 9457) with the fields that RFC 9110, RFC 6750 and RFC 6585 demand, answers to
 * preflights, and the fields by which pages of other origins may read responses (Fetch standard, CORS protocol). In: a gateway, its
 * verdict, the request. Out: a body, and changes of the response. Nothing in them says which part of a credential is wrong.
 */
import type { HeaderChange } from './decision.ts';
import { type Facts, headerOf } from './facts.ts';
import {
  type GatewayReason,
  type GatewayVerdict,
  type LoadedCors,
  type LoadedGateway,
  operationsOf,
} from './gateways.ts';

/** Title and detail of each refusal. */
const PROBLEMS: {
  readonly [R in Exclude<GatewayReason, 'admitted' | 'preflight'>]: {
    readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 415 | 429;
    readonly title: string;
    readonly detail: string;
  };
} = {
  unknown_operation: { status: 404, title: 'Not Found', detail: 'the API has no such path' },
  method_not_allowed: {
    status: 405,
    title: 'Method Not Allowed',
    detail: 'the API does not take this method here',
  },
  credentials: { status: 401, title: 'Unauthorized', detail: 'valid credentials are required' },
  consumer_disabled: { status: 403, title: 'Forbidden', detail: 'the consumer is not active' },
  consumer_expired: { status: 403, title: 'Forbidden', detail: 'the consumer is not active' },
  acl: { status: 403, title: 'Forbidden', detail: 'the consumer may not call this operation' },
  scopes: { status: 403, title: 'Forbidden', detail: 'the credentials lack a scope of this operation' },
  throttled: {
    status: 429,
    title: 'Too Many Requests',
    detail: 'the usage plan allows no more requests now',
  },
  quota: {
    status: 429,
    title: 'Too Many Requests',
    detail: 'the quota of the usage plan is exhausted',
  },
  concurrency: {
    status: 429,
    title: 'Too Many Requests',
    detail: 'the usage plan allows no more requests at the same time',
  },
  content_type: {
    status: 415,
    title: 'Unsupported Media Type',
    detail: 'the operation does not take this media type',
  },
  body_too_large: {
    status: 413,
    title: 'Content Too Large',
    detail: 'the body is longer than the API takes',
  },
  body_uninspected: { status: 415, title: 'Unsupported Media Type', detail: 'the body cannot be read whole' },
  body_invalid: { status: 400, title: 'Bad Request', detail: 'the body is not what the operation takes' },
};

/** An answer of the edge. */
export interface GatewayAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: readonly HeaderChange[];
}

/** The answer to a request that the gateway refuses. */
export function refusalOf(gateway: LoadedGateway, verdict: GatewayVerdict, facts: Facts): GatewayAnswer {
  const { status, title, detail: usual } = PROBLEMS[verdict.reason as keyof typeof PROBLEMS];
  const detail = verdict.byOperation ? 'the limits of the operation allow no more requests now' : usual;
  const id = requestId(facts.request.id);
  const instance = id === null ? {} : { instance: id };
  const errors = verdict.reason === 'body_invalid' ? { errors: verdict.body?.errors ?? [] } : {};
  return {
    status,
    body: `${JSON.stringify({ type: 'about:blank', title, status, detail, ...instance, ...errors })}\n`,
    headers: [
      set('Content-Type', 'application/problem+json'),
      set('Cache-Control', 'no-store'),
      ...challengesOf(gateway, verdict),
      ...(verdict.reason === 'method_not_allowed' ? [set('Allow', allowedMethods(verdict).join(', '))] : []),
      ...acceptedOf(verdict, facts),
    ],
  };
}

/** What the operation takes, of a 415 (RFC 9110 §15.5.16). */
function acceptedOf({ reason, body }: GatewayVerdict, { request }: Facts): readonly HeaderChange[] {
  if (reason === 'content_type') return [set('Accept', (body?.types ?? []).join(', '))];
  const isCoded = reason === 'body_uninspected' && typeof request.bodyError === 'string';
  return isCoded ? [set('Accept-Encoding', 'identity')] : [];
}

/** The id of a request, if it is visible ASCII that a URI reference may hold. */
function requestId(id: unknown): string | null {
  return typeof id === 'string' && id.length <= 256 && /^[A-Za-z0-9._~:-]+$/.test(id) ? id : null;
}

/** `WWW-Authenticate` of a request without valid credentials, or without a scope (RFC 9110 §11.6.1, RFC 6750 §3). */
function challengesOf(gateway: LoadedGateway, verdict: GatewayVerdict): readonly HeaderChange[] {
  const { reason, failure } = verdict;
  const realm = /^[ !#-[\]-~]+$/.test(gateway.name) ? [`realm="${gateway.name}"`] : [];
  const takesTokens = gateway.kinds.includes('jwt');
  if (reason === 'scopes') {
    const scope = verdict.operation?.scopes.join(' ') ?? '';
    const parameters = [...realm, 'error="insufficient_scope"', `scope="${scope}"`];
    return takesTokens ? [set('WWW-Authenticate', `Bearer ${parameters.join(', ')}`)] : [];
  }
  if (reason !== 'credentials') return [];
  const invalid = failure === 'missing' ? [] : ['error="invalid_token"'];
  const challenges = gateway.kinds.map((kind) =>
    challenge(SCHEMES[kind], kind === 'jwt' ? [...realm, ...invalid] : realm),
  );
  return challenges.map((value, index) =>
    index === 0 ? set('WWW-Authenticate', value) : { op: 'add', name: 'WWW-Authenticate', value },
  );
}

/** Authentication schemes by kind; those of keys and certificates have no registered name (RFC 9110 §16.4.1). */
const SCHEMES = { api_key: 'ApiKey', jwt: 'Bearer', mtls: 'ClientCertificate' } as const;

function challenge(scheme: string, parameters: readonly string[]): string {
  return parameters.length === 0 ? scheme : `${scheme} ${parameters.join(', ')}`;
}

/** The methods of the path, HEAD beside GET. */
function allowedMethods({ path }: Pick<GatewayVerdict, 'path'>): readonly string[] {
  const methods = path === null ? [] : [...path.keys()];
  return methods.includes('GET') && !methods.includes('HEAD') ? [...methods, 'HEAD'] : methods;
}

function set(name: string, value: string): HeaderChange {
  return { op: 'set', name, value };
}

// The CORS protocol (Fetch standard §3.2). What a page may not do gets no fields: browsers refuse it then.

/** Whether a request is a preflight that the gateway answers. */
export function isPreflight({ cors }: LoadedGateway, { request }: Facts): boolean {
  return (
    cors !== null &&
    request.method === 'OPTIONS' &&
    headerOf(request, 'origin') !== null &&
    headerOf(request, 'access-control-request-method') !== null
  );
}

/** Methods of an API without a list of operations. */
const USUAL_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** Headers that browsers let pages send only where a preflight allows them, and that most APIs read. */
const USUAL_HEADERS = ['Authorization', 'Content-Type'] as const;

/** The answer to a preflight. */
export function preflightAnswer(gateway: LoadedGateway, facts: Facts): GatewayAnswer {
  const cors = gateway.cors!;
  const varied = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';
  const origin = allowedOrigin(cors, facts);
  const headers = [set('Vary', varied), set('Cache-Control', 'no-store')];
  if (origin !== null) {
    const ofPath = allowedMethods({ path: operationsOf(gateway, facts) });
    const methods = cors.methods ?? (gateway.router === null ? USUAL_METHODS : ofPath);
    const keys = gateway.sources.filter((source) => source.in === 'header').map(({ name }) => name);
    const allowed = cors.allowed ?? [...USUAL_HEADERS, ...keys.filter((name) => name !== 'authorization')];
    headers.push(...originFields(cors, origin));
    if (methods.length > 0) headers.push(set('Access-Control-Allow-Methods', methods.join(', ')));
    if (allowed.length > 0) headers.push(set('Access-Control-Allow-Headers', allowed.join(', ')));
    headers.push(set('Access-Control-Max-Age', String(cors.maxAge)));
  }
  return { status: 204, body: '', headers };
}

/**
 * The fields of a response to a page of another origin; none if the gateway has no `cors`. A field that the gateway does not set is
 * removed: the origin's own would allow what the gateway does not.
 */
export function corsFields({ cors }: LoadedGateway, facts: Facts): readonly HeaderChange[] {
  if (cors === null) return [];
  const origin = allowedOrigin(cors, facts);
  const own = origin === null ? [] : [...originFields(cors, origin), ...exposedFields(cors)];
  const others = READING_FIELDS.filter((name) => own.every((field) => field.name !== name));
  const vary: readonly HeaderChange[] = isForAll(cors) ? [] : [{ op: 'add', name: 'Vary', value: 'Origin' }];
  return [...own, ...others.map((name) => ({ op: 'remove', name, value: null }) as const), ...vary];
}

/** The fields by which a page reads a response of another origin. */
const READING_FIELDS = [
  'Access-Control-Allow-Origin',
  'Access-Control-Allow-Credentials',
  'Access-Control-Expose-Headers',
] as const;

function exposedFields({ exposed }: LoadedCors): readonly HeaderChange[] {
  return exposed.length === 0 ? [] : [set('Access-Control-Expose-Headers', exposed.join(', '))];
}

function originFields({ credentials }: LoadedCors, origin: string): readonly HeaderChange[] {
  const own = set('Access-Control-Allow-Origin', origin);
  return credentials ? [own, set('Access-Control-Allow-Credentials', 'true')] : [own];
}

/** Whether every origin gets the same answer. */
function isForAll({ origins }: LoadedCors): boolean {
  return origins.includes('*');
}

/**
 * The value of `Access-Control-Allow-Origin`; `null`: the request has no origin that may call. A star is sent to every request: a
 * response stored for one without an origin also answers pages (Fetch standard, CORS protocol and HTTP caches).
 */
function allowedOrigin(cors: LoadedCors, { request }: Facts): string | null {
  if (isForAll(cors)) return '*';
  const origin = headerOf(request, 'origin');
  if (origin === null) return null;
  return cors.origins.some((one) => originMatches(one, origin)) ? origin : null;
}

/** Whether an origin is the one of an entry, or one of the names below `*.`. */
function originMatches(entry: string, origin: string): boolean {
  const star = entry.indexOf('://*.');
  if (star < 0) return entry === origin;
  const [start, end] = [entry.slice(0, star + 3), entry.slice(star + 4)];
  const name = origin.slice(start.length, origin.length - end.length);
  return (
    origin.startsWith(start) &&
    origin.endsWith(end) &&
    origin.length > start.length + end.length &&
    isHostText(name)
  );
}

/** Labels of a host, without what would begin a port, a path or a user name. */
function isHostText(text: string): boolean {
  return text.split('.').every((label) => /^[a-z0-9_-]+$/.test(label));
}
