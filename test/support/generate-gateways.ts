/**
 * Generated gateways with their registry, and requests to them: base paths that nest, templates that overlap, identities of every
 * shape. A case gets them on demand, so that a seed without them names the same case as ever.
 */
import { parseTemplate, templateShape } from '../../src/base/paths/path-template.ts';
import { IDENTITY_FAILURES, QUOTA_PERIODS } from '../../src/base/vocabulary/vocabulary.ts';
import type { EdgeRequest, RequestIdentity } from '../../src/engine/evaluator/request.ts';
import type { Registry } from '../../src/rules/model/registry/registry.ts';
import type {
  Consumer,
  CorsSettings,
  GatewayOperation,
  GatewayRule,
  MessageChanges,
  Rule,
  RuleCommon,
  RuleSet,
  TokenIssuer,
  UsagePlan,
} from '../../src/rules/model/types.ts';
import type { GeneratedCase } from './generate.ts';
import { generateBody, generateContent, generateValidation } from './generate-bodies.ts';
import { withConditions } from './generate-conditions.ts';
import { hostFilter } from './generate-filters.ts';
import { type Random, seeded } from './generate-random.ts';
import { START } from './generate-words.ts';

/** Bases nest, and two are one path in other spellings. */
const BASES = ['/', '/', '/api', '/api', '/api/v1', '/a', '/%61', '/v1', '/%C3%A9', '/api/v1/b'];

const TEMPLATES = [
  '/',
  '/a',
  '/%61/',
  '/b',
  '/{id}',
  '/{name}',
  '/{id}/',
  '/a/{id}',
  '/{x}/b',
  '/{x}/{y}',
  '/{x}/a/{y}',
  '/a{x}',
  '/{x}a',
  '/a{x}a',
  '/{x}-{y}',
  '/{x}a{y}',
  '/{x}b{y}',
  '/{x}.php',
  '/x.php',
  '/{x}.{y}',
  '/v1/{id}',
  '/é',
  '/%C3%A9{x}',
  '/b,p',
  '/a,p=1/{x}',
  '/{x},p',
  '/a%2a',
  '/a%2A{x}.{y}/b',
];

const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'HEAD', 'PUT', 'get', 'OPTIONS'];
/** Scopes that generated operations require. */
export const SCOPES = ['read', 'write', 'admin'];
const TAGS = ['t1', 't2'];
const OPERATION_IDS = ['list', 'show', 'make'];
/** Usernames of generated consumers. */
export const NAMES = ['ann', 'bob', 'cyd', 'dee', 'eve'];
const PLANS = ['gold', 'open', 'wide'];
const ISSUERS = ['login', 'other'];
const SOURCES = [
  { in: 'header', name: 'X-Api-Key' },
  { in: 'header', name: 'authorization' },
  { in: 'query', name: 'key' },
  { in: 'query', name: 'a' },
  { in: 'query', name: 'é' },
  { in: 'cookie', name: 'a' },
  { in: 'cookie', name: 'key' },
] as const;
const ORIGINS = [
  'https://app.test',
  'https://a.app.test',
  'https://b.a.app.test',
  'https://app.test:8443',
  'https://evil-app.test',
  'https://app.test.evil',
  'https://a..app.test',
  'https://A.app.test',
  'http://app.test',
  'null',
  '',
];

/** Operations none of which matches what an earlier one of its method matches. */
function operations(random: Random): GatewayOperation[] {
  const taken = new Set<string>();
  const ids = random.shuffled(OPERATION_IDS);
  return random
    .times(random.pick([0, 1, 3, 8, 16]), () => random.pick(TEMPLATES))
    .flatMap((path) => {
      const parsed = parseTemplate(path);
      if (!parsed.ok) throw new Error(`${path}: ${parsed.message}`);
      const shape = templateShape(parsed.segments);
      const methods = random.some(METHODS, 3).filter((method) => !taken.has(`${method} ${shape}`));
      if (methods.length === 0) return [];
      for (const method of methods) taken.add(`${method} ${shape}`);
      const id = random.chance(0.6) ? ids.pop() : undefined;
      return [
        {
          path,
          methods,
          ...(id === undefined ? {} : { operation_id: id }),
          ...(random.chance(0.3) ? { scopes: random.some(SCOPES, 2) } : {}),
          ...(random.chance(0.4) ? { tags: random.some(TAGS, 2) } : {}),
          ...(random.chance(0.25) ? { auth: random.pick(['none', 'none', 'required'] as const) } : {}),
          ...generateBody(random),
        },
      ];
    });
}

