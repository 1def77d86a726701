/**
 * The keys of `edge.test.yaml` with the JSON Schema of each: the readers (`test-file.ts`, `test-file-step.ts`,
 * `test-file-request.ts`) accept exactly these keys, and editors complete and describe them.
 */
import { BOT_KINDS } from '../base/vocabulary.ts';
import { JSON_SCHEMA_DRAFT, type JsonSchema } from './edge-schema.ts';

const DURATION: JsonSchema = { type: ['string', 'number'] };
const TEXTS: JsonSchema = { type: ['string', 'array'], items: { type: 'string' } };

/** Keys of `with` and `defaults`: facts of the request, and the edge's own side. */
export const WITH_KEYS = {
  ip: { type: 'string', description: "the visitor's address; `unknown`: none" },
  country: { type: 'string', description: 'country of two letters; `unknown`: none' },
  bot: {
    description: 'kind of bot, `{ kind, verified }`, or `none` for a visitor that is known to be no bot',
    anyOf: [
      { enum: [...BOT_KINDS, 'none'] },
      {
        type: 'object',
        required: ['kind'],
        additionalProperties: false,
        properties: { kind: { enum: [...BOT_KINDS] }, verified: { type: 'boolean' } },
      },
    ],
  },
  ja4: { type: 'string', description: 'JA4 fingerprint of the TLS ClientHello' },
  ja4h: { type: 'string', description: 'JA4H fingerprint of the HTTP request' },
  headers: { type: 'object', description: 'header names and values', additionalProperties: TEXTS },
  user_agent: { type: 'string', description: 'the same as the header `User-Agent`' },
  body: { type: 'string', description: 'request body' },
  cleared: { ...TEXTS, description: 'challenges that the visitor has solved, such as `captcha/login`' },
  at: { type: 'string', description: 'time of the first request (RFC 3339); default 2026-01-01T00:00:00Z' },
  node: { type: 'integer', minimum: 0, description: 'id of the edge node, for pools of `lb_type: geo`' },
  down: { ...TEXTS, description: 'addresses of pool origins that are down' },
  busy: {
    type: 'object',
    description: 'requests in flight by the address of a pool origin',
    additionalProperties: { type: 'integer', minimum: 0 },
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** Keys of `repeat` if it is a map. */
export const REPEAT_KEYS = {
  times: { type: 'integer', minimum: 1, description: 'how often the request is sent' },
  every: { ...DURATION, description: 'time between two requests, such as `500ms` or `10s`' },
  earlier: { $ref: '#/definitions/expectation', description: 'what every request but the last gets' },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** Keys of `response`. */
export const RESPONSE_KEYS = {
  status: { type: 'integer', minimum: 100, maximum: 599, description: 'status of the response' },
  by: { enum: ['origin', 'edge'], description: 'who made the response; default `origin`' },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** Keys of a request and what is expected of it. */
export const STEP_KEYS = {
  name: { type: 'string', description: 'what the test shows' },
  request: { type: 'string', description: 'method and whole URL; without a method a GET' },
  with: {
    type: ['object', 'null'],
    description: 'facts of the request; what is absent is unknown',
    additionalProperties: false,
    properties: WITH_KEYS,
  },
  expect: { $ref: '#/definitions/expectation', description: 'what the visitor gets' },
  would: {
    $ref: '#/definitions/expectation',
    description: 'what the visitor would get were every dry_run rule enforced; `nothing`: none matched',
  },
  response: {
    type: 'object',
    description: 'a response; `expect` is then about the error page',
    required: ['status'],
    additionalProperties: false,
    properties: RESPONSE_KEYS,
  },
  repeat: {
    description: 'how often the request is sent, or `{ times, every, earlier }`',
    anyOf: [
      { type: 'integer', minimum: 1 },
      { type: 'object', required: ['times'], additionalProperties: false, properties: REPEAT_KEYS },
    ],
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** A key of the rows of `steps` besides those of a request. */
export const AFTER_KEY = {
  after: { ...DURATION, description: 'time that passes before the step, such as `61s`' },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** Keys of the whole file. */
export const FILE_KEYS = {
  defaults: {
    type: 'object',
    description: 'a `with` for all tests',
    additionalProperties: false,
    properties: WITH_KEYS,
  },
  tests: {
    type: 'array',
    description: 'the tests; each starts with empty counters, turns and clearance',
    items: { $ref: '#/definitions/test' },
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** The schema of a whole test file; `expectation` describes the fields of `expect` if it is a map. */
export function testFileSchema(expectation: JsonSchema): JsonSchema {
  const row = (keys: JsonSchema): JsonSchema => ({
    anyOf: [
      { type: 'string', description: 'a request line' },
      { type: 'object', additionalProperties: false, properties: keys },
    ],
  });
  const steps = {
    type: 'array',
    description: 'rows that run one after the other against the same counters',
    items: row({ ...STEP_KEYS, ...AFTER_KEY }),
  };
  const cases = {
    type: 'array',
    description: 'rows, each a test of its own that overrides fields of this one',
    items: row({ ...STEP_KEYS, steps }),
  };
  return {
    $schema: JSON_SCHEMA_DRAFT,
    title: 'edge.test.yaml: requests, and what the rules of edge.yaml do with them',
    type: 'object',
    required: ['tests'],
    additionalProperties: false,
    properties: FILE_KEYS,
    definitions: {
      test: {
        type: 'object',
        required: ['name'],
        additionalProperties: false,
        properties: { ...STEP_KEYS, cases, steps },
      },
      expectation,
    },
  };
}
