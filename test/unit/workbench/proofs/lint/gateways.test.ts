/** Findings about gateways and the registry, each beside a neighbour that has none. */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic, formatPath } from '../../../../../src/base/diagnostics/diagnostic.ts';
import { parseRuleSet } from '../../../../../src/rules/model/parse.ts';
import type { RuleSet } from '../../../../../src/rules/model/types.ts';
import { type LintOptions, lintRuleSet } from '../../../../../src/workbench/proofs/lint.ts';
import { loadRuleSet } from '../../../../support/load.ts';

type Fields = Readonly<Record<string, unknown>>;

const RECORDS = [
  { id: 1, name: '@', type: 'A', destination: '198.51.100.1', proxied: true },
  { id: 2, name: 'api', type: 'A', destination: '198.51.100.2', proxied: true },
];
const NOW = Date.UTC(2027, 0, 1);
const PAST = '2026-12-31T00:00:00Z';
const LATER = '2027-01-02T00:00:00Z';

const KEY = { sha256: 'a7b45528c233904b04dab7e4f6b208ebdd8657c70364a1f04abee34fc9fb758a' };
const API_KEY = { sources: [{ in: 'header', name: 'X-Api-Key' }] };
const JWT = { issuers: ['login'] };
const KEYS = { api_key: API_KEY };
const TOKENS = { jwt: JWT };
const LOGIN = {
  name: 'login',
  issuer: 'https://login.test/',
  audiences: ['api'],
  jwks_url: 'https://login.test/k',
};
const LIST = { operation_id: 'list', methods: ['GET'], path: '/orders', tags: ['orders'] };
const ADD = { operation_id: 'add', methods: ['POST'], path: '/orders', scopes: ['write'] };
const ACME = { username: 'acme', keys: [KEY] };

const gateway = (fields: Fields = {}): Fields => ({
  type: 'gateway',
  base_path: '/v1',
  auth: KEYS,
  operations: [LIST],
  ...fields,
});

function ruleSetOf(rules: readonly Fields[], registry: Fields = { consumers: [ACME] }): RuleSet {
  const numbered = rules.map((rule, index) => ({ id: index + 1, ...rule }));
  const parsed = parseRuleSet({
    domain: { name: 'example.com' },
    records: RECORDS,
    rules: numbered,
    registry,
  });
  if (!parsed.ok) throw new Error(parsed.diagnostics.map(formatDiagnostic).join('\n'));
  return parsed.ruleSet;
}

/** Findings as `<path> <code>`. */
function codes(ruleSet: RuleSet, options: LintOptions = {}): readonly string[] {
  return lintRuleSet(ruleSet, undefined, { now: NOW, ...options }).map(
    ({ path, code }) => `${formatPath(path)} ${code}`,
  );
}

/** The first finding with its message. */
function sentence(ruleSet: RuleSet): string {
  return lintRuleSet(ruleSet, undefined, { now: NOW }).map(formatDiagnostic)[0] ?? '';
}

const withConsumer = (fields: Fields): Fields => ({ consumers: [{ ...ACME, ...fields }] });

describe('entries of `acl` and `scopes`', () => {
  test.each<readonly [string, Fields, readonly Fields[], readonly string[]]>([
    ['an id', { acl: ['list'] }, [gateway()], []],
    ['a tag', { acl: ['orders'] }, [gateway()], []],
    ['another text', { acl: ['list', 'lists'] }, [gateway()], ['consumers[0].acl[1] unknown_acl_entry']],
    [
      'an id of a second gateway',
      { acl: ['list', 'add'] },
      [gateway(), gateway({ base_path: '/v2', operations: [{ ...ADD, scopes: [] }] })],
      [],
    ],
    [
      'an id of a disabled gateway',
      { acl: ['list', 'add'] },
      [gateway(), gateway({ base_path: '/v2', operations: [ADD], enabled: false })],
      [],
    ],
    [
      'another text beside a gateway without operations',
      { acl: ['list', 'lists'] },
      [gateway(), gateway({ base_path: '/v2', operations: [], auth: { require: 'none' } })],
      [],
    ],
    ['a domain without gateways', { acl: ['lists'], scopes: ['read'] }, [], []],
    ['a scope that an operation asks for', { scopes: ['write'] }, [gateway({ operations: [LIST, ADD] })], []],
    ['another scope', { scopes: ['read'] }, [gateway()], ['consumers[0].scopes[0] unused_scope']],
  ])('%s', (_, fields, rules, expected) => {
    expect(codes(ruleSetOf(rules, withConsumer(fields)))).toEqual(expected);
  });

  test('the message names the effect and what was meant', () => {
    const both = { consumers: [ACME, { username: 'reports', keys: [], acl: ['lost', 'lists'] }] };
    expect(sentence(ruleSetOf([gateway()], both))).toBe(
      'warning: consumers[1].acl[0]: is no id or tag of an operation of any gateway, as 1 more of the list: the consumer may call no operation that needs credentials, found `lost`; did you mean `list`?',
    );
  });
});

