import { describe, expect, test } from 'vitest';
import { parseInvariants } from '../../../../src/rules/model/invariant.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import { type InvariantResult, proveInvariants } from '../../../../src/workbench/proofs/invariants.ts';
import { breachText } from '../../../../src/workbench/rule-tests/run.ts';
import { witnessText } from '../../../../src/workbench/simulation/render-changes.ts';

const RECORDS = [
  { id: 1, name: '@', type: 'A', destination: '198.51.100.1', proxied: true },
  { id: 2, name: 'login', type: 'A', destination: '198.51.100.2', proxied: true, captcha: true },
];

function prove(rules: readonly object[], invariant: object): InvariantResult {
  const numbered = rules.map((rule, index) => ({ id: index + 1, ...rule }));
  const parsed = parseRuleSet({ domain: { name: 'example.com' }, records: RECORDS, rules: numbered });
  const read = parseInvariants([{ name: 'it holds', ...invariant }]);
  if (!parsed.ok || !read.ok) throw new Error(JSON.stringify([parsed.diagnostics, read.diagnostics]));
  return proveInvariants(parsed.ruleSet, read.invariants)[0]!.result;
}

function summary(rules: readonly object[], invariant: object): string {
  const result = prove(rules, invariant);
  if (result.kind === 'unknown') return `unknown: ${result.open}`;
  return result.kind === 'broken' ? `${result.witness.url} ${breachText(result)}` : result.kind;
}

const OFFICE = {
  type: 'drop',
  path_includes: ['/admin', '/admin/*'],
  ip_match_type: 'exclude',
  ips: ['198.51.100.0/24'],
};
const ADMIN = { path: ['/admin', '/admin/*'], ip: { not: ['198.51.100.0/24'] } };

describe('never forward', () => {
  test('is proved where a rule ends every request', () => {
    expect(summary([OFFICE], { when: ADMIN, never: 'forward' })).toBe('proved');
    expect(summary([OFFICE], { when: ADMIN, always: 'block' })).toBe('proved');
  });

  test('is proved where rules of several phases end them together', () => {
    const rules = [
      { ...OFFICE, host_match_type: 'exact', host_includes: ['example.com'] },
      {
        type: 'redirect',
        host_match_type: 'exact',
        host_includes: ['login.example.com'],
        target: 'https://example.net/',
      },
    ];
    expect(summary(rules, { when: ADMIN, never: 'forward' })).toBe('proved');
    expect(summary(rules, { when: ADMIN, always: ['block', 'redirect'] })).toBe('proved');
  });

  test('is broken by a rule in dry run', () => {
    const rules = [{ ...OFFICE, action_mode: 'dry_run' }];
    expect(summary(rules, { when: ADMIN, never: 'forward' })).toMatch(
      /\/admin\/? forward to 198\.51\.100\.\d$/,
    );
  });

  test('is broken by a solved challenge', () => {
    const rules = [{ type: 'captcha', path_includes: ['/admin/*'] }];
    const invariant = { when: { host: 'example.com', path: '/admin/*' }, never: 'forward' };
    const result = prove(rules, invariant);
    expect(result).toMatchObject({ kind: 'broken', witness: { cleared: ['captcha/1'] } });
  });

  test('is broken by a spelling that the rule does not cover', () => {
    const rules = [{ ...OFFICE, path_includes: ['/admin/*'] }];
    expect(summary(rules, { when: ADMIN, never: 'forward' })).toMatch(/\/admin forward/);
  });
});

describe('states', () => {
  test('a rate limit may be exceeded, and a score may reach the threshold', () => {
    const limit = { type: 'rate_limit', path_includes: ['/login'], limit: 5, window_sec: 60 };
    const waf = { type: 'waf', path_includes: ['/form'] };
    const when = (path: string): object => ({ when: { host: 'example.com', path }, never: 'block' });
    expect(summary([limit, waf], when('/login'))).toMatch(
      /\/login block by rate_limit\/1, once its limit is exceeded$/,
    );
    expect(summary([limit, waf], when('/form'))).toMatch(
      /\/form block by waf\/2, if its score reaches the threshold$/,
    );
    expect(summary([limit, waf], when('/other'))).toBe('proved');
  });

  test('a record challenges all but verified crawlers', () => {
    const when = { host: 'login.example.com', path: '/x' };
    expect(summary([], { when, never: 'challenge' })).toMatch(/challenge 403$/);
    expect(summary([], { when: { ...when, bot: 'googlebot:verified' }, never: 'challenge' })).toBe('proved');
    expect(
      summary([], { when: { ...when, bot: { not: 'googlebot:verified' } }, never: 'challenge' }),
    ).toMatch(/challenge/);
  });

  test('the edge answers its own paths', () => {
    const when = { host: 'example.com' };
    expect(summary([], { when, never: 'respond' })).toMatch(/\/\.well-known\/edgeplan\/.* respond 200$/);
    expect(
      summary([], {
        when: { ...when, path: { not: '/.well-known*' } },
        always: 'forward',
      }),
    ).toBe('proved');
  });
});

