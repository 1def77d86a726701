/**
 * The fields of an expectation with the JSON Schema of each: `expected-fields.ts` reads exactly these names, and editors
 * complete and describe them. Objects may also spell their fields as the JSON output does (`hostHeader`).
 */
import { CACHE_MODES, ERROR_PAGE_MODES } from '../../base/vocabulary/vocabulary.ts';
import { ACTIONS, ORIGIN_SOURCES, UNINSPECTED } from '../../engine/evaluator/decision.ts';
import type { JsonSchema } from '../../rules/files/test-schema.ts';

type Keys = Readonly<Record<string, JsonSchema>>;

const TEXT_OR_NULL = { type: ['string', 'null'] } as const;
const NUMBER_OR_NULL = { type: ['integer', 'null'], minimum: 0 } as const;

/** A rule by its key or id. */
const RULE = {
  ...TEXT_OR_NULL,
  description: 'rule that settled the outcome, `<type>/<key>` or `<type>/<id>`; null: none did',
  examples: ['drop/office-only'],
} as const;

/** Fields of `origin`. */
export const ORIGIN_KEYS = {
  address: { type: 'string', description: 'address of the origin', examples: ['198.51.100.30'] },
  port: {
    ...NUMBER_OR_NULL,
    maximum: 65_535,
    description: 'port of the origin; null: the node finds it out',
    examples: [8080],
  },
  scheme: {
    enum: ['http', 'https', 'auto'],
    description: 'protocol towards the origin',
    examples: ['https'],
  },
  host_header: {
    type: 'string',
    description: 'Host header that the origin gets',
    examples: ['api.example.com'],
  },
  source: { enum: [...ORIGIN_SOURCES], description: 'what chose the origin', examples: ['origin_route'] },
} as const satisfies Keys;

/** Fields of `cache`. */
export const CACHE_KEYS = {
  mode: { enum: [...CACHE_MODES], description: 'cache mode of the rule', examples: ['force'] },
  edge_ttl: {
    ...NUMBER_OR_NULL,
    description: 'seconds at the edge; null: as the origin says',
    examples: [86_400],
  },
  browser_ttl: {
    ...NUMBER_OR_NULL,
    description: 'seconds in browsers; null: as the origin says',
    examples: [3600],
  },
  key: {
    ...TEXT_OR_NULL,
    description: 'cache key; null under `bypass`',
    examples: ['https://example.com/a.css'],
  },
} as const satisfies Keys;

/** Fields of `waf`. */
export const WAF_KEYS = {
  score: { type: 'integer', minimum: 0, description: 'anomaly score', examples: [5] },
  ids: {
    type: 'array',
    items: { type: 'integer', minimum: 1 },
    description: 'signatures that matched',
    examples: [[942_100]],
  },
  truncated: { type: 'boolean', description: 'the body is longer than `body_cap_kb`', examples: [true] },
  exhausted: { type: 'boolean', description: 'the inspection ran out of its step budget', examples: [false] },
  denied: { type: 'boolean', description: 'a signature denied the request outright', examples: [false] },
  body_error: {
    type: 'boolean',
    description: 'the body does not parse as its Content-Type',
    examples: [true],
  },
  uninspected: {
    enum: [...UNINSPECTED, null],
    description: 'why the body was not inspected whole; null: it was',
    examples: ['beyond_cap'],
  },
} as const satisfies Keys;

/** Fields of a decision. */
export const DECISION_KEYS = {
  action: { enum: [...ACTIONS], description: 'what the edge does', examples: ['block'] },
  status: {
    ...NUMBER_OR_NULL,
    maximum: 599,
    description: 'status of the answer; null: the request is forwarded',
    examples: [403],
  },
  rule: RULE,
  location: { ...TEXT_OR_NULL, description: 'Location of a redirect', examples: ['https://example.com/new'] },
  body: { ...TEXT_OR_NULL, description: 'body of a `respond`', examples: ['<h1>Ask for a licence</h1>'] },
  origin: {
    type: ['object', 'null'],
    description: 'where a forwarded request goes',
    properties: ORIGIN_KEYS,
    examples: [{ address: '198.51.100.30', scheme: 'https' }],
  },
  path: { ...TEXT_OR_NULL, description: 'path that the origin gets', examples: ['/v2/orders'] },
  query: { ...TEXT_OR_NULL, description: 'query that the origin gets, without `?`', examples: ['id=7'] },
  cache: {
    type: ['object', 'null'],
    description: "whether and how long the response is cached; null: as the origin's headers say",
    properties: CACHE_KEYS,
    examples: [{ mode: 'force', edge_ttl: 86_400 }],
  },
  tags: {
    type: 'array',
    items: { type: 'string' },
    description: 'rules that marked the request',
    examples: [['bot_route/ai-crawlers']],
  },
  retry_after: { ...NUMBER_OR_NULL, description: '`Retry-After` of a 429, in seconds', examples: [12] },
  waf: {
    type: ['object', 'null'],
    description: 'what the signatures found',
    properties: WAF_KEYS,
    examples: [{ score: 5, ids: [942_100] }],
  },
  request_headers: {
    type: 'object',
    additionalProperties: TEXT_OR_NULL,
    description:
      'headers by name as headers rules send them to the origin; null: removed. Other names may be changed, too',
    examples: [{ 'X-Client-Country': 'DE', Cookie: null }],
  },
  response_headers: {
    type: 'object',
    additionalProperties: TEXT_OR_NULL,
    description: 'headers by name as headers rules send them to the visitor; null: removed',
    examples: [{ 'Strict-Transport-Security': 'max-age=31536000', 'X-Powered-By': null }],
  },
  matches: {
    type: 'array',
    items: { type: 'string' },
    description: 'every rule that matched, in order, each with its effect and mode if they matter',
    examples: [['drop/embargo block dry_run']],
  },
} as const satisfies Keys;

/** Fields of an error page. */
export const PAGE_KEYS = {
  kind: { enum: [...ERROR_PAGE_MODES], description: 'whose page the visitor gets', examples: ['custom'] },
  html: { ...TEXT_OR_NULL, description: 'HTML of a `custom` page', examples: ['<h1>Back in a minute</h1>'] },
  rule: RULE,
} as const satisfies Keys;

/** Every field that an expectation may have at its top, of a decision or of a page. */
export const EXPECTED_KEYS: Keys = {
  ...DECISION_KEYS,
  ...PAGE_KEYS,
  retryAfter: { ...DECISION_KEYS.retry_after, description: 'the same as `retry_after`' },
};