describe('gateways that admit no consumer', () => {
  const closed = ['rules[0].auth closed_gateway'];
  const issuers = { token_issuers: [LOGIN] };
  const expired = { ...KEY, expires_at: PAST };
  const live = { ...KEY, expires_at: LATER };
  test.each<readonly [string, Fields, Fields, readonly string[]]>([
    ['no consumers', {}, {}, closed],
    ['no consumers, but no credentials needed', { auth: { require: 'none' } }, {}, []],
    ['no consumers under dry_run', { action_mode: 'dry_run' }, {}, closed],
    ['no consumers, but the gateway is disabled', { enabled: false }, {}, []],
    ['a disabled consumer', {}, withConsumer({ enabled: false }), closed],
    [
      'an expired consumer',
      {},
      withConsumer({ expires_at: PAST }),
      [...closed, 'consumers[0].expires_at expired_credential'],
    ],
    ['a consumer that will expire', {}, withConsumer({ expires_at: LATER }), []],
    [
      'a consumer without a key',
      {},
      withConsumer({ keys: [] }),
      [...closed, 'consumers[0].username consumer_without_credentials'],
    ],
    [
      'an expired key',
      {},
      withConsumer({ keys: [expired] }),
      [
        ...closed,
        'consumers[0].username consumer_without_credentials',
        'consumers[0].keys[0].expires_at expired_credential',
      ],
    ],
    ['a key that will expire', {}, withConsumer({ keys: [live] }), []],
    [
      'a consumer without a key where tokens are taken',
      { auth: { ...KEYS, ...TOKENS } },
      { ...withConsumer({ keys: [] }), ...issuers },
      [],
    ],
    [
      'a consumer without a key where all kinds are required',
      { auth: { ...KEYS, ...TOKENS, require: 'all' } },
      { ...withConsumer({ keys: [] }), ...issuers },
      [...closed, 'consumers[0].username consumer_without_credentials'],
    ],
    [
      'a consumer with an acl, and no operations',
      { operations: [] },
      withConsumer({ acl: ['list'] }),
      closed,
    ],
    ['a consumer without an acl, and no operations', { operations: [] }, withConsumer({}), []],
  ])('%s', (_, fields, registry, expected) => {
    expect(codes(ruleSetOf([gateway(fields)], registry))).toEqual(expected);
  });

  test('operations that need no credentials are named', () => {
    const open = { ...LIST, auth: 'none' };
    expect(sentence(ruleSetOf([gateway({ operations: [open, ADD] })], {}))).toBe(
      'warning: rules[0].auth: admits only requests that need no credentials: the domain has no consumers; add a consumer, or write `require: none`',
    );
  });

  test('nothing is claimed of a registry that is not known', () => {
    const ruleSet = ruleSetOf([gateway()], {});
    expect(codes(ruleSet, { partial: true })).toEqual([]);
    const sealed = { ...ruleSet, registry: { digest: 'a'.repeat(64) } };
    expect(codes(sealed, { proofs: false })).toEqual([]);
  });
});

