import { describe, expect, test } from 'vitest';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import type { RuleSet } from '../../../../src/rules/model/types.ts';
import { proveAdmissions } from '../../../../src/workbench/proofs/gateway-changes.ts';
import { witnessText } from '../../../../src/workbench/simulation/render-changes.ts';

const RECORDS = [{ id: 1, name: '@', type: 'A', destination: '198.51.100.1', proxied: true }];
const REGISTRY = {
  consumers: [{ username: 'acme' }, { username: 'reports', acl: ['list'] }],
  token_issuers: [
    { name: 'login', issuer: 'https://login.test/', audiences: ['api'], jwks_url: 'https://login.test/keys' },
  ],
};
const KEYS = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
const LIST = { operation_id: 'list', methods: ['GET'], path: '/orders' };
const SHOW = { operation_id: 'show', methods: ['GET'], path: '/orders/{id}' };
const ADD = { operation_id: 'add', methods: ['POST'], path: '/orders' };
const API = {
  type: 'gateway',
  base_path: '/v1',
  auth: { ...KEYS, jwt: { issuers: ['login'] } },
  operations: [LIST, SHOW, ADD],
};

function ruleSet(rules: readonly object[], registry: object = REGISTRY): RuleSet {
  const numbered = rules.map((rule, index) => ({ id: index + 1, ...rule }));
  const parsed = parseRuleSet({
    domain: { name: 'example.com' },
    records: RECORDS,
    rules: numbered,
    registry,
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  return parsed.ruleSet;
}

function changesOf(before: RuleSet, after: RuleSet): readonly string[] {
  const { changes, open } = proveAdmissions(before, after)!;
  expect(open).toEqual([]);
  return changes.map(({ by, operation, refused, witness }) => {
    const request = witnessText({ ...witness, ip: null });
    return `${by}: ${operation}: ${refused.reason} ${refused.operation}: ${request}`;
  });
}

function compare(before: object, after: object): readonly string[] {
  return changesOf(ruleSet([{ ...API, ...before }]), ruleSet([{ ...API, ...after }]));
}

describe('proveAdmissions', () => {
  test('finds nothing where names and order alone differ', () => {
    const renamed = [{ ...ADD, operation_id: 'create' }, { ...SHOW, path: '/orders/{order}' }, LIST];
    expect(compare({}, {})).toEqual([]);
    expect(compare({}, { operations: renamed })).toEqual([]);
  });

  test('finds what an operation adds, and what its removal takes', () => {
    const remove = { operation_id: 'remove', methods: ['DELETE'], path: '/orders/{id}' };
    const more = [...API.operations, remove, { methods: ['GET'], path: '/health', auth: 'none' }];
    expect(compare({}, { operations: more })).toEqual([
      'after: GET /v1/health: unknown_operation null: https://example.com/v1/health',
      'after: DELETE /v1/orders/{id}: method_not_allowed null: DELETE https://example.com/v1/orders/x --consumer acme',
    ]);
    expect(compare({ operations: more }, {}).map((line) => line.split(':')[0])).toEqual(['before', 'before']);
  });

  test('finds a scope that an operation requires now, and a wider one that it no longer does', () => {
    const scoped = (scopes: readonly string[]): object => ({ operations: [LIST, { ...SHOW, scopes }, ADD] });
    expect(compare({}, scoped(['read']))).toEqual([
      'before: GET /v1/orders/{id}: scopes show: https://example.com/v1/orders/x --consumer acme',
    ]);
    expect(compare(scoped(['read', 'admin']), scoped(['read']))).toEqual([
      'after: GET /v1/orders/{id}: scopes show: https://example.com/v1/orders/x --consumer acme --scope read',
    ]);
  });

  test('finds a template that a more literal one takes over', () => {
    const mine = { operation_id: 'mine', methods: ['GET'], path: '/orders/mine', scopes: ['self'] };
    expect(compare({}, { operations: [...API.operations, mine] })).toEqual([
      'before: GET /v1/orders/{id}: scopes mine: https://example.com/v1/orders/mine --consumer acme',
      // Without its parameters the path is that of the other operation, so neither takes it.
      "before: GET /v1/orders/{id}: unknown_operation null: 'https://example.com/v1/orders/mine;' --consumer acme",
    ]);
    expect(
      compare({}, { operations: [...API.operations, { ...mine, methods: ['PUT'], scopes: [] }] }),
    ).toEqual([
      'after: PUT /v1/orders/mine: method_not_allowed null: PUT https://example.com/v1/orders/mine --consumer acme',
      'before: GET /v1/orders/{id}: method_not_allowed null: https://example.com/v1/orders/mine --consumer acme',
      "before: GET /v1/orders/{id}: unknown_operation null: 'https://example.com/v1/orders/mine;' --consumer acme",
    ]);
  });

  test('finds credentials that are no longer taken, and an operation that needs none', () => {
    expect(
      compare({ operations: [LIST] }, { operations: [LIST], auth: KEYS }).map((line) => line.split(': ')[2]),
    ).toEqual(['credentials list']);
    expect(compare({ operations: [LIST] }, { operations: [{ ...LIST, auth: 'none' }] })).toEqual([
      'after: GET /v1/orders: credentials list: https://example.com/v1/orders',
    ]);
  });

  test('finds consumers that are gone or have another acl', () => {
    const with_ = (consumers: readonly object[]): RuleSet =>
      ruleSet([{ ...API, operations: [LIST, ADD] }], { ...REGISTRY, consumers });
    expect(
      changesOf(with_([{ username: 'acme' }]), with_([{ username: 'acme', enabled: false }])),
    ).toHaveLength(2);
    expect(changesOf(with_([{ username: 'acme' }]), with_([{ username: 'acme', acl: ['list'] }]))).toEqual([
      'before: POST /v1/orders: acl add: POST https://example.com/v1/orders --consumer acme',
    ]);
  });

  test('takes requests that no gateway takes as admitted', () => {
    expect(changesOf(ruleSet([]), ruleSet([{ ...API, operations: [] }]))).toEqual([
      'before: null: credentials null: https://example.com/v1',
    ]);
    expect(changesOf(ruleSet([]), ruleSet([{ ...API, action_mode: 'dry_run' }]))).toEqual([]);
    const blocked = { type: 'drop', path_includes: ['/v1', '/v1/*'] };
    expect(changesOf(ruleSet([blocked]), ruleSet([API, blocked]))).toEqual([]);
  });

  test('compares what no operation describes', () => {
    expect(compare({ on_unknown_operation: 'log' }, {})).toEqual([
      'before: null: method_not_allowed null: PUT https://example.com/v1/orders --consumer acme',
      'before: null: method_not_allowed null: POST https://example.com/v1/orders/x --consumer acme',
      'before: null: unknown_operation null: https://example.com/v1 --consumer acme',
    ]);
    expect(compare({ on_unknown_operation: 'log' }, { on_unknown_operation: 'pass' })).toEqual([]);
  });
});

/** Of keys at an address neither side is known to take what the other does. */
const OPEN = ['after: open GET /v1/orders', 'before: open GET /v1/orders'];

describe('who issues credentials', () => {
  const [LOGIN] = REGISTRY.token_issuers;
  const JWK = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
  const OTHER_JWK = { ...JWK, x: 'uZiDXKPPNr4ylsHKfq7s9K2ZC8hFoAlAiIEkoTUOCFg' };
  const [HASH, OTHER_HASH] = ['a'.repeat(64), 'b'.repeat(64)];
  const TOKENS = { ...API, operations: [LIST], auth: { jwt: { issuers: ['login'] } } };

  /** The credentials that one side alone takes, and what stays open. */
  function differing(before: RuleSet, after: RuleSet): readonly string[] {
    const { changes, open } = proveAdmissions(before, after)!;
    return [
      ...changes.map(({ by, refused, credentials }) => `${by}: ${refused.reason}: ${credentials}`),
      ...open.map(({ by, operation }) => `${by}: open ${operation}`),
    ];
  }

  const withIssuer = (fields: object, consumers: readonly object[] = [{ username: 'acme' }]): RuleSet => {
    const { jwks_url: _, ...rest } = LOGIN!;
    const address = 'keys' in fields ? rest : LOGIN;
    return ruleSet([TOKENS], { consumers, token_issuers: [{ ...address, ...fields }] });
  };

  test.each<readonly [string, object, object, readonly string[]]>([
    ['the name of the issuer in the registry', {}, {}, []],
    [
      'another issuer',
      {},
      { issuer: 'https://other.test/' },
      ['after: credentials: a token of `login`', 'before: credentials: a token of `login`'],
    ],
    [
      'one more audience',
      {},
      { audiences: ['api', 'web'] },
      ['after: credentials: a token of `login` for `web`'],
    ],
    [
      'one algorithm less',
      {},
      { algorithms: ['ES256', 'RS256'] },
      ['before: credentials: a token of `login` signed with EdDSA'],
    ],
    ['another address of keys', {}, { jwks_url: 'https://login.test/k2' }, OPEN],
    ['keys in place of an address', {}, { keys: [JWK] }, OPEN],
    [
      'another key',
      { keys: [JWK, OTHER_JWK] },
      { keys: [JWK] },
      ['before: credentials: a token of `login` signed with EdDSA by its key 2'],
    ],
    [
      'a claim that is required',
      {},
      { required_claims: { kind: 'access' } },
      ['before: credentials: a token of `login`'],
    ],
    [
      'another claim that names the consumer',
      {},
      { consumer_claim: 'client_id' },
      ['after: credentials: a token of `login`', 'before: credentials: a token of `login`'],
    ],
    [
      'a default consumer',
      {},
      { default_consumer: 'acme' },
      ['after: credentials: a token of `login` without a consumer'],
    ],
    [
      'a smaller difference of clocks',
      {},
      { clock_skew_sec: 10 },
      ['before: credentials: a token of `login` that has just expired'],
    ],
    [
      'another place',
      {},
      { sources: [{ in: 'cookie', name: 'session' }] },
      ['after: credentials: a token of `login`', 'before: credentials: a token of `login`'],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(differing(withIssuer(before), withIssuer(after))).toEqual(expected);
  });

  test('another claim of scopes counts where an operation requires scopes', () => {
    const scoped = (claim: string, scopes: readonly string[]): RuleSet =>
      ruleSet([{ ...TOKENS, operations: [{ ...LIST, scopes }] }], {
        consumers: [{ username: 'acme' }],
        token_issuers: [{ ...LOGIN, scopes_claim: claim }],
      });
    expect(differing(scoped('scope', []), scoped('permissions', []))).toEqual([]);
    expect(differing(scoped('scope', ['read']), scoped('permissions', ['read']))).toEqual([
      'after: scopes: null',
      'before: scopes: null',
    ]);
  });

  test('the name of a consumer in tokens', () => {
    const named = (custom_id: string): RuleSet => withIssuer({}, [{ username: 'acme', custom_id }]);
    expect(differing(named('one'), named('two'))).toEqual([
      'after: credentials: a token of `login`',
      'before: credentials: a token of `login`',
    ]);
  });

  test('keys of consumers and their places', () => {
    const keyed = (hashes: readonly string[], name = 'X-Api-Key'): RuleSet =>
      ruleSet([{ ...API, operations: [LIST], auth: { api_key: { sources: [{ in: 'header', name }] } } }], {
        consumers: [{ username: 'acme', keys: hashes.map((sha256) => ({ sha256, name: 'ci' })) }],
      });
    expect(differing(keyed([HASH]), keyed([HASH], 'x-api-key'))).toEqual([]);
    expect(differing(keyed([HASH, OTHER_HASH]), keyed([HASH]))).toEqual([
      'before: credentials: the key `ci`',
    ]);
    expect(differing(keyed([HASH]), keyed([OTHER_HASH]))).toEqual([
      'after: credentials: a key in the header `X-Api-Key`',
      'before: credentials: a key in the header `X-Api-Key`',
    ]);
    expect(differing(keyed([HASH]), keyed([HASH], 'X-Key'))).toEqual([
      'after: credentials: a key in the header `X-Key`',
      'before: credentials: a key in the header `X-Api-Key`',
    ]);
  });

  test('a consumer that is disabled is refused as such', () => {
    const enabled = (is: boolean): RuleSet => withIssuer({}, [{ username: 'acme', enabled: is }]);
    expect(differing(enabled(true), enabled(false))).toEqual(['before: consumer_disabled: null']);
  });
});

describe('bodies', () => {
  const JSON_TYPE = 'application/json';
  const ORDER = {
    type: 'object',
    required: ['item'],
    properties: { item: { type: 'string', maxLength: 20 }, count: { type: 'integer', minimum: 1 } },
    additionalProperties: false,
  };

  const withBody = (body: object | undefined, validation: object | undefined = {}): RuleSet =>
    ruleSet([{ ...API, operations: [{ ...ADD, ...(body === undefined ? {} : { body }) }], validation }]);
  const described = (schema: object, type = JSON_TYPE): RuleSet =>
    withBody({ required: true, content: [{ type, schema }] });

  /** The bodies that one side alone accepts. */
  function bodiesOf(before: RuleSet, after: RuleSet): readonly string[] {
    const { changes, open } = proveAdmissions(before, after)!;
    return [
      ...changes.map(({ by, refused, body }) => {
        const text = body!.text.length > 80 ? `${body!.text.length} octets` : body!.text;
        return `${by}: ${refused.reason}: ${body!.type} ${text}`;
      }),
      ...open.map(({ by, operation }) => `${by}: open ${operation}`),
    ];
  }

  test('finds nothing where the schemas accept the same', () => {
    const renamed = { description: 'an order', ...ORDER, properties: { ...ORDER.properties } };
    expect(bodiesOf(described(ORDER), described(renamed))).toEqual([]);
    const referred = { $ref: '#/$defs/order', $defs: { order: ORDER } };
    expect(bodiesOf(described(ORDER), described(referred))).toEqual([]);
    expect(bodiesOf(withBody(undefined), withBody(undefined))).toEqual([]);
  });

  test.each<readonly [string, object, readonly string[]]>([
    [
      'a member that is required now',
      { required: ['item', 'count'] },
      ['before: body_invalid: application/json {"item":"x"}'],
    ],
    ['a member that is no longer required', { required: [] }, ['after: body_invalid: application/json {}']],
    [
      'members that are not described',
      { additionalProperties: true },
      ['after: body_invalid: application/json {"item":"x","x-further":"x"}'],
    ],
    [
      'a shorter text',
      { properties: { ...ORDER.properties, item: { type: 'string', maxLength: 8 } } },
      ['before: body_invalid: application/json {"item":"xxxxxxxxxxxxxxxxxxxx"}'],
    ],
    [
      'a wider bound',
      { properties: { ...ORDER.properties, count: { type: 'integer', minimum: 0 } } },
      ['after: body_invalid: application/json {"item":"x","count":0}'],
    ],
    [
      'another type',
      { properties: { ...ORDER.properties, count: { type: 'string' } } },
      [
        'after: body_invalid: application/json {"item":"x","count":"x"}',
        'before: body_invalid: application/json {"item":"x","count":1}',
      ],
    ],
  ])('%s', (_, fields, expected) => {
    expect(bodiesOf(described(ORDER), described({ ...ORDER, ...fields }))).toEqual(expected);
  });

  test('a media type, a body that is required, and an operation that describes bodies', () => {
    expect(bodiesOf(described(ORDER), described(ORDER, 'application/order+json'))).toEqual([
      expect.stringMatching(/^after: content_type: application\/order\+json /),
      expect.stringMatching(/^before: content_type: application\/json /),
    ]);
    const content = [{ type: JSON_TYPE, schema: ORDER }];
    expect(bodiesOf(withBody({ content }), withBody({ content, required: true }))).toEqual([
      'before: body_invalid: null ',
    ]);
    expect(bodiesOf(withBody(undefined), withBody({ content }))).toEqual(['before: content_type: null x']);
  });

  test('how a gateway validates', () => {
    const body = { required: true, content: [{ type: JSON_TYPE, schema: ORDER }] };
    expect(bodiesOf(withBody(body), withBody(body, { on_invalid: 'log', on_uninspected: 'log' }))).toEqual([
      'after: body_invalid: null ',
    ]);
    expect(bodiesOf(withBody(body), withBody(body, { body_cap_kb: 64 }))).toEqual([
      'before: body_too_large: application/json 65537 octets',
    ]);
    expect(bodiesOf(withBody(body), withBody(body, { on_uninspected: 'pass' }))).toEqual([
      'after: body_too_large: application/json 131073 octets',
    ]);
  });

  test('what is not decided is open', () => {
    const even = { type: 'string', pattern: '^(aa)+$' };
    const some = { type: 'string', pattern: '^a+$' };
    expect(bodiesOf(described(even), described(some))).toEqual([
      'after: open POST /v1/orders',
      'before: open POST /v1/orders',
    ]);
  });
});

describe('limits of usage plans', () => {
  const limited = (gold: object, fields: object = {}): RuleSet =>
    ruleSet([{ ...API, ...fields }], {
      ...REGISTRY,
      usage_plans: [{ name: 'gold', ...gold }, { name: 'free' }],
    });
  const changesIn = (before: RuleSet, after: RuleSet): readonly string[] =>
    proveAdmissions(before, after)!.limits.map(
      ({ of, limit, change, was, now }) => `${of} ${limit} ${change}: ${was} → ${now}`,
    );

  test('name what became looser or stricter', () => {
    const quota = (limit: number, period = 'day'): object => ({ quota: { limit, period } });
    const throttle = (rate: number, per_sec = 1): object => ({ throttle: { rate, per_sec } });
    expect(changesIn(limited(quota(10)), limited(quota(10)))).toEqual([]);
    expect(changesIn(limited(quota(10)), limited(quota(20)))).toEqual([
      'usage plan `gold` quota looser: 10 requests in a day → 20 requests in a day',
    ]);
    expect(changesIn(limited(quota(10)), limited(quota(20, 'week')))).toEqual([
      'usage plan `gold` quota other: 10 requests in a day → 20 requests in a week',
    ]);
    const concurrency = (most: number): object => ({ concurrency: most });
    expect(changesIn(limited(concurrency(2)), limited(concurrency(1)))).toEqual([
      'usage plan `gold` concurrency stricter: 2 requests at the same time → 1 requests at the same time',
    ]);
    expect(changesIn(limited(concurrency(2)), limited({}))).toEqual([
      'usage plan `gold` concurrency looser: 2 requests at the same time → null',
    ]);
    expect(changesIn(limited({}), limited(throttle(5)))).toEqual([
      'usage plan `gold` throttle stricter: null → 5 requests in a second',
    ]);
    expect(changesIn(limited(throttle(5)), limited({}))).toEqual([
      'usage plan `gold` throttle looser: 5 requests in a second → null',
    ]);
    expect(changesIn(limited({}, { default_plan: 'gold' }), limited({}, { default_plan: 'free' }))).toEqual([
      'gateway of `/v1` usage plan other: gold → free',
    ]);
  });

  test('of operations name what became looser or stricter', () => {
    const orders = (rate: number): RuleSet =>
      limited({}, { operations: [{ methods: ['GET'], path: '/orders', limits: { rate, per_sec: 1 } }] });
    expect(changesIn(orders(5), orders(5))).toEqual([]);
    expect(changesIn(orders(5), orders(2))).toEqual([
      'operation `GET /v1/orders` throttle stricter: 5 requests in a second → 2 requests in a second',
    ]);
  });
});
