/** Examples of request bodies by operation. Each is valid without changes, and the journey tests send every one. */

import type { JsonObject } from '../../../base/text/json-object.ts';
import { RULE_TYPES, type RuleType } from '../../../base/vocabulary/vocabulary.ts';
import { RULE_SLUGS } from '../rules/slugs.ts';
import { operationId } from './operation-id.ts';

/** A rule to create, by type. */
export const CREATE_EXAMPLES: Readonly<Record<RuleType, JsonObject>> = {
  drop: { path_includes: ['/admin/*'], ip_match_type: 'exclude', ips: ['203.0.113.0/24'] },
  fingerprint: { match_ja4: ['t13d1516h2_8daaf6152771_b186095e22b6'], action: 'challenge' },
  bot_route: { bot_kinds: ['gptbot', 'ccbot'], action: 'block' },
  rate_limit: { path_includes: ['/api/*'], limit: 100, window_sec: 60, key_by: 'ip' },
  waf: { paranoia: 1, threshold: 5, action_mode: 'dry_run' },
  redirect: { path_includes: ['/old/*'], target: '/new', status_code: 301 },
  captcha: { path_includes: ['/login'], ttl_sec: 3600 },
  rewrite: {
    path_match_type: 'regex',
    path_includes: ['^/shop/(.*)$'],
    path_target: '/store/$1',
    query_mode: 'preserve',
  },
  cache: { path_includes: ['/assets/*'], edge_ttl_sec: 86400 },
  origin_route: { path_includes: ['/api/*'], address: '198.51.100.30', port: 8080, scheme: 'http' },
  origin_pool: {
    lb_type: 'round_robin',
    origins: [
      { address: '198.51.100.41', weight: 3 },
      { address: '198.51.100.42', weight: 1 },
    ],
  },
  error_page: { codes: [502, 503], content: { '502': '<h1>Back in a minute</h1>' } },
};

/** A change that every rule type accepts. */
const UPDATE: JsonObject = { enabled: false, priority: 50 };

/** The bodies of other operations, by method and path. */
const OTHERS: readonly (readonly [string, JsonObject])[] = [
  ['POST /domains/', { name: 'example.com', dns_mode: 'managed' }],
  ['PUT /domains/{domain}', { sec_no_sniff: true, cache_l2_ttl_days: 1 }],
  [
    'POST /domains/{domain}/records/',
    { name: 'shop', type: 'A', destination: '198.51.100.20', proxied: true },
  ],
  ['PUT /domains/{domain}/records/{recordId}', { destination: '198.51.100.21' }],
  ['POST /domains/{domain}/members/', { name: 'ann', role: 'editor' }],
  ['PUT /domains/{domain}/members/{userId}', { role: 'viewer' }],
];

/** All examples by operation id. */
export const EXAMPLES: Readonly<Record<string, JsonObject>> = Object.fromEntries([
  ...OTHERS.map(([place, body]) => {
    const [method = '', path = ''] = place.split(' ');
    return [operationId(method, path), body];
  }),
  ...RULE_TYPES.flatMap((type) => {
    const all = `/domains/{domain}/rules/${RULE_SLUGS[type]}/`;
    return [
      [operationId('POST', all), CREATE_EXAMPLES[type]],
      [operationId('PUT', `${all}{ruleId}`), UPDATE],
    ];
  }),
]);