describe('operations that no consumer may call', () => {
  const uncallable = ['rules[0].operations[1] uncallable_operation'];
  const both = [LIST, ADD];
  test.each<readonly [string, Fields, Fields, readonly string[]]>([
    ['a scope that no consumer has', { operations: both }, withConsumer({}), uncallable],
    ['a scope of a consumer', { operations: both }, withConsumer({ scopes: ['write'] }), []],
    [
      'a scope of a disabled consumer',
      { operations: both },
      { consumers: [ACME, { username: 'old', enabled: false, scopes: ['write'] }] },
      uncallable,
    ],
    [
      'a scope that tokens may have',
      { operations: both, auth: { ...KEYS, ...TOKENS } },
      { ...withConsumer({}), token_issuers: [LOGIN] },
      [],
    ],
    [
      'an acl of every consumer without it',
      { operations: both },
      withConsumer({ acl: ['list'] }),
      uncallable,
    ],
    [
      'an acl of one of two consumers without it',
      { operations: both },
      {
        consumers: [
          { ...ACME, acl: ['list'] },
          { username: 'b', scopes: ['write'], acl: ['add'] },
        ],
      },
      ['consumers[1].username consumer_without_credentials'],
    ],
    [
      'an acl that names it, without its scope',
      { operations: both },
      withConsumer({ acl: ['list', 'add'] }),
      uncallable,
    ],
    [
      'an operation that needs no credentials',
      { operations: [LIST, { ...ADD, scopes: [], auth: 'none' }] },
      withConsumer({ acl: ['list'] }),
      [],
    ],
  ])('%s', (_, fields, registry, expected) => {
    expect(codes(ruleSetOf([gateway(fields)], registry))).toEqual(expected);
  });

  test.each<readonly [Fields, Fields, string]>([
    [
      { operations: [ADD] },
      {},
      'no consumer that may call it has all of its scopes (`write`), and the gateway takes no tokens, which could have them, found `add`; list them in `scopes` of a consumer',
    ],
    [
      { operations: [{ methods: ['GET'], path: '/a' }, LIST] },
      { acl: ['list'] },
      'every consumer has an `acl`, and none names the operation, found `GET /a`; give it an `operation_id`, and list that in `acl` of a consumer',
    ],
  ])('%j of %j: the message says why', (fields, consumer, message) => {
    expect(sentence(ruleSetOf([gateway(fields)], withConsumer(consumer)))).toBe(
      `warning: rules[0].operations[0]: ${message}`,
    );
  });
});

describe('objects that nothing names', () => {
  const plans = { usage_plans: [{ name: 'gold' }] };
  test.each<readonly [string, Fields, Fields, readonly string[]]>([
    ['a usage plan', {}, { ...withConsumer({}), ...plans }, ['usage_plans[0].name unused_usage_plan']],
    ['a usage plan of a consumer', {}, { ...withConsumer({ usage_plan: 'gold' }), ...plans }, []],
    ['a usage plan of a gateway', { default_plan: 'gold' }, { ...withConsumer({}), ...plans }, []],
    [
      'a token issuer',
      {},
      { ...withConsumer({}), token_issuers: [LOGIN] },
      ['token_issuers[0].name unused_token_issuer'],
    ],
    [
      'a token issuer of a gateway',
      { auth: { ...KEYS, ...TOKENS } },
      { ...withConsumer({}), token_issuers: [LOGIN] },
      [],
    ],
  ])('%s', (_, fields, registry, expected) => {
    expect(codes(ruleSetOf([gateway(fields)], registry))).toEqual(expected);
  });
});

