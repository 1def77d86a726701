/** Describes the refusals in the document: one response object for each status, which every operation refers to. */

import type { JsonObject } from '../../../base/text/json-object.ts';
import { MAX_BODY_OCTETS, PUBLISH_WAIT_MS } from '../operation/limits.ts';

/** The description of one status. */
interface RefusalDescription {
  /** The name in `components.responses`. */
  readonly name: string;
  readonly description: string;
  /** A message of the API with this status. */
  readonly example: string;
  readonly headers?: JsonObject;
}

/** The description of every status that an operation can refuse with. */
export const REFUSALS: Readonly<Record<number, RefusalDescription>> = {
  400: {
    name: 'BadRequest',
    description: 'malformed or invalid; the sentence names the field and what is wrong with it',
    example: 'limit: must be a whole number, found `ten`',
  },
  401: {
    name: 'Unauthorized',
    description: 'missing, malformed, revoked or expired key, or inactive owner',
    example: 'invalid API key',
    headers: {
      'WWW-Authenticate': {
        description: '`Bearer` where no key was sent, `Bearer error="invalid_token"` where it opens nothing',
        required: true,
        schema: { type: 'string' },
      },
    },
  },
  403: {
    name: 'Forbidden',
    description: 'read-only key, insufficient role, or not in the plan',
    example: 'read-only API key',
  },
  404: { name: 'NotFound', description: 'not found, or not visible', example: 'not found' },
  409: {
    name: 'Conflict',
    description: 'conflicts with the state of things',
    example: 'domain is disabled',
  },
  412: {
    name: 'PreconditionFailed',
    description: 'the object is not what `If-Match` says',
    example: 'the object is not what `If-Match` says',
  },
  413: {
    name: 'ContentTooLarge',
    description: 'the body is too large',
    example: `the body must be at most ${MAX_BODY_OCTETS} octets`,
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'the content type is not supported',
    example: 'the content type must be `application/json`',
  },
  429: {
    name: 'TooManyRequests',
    description: 'too many requests; nothing was done',
    example: 'rate limit exceeded',
    headers: {
      'Retry-After': {
        description: 'seconds until a request is let through again',
        required: true,
        schema: { type: 'integer', minimum: 1 },
      },
    },
  },
  503: {
    name: 'ServiceUnavailable',
    description: 'the store is not available; the sentence says whether anything was changed',
    example: 'the store is not available at the moment; nothing was changed',
  },
  504: {
    name: 'NotPublishedInTime',
    description: 'stored, but not published in time',
    example: `the change is stored, but no revision that covers it was out within ${PUBLISH_WAIT_MS / 1_000} s`,
  },
};

/** The schema of the body of every refusal. */
export const ERROR_SCHEMA: JsonObject = {
  type: 'object',
  properties: { error: { type: 'string', description: 'for people: what is wrong, where, and what helps' } },
  required: ['error'],
  additionalProperties: false,
};

/** The value of `components.responses`. */
export function refusalResponses(): JsonObject {
  const responses = Object.values(REFUSALS).map(({ name, description, example, headers }) => {
    const json = { schema: { $ref: '#/components/schemas/Error' }, example: { error: example } };
    const content = { 'application/json': json };
    return [name, { description, ...(headers === undefined ? {} : { headers }), content }];
  });
  return Object.fromEntries(responses);
}
