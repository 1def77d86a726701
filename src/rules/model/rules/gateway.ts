/**
 * The form of `gateway` rules, which take API requests with the credentials of a consumer (semantics §15). Their path filter is
 * `base_path`; their operations and what pages of other origins may do are in `../gateway/`.
 */
import { z } from 'zod';
import {
  MAX_HEADER_NAMES,
  MAX_ISSUERS,
  MAX_KEY_SOURCES,
  MAX_NAME_CHARACTERS,
  MAX_OPERATIONS,
  MAX_VALUE_NAME_CHARACTERS,
} from '../../../base/vocabulary/limits.ts';
import {
  AUTH_REQUIREMENTS,
  CREDENTIAL_KINDS,
  CREDENTIAL_PLACES,
  HEADER_OPS,
  UNKNOWN_OPERATION_MODES,
} from '../../../base/vocabulary/vocabulary.ts';
import { hostRule, type RuleOf } from '../common.ts';
import { judgeCookieName, judgeHeaderName, warnMethodCase } from '../conditions.ts';
import { checked, filledText, flag, list, text } from '../fields.ts';
import { crossCheck, type FormScope, type FormValues, type Stored } from '../form.ts';
import { bodySchemas } from '../gateway/bodies.ts';
import { authorityTimes, EXAMPLE_AUTHORITY, MTLS_FIELDS } from '../gateway/client-certificates.ts';
import { CORS_FIELDS, coversAuthorization, starsOfCors } from '../gateway/cors.ts';
import {
  BODY_CONTENT_FIELDS,
  BODY_FIELDS,
  distinctOperations,
  neededFields,
  OPERATION_FIELDS,
} from '../gateway/operations.ts';
import { VALIDATION_FIELDS } from '../gateway/validation.ts';
import { parseHeaderValue } from '../header-values.ts';
import { judgeCredentialHeader, registryName } from '../registry/names.ts';
import { THROTTLE_FIELDS } from '../registry/usage-plan.ts';
import type { Problem } from '../report.ts';
import { judgePathEntry } from '../text-checks.ts';
import { CHANGES, checkChanges, type HeaderEntry } from './headers.ts';

/** A place of an API key. Names are checked by their place (`sources`). */
const KEY_SOURCE = {
  in: z
    .enum(CREDENTIAL_PLACES)
    .describe('where the key is')
    .meta({ examples: ['header'] }),
  name: filledText(MAX_VALUE_NAME_CHARACTERS)
    .describe('name of the header, the query parameter or the cookie')
    .meta({ examples: ['X-Api-Key'] }),
};

const API_KEY = {
  sources: checked(list(z.strictObject(KEY_SOURCE), MAX_KEY_SOURCES), (entries) =>
    entries.length === 0 ? NO_SOURCE : null,
  )
    .describe('where requests have the key')
    .meta({ examples: [[{ in: 'header', name: 'X-Api-Key' }]] }),
  hide: flag(true)
    .describe('whether the key is removed from what the origin gets')
    .meta({ examples: [false] }),
};

const NO_SOURCE: Problem = {
  code: 'too_few',
  message: 'must not be empty',
  remedy: 'list a place, such as `{ in: header, name: X-Api-Key }`',
};

const JWT = {
  issuers: checked(list(registryName(), MAX_ISSUERS), (entries) => (entries.length === 0 ? NO_ISSUER : null))
    .describe('names of the token issuers of the domain whose tokens are taken')
    .meta({ examples: [['login']] }),
};

const NO_ISSUER: Problem = { code: 'too_few', message: 'must not be empty', remedy: 'name a token issuer' };

const AUTH_FIELDS = {
  require: z
    .enum(AUTH_REQUIREMENTS)
    .default('any')
    .describe(
      '`any`: one of the kinds of credentials below; `all`: each of them, of one consumer; `none`: requests need no credentials, and those that are not valid count as absent',
    )
    .meta({ examples: ['all'] }),
  api_key: z
    .strictObject(API_KEY)
    .optional()
    .describe('API keys of consumers')
    .meta({ examples: [{ sources: [{ in: 'header', name: 'X-Api-Key' }] }] }),
  jwt: z
    .strictObject(JWT)
    .optional()
    .describe('JSON Web Tokens (RFC 7519)')
    .meta({ examples: [{ issuers: ['login'] }] }),
  mtls: z
    .strictObject(MTLS_FIELDS)
    .optional()
    .describe(
      'certificates of clients (RFC 8446 §4.4.2), which nodes and the middleware for Node ask for on the hosts of the gateway; where another server ends TLS, no request has one',
    )
    .meta({ examples: [{ ca_pem: EXAMPLE_AUTHORITY }] }),
};

