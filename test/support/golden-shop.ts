/** A small shop with a rule of every type, and a request for each: the hand-made golden plan. */
import type { EdgeRequest } from '../../src/engine/evaluator/index.ts';
import type { Rule, RuleSet } from '../../src/rules/model/types.ts';
import { dnsRecord, rule, ruleSet } from './sample-rules.ts';

const RULES: readonly Rule[] = [
  rule('drop', 1, {
    path_includes: ['/admin/*', '/admin'],
    ip_match_type: 'exclude',
    ips: ['192.0.2.0/24', '2001:db8::1-2001:db8::ff'],
  }),
  rule('fingerprint', 2, { match_ja4: ['t13d*'], action: 'tag' }),
  rule('bot_route', 3, {
    bot_kinds: ['gptbot', 'ccbot'],
    action: 'alt_content',
    status: 451,
    body: 'nothing here for machines – ask us',
  }),
  rule('rate_limit', 4, { path_includes: ['/login'], limit: 2 }),
  rule('waf', 5, { action_mode: 'dry_run', path_includes: ['/search*'], rule_excludes: ['942100'] }),
  rule('redirect', 6, {
    host_match_type: 'exact',
    host_includes: ['shop.test'],
    target: 'https://www.shop.test',
    status_code: 301,
    preserve_path: true,
  }),
  rule('captcha', 7, { path_includes: ['*/checkout/*'], ttl_sec: 600 }),
  rule('rewrite', 8, {
    path_match_type: 'regex',
    path_includes: ['^/artikel/(?P<number>[0-9]+)-.*$'],
    path_target: '/products/${number}',
    query_mode: 'strip',
  }),
  rule('cache', 9, {
    path_includes: ['*.css', '*.js', '/img/*'],
    mode: 'force',
    edge_ttl_sec: 86_400,
    query_mode: 'include',
    query_params: ['v'],
  }),
  rule('origin_route', 10, {
    path_includes: ['/api/*'],
    address: 'api.internal.test',
    port: 8443,
    host_header: 'api.shop.test',
  }),
  rule('origin_pool', 11, {
    host_match_type: 'wildcard',
    host_includes: ['img*.shop.test'],
    origins: [1, 1, 3].map((weight, index) => ({
      address: `203.0.113.${index + 1}`,
      port: null,
      scheme: 'http' as const,
      weight,
      node_ids: [],
      country: '',
    })),
    name: 'pictures',
  }),
  rule('error_page', 12, {
    mode: 'custom',
    codes: [403, 429, 502],
    content: { '0': '<h1>Gleich zurück</h1>', '429': '<h1>Langsam</h1>' },
  }),
];

export const SHOP: RuleSet = ruleSet({
  domain: { name: 'shop.test' },
  records: [
    dnsRecord(1, '@', { scheme: 'Https' }),
    dnsRecord(2, 'www', { scheme: 'Https' }),
    dnsRecord(3, '*'),
    dnsRecord(4, 'mail', { proxied: false }),
  ],
  rules: RULES,
});

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
