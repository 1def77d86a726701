/**
 * The form of `gateway` rules, which take API requests with the credentials of a consumer (semantics §15): what they take, which
 * operations they have, and what browsers of other origins may do. Their path filter is `base_path`.
 */
import { z } from 'zod';
import { parseTemplate, templateShape } from '../../../base/paths/path-template.ts';
import {
  MAX_CORS_AGE_SEC,
  MAX_CORS_ENTRIES,
  MAX_HEADER_NAMES,
  MAX_ISSUERS,
  MAX_KEY_SOURCES,
  MAX_METHOD_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_OPERATION_METHODS,
  MAX_OPERATION_NAME,
  MAX_OPERATION_NAMES,
  MAX_OPERATIONS,
  MAX_VALUE_NAME_CHARACTERS,
} from '../../../base/vocabulary/limits.ts';
import {
  AUTH_REQUIREMENTS,
  CREDENTIAL_PLACES,
  HEADER_OPS,
  OPERATION_SOURCES,
  UNKNOWN_OPERATION_MODES,
} from '../../../base/vocabulary/vocabulary.ts';
import { hostRule, type RuleOf } from '../common.ts';
import { judgeCookieName, judgeHeaderName } from '../conditions.ts';
import { checked, filledText, flag, integer, list, TOKEN, text } from '../fields.ts';
import { crossCheck, type FormScope, type FormValues, type Stored } from '../form.ts';
import { parseHeaderValue } from '../header-values.ts';
import { judgeCredentialHeader, registryName } from '../registry/names.ts';
import type { Problem } from '../report.ts';
import { judgePathEntry } from '../text-checks.ts';
import { CHANGES, checkChanges, type HeaderEntry } from './headers.ts';

/** A method, as in conditions. */
const method = (): z.ZodString =>
  checked(filledText(MAX_METHOD_CHARACTERS), (value) =>
    TOKEN.test(value)
      ? null
      : { code: 'invalid_token', message: 'must be a token, such as `GET` (RFC 9110 §9.1)' },
  );

/** A scope (RFC 6749 §3.3) or a tag: visible ASCII without quotes and blanks. */
const scope = (): z.ZodString =>
  checked(filledText(MAX_OPERATION_NAME), (value) =>
    /^[!#-[\]-~]+$/.test(value)
      ? null
      : {
          code: 'invalid_token',
          message: 'must consist of visible ASCII characters without `"`, `\\` and blanks',
        },
  );

/** The fields of one operation. */
const OPERATION_FIELDS = {
  operation_id: filledText(MAX_OPERATION_NAME)
    .optional()
    .describe('name of the operation in logs, and in `acl` of consumers; unique in its gateway')
    .meta({ examples: ['listOrders'] }),
  methods: checked(list(method(), MAX_OPERATION_METHODS), (entries) =>
    entries.length === 0 ? NO_METHOD : null,
  )
    .describe('methods of the operation; HEAD is answered as GET where no operation lists it')
    .meta({ examples: [['GET']] }),
  path: checked(filledText(), judgeTemplate)
    .describe('path below `base_path`; `{name}` is any text of one segment')
    .meta({ examples: ['/orders/{id}'] }),
  scopes: list(scope(), MAX_OPERATION_NAMES)
    .optional()
    .describe('scopes that the token or the consumer must have, all of them')
    .meta({ examples: [['orders:read']] }),
  tags: list(filledText(MAX_OPERATION_NAME), MAX_OPERATION_NAMES)
    .optional()
    .describe('groups of operations, which `acl` of consumers may name')
    .meta({ examples: [['orders']] }),
  auth: z
    .enum(['required', 'none'])
    .optional()
    .describe('`none`: the operation needs no credentials, and those that are not valid count as absent')
    .meta({ examples: ['none'] }),
  source: z
    .enum(OPERATION_SOURCES)
    .optional()
    .describe('`schema`: from the document of the gateway; `discovered`: seen in traffic; default: `manual`')
    .meta({ examples: ['schema'] }),
};

/** An operation as it is stored. */
export type GatewayOperation = Stored<typeof OPERATION_FIELDS>;

const NO_METHOD: Problem = {
  code: 'too_few',
  message: 'must not be empty',
  remedy: 'list a method, such as `GET`',
};

/** The problem of the template of a path; `null`: it has none. */
function judgeTemplate(template: string): Problem | null {
  const parsed = parseTemplate(template);
  return parsed.ok ? null : { code: 'invalid_path', message: parsed.message };
}

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
};

const headerName = (): z.ZodString => checked(filledText(MAX_VALUE_NAME_CHARACTERS), judgeStarOrHeader);

function judgeStarOrHeader(name: string): Problem | null {
  return name === '*' ? null : judgeHeaderName(name);
}