const CHANGE_NAMES = Object.keys(CHANGES);

/** The fields that only this type has. */
const FIELDS = {
  name: text(MAX_NAME_CHARACTERS)
    .default('')
    .describe('label, which `WWW-Authenticate` names as the realm')
    .meta({ examples: ['orders'] }),
  base_path: checked(filledText(), judgeBasePath)
    .default('/')
    .describe(
      'path whose requests, with those below it, come to the gateway; of several gateways the longest wins',
    )
    .meta({ examples: ['/v1'] }),
  auth: z
    .strictObject(AUTH_FIELDS)
    .describe('the credentials that requests need')
    .meta({ examples: [{ api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } }] }),
  operations: list(z.strictObject(OPERATION_FIELDS), MAX_OPERATIONS)
    .default([])
    .describe(
      'what the API has; of several templates that match a path, the most literal one wins, segment by segment. Empty: every path and method',
    )
    .meta({ examples: [[{ operation_id: 'listOrders', methods: ['GET'], path: '/orders' }]] }),
  on_unknown_operation: z
    .enum(UNKNOWN_OPERATION_MODES)
    .default('block')
    .describe(
      'requests that no operation describes: `block` answers 404, or 405 for another method; `log` and `pass` forward them with valid credentials, `log` with a reason in the log',
    )
    .meta({ examples: ['log'] }),
  default_plan: registryName()
    .optional()
    .describe(
      'usage plan of consumers without one of their own, and of requests without a consumer, by address',
    )
    .meta({ examples: ['free'] }),
  cors: z
    .strictObject(CORS_FIELDS)
    .optional()
    .describe(
      'what pages of other origins may do (Fetch standard, CORS protocol); absent: preflights are ordinary requests',
    )
    .meta({ examples: [{ allow_origins: ['https://app.example.com'] }] }),
  validation: z
    .strictObject(VALIDATION_FIELDS)
    .optional()
    .describe('how bodies are compared with `body` of their operations; absent: they are not')
    .meta({ examples: [{ on_invalid: 'log' }] }),
  upstream_headers: z
    .strictObject(CHANGES)
    .optional()
    .describe(
      "changes of the request that the origin gets, as `request` of headers rules; `${consumer}` and `${claim(<name>)}` insert who sends it, and replace the visitor's field also under `add`",
    )
    .meta({ examples: [{ set: { 'X-Consumer': '${consumer}' } }] }),
};

/** The values of the own fields after their defaults. */
type OwnValues = FormValues<typeof FIELDS>;