/** Authorities of clients, valid for a century. */
const AUTHORITIES = [
  [
    '-----BEGIN CERTIFICATE-----',
    'MIIBpTCCAUugAwIBAgIUf1ZD8cFbHJCdrY5YECpkWTk/nGcwCgYIKoZIzj0EAwIw',
    'HzEdMBsGA1UEAwwUQ2xpZW50IGF1dGhvcml0eSBvbmUwIBcNMjYxMjAxMDMxMDQ5',
    'WhgPMjEyNjExMDcwMzEwNDlaMB8xHTAbBgNVBAMMFENsaWVudCBhdXRob3JpdHkg',
    'b25lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEzWn7raXM8FP6ecd8unSd5N6i',
    '0CF/b8tyEYlm+61y4D3g3vHOBWi6B36zOSKhxEY0qXpnbQgEqfQAN95lMFnMz6Nj',
    'MGEwHQYDVR0OBBYEFDXpuwMnZd9gwPZFyvCoDi1jnr1vMB8GA1UdIwQYMBaAFDXp',
    'uwMnZd9gwPZFyvCoDi1jnr1vMA4GA1UdDwEB/wQEAwICBDAPBgNVHRMBAf8EBTAD',
    'AQH/MAoGCCqGSM49BAMCA0gAMEUCIQDNlFAHj9+Xg+AV+0/yomJ/hDQ2kvD4QYqV',
    'ix0iNRunxAIgKI9TVhSS98CqPyXtMC8xmFTXY5xwO+MqXsH4nrDunGI=',
    '-----END CERTIFICATE-----',
    '',
  ].join('\n'),
  [
    '-----BEGIN CERTIFICATE-----',
    'MIIBpjCCAUugAwIBAgIUVoFhr37ZS71ihOQaY++cPE/4YLswCgYIKoZIzj0EAwIw',
    'HzEdMBsGA1UEAwwUQ2xpZW50IGF1dGhvcml0eSB0d28wIBcNMjYxMjAxMDMxMDQ5',
    'WhgPMjEyNjExMDcwMzEwNDlaMB8xHTAbBgNVBAMMFENsaWVudCBhdXRob3JpdHkg',
    'dHdvMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE0hbsXLURYW31IVc7Y3Owzmp4',
    'jlJxbS4N3NVSKOatzS0c7nuNyxWVSiw3FyBpCCIxnrkxV4LXn7gT8ld75dJBbKNj',
    'MGEwHQYDVR0OBBYEFBotPPh4TWbACXdnAWpzkeEkl8jeMB8GA1UdIwQYMBaAFBot',
    'PPh4TWbACXdnAWpzkeEkl8jeMA4GA1UdDwEB/wQEAwICBDAPBgNVHRMBAf8EBTAD',
    'AQH/MAoGCCqGSM49BAMCA0kAMEYCIQCd/wFdPIzNvDWtQywcECW7gnR9v5Pb9hnX',
    '+qj3GbVfyQIhANtNk7//VlVcfHI74aNEYpcoZcXNM9zErFB3tgKDxoFS',
    '-----END CERTIFICATE-----',
    '',
  ].join('\n'),
];

function auth(random: Random): GatewayRule['auth'] {
  const require = random.pick(['any', 'any', 'any', 'all', 'all', 'none'] as const);
  const which = random.int(require === 'none' ? 4 : 3);
  const api_key = { sources: random.some(SOURCES, 3).map((one) => ({ ...one })), hide: random.chance(0.7) };
  const jwt = { issuers: random.some(ISSUERS, 2) };
  return {
    require,
    ...(which === 0 || which === 1 ? { api_key } : {}),
    ...(which === 1 || which === 2 ? { jwt } : {}),
    ...(random.chance(0.3) ? { mtls: { ca_pem: random.some(AUTHORITIES, 2).join('\n') } } : {}),
  };
}

function cors(random: Random): CorsSettings {
  const allow_credentials = random.chance(0.3);
  const stars = allow_credentials ? [] : ['*'];
  return {
    allow_origins: random.some(['https://app.test', 'https://*.app.test', 'http://app.test', ...stars], 3),
    ...(random.chance(0.4) ? { allow_methods: random.some(['GET', 'PATCH', 'PUT'], 2) } : {}),
    ...(random.chance(0.4) ? { allow_headers: random.some(['X-A', 'X-Api-Key', ...stars], 2) } : {}),
    ...(random.chance(0.4) ? { expose_headers: random.some(['RateLimit', 'X-B'], 2) } : {}),
    allow_credentials,
    max_age_sec: random.pick([0, 600]),
  };
}