test('an invariant that means no request says so', () => {
  expect(summary([OFFICE], { when: { host: 'example.org' }, never: 'forward' })).toBe('empty');
  expect(
    summary([OFFICE], {
      when: { path: '/a', ip: '203.0.113.1', host: 'nope.example.com' },
      never: 'forward',
    }),
  ).toBe('empty');
});

test('an unknown address is among those that `not` means', () => {
  const rules = [
    {
      ...OFFICE,
      ip_match_type: 'include',
      ips: ['0.0.0.0-198.51.99.255', '198.51.101.0-255.255.255.255', '::/0'],
    },
  ];
  const result = prove(rules, { when: ADMIN, never: 'forward' });
  expect(result).toMatchObject({ kind: 'broken', witness: { ip: null } });
});

describe('mistakes', () => {
  const codes = (input: unknown): readonly string[] => {
    const parsed = parseInvariants(input);
    return parsed.diagnostics.map(({ code, path }) => `${code} ${path.join('.')}`);
  };

  test.each([
    [{ never: 'forward' }, 'not a list', 'invalid_type '],
    [[5], 'no mapping', 'invalid_type 0'],
    [[{ never: 'forward' }], 'no name', 'missing_field 0.name'],
    [[{ name: 'a' }], 'no claim', 'missing_field 0'],
    [[{ name: 'a', never: 'forward', always: 'block' }], 'two claims', 'invalid_value 0'],
    [[{ name: 'a', never: 'forwrd' }], 'an unknown outcome', 'invalid_value 0.never'],
    [[{ name: 'a', never: [] }], 'no outcome', 'missing_field 0.never'],
    [[{ name: 'a', never: 'block', when: 5 }], 'when is no mapping', 'invalid_type 0.when'],
    [[{ name: 'a', never: 'block', when: { hots: 'x' } }], 'an unknown filter', 'unknown_field 0.when.hots'],
    [
      [{ name: 'a', never: 'block', when: { path: ['/a', 'b'] } }],
      'a path without slash',
      'relative_path 0.when.path.1',
    ],
    [
      [{ name: 'a', never: 'block', when: { ip: { not: ['1.2.3'] } } }],
      'no address',
      'invalid_ip 0.when.ip.not.0',
    ],
    [
      [{ name: 'a', never: 'block', when: { ip: { in: '192.0.2.1', not: '192.0.2.2' } } }],
      'in and not',
      'invalid_value 0.when.ip',
    ],
    [[{ name: 'a', never: 'block', when: { bot: 'gptbott' } }], 'an unknown bot', 'unknown_bot 0.when.bot'],
    [
      [
        { name: 'a', never: 'block' },
        { name: 'a', never: 'block' },
      ],
      'a name twice',
      'duplicate_name 1.name',
    ],
    [Array.from({ length: 101 }, (_, at) => ({ name: `${at}`, never: 'block' })), 'too many', 'too_many '],
  ])('%#: %2$s', (input, _, expected) => {
    expect(codes(input)).toContain(expected);
  });
});

const REGISTRY = {
  consumers: [
    { username: 'acme' },
    { username: 'reports', acl: ['listOrders'], scopes: ['read'] },
    { username: 'former', enabled: false, scopes: ['read', 'admin'] },
  ],
  usage_plans: [
    { name: 'slow', throttle: { rate: 1, burst: 0 } },
    { name: 'counted', quota: { limit: 10, period: 'day' } },
    { name: 'narrow', concurrency: 10 },
  ],
  token_issuers: [
    { name: 'login', issuer: 'https://login.test/', audiences: ['api'], jwks_url: 'https://login.test/keys' },
  ],
};
const KEYS = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
const API = {
  type: 'gateway',
  base_path: '/v1',
  auth: { ...KEYS, jwt: { issuers: ['login'] } },
  operations: [
    { operation_id: 'listOrders', methods: ['GET'], path: '/orders', scopes: ['read'] },
    { operation_id: 'dropOrder', methods: ['DELETE'], path: '/orders/{id}', scopes: ['admin'] },
    { operation_id: 'showOrder', methods: ['GET'], path: '/orders/{id}' },
  ],
};
const V1 = ['/v1', '/v1/*'];

