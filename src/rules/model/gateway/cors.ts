/** What pages of other origins may do with a gateway (Fetch standard, CORS protocol). */
import type { z } from 'zod';
import {
  MAX_CORS_AGE_SEC,
  MAX_CORS_ENTRIES,
  MAX_OPERATION_METHODS,
  MAX_VALUE_NAME_CHARACTERS,
} from '../../../base/vocabulary/limits.ts';
import { judgeHeaderName, method } from '../conditions.ts';
import { checked, filledText, flag, integer, list } from '../fields.ts';
import { crossCheck, type Stored } from '../form.ts';
import type { Problem } from '../report.ts';

const headerName = (): z.ZodString => checked(filledText(MAX_VALUE_NAME_CHARACTERS), judgeStarOrHeader);

function judgeStarOrHeader(name: string): Problem | null {
  return name === '*' ? null : judgeHeaderName(name);
}

/** The fields of `cors`. */
export const CORS_FIELDS = {
  allow_origins: checked(list(checked(filledText(), judgeOrigin), MAX_CORS_ENTRIES), (entries) =>
    entries.length === 0 ? NO_ORIGIN : null,
  )
    .describe(
      'origins of pages that may call; `*` is every one, `https://*.example.com` those of names below',
    )
    .meta({ examples: [['https://app.example.com']] }),
  allow_methods: list(method, MAX_OPERATION_METHODS)
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

/** A scheme and host before the default port of the scheme, which serialized origins do not have. */
const DEFAULT_PORT = /^(https:\/\/.*(?=:443$)|http:\/\/.*(?=:80$)):\d+$/;

/** The problem of an origin (RFC 6454 §6.2) or of a wildcard of its host; `null`: it has none. */
function judgeOrigin(origin: string): Problem | null {
  if (origin === '*') return null;
  const usual = origin.replace(DEFAULT_PORT, '$1');
  if (usual !== origin) {
    const message =
      'is no origin that browsers send: they leave out the port that is the default of the scheme';
    return { code: 'invalid_value', message, remedy: `write \`${usual}\`` };
  }
  const isOrigin =
    /^[a-z][a-z0-9+.-]*:\/\/(?:\*\.)?(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])(?::\d{1,5})?$/.test(
      origin,
    );
  if (isOrigin) return null;
  const message =
    'must be an origin as browsers send it: scheme, host in lower case and port, without a path';
  return { code: 'invalid_value', message, remedy: 'write `https://app.example.com`' };
}

/** The values that the check of stars reads. */
interface CorsValues {
  readonly cors?: CorsSettings | undefined;
}

/** Checks what the Fetch standard leaves without effect: a star beside credentials. */
export const starsOfCors = crossCheck<CorsValues>(['cors'], ({ cors }, scope) => {
  if (cors === undefined || !cors.allow_credentials) return;
  for (const field of ['allow_origins', 'allow_methods', 'allow_headers', 'expose_headers'] as const) {
    const index = (cors[field] ?? []).indexOf('*');
    if (index < 0) continue;
    const message =
      'is no star for browsers beside `allow_credentials` (Fetch standard, CORS protocol and credentials)';
    scope.error(['cors', field, index], { code: 'invalid_value', message, remedy: 'list the names' });
  }
});

/** The values that the check of the header of credentials reads. */
interface CredentialValues extends CorsValues {
  readonly auth: {
    readonly api_key?:
      | { readonly sources: readonly { readonly in: string; readonly name: string }[] }
      | undefined;
    readonly jwt?: object | undefined;
  };
}

/** Warns of a star that leaves out the header of credentials (Fetch standard, CORS non-wildcard request-header name). */
export const coversAuthorization = crossCheck<CredentialValues>(['auth', 'cors'], ({ auth, cors }, scope) => {
  const isAuthorization = (name: string): boolean => name.toLowerCase() === 'authorization';
  const allowed = cors?.allow_headers ?? [];
  const index = allowed.indexOf('*');
  if (index < 0 || allowed.some(isAuthorization)) return;
  const keys = auth.api_key?.sources ?? [];
  const isKey = keys.some((source) => source.in === 'header' && isAuthorization(source.name));
  if (auth.jwt === undefined && !isKey) return;
  const message = 'does not cover `Authorization`, which pages then must not send';
  scope.warn(['cors', 'allow_headers', index], {
    code: 'uncovered_header',
    message,
    remedy: 'list `Authorization` too',
  });
});