const UPSTREAM: readonly MessageChanges[] = [
  { set: { 'X-Consumer': '${consumer}' } },
  { set: { 'X-Plan': 'c ${claim(plan)}', 'X-Api-Key': 'own' }, remove: ['X-B'] },
  { add: { 'X-Consumer': '${consumer} at ${host}', 'X-Number': '${claim(number)}' } },
  { set: { Authorization: 'Basic eA==' }, remove: ['X-Consumer'] },
];

/** Fields that only gateways have. */
export function gatewayFields(random: Random): Omit<GatewayRule, keyof RuleCommon | 'type'> {
  return {
    name: random.pick(['', 'orders', 'o "1"', 'é']),
    base_path: random.pick(BASES),
    auth: auth(random),
    operations: operations(random),
    on_unknown_operation: random.pick(['block', 'block', 'log', 'pass']),
    ...(random.chance(0.4) ? { default_plan: random.pick(PLANS) } : {}),
    ...(random.chance(0.4) ? { cors: cors(random) } : {}),
    ...(random.chance(0.6) ? { upstream_headers: random.pick(UPSTREAM) } : {}),
    ...generateValidation(random),
  };
}

function consumer(random: Random, username: string): Consumer {
  const expires = new Date(START + random.int(120_000)).toISOString();
  return {
    username,
    custom_id: random.chance(0.3) ? `id-${username}` : null,
    group: null,
    labels: [],
    enabled: !random.chance(0.12),
    usage_plan: random.chance(0.5) ? random.pick(PLANS) : null,
    acl: random.chance(0.35) ? random.some([...OPERATION_IDS, ...TAGS, 'no'], 3) : [],
    scopes: random.chance(0.3) ? random.some(SCOPES, 2) : [],
    metadata: {},
    expires_at: random.chance(0.2) ? expires : null,
  };
}

function usagePlan(random: Random, name: string): UsagePlan {
  const rate = name === 'wide' ? random.pick([4, 130]) : random.pick([1, 2, 5, 20]);
  const throttle = { rate, per_sec: random.pick([1, 2, 60]), burst: random.pick([0, 0, 1, 3]) };
  return { name, throttle: name === 'open' ? null : throttle, quota: null, concurrency: null };
}

function tokenIssuer(name: string): TokenIssuer {
  return {
    name,
    issuer: `https://${name}.test/`,
    audiences: ['api'],
    jwks_url: `https://${name}.test/keys`,
    algorithms: ['ES256'],
    sources: [{ in: 'header', name: 'Authorization' }],
    required_claims: {},
    clock_skew_sec: 60,
    consumer_claim: 'sub',
    scopes_claim: 'scope',
    default_consumer: null,
    consumer_prefix: null,
  };
}

/** The objects that generated gateways name. */
export function generateRegistry(random: Random): Registry {
  return {
    consumers: NAMES.map((name) => consumer(random, name)),
    usage_plans: PLANS.map((name) => usagePlan(random, name)),
    token_issuers: ISSUERS.map(tokenIssuer),
  };
}

/** A gateway of a domain. */
export function generateGateway(
  random: Random,
  {
    id,
    domain,
    recordIds,
  }: { readonly id: number; readonly domain: string; readonly recordIds: readonly number[] },
): GatewayRule {
  return {
    type: 'gateway',
    id,
    record_ids: random.chance(0.15) ? random.some(recordIds, 3) : [],
    enabled: !random.chance(0.05),
    priority: random.pick([0, 10, 10, 100]),
    ...(random.chance(0.15) ? hostFilter(random, domain) : NO_HOST),
    action_mode: random.chance(0.25) ? 'dry_run' : 'enforce',
    ...gatewayFields(random),
  } as GatewayRule;
}

const NO_HOST = { host_pattern: '', host_match_type: '', host_includes: [], host_excludes: [] };

const NAMING: MessageChanges = { set: { 'X-Who': 'w ${consumer}', 'X-Claim': '${claim(plan)}' } };

