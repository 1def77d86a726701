/** Generated rules of all fourteen types (headers and gateways on demand), on demand with conditions: valid by the semantics, as the model would store them. */
import type { MessageChanges, Rule, RuleCommon, WafRule } from '../../src/rules/model/types.ts';
import { type ConditionPlace, withConditions } from './generate-conditions.ts';
import { hostFilter, pathFilter } from './generate-filters.ts';
import { gatewayFields } from './generate-gateways.ts';
import type { Random } from './generate-random.ts';
import { ADDRESS_ENTRIES, BOTS, COUNTRIES, JA4, JA4H, QUERY_PARAMS } from './generate-words.ts';

type Type = Rule['type'];

type OwnFields = {
  readonly [T in Type]: (random: Random) => Omit<Extract<Rule, { type: T }>, keyof RuleCommon | 'type'>;
};

const HEALTH_CHECK = {
  enabled: false,
  path: '/',
  interval_sec: 15,
  timeout_sec: 5,
  unhealthy_threshold: 3,
  healthy_threshold: 2,
  eject_sec: 30,
  host: '',
};

const TARGETS = [
  '/new',
  '/',
  '/api',
  '/a?x=1',
  '/a?#top',
  '/é',
  'https://example.com',
  'https://example.com/a',
  'https://EXAMPLE.com:443/api?b',
  'http://other.test/x/',
  'https://www.example.com/?',
];

const CODES = [400, 403, 404, 429, 500, 502, 503];

function prefixes(random: Random, list: readonly string[]): string[] {
  return random.some([...list, `${list[0]!.slice(0, 3)}*`, `${list[1]!.slice(0, 8)}*`], 2);
}

function lists(random: Random): { match_ja4: string[]; match_ja4h: string[] } {
  const which = random.int(4);
  return {
    match_ja4: which === 0 ? [] : prefixes(random, JA4),
    match_ja4h: which >= 2 ? [] : prefixes(random, JA4H),
  };
}

function drop(random: Random): ReturnType<OwnFields['drop']> {
  const excluding = random.chance(0.1);
  const byIp = random.chance(0.6);
  return {
    ...pathFilter(random, { narrow: true }),
    country_match_type: !byIp && excluding ? 'exclude' : 'include',
    countries: byIp && random.chance(0.8) ? [] : random.some(COUNTRIES, 3),
    ip_match_type: byIp && excluding ? 'exclude' : 'include',
    ips: byIp ? random.some(ADDRESS_ENTRIES, 3) : [],
  };
}

function botRoute(random: Random): ReturnType<OwnFields['bot_route']> {
  const action = random.pick(['block', 'alt_content', 'alt_origin', 'alt_origin', 'tag', 'tag'] as const);
  return {
    bot_kinds: random.chance(0.2) ? ['*'] : random.some(BOTS, 2),
    require_verified: random.chance(0.3),
    action,
    status: action === 'alt_content' ? random.pick([200, 403, 451]) : 200,
    body: action === 'alt_content' ? 'for bots' : '',
    alt_dest: action === 'alt_origin' ? random.pick(['bots.test', '203.0.113.50']) : '',
    alt_port: action === 'alt_origin' ? random.pick([null, null, 8080]) : null,
    alt_scheme: random.pick(['http', 'https']),
  };
}

function rateLimit(random: Random): ReturnType<OwnFields['rate_limit']> {
  return {
    ...pathFilter(random, { narrow: random.chance(0.5) }),
    limit: random.pick([1, 2, 2, 3, 4, 5, 20, 128]),
    window_sec: random.pick([1, 2, 10, 16, 60, 61]),
    key_by: random.pick(['ip', 'ip', 'ip_path']),
    on_breach: random.pick(['drop', 'captcha']),
    burst: random.pick([0, 0, 0, 1, 2, 125, 128]),
  };
}

function cache(random: Random): ReturnType<OwnFields['cache']> {
  const query_mode = random.pick(['all', 'none', 'include'] as const);
  return {
    ...pathFilter(random, { narrow: random.chance(0.5) }),
    mode: random.pick(['standard', 'force', 'bypass']),
    edge_ttl_sec: random.pick([null, 0, 60]),
    browser_ttl_sec: random.pick([null, 0, 5]),
    query_mode,
    query_params: query_mode === 'include' ? random.some(QUERY_PARAMS, 3) : [],
  };
}