/** The problem of a base path; `null`: it has none. */
function judgeBasePath(path: string): Problem | null {
  if (path === '/') return null;
  if (path.includes('*')) return { code: 'invalid_path', message: 'must be a path without wildcards' };
  if (!path.startsWith('/')) return { code: 'relative_path', message: 'must start with `/`' };
  if (/[?#;]/.test(path)) return { code: 'invalid_path', message: 'must hold no `?`, `#` or `;`' };
  if (path.endsWith('/'))
    return {
      code: 'invalid_path',
      message: 'must not end with `/`',
      remedy: `write \`${path.slice(0, -1)}\``,
    };
  return judgePathEntry(path);
}

/** Demands a kind of credentials where some are required. */
const credentials = crossCheck<Pick<OwnValues, 'auth'>>(['auth'], ({ auth }, scope) => {
  if (auth.require === 'none' || CREDENTIAL_KINDS.some((kind) => auth[kind] !== undefined)) return;
  const message = 'requires credentials and takes none';
  const remedy = 'add `api_key`, `jwt` or `mtls`, or write `require: none`';
  scope.error(['auth'], { code: 'missing_field', message, found: null, remedy });
});

/** Checks the names of places by what they are of. */
const sources = crossCheck<Pick<OwnValues, 'auth'>>(['auth'], ({ auth }, scope) => {
  const seen = new Set<string>();
  for (const [index, source] of (auth.api_key?.sources ?? []).entries()) {
    const path = ['auth', 'api_key', 'sources', index];
    const problem = judgeSource(source);
    if (problem !== null) scope.error([...path, 'name'], problem);
    const place = `${source.in} ${source.in === 'header' ? source.name.toLowerCase() : source.name}`;
    if (seen.has(place))
      scope.error(path, { code: 'duplicate_entry', message: 'is listed twice', found: null });
    seen.add(place);
  }
});

/** The problem of the name of a place of credentials; `null`: it has none. */
function judgeSource(source: {
  readonly in: (typeof CREDENTIAL_PLACES)[number];
  readonly name: string;
}): Problem | null {
  if (source.in === 'query') return null;
  if (source.in === 'cookie') return judgeCookieName(source.name);
  return judgeCredentialHeader(source.name) ?? judgeHeaderName(source.name);
}

/** Warns of methods that no client sends. */
const methodCases = crossCheck<Pick<OwnValues, 'operations' | 'cors'>>(
  ['operations', 'cors'],
  ({ operations, cors }, scope) => {
    const lists = operations.map(({ methods }, index) => ({
      methods,
      path: ['operations', index, 'methods'],
    }));
    const allowed = { methods: cors?.allow_methods ?? [], path: ['cors', 'allow_methods'] };
    for (const { methods, path } of [...lists, allowed])
      for (const [index, name] of methods.entries()) warnMethodCase(name, [...path, index], scope);
  },
);

/** Checks the names and values of the changes. */
const upstream = crossCheck<Pick<OwnValues, 'upstream_headers'>>(
  ['upstream_headers'],
  ({ upstream_headers }, scope) => {
    const entries = upstreamEntries(upstream_headers);
    for (const { value, path } of entries) if (value !== null) refuseTags(value, path, scope);
    if (entries.length <= MAX_HEADER_NAMES) return checkChanges(entries, scope);
    const message = `must name at most ${MAX_HEADER_NAMES} headers`;
    scope.error(['upstream_headers'], { code: 'too_many', message, found: String(entries.length) });
  },
);

/** Refuses tags, which headers rules insert. */
function refuseTags(value: string, path: readonly (string | number)[], scope: FormScope): void {
  const parsed = parseHeaderValue(value);
  if (!parsed.ok || parsed.pieces.every(({ kind }) => kind !== 'tag')) return;
  const message = 'inserts a tag, which gateways do not';
  scope.error(path, { code: 'invalid_reference', message, remedy: 'write a `headers` rule' });
}

/** The changes of the request, in the order in which they act. */
export function upstreamEntries(changes: Stored<typeof CHANGES> | undefined): readonly HeaderEntry[] {
  return HEADER_OPS.flatMap((op) => {
    const named: readonly (readonly [string, string | null])[] =
      op === 'remove'
        ? (changes?.remove ?? []).map((name) => [name, null] as const)
        : Object.entries(changes?.[op] ?? {});
    return named.map(([name, value], index) => ({
      ...{ side: 'request' as const, op, name, value },
      path: ['upstream_headers', op, op === 'remove' ? index : name],
    }));
  });
}

/** The form of the type; `base_path` is its path filter. */
export const gatewayForm = hostRule({
  type: 'gateway',
  summary: 'Take API requests with the credentials of a consumer',
  example: {
    name: 'orders',
    base_path: '/v1',
    auth: { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } },
    operations: [{ operation_id: 'listOrders', methods: ['GET'], path: '/orders' }],
  },
  fields: FIELDS,
  nested: {
    auth: Object.keys(AUTH_FIELDS),
    api_key: Object.keys(API_KEY),
    sources: Object.keys(KEY_SOURCE),
    jwt: Object.keys(JWT),
    mtls: Object.keys(MTLS_FIELDS),
    operations: Object.keys(OPERATION_FIELDS),
    limits: Object.keys(THROTTLE_FIELDS),
    body: Object.keys(BODY_FIELDS),
    content: Object.keys(BODY_CONTENT_FIELDS),
    cors: Object.keys(CORS_FIELDS),
    validation: Object.keys(VALIDATION_FIELDS),
    upstream_headers: CHANGE_NAMES,
  },
  checks: [
    credentials,
    sources,
    authorityTimes,
    distinctOperations,
    neededFields,
    methodCases,
    starsOfCors,
    coversAuthorization,
    bodySchemas,
    upstream,
  ],
});

/** A stored rule of the type. */
export type GatewayRule = RuleOf<typeof gatewayForm>;
