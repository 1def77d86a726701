/**
 * The keys of `edge.test.yaml` with the JSON Schema of each, and their canonical order: the readers (`test-file.ts`,
 * `test-file-step.ts`) accept exactly these keys, and editors complete and describe them. The page prints tests in this
 * order and does without the forms of rules, which the order of edge files follows from.
 */
import { MAX_ASN, MAX_ID, MAX_INVARIANTS } from '../../base/vocabulary/limits.ts';
import { ACTIONS, BOT_KINDS, CONDITION_OPS, type ValueMember } from '../../base/vocabulary/vocabulary.ts';
import type { INVARIANT_FIELDS, WHEN_FIELDS } from '../model/invariant.ts';

/** The largest number of repetitions of a request, so that a test takes seconds. */
export const MAX_REPEAT = 100_000;

// The type of the JSON Schemas of files, and their draft.

export type JsonSchema = Readonly<Record<string, unknown>>;

export const JSON_SCHEMA_DRAFT = 'http://json-schema.org/draft-07/schema#';

const DURATION: JsonSchema = { type: 'string', pattern: '^\\d{1,9}(\\.\\d{1,3})?\\s*(ms|s|m|h|d)$' };
const TEXTS: JsonSchema = { type: ['string', 'array'], items: { type: 'string' } };

