/** A small shop with a rule of every type, and a request for each: the hand-made golden plan. */
import type { EdgeRequest } from '../../src/evaluator/index.ts';
import type { DnsRecord, Rule, RuleCommon, RuleSet } from '../../src/model/types.ts';

const RECORD: Omit<DnsRecord, 'id' | 'name' | 'destination'> = {
  type: 'A',
  mx_priority: null,
  proxied: true,
  captcha: false,
  scheme: 'Https',
  port: null,
  host_header: '',
  monitor: false,
  timeout: null,
  comment: '',
};

const COMMON: Omit<RuleCommon, 'id'> = {
  record_ids: [],
  enabled: true,
  priority: 100,
  host_pattern: '',
  host_match_type: '',
  host_includes: [],
  host_excludes: [],
  action_mode: 'enforce',
};

function paths(...path_includes: string[]): {
  path_match_type: 'wildcard';
  path_includes: string[];
  path_excludes: string[];
} {
  return { path_match_type: 'wildcard', path_includes, path_excludes: [] };
}

const RULES: readonly Rule[] = [
  {
    ...COMMON,
    id: 1,
    type: 'drop',
    ...paths('/admin/*', '/admin'),
    country_match_type: 'include',
    countries: [],
    ip_match_type: 'exclude',
    ips: ['192.0.2.0/24', '2001:db8::1-2001:db8::ff'],
  },
  { ...COMMON, id: 2, type: 'fingerprint', match_ja4: ['t13d*'], match_ja4h: [], action: 'tag' },
  {
    ...COMMON,
    id: 3,
    type: 'bot_route',
    bot_kinds: ['gptbot', 'ccbot'],
    require_verified: false,
    action: 'alt_content',
    status: 451,
    body: 'nothing here for machines – ask us',
    alt_dest: '',
    alt_port: null,
    alt_scheme: 'https',
  },
  {
    ...COMMON,
    id: 4,
    type: 'rate_limit',
    ...paths('/login'),
    limit: 2,
    window_sec: 60,
    key_by: 'ip',
    on_breach: 'drop',
    burst: 0,
  },
  {
    ...COMMON,
    id: 5,
    type: 'waf',
    action_mode: 'dry_run',
    ...paths('/search*'),
    paranoia: 1,
    threshold: 5,
    body_cap_kb: 128,
    rule_excludes: ['942100'],
  },
  {
    ...COMMON,
    id: 6,
    type: 'redirect',
    host_match_type: 'exact',
    host_includes: ['shop.test'],
    ...paths('/*'),
    target: 'https://www.shop.test',
    status_code: 301,
    preserve_query: true,
    preserve_path: true,
  },
  { ...COMMON, id: 7, type: 'captcha', ...paths('*/checkout/*'), ttl_sec: 600 },
  {
    ...COMMON,
    id: 8,
    type: 'rewrite',
    path_match_type: 'regex',
    path_includes: ['^/artikel/(?P<number>[0-9]+)-.*$'],
    path_excludes: [],
    path_target: '/products/${number}',
    query_mode: 'strip',
    query_target: '',
  },
  {
    ...COMMON,
    id: 9,
    type: 'cache',
    ...paths('*.css', '*.js', '/img/*'),
    mode: 'force',
    edge_ttl_sec: 86_400,
    browser_ttl_sec: null,
    query_mode: 'include',
    query_params: ['v'],
  },
  {
    ...COMMON,
    id: 10,
    type: 'origin_route',
    ...paths('/api/*'),
    address: 'api.internal.test',
    port: 8443,
    scheme: 'https',
    host_header: 'api.shop.test',
    country: '',
    name: '',
  },
  {
    ...COMMON,
    id: 11,
    type: 'origin_pool',
    host_match_type: 'wildcard',
    host_includes: ['img*.shop.test'],
    lb_type: 'round_robin',
    origins: [1, 1, 3].map((weight, index) => ({
      address: `203.0.113.${index + 1}`,
      port: null,
      scheme: 'http',
      weight,
      node_ids: [],
      country: '',
    })),
    health_check: {
      enabled: true,
      path: '/',
      interval_sec: 15,
      timeout_sec: 5,
      unhealthy_threshold: 3,
      healthy_threshold: 2,
      eject_sec: 30,
      host: '',
    },
    host_header: '',
    name: 'pictures',
  },
  {
    ...COMMON,
    id: 12,
    type: 'error_page',
    ...paths('/*'),
    mode: 'custom',
    codes: [403, 429, 502],
    content: { '0': '<h1>Gleich zurück</h1>', '429': '<h1>Langsam</h1>' },
  },
];

export const SHOP: RuleSet = {
  domain: { name: 'shop.test', status: 'active', suspended: false, developer_mode_until: null },
  records: [
    { ...RECORD, id: 1, name: '@', destination: '198.51.100.1' },
    { ...RECORD, id: 2, name: 'www', destination: '198.51.100.1' },
    { ...RECORD, id: 3, name: '*', destination: '198.51.100.2', scheme: 'Default' },
    { ...RECORD, id: 4, name: 'mail', destination: '198.51.100.3', proxied: false },
  ],
  rules: RULES,
};

const GET: EdgeRequest = {
  scheme: 'https',
  method: 'GET',
  host: 'www.shop.test',
  target: '/',
  ip: '198.51.100.77',
  country: 'DE',
  bot: null,
  now: 1_700_000_000_000,
};

export const SHOP_REQUESTS: readonly EdgeRequest[] = [
  GET,
  { ...GET, target: '/x/..%2fadmin;p' },
  { ...GET, target: '/admin', ip: '192.0.2.7' },
  { ...GET, target: '/admin/', ip: '2001:db8::7', ja4: 't13d1516h2_8daaf6152771_b186095e22b6' },
  { ...GET, bot: { kind: 'gptbot', verified: false } },
  { ...GET, target: '/login', method: 'POST' },
  { ...GET, target: '/login', method: 'POST' },
  { ...GET, target: '/login', method: 'POST', now: 1_700_000_001_000 },
  { ...GET, target: '/search?q=union+select' },
  { ...GET, host: 'SHOP.test.:443', target: '/a%20b?x=1' },
  { ...GET, target: '/de/checkout/pay' },
  { ...GET, target: '/de/checkout/pay', cleared: ['captcha/7'] },
  { ...GET, target: '/artikel/42-h%C3%BCte?ref=mail' },
  { ...GET, target: '/site.css?v=3&utm=x' },
  { ...GET, target: '/api/v1/carts' },
  { ...GET, host: 'img1.shop.test', scheme: 'http', target: '/img/a.png' },
  { ...GET, host: 'img2.shop.test', scheme: 'http', target: '/img/b.png' },
  { ...GET, host: 'blog.shop.test', scheme: 'http' },
  { ...GET, host: 'mail.shop.test' },
  { ...GET, target: '/%' },
];