/** The outcome of an invariant about gateways, with the credentials of the witness. */
function summaryOf(rules: readonly object[], invariant: object): string {
  const numbered = rules.map((rule, index) => ({ id: index + 1, ...rule }));
  const parsed = parseRuleSet({
    ...{ domain: { name: 'example.com' }, records: RECORDS, rules: numbered },
    registry: REGISTRY,
  });
  const read = parseInvariants([{ name: 'it holds', ...invariant }]);
  if (!parsed.ok || !read.ok) throw new Error(JSON.stringify([parsed.diagnostics, read.diagnostics]));
  const { result } = proveInvariants(parsed.ruleSet, read.invariants)[0]!;
  return result.kind === 'broken'
    ? `${witnessText({ ...result.witness, ip: null })}: ${breachText(result)}`
    : result.kind;
}

describe('consumer: none, never forward', () => {
  const ANONYMOUS = { when: { path: V1, consumer: 'none' }, never: 'forward' };

  test('is proved where every operation requires credentials', () => {
    expect(summaryOf([API], ANONYMOUS)).toBe('proved');
    expect(summaryOf([{ ...API, operations: [] }], ANONYMOUS)).toBe('proved');
    expect(summaryOf([{ ...API, on_unknown_operation: 'log' }], ANONYMOUS)).toBe('proved');
  });

  test('is broken by an operation without credentials, with a request of it', () => {
    const open = { methods: ['GET'], path: '/health', auth: 'none' };
    const operations = [...API.operations, open];
    expect(summaryOf([{ ...API, operations }], ANONYMOUS)).toMatch(/^https:\S+\/v1\/health: forward/);
    const drop = { type: 'drop', path_includes: ['/v1/health'] };
    expect(summaryOf([{ ...API, operations }, drop], ANONYMOUS)).toBe('proved');
  });

  test('is broken by a gateway in dry run, one that requires nothing, and by requests beside the gateway', () => {
    expect(summaryOf([{ ...API, action_mode: 'dry_run' }], ANONYMOUS)).toMatch(/\/v1\S*: forward/);
    const open = { ...API, operations: API.operations.slice(2), auth: { ...KEYS, require: 'none' } };
    expect(summaryOf([open], ANONYMOUS)).toMatch(/\/v1\/orders\/\S+: forward/);
    expect(summaryOf([open], { when: { path: '/v1/orders', consumer: 'none' }, never: 'forward' })).toBe(
      'proved',
    );
    const wider = { when: { path: '/v1*', consumer: 'none' }, never: 'forward' };
    expect(summaryOf([API], wider)).toMatch(/\/v1[^/\s]+: forward/);
  });

  test('is proved of HEAD as of GET, and broken where HEAD alone needs no credentials', () => {
    const head = { methods: ['HEAD'], path: '/orders', auth: 'none' };
    expect(summaryOf([API], { ...ANONYMOUS, when: { ...ANONYMOUS.when, method: 'HEAD' } })).toBe('proved');
    expect(summaryOf([{ ...API, operations: [...API.operations, head] }], ANONYMOUS)).toMatch(
      /^HEAD \S+\/v1\/orders: forward/,
    );
  });

  test('reads the gateway of the longest base path', () => {
    const inner = { ...API, base_path: '/v1/open', auth: { ...KEYS, require: 'none' }, operations: [] };
    expect(summaryOf([API, inner], ANONYMOUS)).toMatch(/\/v1\/open\S*: forward/);
    const outer = { ...API, base_path: '/', auth: { ...KEYS, require: 'none' }, operations: [] };
    expect(summaryOf([API, outer], ANONYMOUS)).toBe('proved');
  });
});

describe('scope, never forward', () => {
  const DELETE = { path: V1, method: 'DELETE', scope: { not: 'admin' } };

  test('is proved where the operation requires the scope', () => {
    expect(summaryOf([API], { when: DELETE, never: 'forward' })).toBe('proved');
  });

  test('is broken by an operation with another scope, by a consumer whose token has that one', () => {
    expect(summaryOf([API], { when: { path: V1, scope: { not: 'admin' } }, never: 'forward' })).toBe(
      'https://example.com/v1/orders --consumer acme --scope read: forward to 198.51.100.1',
    );
    expect(summaryOf([API], { when: { path: V1, scope: 'admin' }, never: 'respond' })).toMatch(
      / respond 40\d/,
    );
  });

  test('counts scopes of tokens only where the gateway takes tokens', () => {
    const keysOnly = { ...API, auth: KEYS };
    expect(summaryOf([keysOnly], { when: { path: '/v1/*', method: 'DELETE' }, never: 'forward' })).toBe(
      'proved',
    );
    expect(summaryOf([API], { when: { path: '/v1/*', method: 'DELETE' }, never: 'forward' })).toMatch(
      /^DELETE \S+ --consumer acme --scope admin: forward/,
    );
  });
});