/** Keys of `bot` if it is a map. */
const BOT_KEYS = {
  kind: { enum: [...BOT_KINDS], description: 'kind of the bot', examples: ['googlebot'] },
  verified: {
    type: 'boolean',
    default: false,
    description: 'whether its identity is verified',
    examples: [true],
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** Keys of `with` and `defaults`: facts of the request, and the edge's own side. */
export const WITH_KEYS = {
  ip: { type: 'string', description: "the visitor's address; `unknown`: none", examples: ['203.0.113.7'] },
  country: {
    type: 'string',
    pattern: '^([A-Za-z]{2}|unknown)$',
    description: "the visitor's country (ISO 3166-1 alpha-2); `unknown`: none",
    examples: ['DE'],
  },
  asn: {
    description: "number of the autonomous system of the visitor's address; `unknown`: none",
    examples: [64496],
    anyOf: [{ type: 'integer', minimum: 1, maximum: MAX_ASN }, { enum: ['unknown'] }],
  },
  bot: {
    description: 'kind of bot, `{ kind, verified }`, or `none` for a visitor that is known to be no bot',
    examples: ['gptbot', { kind: 'googlebot', verified: true }],
    anyOf: [
      { enum: [...BOT_KINDS, 'none'] },
      {
        type: 'object',
        required: ['kind'],
        additionalProperties: false,
        properties: BOT_KEYS,
      },
    ],
  },
  ja4: {
    type: 'string',
    description: 'JA4 fingerprint of the TLS ClientHello',
    examples: ['t13d1516h2_8daaf6152771_b186095e22b6'],
  },
  ja4h: {
    type: 'string',
    description: 'JA4H fingerprint of the HTTP request',
    examples: ['ge11nn05enus_9ed1ff1f7b03_cd8dafe26982_0f2b4e1b8a37'],
  },
  headers: {
    type: 'object',
    description: 'header names and values',
    additionalProperties: TEXTS,
    examples: [{ 'Accept-Language': 'de' }],
  },
  user_agent: {
    type: 'string',
    description: 'the same as the header `User-Agent`',
    examples: ['GPTBot/1.2'],
  },
  body: { type: 'string', description: 'request body', examples: ['name=Ann'] },
  cleared: {
    ...TEXTS,
    description: 'challenges that the visitor has solved, such as `captcha/login`',
    examples: [['captcha/login']],
  },
  consumer: {
    type: 'string',
    description: 'username of the consumer of a gateway that the request has valid credentials of',
    examples: ['acme'],
  },
  claims: {
    type: 'object',
    description: 'claims of its token',
    additionalProperties: {
      anyOf: [{ type: ['string', 'number', 'boolean'] }, { type: 'array', items: { type: 'string' } }],
    },
    examples: [{ sub: '7' }],
  },
  scopes: { ...TEXTS, description: 'scopes of its token', examples: [['read', 'write']] },
  quota_exhausted: {
    type: ['string', 'integer'],
    minimum: 0,
    format: 'date-time',
    description: 'until when the quota of the consumer is exhausted: RFC 3339, or milliseconds since 1970',
    examples: ['2026-02-01T00:00:00Z'],
  },
  at: {
    type: ['string', 'integer'],
    minimum: 0,
    format: 'date-time',
    default: '2026-01-01T00:00:00Z',
    description: 'time of the first request: RFC 3339, or milliseconds since 1970',
    examples: ['2026-06-01T12:00:00Z'],
  },
  node: {
    type: 'integer',
    minimum: 0,
    maximum: MAX_ID,
    description: 'id of the edge node, for pools of `lb_type: geo`',
    examples: [2],
  },
  down: { ...TEXTS, description: 'addresses of pool origins that are down', examples: [['198.51.100.41']] },
  busy: {
    type: 'object',
    description: 'requests in flight by the address of a pool origin',
    additionalProperties: { type: 'integer', minimum: 0 },
    examples: [{ '198.51.100.41': 3 }],
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** Keys of `repeat` if it is a map. */
export const REPEAT_KEYS = {
  times: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_REPEAT,
    description: 'how often the request is sent',
    examples: [81],
  },
  every: {
    ...DURATION,
    default: '0ms',
    description: 'time between two requests: a number with `ms`, `s`, `m`, `h` or `d`',
    examples: ['500ms'],
  },
  earlier: {
    $ref: '#/definitions/expectation',
    description: 'what every request but the last gets',
    examples: ['forward'],
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** Keys of `response`. */
export const RESPONSE_KEYS = {
  status: {
    type: 'integer',
    minimum: 100,
    maximum: 599,
    description: 'status of the response',
    examples: [502],
  },
  by: {
    enum: ['origin', 'edge'],
    default: 'origin',
    description: 'who made the response',
    examples: ['edge'],
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** Keys of a request and what is expected of it. */
export const STEP_KEYS = {
  name: {
    type: 'string',
    description: 'what the test shows',
    examples: ['only the office reaches the admin pages'],
  },
  request: {
    type: 'string',
    description: 'method and whole URL; without a method a GET',
    examples: ['POST https://shop.example.com/login'],
  },
  with: {
    type: ['object', 'null'],
    description: 'facts of the request; what is absent is unknown',
    examples: [{ ip: '203.0.113.7', country: 'DE' }],
    additionalProperties: false,
    properties: WITH_KEYS,
  },
  expect: {
    $ref: '#/definitions/expectation',
    description: 'what the visitor gets',
    examples: ['block 403 by drop/office-only', { action: 'forward' }],
  },
  would: {
    $ref: '#/definitions/expectation',
    description: 'what the visitor would get were every dry_run rule enforced; `nothing`: none matched',
    examples: ['block 403 by drop/embargo'],
  },
  response: {
    type: 'object',
    description: 'a response; `expect` is then about the error page',
    examples: [{ status: 502, by: 'origin' }],
    required: ['status'],
    additionalProperties: false,
    properties: RESPONSE_KEYS,
  },
  repeat: {
    description: 'how often the request is sent, or `{ times, every, earlier }`',
    default: 1,
    examples: [5, { times: 81, every: '100ms', earlier: 'forward' }],
    anyOf: [
      { type: 'integer', minimum: 1, maximum: MAX_REPEAT },
      { type: 'object', required: ['times'], additionalProperties: false, properties: REPEAT_KEYS },
    ],
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** A key of the rows of `steps` besides those of a request. */
export const AFTER_KEY = {
  after: {
    ...DURATION,
    default: '0ms',
    description: 'time that passes before the step: a number with `ms`, `s`, `m`, `h` or `d`',
    examples: ['61s'],
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** One outcome or several. */
const OUTCOMES: JsonSchema = {
  anyOf: [{ enum: [...ACTIONS] }, { type: 'array', minItems: 1, items: { enum: [...ACTIONS] } }],
};

/** A text or the number of an autonomous system, several, or those that are meant and those that are not. */
function filterSchema(
  description: string,
  examples: readonly unknown[],
  type: 'string' | 'integer' = 'string',
): JsonSchema {
  const bounds = type === 'integer' ? { minimum: 1, maximum: MAX_ASN } : {};
  const texts = { type: [type, 'array'], ...bounds, minItems: 1, items: { type, ...bounds } };
  const plain = examples.filter((one) => typeof one !== 'object' || Array.isArray(one));
  const parts = {
    in: { ...texts, description: 'those that are meant', examples: plain },
    not: { ...texts, description: 'those that are not meant', examples: plain },
  };
  return {
    description,
    examples,
    anyOf: [texts, { type: 'object', minProperties: 1, additionalProperties: false, properties: parts }],
  };
}

/** Conditions on values of one kind, as rules have them. */
function valueConditions(member: ValueMember, what: string, example: object): JsonSchema {
  const properties = {
    name: { type: 'string', description: `name of the ${what}`, examples: [EXAMPLE_NAMES[member]] },
    op: {
      enum: [...CONDITION_OPS],
      description: 'how the value compares, as in `conditions` of a rule',
      examples: ['present'],
    },
    values: {
      type: 'array',
      items: { type: 'string' },
      description: 'what it compares with',
      examples: [['1']],
    },
    ignore_case: {
      type: 'boolean',
      default: false,
      description: 'letters compare without case',
      examples: [true],
    },
  };
  return {
    type: 'array',
    minItems: 1,
    description: `conditions on a ${what}, all of which hold`,
    items: { type: 'object', required: ['name', 'op'], additionalProperties: false, properties },
    examples: [[example]],
  };
}

const EXAMPLE_NAMES: Readonly<Record<ValueMember, string>> = {
  headers: 'x-api-version',
  query: 'debug',
  cookies: 'session',
};

/** Keys of `when`: the requests that an invariant is about. */
const WHEN_KEYS = {
  host: filterSchema('hosts; `*` is any run of characters', [
    'shop.example.com',
    { not: 'status.example.com' },
  ]),
  path: filterSchema('paths, as rules match them; `*` is any run of characters', [['/admin', '/admin/*']]),
  ip: filterSchema('addresses, prefixes and ranges; `not` means unknown addresses too', [
    '198.51.100.0/24',
    { not: ['198.51.100.0/24', '2001:db8:ff1::/48'] },
  ]),
  country: filterSchema('countries of two letters; `not` means unknown countries too', [['RU', 'BY']]),
  bot: filterSchema('kinds of bots, alone or with `:verified` or `:unverified`; `*` is any, `none` no bot', [
    'gptbot:verified',
    { not: 'none' },
  ]),
  method: filterSchema('methods; case counts', ['POST', { not: ['GET', 'HEAD'] }]),
  scheme: filterSchema('schemes', ['http']),
  asn: filterSchema(
    'numbers of autonomous systems; `not` means unknown ones too',
    [64496, { not: [64496, 64511] }],
    'integer',
  ),
  user_agent: filterSchema('User-Agents, without regard to case; `*` is any run of characters', ['*curl*']),
  header: valueConditions('headers', 'header', { name: 'authorization', op: 'absent' }),
  query: valueConditions('query', 'query parameter', { name: 'debug', op: 'present' }),
  cookie: valueConditions('cookies', 'cookie', { name: 'session', op: 'absent' }),
  consumer: filterSchema(
    'consumers of gateways that valid credentials name; `none` is a request without any',
    ['acme', { not: 'none' }],
  ),
  scope: filterSchema('scopes of the token or of the consumer, one of them; `not`: none of them', [
    'orders:read',
    { not: 'admin' },
  ]),
} as const satisfies Readonly<Record<(typeof WHEN_FIELDS)[number], JsonSchema>>;

/** Keys of an invariant. */
const INVARIANT_KEYS = {
  name: {
    type: 'string',
    maxLength: 200,
    description: 'what holds',
    examples: ['only the office reaches the admin pages'],
  },
  when: {
    type: 'object',
    description: 'the requests that are meant; absent: all that the domain serves',
    examples: [{ path: ['/admin', '/admin/*'], ip: { not: '198.51.100.0/24' } }],
    additionalProperties: false,
    properties: WHEN_KEYS,
  },
  never: { ...OUTCOMES, description: 'what none of them may get', examples: ['forward'] },
  always: {
    ...OUTCOMES,
    description: 'what all of them get: one of these',
    examples: [['block', 'challenge']],
  },
} as const satisfies Readonly<Record<(typeof INVARIANT_FIELDS)[number], JsonSchema>>;

/** Keys of the whole file. */
export const FILE_KEYS = {
  defaults: {
    type: 'object',
    description: 'a `with` for all tests',
    examples: [{ country: 'DE' }],
    additionalProperties: false,
    properties: WITH_KEYS,
  },
  tests: {
    type: 'array',
    description: 'the tests; each starts with empty counters, turns and clearance',
    items: { $ref: '#/definitions/test' },
    examples: [[{ name: 'the home page', request: 'GET https://example.com/', expect: 'forward' }]],
  },
  invariants: {
    type: 'array',
    description: 'what is proved of every request, whatever counters, scores and solved challenges are',
    maxItems: MAX_INVARIANTS,
    items: { $ref: '#/definitions/invariant' },
    examples: [[{ name: 'no plain dotfiles', when: { path: '/.git/*' }, never: 'forward' }]],
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
    examples: [[{ request: 'GET https://example.com/login', expect: 'challenge' }]],
    items: row({ ...STEP_KEYS, ...AFTER_KEY }),
  };
  const cases = {
    type: 'array',
    description: 'rows, each a test of its own that overrides fields of this one',
    examples: [[{ name: 'from the office', with: { ip: '203.0.113.7' }, expect: 'forward' }]],
    items: row({ ...STEP_KEYS, steps }),
  };
  return {
    $schema: JSON_SCHEMA_DRAFT,
    title: 'edge.test.yaml: requests, and what the rules of edge.yaml do with them',
    type: 'object',
    anyOf: [{ required: ['tests'] }, { required: ['invariants'] }],
    additionalProperties: false,
    properties: FILE_KEYS,
    definitions: {
      test: {
        type: 'object',
        required: ['name'],
        additionalProperties: false,
        properties: { ...STEP_KEYS, cases, steps },
      },
      invariant: {
        type: 'object',
        required: ['name'],
        oneOf: [{ required: ['never'] }, { required: ['always'] }],
        additionalProperties: false,
        properties: INVARIANT_KEYS,
      },
      expectation,
    },
  };
}

/** The order of keys by the place of their mapping; absent: the file has no such mapping. */
export interface KeyOrders {
  /** The keys of the file itself. */
  readonly file: readonly string[];
  readonly domain?: readonly string[];
  readonly record?: readonly string[];
  /** The keys of a rule of a type. */
  readonly rule?: (type: unknown) => readonly string[];
  /** The keys of the entries of other lists, by the name of the list. */
  readonly inLists?: Readonly<Record<string, readonly string[]>>;
  /** The keys of mappings inside a rule, by their path in it; of a list, those of each entry. */
  readonly inRules?: Readonly<Record<string, readonly string[]>>;
}

/** The keys of a file of either kind. */
export const FILE_ORDER = [
  'domain',
  'fragment',
  'entitlements',
  'lists',
  'records',
  'usage_plans',
  'token_issuers',
  'consumers',
  'gateways',
  'rules',
  'defaults',
  'tests',
  'invariants',
];

/** The orders of a file with tests alone. */
export const TEST_FILE_ORDERS: KeyOrders = { file: FILE_ORDER };

/** The keys of a test, a case, a step and an invariant: the request, then what is expected, then the rows. */
export const TEST_ORDER = [
  'name',
  'request',
  'when',
  'after',
  'with',
  'response',
  'repeat',
  'expect',
  'would',
  'never',
  'always',
  'cases',
  'steps',
];

/** The keys of mappings inside a test or an invariant. */
export const TEST_PARTS: Readonly<Record<string, readonly string[]>> = {
  defaults: Object.keys(WITH_KEYS),
  with: Object.keys(WITH_KEYS),
  when: Object.keys(WHEN_KEYS),
  response: Object.keys(RESPONSE_KEYS),
  repeat: Object.keys(REPEAT_KEYS),
};