describe('base paths', () => {
  const orders = { operation_id: 'list', methods: ['GET'], path: '/v1/orders' };
  const health = { operation_id: 'health', methods: ['GET'], path: '/v10/health' };
  const outer = gateway({ base_path: '/api', operations: [health, orders] });
  test.each<readonly [string, Fields, readonly string[]]>([
    ['a longer base path', {}, ['rules[0].operations[1] unreachable_operation']],
    [
      'a longer base path in other spelling',
      { base_path: '/%61pi/v1' },
      ['rules[0].operations[1] unreachable_operation'],
    ],
    ['the whole path', { base_path: '/api/v1/orders' }, ['rules[0].operations[1] unreachable_operation']],
    ['a base path beside it', { base_path: '/api/v2' }, []],
    ['a base path below it', { base_path: '/api/v1/orders/x' }, []],
    ['a gateway under dry_run', { base_path: '/api/v1', action_mode: 'dry_run' }, []],
    ['a disabled gateway', { base_path: '/api/v1', enabled: false }, []],
    ['a gateway of another host', { host_includes: ['api.example.com'] }, []],
    ['a gateway with conditions', { conditions: { methods: ['POST'] } }, []],
  ])('an operation below %s', (_, fields, expected) => {
    const inner = gateway({ base_path: '/api/v1', operations: [{ ...orders, path: '/o' }], ...fields });
    expect(codes(ruleSetOf([outer, inner]))).toEqual(expected);
  });

  test('a parameter may have the name of the other base path, and others', () => {
    const any = { operation_id: 'any', methods: ['GET'], path: '/{version}/orders' };
    const rules = [gateway({ base_path: '/api', operations: [any] }), gateway({ base_path: '/api/v1' })];
    expect(codes(ruleSetOf(rules))).toEqual([]);
  });

  test.each<readonly [string, readonly Fields[], readonly string[]]>([
    [
      'a rule on another spelling',
      [{ type: 'cache', path_includes: ['/V1/*'] }],
      ['rules[1].path_includes[0] base_path_case'],
    ],
    [
      'a rule on the bare path',
      [{ type: 'waf', path_includes: ['/V1', '/V1/*'] }],
      ['rules[1].path_includes[0] base_path_case', 'rules[1].path_includes[1] base_path_case'],
    ],
    ['a rule on the spelling', [{ type: 'cache', mode: 'bypass', path_includes: ['/v1/*'] }], []],
    ['a rule on a longer segment', [{ type: 'cache', path_includes: ['/V12/*'] }], []],
    [
      'a rule of another host',
      [{ type: 'cache', path_includes: ['/V1/*'], host_includes: ['api.example.com'] }],
      [],
    ],
    ['a rule that drops the spelling', [{ type: 'drop', path_includes: ['/V1', '/V1/*'] }], []],
    [
      'a rule beside one that drops the spelling',
      [
        { type: 'drop', countries: ['KP'], path_includes: ['/V1', '/V1/*'] },
        { type: 'cache', path_includes: ['/V1/*'] },
      ],
      [],
    ],
    [
      'a gateway with another spelling',
      [gateway({ base_path: '/V1' })],
      ['rules[1].base_path base_path_case'],
    ],
    [
      'a gateway with another spelling below a gateway of all paths',
      [gateway({ base_path: '/V1' }), gateway({ base_path: '/' })],
      [],
    ],
    ['a gateway of another host', [gateway({ base_path: '/V1', host_includes: ['api.example.com'] })], []],
  ])('%s', (_, others, expected) => {
    const first = gateway({ host_includes: ['example.com'] });
    const scoped = others.map((rule) => ({ host_includes: ['example.com'], ...rule }));
    expect(codes(ruleSetOf([first, ...scoped]), { proofs: false })).toEqual(expected);
  });
});

describe('captchas', () => {
  const message = (rule: Fields): string =>
    lintRuleSet(ruleSetOf([gateway(), { type: 'captcha', ...rule }]), undefined, { now: NOW })
      .map(formatDiagnostic)
      .join('\n');

  test('a captcha rule below a base path never acts', () => {
    expect(message({ path_includes: ['/v1/orders', '/v1/orders/*'] })).toBe(
      'error: rules[1].type: is never reached: `gateway/1` takes every request that it matches; gateways admit API clients, and a captcha never acts there; remove it, or list paths that no gateway has',
    );
    expect(message({ path_includes: ['/v*'] })).toBe('');
  });

  const withCaptcha = (fields: Fields): RuleSet => {
    const ruleSet = ruleSetOf([gateway({ base_path: '/', ...fields })]);
    return { ...ruleSet, records: ruleSet.records.map((one) => ({ ...one, captcha: one.id === 2 })) };
  };
  const never = ['records[1].captcha captcha_on_gateway'];
  test.each<readonly [Fields, readonly string[]]>([
    [{}, never],
    [{ record_ids: [2] }, never],
    [{ host_includes: ['api.example.com'] }, never],
    [{ host_includes: ['example.com'] }, []],
    [{ record_ids: [1] }, []],
    [{ base_path: '/v1' }, []],
    [{ action_mode: 'dry_run' }, []],
    [{ conditions: { methods: ['POST'] } }, []],
  ])('a captcha of a record beside the gateway %j', (fields, expected) => {
    expect(codes(withCaptcha(fields))).toEqual(expected);
  });
});