/** The rule set with up to four gateways and their registry, and now and then a headers rule that names the consumer. */
export function addGateways(random: Random, ruleSet: RuleSet): RuleSet {
  const recordIds = ruleSet.records.map(({ id }) => id);
  const rules = ruleSet.rules.filter(() => !random.chance(0.5));
  const place = { domain: ruleSet.domain.name, recordIds };
  const gateways = random.times(1 + random.int(4), (index): Rule => {
    const made = generateGateway(random, { ...place, id: 2_000 + random.int(100) * 4 + index });
    return random.chance(0.2) ? withConditions(random, made, { share: 1, rules }) : made;
  });
  const naming: Rule[] = random.chance(0.3)
    ? [
        {
          ...{ type: 'headers', id: 3_000, record_ids: [], enabled: true, priority: 100 },
          ...{ ...NO_HOST, path_match_type: 'wildcard', path_includes: [], path_excludes: [] },
          ...{ action_mode: 'enforce', request: NAMING, response: NAMING },
        } as Rule,
      ]
    : [];
  return {
    ...ruleSet,
    domain: { ...ruleSet.domain, status: 'active', suspended: false },
    rules: random.shuffled([...rules, ...gateways, ...naming]),
    registry: generateRegistry(random),
  };
}

const CLAIMS = [
  { plan: 'gold', number: 7 },
  { plan: true, number: Number.NaN },
  { plan: 'a b' },
  { plan: 'x\r\nY: z', number: '' },
  { plan: ['x'], number: { a: 1 } },
  { plan: null },
  'plan',
  [],
  null,
];

const KINDS = [
  undefined,
  undefined,
  ['api_key'],
  ['jwt'],
  ['api_key', 'jwt'],
  ['api_key', 'jwt'],
  ['mtls', 7],
  ['mtls'],
  ['api_key', 'jwt', 'mtls'],
  [],
  'jwt',
  null,
];

const ODD_IDENTITIES = [null, undefined, 7, 'ann', [], {}, ['ann'], { consumer: 7 }, { consumer: ['ann'] }];

/** What an embedder may give as an identity: mostly a valid one. */
export function generateIdentity(random: Random): RequestIdentity | null | undefined {
  if (random.chance(0.1)) return random.pick(ODD_IDENTITIES) as unknown as RequestIdentity;
  const failure = random.chance(0.06)
    ? random.pick<unknown>([...IDENTITY_FAILURES, 'other', 7, '', false, 0])
    : random.pick([undefined, undefined, null]);
  return {
    consumer: random.pick([...NAMES, ...NAMES, 'nobody', 'toString', null]),
    ...(failure === undefined ? {} : { failure }),
    ...(random.chance(0.4) ? { verified: random.pick(KINDS) } : {}),
    ...(random.chance(0.5) ? { claims: random.pick(CLAIMS) } : {}),
    ...(random.chance(0.6)
      ? { scopes: random.pick<unknown>([SCOPES, ['read'], ['write', 'read'], [7, null], 'read', null]) }
      : {}),
  } as unknown as RequestIdentity;
}

/** A path below a gateway's base that one of its templates may match. */
function pathTo(random: Random, { base_path, operations: own }: GatewayRule): string {
  const base = base_path === '/' ? '' : base_path;
  const template = own.length > 0 && random.chance(0.8) ? random.pick(own).path : random.pick(TEMPLATES);
  const filled = template.replace(/\{[^}]*\}/g, () => random.pick(['a', 'b', 'aba', 'x.y', '7', 'a-b', '*']));
  const path = random.chance(0.08) ? base || '/' : base + filled;
  return random.pick([
    ...[path, path, path, path, path, path],
    `${path}/`,
    `${path};p`,
    `${path};p=1/a`,
    path.replace(/\/([^/]*)$/, ';p/$1'),
    path.replace('a', '%61'),
    path.toUpperCase(),
  ]);
}

const COOKIES = ['a=1', 'key=k; b=2', 'a=1;a=2 ; c', ['a=1; b=2', 'key=k'], 'A=1', ' ; a', 7];
const QUERIES = ['', '', '?key=k', '?a=1&key=k&b', '?k%65y=k&a', '?%C3%A9=1&key', '?+key=1&a+=2', '?&&'];

/** Headers that gateways read. */
function headersFor(random: Random): Record<string, unknown> {
  const origin = random.pick(ORIGINS);
  return {
    ...(random.chance(0.4) ? { origin: random.chance(0.9) ? origin : [origin, 'https://app.test'] } : {}),
    ...(random.chance(0.2) ? { 'access-control-request-method': 'PUT' } : {}),
    ...(random.chance(0.3) ? { cookie: random.pick<unknown>(COOKIES) } : {}),
    ...(random.chance(0.3) ? { 'x-api-key': 'k' } : {}),
  };
}