describe('consumer', () => {
  test('reads the acl: a consumer that may list does not come to other operations', () => {
    const elsewhere = { path: { in: '/v1/*', not: '/v1/orders' }, consumer: 'reports' };
    expect(summaryOf([API], { when: elsewhere, never: 'forward' })).toBe('proved');
    expect(summaryOf([API], { when: { path: '/v1/orders', consumer: 'reports' }, never: 'forward' })).toMatch(
      /--consumer reports: forward/,
    );
  });

  test('means no request where the consumer is disabled, or not in the registry', () => {
    expect(summaryOf([API], { when: { path: V1, consumer: 'former' }, never: 'forward' })).toBe('empty');
    expect(summaryOf([API], { when: { path: V1, consumer: 'nobody' }, never: 'forward' })).toBe('empty');
  });

  test('may be over its usage plan', () => {
    const all = { ...API, operations: [] };
    const acme = { when: { path: V1, consumer: 'acme' }, never: 'respond' };
    expect(summaryOf([all], acme)).toBe('proved');
    for (const default_plan of ['slow', 'counted', 'narrow'])
      expect(summaryOf([{ ...all, default_plan }], acme)).toMatch(
        /: respond by gateway\/1, once its limit is exceeded$/,
      );
  });

  test('is what a quota counts: without one a request is refused by a throttle or a concurrency', () => {
    const open = { ...API, operations: [], auth: { ...API.auth, require: 'none' } };
    const anonymous = { when: { path: V1, consumer: 'none' }, never: 'respond' };
    expect(summaryOf([{ ...open, default_plan: 'counted' }], anonymous)).toBe('proved');
    for (const default_plan of ['slow', 'narrow'])
      expect(summaryOf([{ ...open, default_plan }], anonymous)).toMatch(
        /: respond by gateway\/1, once its limit is exceeded$/,
      );
    const acme = { when: { path: V1, consumer: 'acme' }, never: 'respond' };
    expect(summaryOf([{ ...open, default_plan: 'counted' }], acme)).toMatch(/once its limit is exceeded$/);
  });

  test('may have a body that its operation does not take', () => {
    const content = [{ type: 'application/json', schema: { type: 'object' } }];
    const operations = [{ methods: ['POST'], path: '/orders', body: { required: true, content } }];
    const whole = { ...API, on_unknown_operation: 'log', operations };
    const compared = { ...whole, validation: {} };
    const acme = { path: '/v1/orders', method: 'POST', consumer: 'acme' };
    expect(summaryOf([compared], { when: acme, never: 'respond' })).toMatch(
      /: respond by gateway\/1, by the body of the request$/,
    );
    expect(summaryOf([whole], { when: acme, never: 'respond' })).toBe('proved');
    const logged = { ...whole, validation: { on_invalid: 'log', on_uninspected: 'log' } };
    expect(summaryOf([logged], { when: acme, never: 'respond' })).toBe('proved');
    expect(summaryOf([compared], { when: acme, never: 'forward' })).toMatch(
      /: forward, with a body that its operation takes$/,
    );
    expect(summaryOf([logged], { when: acme, never: 'forward' })).toMatch(/: forward to /);
    expect(summaryOf([compared], { when: { ...acme, consumer: 'none' }, never: 'forward' })).toBe('proved');
  });

  test('gets no operation whose path with parameters is another one without them', () => {
    const listing = { when: { path: '/v1/orders', method: 'GET', consumer: 'reports' }, never: 'respond' };
    expect(summaryOf([API], listing)).toMatch(/^'\S+\/v1;\/orders' .*: respond 404 by gateway\/1$/);
  });

  test('answers preflights whatever the credentials are', () => {
    const cors = { ...API, cors: { allow_origins: ['https://app.test'] } };
    const asked = ['origin', 'access-control-request-method'].map((name) => ({ name, op: 'present' }));
    const options = { path: V1, method: 'OPTIONS', header: asked };
    expect(summaryOf([cors], { when: options, always: 'respond' })).toBe('proved');
    expect(summaryOf([API], { when: options, never: 'forward' })).toBe('proved');
    expect(
      summaryOf([{ ...cors, operations: [] }], { when: { path: V1, method: 'OPTIONS' }, never: 'forward' }),
    ).toMatch(/^OPTIONS \S+ --consumer acme: forward/);
  });
});