describe('a gateway that never acts', () => {
  test('behind one with the same base path', () => {
    const rules = [gateway({ priority: 1 }), gateway({ priority: 2, operations: [{ ...LIST, path: '/x' }] })];
    expect(codes(ruleSetOf(rules))).toEqual(['rules[1].type shadowed_rule']);
    const apart = [gateway({ conditions: { methods: ['GET'] }, priority: 1 }), gateway({ priority: 2 })];
    expect(codes(ruleSetOf(apart))).toEqual([]);
  });
});

test('gateways of equal priority are ordered by their ids only if their base paths are equally long', () => {
  const conditions = { methods: ['GET'] };
  const other = gateway({ operations: [{ ...LIST, path: '/x' }] });
  expect(codes(ruleSetOf([gateway({ conditions }), other]))).toEqual(['rules[1].priority decided_by_id']);
  expect(codes(ruleSetOf([gateway({ conditions }), { ...other, base_path: '/' }]))).toEqual([]);
});

describe('cache rules', () => {
  const cache = (fields: Fields): Fields => ({
    type: 'cache',
    path_includes: ['/v1/orders', '/v1/orders/*'],
    ...fields,
  });
  const warned = (severity: string, code: string): readonly string[] => [`${severity} rules[1].mode ${code}`];
  const open = { operations: [LIST, { ...ADD, scopes: [], auth: 'none' }] };
  test.each<readonly [string, Fields, Fields, readonly string[]]>([
    ['a rule below the base path', {}, {}, warned('warning', 'uncached_rule')],
    ['one that bypasses the cache', {}, { mode: 'bypass' }, []],
    ['one of other paths, too', {}, { path_includes: ['/v*'] }, []],
    ['one of another host, too', { host_includes: ['api.example.com'] }, {}, []],
    ['one beside a gateway under dry_run', { action_mode: 'dry_run' }, {}, []],
    ['one beside a gateway without credentials', { auth: { require: 'none' } }, {}, []],
    ['one beside an open operation', open, {}, []],
    ['one beside a gateway with conditions', { conditions: { methods: ['GET'] } }, {}, []],
    [
      'a forced rule below the base path',
      {},
      { mode: 'force', edge_ttl_sec: 60 },
      warned('info', 'shared_response'),
    ],
    [
      'a forced rule of other paths, too',
      {},
      { mode: 'force', edge_ttl_sec: 60, path_includes: ['/v*'] },
      warned('warning', 'shared_response'),
    ],
    [
      'a forced rule of other paths alone',
      {},
      { mode: 'force', edge_ttl_sec: 60, path_includes: ['/v2/*'] },
      [],
    ],
    [
      'a forced rule that also acts on an open operation',
      open,
      { mode: 'force', edge_ttl_sec: 60 },
      warned('warning', 'shared_response'),
    ],
    [
      'a forced rule of open operations alone',
      { operations: [{ ...LIST, auth: 'none' }] },
      { mode: 'force', edge_ttl_sec: 60 },
      [],
    ],
    [
      'a forced rule of paths that no operation has',
      {},
      { mode: 'force', edge_ttl_sec: 60, path_includes: ['/v1/reports/*'] },
      [],
    ],
    [
      'a forced rule of paths that no operation has, where the gateway admits them',
      { on_unknown_operation: 'log' },
      { mode: 'force', edge_ttl_sec: 60, path_includes: ['/v1/reports/*'] },
      warned('info', 'shared_response'),
    ],
    [
      'a forced rule of operations whose responses are not stored',
      { operations: [{ ...LIST, methods: ['POST'] }] },
      { mode: 'force', edge_ttl_sec: 60 },
      [],
    ],
    [
      'a forced rule where every key is in `Authorization`',
      { auth: { api_key: { sources: [{ in: 'header', name: 'authorization' }] } } },
      { mode: 'force', edge_ttl_sec: 60 },
      [],
    ],
    [
      'a forced rule where keys are in a query parameter of the cache key',
      { auth: { api_key: { sources: [{ in: 'query', name: 'key' }] } } },
      { mode: 'force', edge_ttl_sec: 60 },
      [],
    ],
    [
      'a forced rule where keys are in another query parameter',
      { auth: { api_key: { sources: [{ in: 'query', name: 'key' }] } } },
      { mode: 'force', edge_ttl_sec: 60, query_mode: 'include', query_params: ['page'] },
      warned('info', 'shared_response'),
    ],
    [
      'a forced rule where a second credential is in `Authorization`',
      {
        auth: {
          require: 'all',
          api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] },
          jwt: { issuers: ['login'] },
        },
      },
      { mode: 'force', edge_ttl_sec: 60 },
      [],
    ],
  ])('%s', (_, fields, rule, expected) => {
    const registry = { consumers: [ACME], ...('auth' in fields ? { token_issuers: [LOGIN] } : {}) };
    const rules = ruleSetOf([gateway(fields), cache(rule)], registry);
    const found = lintRuleSet(rules, undefined, { now: NOW }).filter(({ path }) => path[0] === 'rules');
    expect(found.map(({ severity, path, code }) => `${severity} ${formatPath(path)} ${code}`)).toEqual(
      expected,
    );
  });

  test.each<readonly [string, Fields, readonly string[]]>([
    ['below the paths of the rule', { base_path: '/v1/orders/open' }, []],
    ['beside them', { base_path: '/v1/open' }, ['rules[1].mode uncached_rule']],
  ])('an open gateway %s', (_, fields, expected) => {
    const other = gateway({ auth: { require: 'none' }, ...fields });
    expect(codes(ruleSetOf([gateway(), cache({}), other]))).toEqual(expected);
  });

  test('a forced rule where no consumer may call shares nothing', () => {
    const rules = [gateway(), cache({ mode: 'force', edge_ttl_sec: 60 })];
    const shares = (consumer: Fields): boolean =>
      codes(ruleSetOf(rules, { consumers: [{ ...ACME, ...consumer }] })).includes(
        'rules[1].mode shared_response',
      );
    expect([{}, { acl: ['list'] }].map(shares)).toEqual([true, true]);
    const closed = [{ acl: ['other'] }, { enabled: false }, { expires_at: PAST }, { keys: [] }];
    expect(closed.map(shares)).toEqual([false, false, false, false]);
    const fragment = { ...ruleSetOf(rules), registry: undefined } as unknown as RuleSet;
    expect(codes(fragment, { partial: true })).toEqual(['rules[1].mode shared_response']);
  });

  test('a forced rule behind another cache rule shares nothing of its own', () => {
    const forced = cache({
      mode: 'force',
      edge_ttl_sec: 60,
      path_includes: ['/v1/*', '/v2/*'],
      priority: 20,
    });
    const before = cache({ mode: 'bypass', path_includes: ['/v1/*'], priority: 10 });
    expect(codes(ruleSetOf([gateway(), before, forced]))).toEqual([]);
  });

  test('the evaluator stores what the findings say', () => {
    const request = {
      scheme: 'https',
      method: 'GET',
      host: 'example.com',
      target: '/v1/orders',
      ip: '192.0.2.1',
      identity: { consumer: 'acme' },
    };
    const modeOf = (mode: string): string | undefined =>
      loadRuleSet(ruleSetOf([gateway(), cache({ mode })])).evaluate({ ...request, now: NOW }).cache?.mode;
    expect(modeOf('standard')).toBe('bypass');
    expect(modeOf('force')).toBe('force');
  });
});

describe('token issuers of a gateway', () => {
  const PARTNER = { ...LOGIN, name: 'partner', issuer: 'https://partner.test/' };
  const found = (issuers: readonly string[], partner: Fields = {}): readonly string[] =>
    codes(
      ruleSetOf([gateway({ auth: { jwt: { issuers } } })], {
        consumers: [ACME],
        token_issuers: [LOGIN, { ...PARTNER, ...partner }],
      }),
    ).filter((code) => code.endsWith('shared_names'));

  test('are reported if they name consumers alike', () => {
    expect(found(['login', 'partner'])).toEqual(['rules[0].auth.jwt.issuers shared_names']);
    expect(found(['login', 'partner'], { consumer_prefix: 'partner:' })).toEqual([]);
    expect(found(['login'])).toEqual([]);
  });
});