/** The case with gateways, and requests to them. */
export function withGateways<C extends GeneratedCase>(random: Random, made: C): C {
  const ruleSet = addGateways(random, made.ruleSet);
  const gateways = ruleSet.rules.filter((rule): rule is GatewayRule => rule.type === 'gateway');
  let last: Partial<EdgeRequest> = {};
  const requests = made.requests.map((request) => {
    if (random.chance(0.25)) return request;
    const { identity: _, ...before } = last;
    if (random.chance(0.4)) return { ...request, ...last };
    const identity = generateIdentity(random);
    const { headers } = request;
    const { type, ...content } = generateContent(random);
    last = {
      ...(random.chance(0.2) ? before : {}),
      target: pathTo(random, random.pick(gateways)) + random.pick(QUERIES),
      method: random.chance(0.15) ? 'OPTIONS' : random.pick(METHODS),
      headers: {
        ...(typeof headers === 'object' ? headers : {}),
        ...headersFor(random),
        ...(type === undefined ? {} : { 'content-type': type }),
      } as NonNullable<EdgeRequest['headers']>,
      ...(identity === undefined ? {} : { identity }),
      ...content,
    };
    return { ...request, ...last };
  });
  return { ...made, ruleSet, requests };
}

/** Times of the fact, of which only whole numbers that are later than the request count. */
const EXHAUSTED_UNTIL: readonly unknown[] = [
  ...[
    2 ** 47,
    2 ** 47,
    4_102_444_800_001,
    253_402_300_799_999,
    253_402_300_800_000,
    2 ** 60,
    0,
    -1,
    null,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1.5e12 + 0.5,
  ],
  ...['4102444800000', {}, undefined],
];

/** The case with quotas of some usage plans, and identities that have exhausted them. */
export function withQuotas<C extends GeneratedCase>(random: Random, made: C): C {
  const { registry } = made.ruleSet;
  if (registry === undefined || 'digest' in registry) return made;
  const usage_plans = registry.usage_plans.map((plan) => {
    const limit = random.pick([1, 1_000_000_000_000]);
    return random.chance(0.6) ? { ...plan, quota: { limit, period: random.pick(QUOTA_PERIODS) } } : plan;
  });
  const requests = made.requests.map((request) => {
    const { identity } = request;
    if (typeof identity !== 'object' || identity === null || random.chance(0.7)) return request;
    const exhaustedUntil = random.pick(EXHAUSTED_UNTIL) as number;
    return { ...request, identity: { ...identity, exhaustedUntil } };
  });
  return { ...made, ruleSet: { ...made.ruleSet, registry: { ...registry, usage_plans } }, requests };
}

/** The case with limits and ways of validation that some operations have of their own. */
export function withOperationSettings<C extends GeneratedCase>(random: Random, made: C): C {
  const mode = () => random.pick(['block', 'log', 'pass'] as const);
  const rules = made.ruleSet.rules.map((rule): Rule => {
    if (rule.type !== 'gateway') return rule;
    const operations = rule.operations.map((operation) => ({
      ...operation,
      ...(random.chance(0.5)
        ? {
            limits: {
              ...{ rate: random.pick([1, 2, 5, 130]), per_sec: random.pick([1, 2, 60]) },
              burst: random.pick([0, 0, 1, 3]),
            },
          }
        : {}),
      ...(random.chance(0.4)
        ? {
            validation: {
              ...(random.chance(0.6) ? { on_invalid: mode() } : {}),
              ...(random.chance(0.6) ? { on_uninspected: mode() } : {}),
              ...(random.chance(0.6) ? { body_cap_kb: random.pick([1, 2]) } : {}),
            },
          }
        : {}),
    }));
    return { ...rule, operations };
  });
  return { ...made, ruleSet: { ...made.ruleSet, rules } };
}

/** The case with limits of requests in flight in some of its usage plans. */
export function withConcurrency<C extends GeneratedCase>(random: Random, made: C): C {
  const registry = made.ruleSet.registry as Registry;
  const usage_plans = registry.usage_plans.map((plan) => ({
    ...plan,
    concurrency: random.chance(0.3) ? random.pick([1, 10]) : null,
  }));
  return { ...made, ruleSet: { ...made.ruleSet, registry: { ...registry, usage_plans } } };
}

/** The case with gateways if its seed is one more than a multiple of four. */
export function everyFourth<C extends GeneratedCase>(made: C): C {
  return made.seed % 4 === 1 ? withGateways(seeded(made.seed), made) : made;
}