const CORS_FIELDS = {
  allow_origins: checked(list(checked(filledText(), judgeOrigin), MAX_CORS_ENTRIES), (entries) =>
    entries.length === 0 ? NO_ORIGIN : null,
  )
    .describe(
      'origins of pages that may call; `*` is every one, `https://*.example.com` those of names below',
    )
    .meta({ examples: [['https://app.example.com']] }),
  allow_methods: list(method(), MAX_OPERATION_METHODS)
    .optional()
    .describe('methods that pages may use; default: those of the operations of the path')
    .meta({ examples: [['GET', 'POST']] }),
  allow_headers: list(headerName(), MAX_CORS_ENTRIES)
    .optional()
    .describe(
      'headers that pages may send; default: `Authorization`, `Content-Type` and those that have API keys',
    )
    .meta({ examples: [['Content-Type', 'X-Api-Key']] }),
  expose_headers: list(headerName(), MAX_CORS_ENTRIES)
    .optional()
    .describe('headers of responses that pages may read')
    .meta({ examples: [['RateLimit']] }),
  allow_credentials: flag(false)
    .describe('whether pages may send cookies and client certificates')
    .meta({ examples: [true] }),
  max_age_sec: integer(0, MAX_CORS_AGE_SEC)
    .default(600)
    .describe('seconds for which browsers store the answer to a preflight')
    .meta({ examples: [3600] }),
};

/** What pages of other origins may do, as it is stored. */
export type CorsSettings = Stored<typeof CORS_FIELDS>;

const NO_ORIGIN: Problem = {
  code: 'too_few',
  message: 'must not be empty',
  remedy: 'list an origin, or `*`',
};

/** The problem of an origin (RFC 6454 §6.2) or of a wildcard of its host; `null`: it has none. */
function judgeOrigin(origin: string): Problem | null {
  if (origin === '*') return null;
  const isOrigin =
    /^[a-z][a-z0-9+.-]*:\/\/(?:\*\.)?(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])(?::\d{1,5})?$/.test(
      origin,
    );
  if (isOrigin) return null;
  const message =
    'must be an origin as browsers send it: scheme, host in lower case and port, without a path';
  return { code: 'invalid_value', message, remedy: 'write `https://app.example.com`' };
}

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
  upstream_headers: z
    .strictObject(CHANGES)
    .optional()
    .describe(
      'changes of the request that the origin gets, as `request` of headers rules; `${consumer}` and `${claim(<name>)}` insert who sends it',
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
  if (auth.require === 'none' || auth.api_key !== undefined || auth.jwt !== undefined) return;
  const message = 'requires credentials and takes none';
  const remedy = 'add `api_key` or `jwt`, or write `require: none`';
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

/** Refuses two operations of one method whose templates match the same paths, and ids that are not unique. */
const distinct = crossCheck<Pick<OwnValues, 'operations'>>(['operations'], ({ operations }, scope) => {
  const ids = new Map<string, number>();
  const places = new Map<string, number>();
  for (const [index, { operation_id, methods, path }] of operations.entries()) {
    if (scope.full()) return;
    const first = operation_id === undefined ? undefined : ids.get(operation_id);
    if (first !== undefined) repeated(scope, [index, 'operation_id'], `is the id of operations[${first}]`);
    else if (operation_id !== undefined) ids.set(operation_id, index);
    const parsed = parseTemplate(path);
    if (!parsed.ok) continue;
    for (const method of new Set(methods)) {
      const place = `${method} ${templateShape(parsed.segments)}`;
      const other = places.get(place);
      if (other !== undefined) repeated(scope, [index, 'path'], `matches what operations[${other}] matches`);
      else places.set(place, index);
    }
  }
});

function repeated(scope: FormScope, below: readonly (string | number)[], message: string): void {
  scope.error(['operations', ...below], {
    code: 'duplicate_entry',
    message,
    remedy: 'leave one of the two out',
  });
}

/** Checks what the Fetch standard leaves without effect: a star beside credentials. */
const stars = crossCheck<Pick<OwnValues, 'cors'>>(['cors'], ({ cors }, scope) => {
  if (cors === undefined || !cors.allow_credentials) return;
  for (const field of ['allow_origins', 'allow_headers', 'expose_headers'] as const) {
    const index = (cors[field] ?? []).indexOf('*');
    if (index < 0) continue;
    const message =
      'is no star for browsers beside `allow_credentials` (Fetch standard, CORS protocol and credentials)';
    scope.error(['cors', field, index], { code: 'invalid_value', message, remedy: 'list the names' });
  }
});

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
    operations: Object.keys(OPERATION_FIELDS),
    cors: Object.keys(CORS_FIELDS),
    upstream_headers: CHANGE_NAMES,
  },
  checks: [credentials, sources, distinct, stars, upstream],
});

/** A stored rule of the type. */
export type GatewayRule = RuleOf<typeof gatewayForm>;