/** Group references by how many groups the includes offer at most. */
const GROUP_TARGETS: readonly (readonly string[])[] = [
  ['', '/new', '/a//b', '//x', '/cost$$'],
  ['/new/$1', '/.$1', '/.$1', '/$1', '/x${1}2', '/$$1', '/é/$1'],
  ['/$2/$1', '/${2}', '/n/$2$1', '/.$2'],
];

function groupsIn(pattern: string): number {
  return pattern.match(/\((?!\?)|\(\?P</g)?.length ?? 0;
}

/** A rewrite whose outcome often holds a dot segment: the capture starts with a slash, a parameter or nothing. */
const DOTTED = {
  path_match_type: 'regex',
  path_includes: ['^/(?:api|admin|a)(.*)$'],
  path_excludes: [],
} as const;

function rewrite(random: Random): ReturnType<OwnFields['rewrite']> {
  if (random.chance(0.15)) {
    return { ...DOTTED, path_target: '/.$1', query_mode: 'preserve', query_target: '' };
  }
  const paths = pathFilter(random, { narrow: random.chance(0.7) });
  const groups = paths.path_match_type === 'regex' ? Math.max(0, ...paths.path_includes.map(groupsIn)) : 0;
  const named =
    paths.path_match_type === 'regex' && paths.path_includes.some((one) => one.includes('?P<rest>'));
  const plain = paths.path_match_type === 'regex' ? GROUP_TARGETS[0]! : ['', '/new', '/a//b', '/$1', '/é'];
  const grouped = [...(GROUP_TARGETS[1] ?? []), ...(groups > 1 ? GROUP_TARGETS[2]! : [])];
  const target = groups > 0 && random.chance(0.9) ? random.pick(grouped) : random.pick(plain);
  const query_mode = random.pick(['preserve', 'preserve', 'replace', 'strip'] as const);
  return {
    ...paths,
    path_target: named && random.chance(0.3) ? '/r/${rest}' : target,
    query_mode,
    query_target: query_mode === 'replace' ? random.pick(['z=1', 'é=2&a']) : '',
  };
}

function originPool(random: Random): ReturnType<OwnFields['origin_pool']> {
  const first = random.int(4);
  return {
    lb_type: random.pick(['round_robin', 'least_load', 'geo']),
    origins: random.times(1 + random.int(4), (index) => ({
      address: `pool-${index}.test`,
      port: random.pick([null, null, 8443]),
      scheme: random.pick(['http', 'https'] as const),
      weight: index === 0 ? 1 + first : random.pick([0, 1, 1, 2, 5]),
      node_ids: random.chance(0.4) ? random.some([1, 2, 3], 2) : [],
      country: '',
    })),
    health_check: HEALTH_CHECK,
    host_header: random.pick(['', '', 'pool.test']),
    name: '',
  };
}

function exclusions(random: Random): WafRule['exclusions'] {
  const path = random.pick(['/*', '/a*', '/api/*', '*']);
  const target = random.chance(0.2) ? 'ARGS:q*' : '';
  return random.chance(0.2)
    ? [{ id: null, tag: 'words', target, path }]
    : [{ id: random.pick([941100, 942100, 942110]), tag: '', target, path }];
}

const HEADER_NAMES = ['X-A', 'x-b', 'Server', 'X-Frame-Options', 'Cache-Tag', 'Link'];
const HEADER_VALUES = [
  'a',
  '$$5, b',
  '${client_ip}',
  'in ${client_country}',
  '${scheme}://${host} ${method}',
  '${request_id}',
  '${ja4}',
  '${bot_kind}',
];

function headerChanges(random: Random): MessageChanges {
  const names = random.shuffled(HEADER_NAMES);
  const values = (): Record<string, string> =>
    Object.fromEntries(
      random.times(1 + random.int(2), () => [names.pop()!, random.pick(HEADER_VALUES)] as const),
    );
  return {
    ...(random.chance(0.6) ? { set: values() } : {}),
    ...(random.chance(0.3) ? { add: values() } : {}),
    ...(random.chance(0.4) ? { remove: random.times(1 + random.int(2), () => names.pop()!) } : {}),
  };
}

const OWN_FIELDS: OwnFields = {
  drop,
  fingerprint: (random) => ({ ...lists(random), action: random.pick(['drop', 'challenge', 'tag', 'tag']) }),
  bot_route: botRoute,
  rate_limit: rateLimit,
  gateway: gatewayFields,
  waf: (random) => ({
    ...pathFilter(random, { narrow: random.chance(0.5) }),
    paranoia: 1 + random.int(4),
    threshold: random.pick([1, 3, 5, 5, 10]),
    body_cap_kb: random.pick([0, 1, 1, 128]),
    rule_excludes: random.chance(0.2) ? ['942100'] : [],
    exclusions: random.chance(0.3) ? exclusions(random) : [],
    on_uninspected: random.pick(['score', 'score', 'block', 'pass']),
  }),
  redirect: (random) => ({
    // One about every path may lead a request to itself.
    ...pathFilter(random, { narrow: random.chance(0.75) }),
    target: random.pick(TARGETS),
    status_code: random.pick([301, 302, 307, 308]),
    preserve_query: random.chance(0.6),
    preserve_path: random.chance(0.3),
  }),
  captcha: (random) => ({ ...pathFilter(random, { narrow: random.chance(0.9) }), ttl_sec: 1800 }),
  rewrite,
  cache,
  origin_route: (random) => ({
    ...pathFilter(random, { narrow: random.chance(0.8) }),
    address: random.pick(['route.test', '203.0.113.60', '2001:db8:ffff::1']),
    port: random.pick([null, null, 8080]),
    scheme: random.pick(['http', 'https']),
    host_header: random.pick(['', '', 'inner.test']),
    country: '',
    name: '',
  }),
  origin_pool: originPool,
  error_page: (random) => ({
    ...pathFilter(random, { narrow: random.chance(0.5) }),
    mode: random.pick(['svc', 'custom', 'origin']),
    codes: random.some(CODES, 3),
    content: random.pick([{}, { '0': '<p>any</p>' }, { '404': '<p>404</p>', '500': '<p>500</p>' }]),
  }),
  headers: (random) => {
    const request = random.chance(0.6) ? headerChanges(random) : {};
    const response = Object.keys(request).length === 0 || random.chance(0.6) ? headerChanges(random) : {};
    const isEmpty = Object.keys(request).length + Object.keys(response).length === 0;
    return {
      ...pathFilter(random, { narrow: random.chance(0.5) }),
      ...(Object.keys(request).length === 0 ? {} : { request }),
      ...(Object.keys(response).length === 0 ? {} : { response }),
      ...(isEmpty ? { response: { remove: ['Server'] } } : {}),
    };
  },
};

/** What a rule of the given place may refer to. */
export interface RulePlace {
  readonly id: number;
  readonly domain: string;
  readonly recordIds: readonly number[];
  /** Absent: the rule has no conditions. */
  readonly conditions?: ConditionPlace;
}

function make<T extends Type>(random: Random, type: T, place: RulePlace): Extract<Rule, { type: T }> {
  const common: RuleCommon = {
    id: place.id,
    record_ids: place.recordIds.length > 0 && random.chance(0.15) ? random.some(place.recordIds, 3) : [],
    enabled: !random.chance(0.07),
    priority: random.pick([0, 10, 10, 20, 100, 100, 100, random.int(300), 1_000_000]),
    ...hostFilter(random, place.domain),
    action_mode: random.chance(0.2) ? 'dry_run' : 'enforce',
  };
  return { type, ...common, ...OWN_FIELDS[type](random) } as unknown as Extract<Rule, { type: T }>;
}

/** Without `headers` and `gateway`: a seed names the same case as before these types were added. */
const TYPES = (Object.keys(OWN_FIELDS) as Type[]).filter((type) => type !== 'headers' && type !== 'gateway');

/** A headers rule, which may insert a tag of one of `rules`. */
export function generateHeadersRule(random: Random, place: RulePlace, rules: readonly Rule[]): Rule {
  const rule = make(random, 'headers', place);
  const tagging = rules.filter(({ type }) => type === 'fingerprint' || type === 'bot_route');
  if (tagging.length === 0 || random.chance(0.6)) return rule;
  const { type, id } = random.pick(tagging);
  return { ...rule, request: { set: { 'X-Tag': `t${`\${tag(${type}/${id})}`}` } } };
}

/** One rule of a random type. */
export function generateRule(random: Random, place: RulePlace): Rule {
  const rule = make(random, random.pick(TYPES), place);
  return place.conditions === undefined ? rule : withConditions(random, rule, place.conditions);
}
