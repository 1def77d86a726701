import { describe, expect, it } from 'vitest';
import { describeDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { RULE_TYPES, type RuleType } from '../../../../src/base/vocabulary/vocabulary.ts';
import { parseRule } from '../../../../src/rules/model/parse.ts';
import { type Input, LEAST, mistakes, mistakesOfStored, stored, times, warnings } from './read.ts';

const COMMON_DEFAULTS = {
  record_ids: [],
  enabled: true,
  priority: 100,
  host_pattern: '',
  host_match_type: '',
  host_includes: [],
  host_excludes: [],
  action_mode: 'enforce',
};
const PATH_DEFAULTS = { path_match_type: 'wildcard', path_includes: ['/*'], path_excludes: [] };

describe('defaults', () => {
  const own: { readonly [T in RuleType]: Input } = {
    drop: { ...PATH_DEFAULTS, country_match_type: 'include', ip_match_type: 'include', ips: [] },
    fingerprint: { match_ja4h: [] },
    bot_route: {
      require_verified: false,
      status: 200,
      body: '',
      alt_dest: '',
      alt_port: null,
      alt_scheme: 'https',
    },
    rate_limit: { ...PATH_DEFAULTS, window_sec: 60, key_by: 'ip', on_breach: 'drop', burst: 0 },
    gateway: { name: '', base_path: '/', operations: [], on_unknown_operation: 'block' },
    waf: {
      ...PATH_DEFAULTS,
      paranoia: 1,
      threshold: 5,
      body_cap_kb: 128,
      rule_excludes: [],
      exclusions: [],
      on_uninspected: 'score',
    },
    redirect: { ...PATH_DEFAULTS, status_code: 302, preserve_query: true, preserve_path: false },
    captcha: { ...PATH_DEFAULTS, ttl_sec: 1800 },
    rewrite: { ...PATH_DEFAULTS, query_mode: 'preserve', query_target: '' },
    cache: {
      ...PATH_DEFAULTS,
      mode: 'standard',
      edge_ttl_sec: null,
      browser_ttl_sec: null,
      query_mode: 'all',
      query_params: [],
    },
    origin_route: { ...PATH_DEFAULTS, port: null, scheme: 'https', host_header: '', country: '', name: '' },
    origin_pool: {
      lb_type: 'round_robin',
      origins: [{ address: '10.0.0.1', port: null, scheme: 'https', weight: 1, node_ids: [], country: '' }],
      health_check: {
        enabled: false,
        path: '/',
        interval_sec: 15,
        timeout_sec: 5,
        unhealthy_threshold: 3,
        healthy_threshold: 2,
        eject_sec: 30,
        host: '',
      },
      host_header: '',
      name: '',
    },
    error_page: { ...PATH_DEFAULTS, mode: 'svc', content: {} },
    headers: PATH_DEFAULTS,
  };
  it.each(RULE_TYPES)('%s', (type) => {
    expect(stored(type, {})).toEqual({ ...COMMON_DEFAULTS, ...LEAST[type], ...own[type] });
  });

  it('leaves the include list empty under `regex`, where `/*` would have to be run', () => {
    expect(stored('waf', { path_match_type: 'regex' })).toMatchObject({ path_includes: [] });
    expect(stored('waf', { path_includes: [] })).toMatchObject({ path_includes: [] });
  });
});

/** The last accepted and the first refused value on each side. */
const BOUNDS: readonly [RuleType, string, readonly unknown[], readonly unknown[]][] = [
  ['waf', 'priority', [0, 1_000_000], [-1, 1_000_001, 1.5, '1', null]],
  ['waf', 'enabled', [true, false], ['true', 1, null]],
  ['waf', 'action_mode', ['enforce', 'dry_run'], ['', 'dryrun']],
  ['waf', 'path_match_type', ['wildcard', 'regex'], ['', 'exact']],
  ['waf', 'path_includes', [[], times(200, () => '/a')], [times(201, () => '/a'), '/a', [''], [1]]],
  ['waf', 'path_excludes', [[], times(200, () => '/a')], [times(201, () => '/a'), ['']]],
  ['waf', 'host_includes', [[], times(200, () => 'a')], [times(201, () => 'a'), ['']]],
  ['waf', 'host_excludes', [[], times(200, () => 'a')], [times(201, () => 'a'), ['']]],
  ['waf', 'path_includes', [[`/${'a'.repeat(2047)}`]], [[`/${'a'.repeat(2048)}`]]],
  ['waf', 'record_ids', [[], [1], [4_294_967_295], null], [[0], [4_294_967_296], [1.5], ['1'], 1]],
  ['waf', 'record_id', [1, null], [0, '1', 4_294_967_296]],
  ['drop', 'ips', [times(256, (i) => `10.0.0.${i}`)], [times(257, () => '10.0.0.1'), ['10.0.0.256'], ['x']]],
  ['drop', 'countries', [['NO'], ['no', 'RU']], [['UK'], ['XX'], ['T1'], [''], ['NOR'], [false]]],
  ['drop', 'country_match_type', ['include', 'exclude'], ['']],
  ['drop', 'ip_match_type', ['include'], ['', 'Exclude']],
  [
    'fingerprint',
    'match_ja4',
    [['a'], ['a*'], ['*'], times(200, () => 'a')],
    [[''], ['a*b'], times(201, () => 'a')],
  ],
  ['fingerprint', 'match_ja4h', [['a*']], [['*a'], ['**']]],
  ['fingerprint', 'action', ['drop', 'challenge', 'tag'], ['block', undefined]],
  ['bot_route', 'bot_kinds', [['*'], ['generic-bot', 'gptbot']], [[], ['GPTBot'], undefined]],
  ['bot_route', 'action', ['block', 'tag'], ['drop', 'Block', undefined]],
  ['bot_route', 'status', [200, 599], [199, 600]],
  ['bot_route', 'alt_port', [1, 65_535, null], [0, 65_536]],
  ['bot_route', 'alt_scheme', ['http', 'https', 'Https'], ['ftp', '']],
  ['bot_route', 'body', ['x'.repeat(65_536), 'ä'.repeat(32_768)], ['x'.repeat(65_537), 'ä'.repeat(32_769)]],
  ['rate_limit', 'limit', [1, 1_000_000], [0, 1_000_001, undefined, null]],
  ['rate_limit', 'burst', [0, 1_000_000], [-1, 1_000_001]],
  ['rate_limit', 'window_sec', [1, 86_400], [0, 86_401]],
  ['rate_limit', 'key_by', ['ip', 'ip_path'], ['path']],
  [
    'rate_limit',
    'key_parts',
    [
      [],
      ['ip'],
      ['ip', 'path', 'asn'],
      ['country', 'ja4'],
      ['header:X-Api-Key', 'cookie:__Host-s', 'query:q=&é'],
      [`header:${'a'.repeat(256)}`],
    ],
    [
      null,
      'ip',
      ['ip', 'path', 'asn', 'ja4'],
      ['ip', 'ip'],
      ['header:X-A', 'header:x-a'],
      [''],
      ['IP'],
      ['consumer'],
      ['header'],
      ['header:'],
      ['header:a b'],
      ['header:host'],
      ['cookie:a;b'],
      ['query:'],
      ['body:x'],
      [`query:${'a'.repeat(257)}`],
    ],
  ],
  [
    'rate_limit',
    'count_statuses',
    [[], [400], [599, 401], times(16, (i) => 400 + i)],
    [null, 401, [399], [600], ['401'], [401, 401], times(17, (i) => 400 + i)],
  ],
  ['rate_limit', 'headers', [true, false], [null, 'true', 1]],
  ['rate_limit', 'on_breach', ['drop', 'captcha'], ['block']],
  ['waf', 'paranoia', [1, 4], [0, 5]],
  ['waf', 'threshold', [1, 100], [0, 101]],
  ['waf', 'body_cap_kb', [0, 1024], [-1, 1025]],
  ['waf', 'rule_excludes', [['942100', 'anything']], [[942100], ['']]],
  [
    'waf',
    'exclusions',
    [
      [],
      [{ id: 942100 }],
      [{ tag: 'attack-sqli', target: 'ARGS:comment*', path: '/forum/*' }],
      [{ id: 1, target: 'REQUEST_BODY' }],
      times(100, () => ({ id: 1 })),
    ],
    [
      [{}],
      [{ id: 1, tag: 'attack-sqli' }],
      [{ id: 0 }],
      [{ id: 1, target: 'args' }],
      [{ id: 1, target: 'ARGS:' }],
      [{ id: 1, target: 'REQUEST_BODY:x' }],
      [{ id: 1, target: 'TX:score' }],
      [{ id: 1, path: '' }],
      [{ id: 1, path: '/a//b' }],
      [{ id: 1, rule: 2 }],
      times(101, () => ({ id: 1 })),
    ],
  ],
  ['redirect', 'status_code', [301, 302, 307, 308], [300, 303, '301']],
  ['redirect', 'target', [`/${'a'.repeat(16_383)}`], [`/${'a'.repeat(16_384)}`, '', undefined, null]],
  ['redirect', 'preserve_path', [true, false], [null]],
  ['captcha', 'ttl_sec', [60, 2_592_000], [59, 2_592_001]],
  ['rewrite', 'query_mode', ['preserve', 'strip'], ['', 'keep']],
  ['cache', 'mode', ['standard', 'force', 'bypass'], ['on']],
  ['cache', 'edge_ttl_sec', [0, 31_536_000, null], [-1, 31_536_001]],
  ['cache', 'browser_ttl_sec', [0, 31_536_000, null], [-1, 31_536_001]],
  ['cache', 'query_mode', ['all', 'none', 'include'], ['']],
  ['cache', 'query_params', [['a']], [['']]],
  ['origin_route', 'port', [1, 65_535, null], [0, 65_536]],
  ['origin_route', 'address', ['a.example', '::1'], ['', undefined, 'http://a', 'a:80']],
  ['origin_route', 'name', ['x'.repeat(64)], ['x'.repeat(65)]],
  ['origin_route', 'country', ['', 'DE', 'de'], ['XX', 'Germany']],
  ['origin_pool', 'name', ['x'.repeat(64), '🛒'.repeat(64)], ['x'.repeat(65)]],
  ['origin_pool', 'lb_type', ['round_robin', 'least_load', 'geo'], ['random']],
  ['error_page', 'codes', [[400, 599]], [[], [399], [600], ['502'], undefined]],
  ['error_page', 'mode', ['svc', 'custom', 'origin'], ['']],
  [
    'error_page',
    'content',
    [{}, { 0: 'x', 400: 'x', 599: 'x' }],
    [{ 399: 'x' }, { '0502': 'x' }, { 502: 1 }, []],
  ],
  ['error_page', 'content', [{ 502: 'x'.repeat(65_536) }], [{ 502: 'x'.repeat(65_537) }]],
];

describe('bounds', () => {
  it.each(BOUNDS)('%s %s', (type, field, accepted, refused) => {
    for (const value of accepted)
      expect(mistakes(type, { [field]: value }), JSON.stringify(value)).toEqual([]);
    for (const value of refused) {
      const [first = ''] = mistakes(type, { [field]: value });
      expect(first.startsWith(field), `${JSON.stringify(value)?.slice(0, 60)} → ${first}`).toBe(true);
    }
  });

  it('stores keys of parts in their place of `key_by`, and an empty list not at all', () => {
    const parted = stored('rate_limit', { key_by: 'ip_path', key_parts: ['ip', 'header:X-Key'] });
    expect(parted).toMatchObject({ key_by: 'ip', key_parts: ['ip', 'header:x-key'] });
    expect(stored('rate_limit', { key_by: 'ip_path', key_parts: [] })).not.toHaveProperty('key_parts');
    expect(stored('rate_limit', { key_by: 'ip_path', key_parts: [] })).toMatchObject({ key_by: 'ip_path' });
  });

  it('counts a rule’s pages together', () => {
    const pages = (count: number, rest: number): Input =>
      Object.fromEntries([...times(count, (i) => [400 + i, 'x'.repeat(65_536)]), ['0', 'x'.repeat(rest)]]);
    expect(mistakes('error_page', { content: pages(7, 65_536) })).toEqual([]);
    expect(mistakes('error_page', { content: { ...pages(7, 65_536), 500: 'x' } })).toEqual([
      'content: must be at most 524288 octets in all, found 524289 octets',
    ]);
  });

  it('holds every field of an origin and of a health check', () => {
    const origin = (fields: Input): string[] =>
      mistakes('origin_pool', { origins: [{ address: 'a', ...fields }] });
    for (const fine of [
      { weight: 1000 },
      { port: 65_535 },
      { node_ids: times(1000, (i) => i + 1) },
      { country: 'de' },
    ]) {
      expect(origin(fine)).toEqual([]);
    }
    expect(origin({ weight: 1001 })).toEqual([
      'origins[0].weight: must be a whole number from 0 to 1000, found 1001',
    ]);
    expect(origin({ weight: -1 })).toHaveLength(1);
    expect(origin({ node_ids: times(1001, (i) => i + 1) })).toEqual([
      'origins[0].node_ids: must have at most 1000 entries, found 1001',
    ]);
    expect(origin({ node_ids: [0] })).toHaveLength(1);
    expect(origin({ port: 0 })).toHaveLength(1);
    expect(origin({ scheme: 'tcp' })).toHaveLength(1);
    const health = (fields: Input): string[] => mistakes('origin_pool', { health_check: fields });
    const bounds: [string, number, number][] = [
      ['interval_sec', 1, 3600],
      ['timeout_sec', 1, 60],
      ['unhealthy_threshold', 1, 100],
      ['healthy_threshold', 1, 100],
      ['eject_sec', 0, 86_400],
    ];
    for (const [field, least, most] of bounds) {
      expect(health({ [field]: least })).toEqual([]);
      expect(health({ [field]: most })).toEqual([]);
      expect(health({ [field]: least - 1 })).toHaveLength(1);
      expect(health({ [field]: most + 1 })).toHaveLength(1);
    }
    for (const value of ['', 'health', '/a b', '/a#b']) expect(health({ path: value })).toHaveLength(1);
    expect(health({ path: '/health?deep=1' })).toEqual([]);
  });

  it('takes 1 to 64 origins, one of which has a weight', () => {
    const origins = (count: number, weight = 1): Input => ({
      origins: times(count, () => ({ address: 'a', weight })),
    });
    expect(mistakes('origin_pool', origins(64))).toEqual([]);
    expect(mistakes('origin_pool', origins(65))).toEqual(['origins: must have at most 64 entries, found 65']);
    expect(mistakes('origin_pool', origins(0))).toEqual(['origins: must have at least 1 entry, found 0']);
    expect(mistakes('origin_pool', origins(2, 0))).toEqual([
      'origins: must have an origin whose `weight` is above 0; a weight of 0 takes an origin out',
    ]);
    expect(mistakes('origin_pool', { origins: [{ address: 'a', weight: 0 }, { address: 'b' }] })).toEqual([]);
  });
});

describe('conditions across fields', () => {
  it('refuses a drop rule that would drop everything, word for word', () => {
    const message = 'this rule would drop every request; list 0.0.0.0/0 and ::/0 in ips to mean that';
    const bare = { countries: [] };
    for (const open of [
      {},
      { path_includes: [] },
      { path_includes: ['/admin', '/*'] },
      { path_includes: ['*'] },
      { path_match_type: 'regex' },
      { path_match_type: 'regex', path_includes: ['/*'] },
      { host_includes: ['*'] },
      { host_pattern: '*' },
      { record_ids: [] },
    ]) {
      expect(mistakes('drop', { ...bare, ...open }), JSON.stringify(open)).toEqual([message]);
    }
    for (const narrow of [
      { enabled: false },
      { action_mode: 'dry_run' },
      { countries: ['RU'] },
      { ips: ['0.0.0.0/0', '::/0'] },
      { host_includes: ['a.example'] },
      { host_includes: ['*'], host_excludes: ['a.example'] },
      { host_pattern: 'a.example' },
      { record_ids: [1] },
      { record_id: 1 },
      { path_includes: ['/a'] },
      { path_excludes: ['/a'] },
      { path_match_type: 'regex', path_includes: ['^/a'] },
    ]) {
      expect(mistakes('drop', { ...bare, ...narrow }), JSON.stringify(narrow)).toEqual([]);
    }
  });

  it('refuses an allowlist without entries', () => {
    expect(mistakes('drop', { ip_match_type: 'exclude' })).toEqual([
      'ips: must list at least one address while `ip_match_type` is `exclude`',
    ]);
    expect(mistakes('drop', { ip_match_type: 'exclude', ips: ['10.0.0.0/8'] })).toEqual([]);
  });

  it('stores countries and addresses in canonical form', () => {
    const fields = stored('drop', {
      countries: ['ru', 'By'],
      ips: ['10.1.2.3/8', '::FFFF:1.2.3.4', '::2-::1'],
    });
    expect(fields).toMatchObject({ countries: ['RU', 'BY'], ips: ['10.0.0.0/8', '1.2.3.4', '::1-::2'] });
  });

  it('refuses a fingerprint rule without fingerprints', () => {
    expect(mistakes('fingerprint', { match_ja4: [] })).toEqual([
      'must list a fingerprint in `match_ja4` or `match_ja4h`',
    ]);
    expect(mistakes('fingerprint', { match_ja4: [], match_ja4h: ['a'] })).toEqual([]);
  });

  it('asks for what a bot action needs, and leaves out what it does not', () => {
    expect(mistakes('bot_route', { action: 'alt_content' })).toEqual([
      'body: must not be empty while `action` is `alt_content`',
    ]);
    expect(mistakes('bot_route', { action: 'alt_content', body: 'hi' })).toEqual([]);
    expect(mistakes('bot_route', { action: 'alt_origin' })).toEqual([
      'alt_dest: must name an origin while `action` is `alt_origin`',
    ]);
    expect(stored('bot_route', { action: 'alt_origin', alt_dest: 'a.example' })).toMatchObject({
      alt_dest: 'a.example',
    });
    expect(stored('bot_route', { action: 'tag', alt_dest: 'a.example' })).toMatchObject({ alt_dest: '' });
    expect(warnings('bot_route', { action: 'tag', alt_dest: 'a.example' })).toEqual([
      'alt_dest: has no effect while `action` is `tag` and is left out',
    ]);
  });

  it('warns about a `key_by` that `key_parts` replace', () => {
    expect(warnings('rate_limit', { key_by: 'ip_path', key_parts: ['ip', 'asn'] })).toEqual([
      'key_by: has no effect beside `key_parts` and is left out; list `ip` and `path` in `key_parts` to count each path of an address',
    ]);
    expect(warnings('rate_limit', { key_by: 'ip', key_parts: ['ip'] })).toEqual([]);
    expect(mistakes('rate_limit', { key_parts: ['consumer'] })).toEqual([
      'key_parts[0]: must be one of `ip`, `path`, `country`, `asn`, `ja4`, `header:<name>`, `cookie:<name>`, `query:<name>`, found `consumer`',
    ]);
  });

  it('asks for the query that replaces', () => {
    expect(mistakes('rewrite', { query_mode: 'replace' })).toEqual([
      'query_target: must not be empty while `query_mode` is `replace`; write `strip` to drop the query',
    ]);
    expect(stored('rewrite', { query_mode: 'replace', query_target: 'a=b' })).toMatchObject({
      query_target: 'a=b',
    });
    expect(stored('rewrite', { query_mode: 'strip', query_target: 'a=b' })).toMatchObject({
      query_target: '',
    });
    expect(warnings('rewrite', { query_mode: 'replace', query_target: '?a' })).toHaveLength(1);
  });

  it('warns about rules that do less than they seem to', () => {
    expect(warnings('cache', { query_mode: 'include' })).toHaveLength(1);
    expect(warnings('cache', { query_params: ['a'] })).toHaveLength(1);
    expect(warnings('error_page', { mode: 'custom', content: { 503: 'x' } })).toEqual([
      "content: has no page for 502 and no fallback `0`, so visitors get the service's own page",
    ]);
    expect(warnings('error_page', { mode: 'custom', content: { 0: 'x' } })).toEqual([]);
    expect(warnings('rewrite', { path_target: '/a/../b' })).toHaveLength(1);
  });
});

describe('a rule without effect', () => {
  const CASES: readonly [RuleType, Input, string][] = [
    ['error_page', { codes: [] }, 'codes: must not be empty; list a status code from 400 to 599'],
    [
      'rewrite',
      { path_target: '' },
      'this rule changes nothing: `path_target` is empty and `query_mode` is `preserve`; set `path_target`, or `query_mode` to `strip` or `replace`',
    ],
    [
      'rewrite',
      { path_target: '', query_target: 'a=b', enabled: false },
      'this rule changes nothing: `path_target` is empty and `query_mode` is `preserve`; set `path_target`, or `query_mode` to `strip` or `replace`',
    ],
    [
      'captcha',
      { path_includes: ['/a', 'api/*'] },
      'path_includes[1]: matches no path: every path starts with `/`, found `api/*`; write `/api/*` or `*api/*`',
    ],
    [
      'captcha',
      { path_excludes: ['login'] },
      'path_excludes[0]: matches no path: every path starts with `/`, found `login`; write `/login` or `*login`',
    ],
    [
      'captcha',
      { path_includes: ['^/api/'] },
      'path_includes[0]: looks like a regex, and under `wildcard` everything but `*` is literal, found `^/api/`; set `path_match_type` to `regex`, or write a wildcard',
    ],
    [
      'waf',
      { exclusions: [{ id: 942100, path: 'forum/*' }] },
      'exclusions[0].path: matches no path: every path starts with `/`, found `forum/*`; write `/forum/*` or `*forum/*`',
    ],
  ];

  it.each(CASES)('of type %s with %j is refused', (type, input, mistake) => {
    expect(mistakes(type, input)).toEqual([mistake]);
  });

  it.each(CASES)('of type %s with %j is read where it is stored', (type, input) => {
    expect(mistakesOfStored(type, input)).toEqual([]);
  });

  it.each<[RuleType, Input]>([
    ['rewrite', { path_target: '', query_mode: 'strip' }],
    ['rewrite', { path_target: '', query_mode: 'replace', query_target: 'a=b' }],
    ['rewrite', { path_target: '/', query_mode: 'preserve' }],
    ['captcha', { path_includes: ['*.php', '*', '/', '/*', '%2Fapi'] }],
    ['captcha', { path_match_type: 'regex', path_includes: ['api', '^/api/'] }],
  ])('is none of type %s with %j', (type, input) => {
    expect(mistakes(type, input)).toEqual([]);
  });
});

describe('records of a rule', () => {
  it('takes a `record_id` alone as a list of one; beside a list the list wins', () => {
    expect(stored('waf', { record_id: 7 })).toMatchObject({ record_ids: [7] });
    expect(stored('waf', { record_id: 7, record_ids: [8, 9, 8] })).toMatchObject({ record_ids: [8, 9] });
    expect(stored('waf', { record_id: null, record_ids: null })).toMatchObject({ record_ids: [] });
    expect(stored('waf', { record_id: null, record_ids: [] })).toMatchObject({ record_ids: [] });
    expect(stored('waf', { record_id: 7 })).not.toHaveProperty('record_id');
  });

  it.each([[[]], [null]])('refuses %j beside a `record_id`', (record_ids) => {
    expect(mistakes('waf', { record_id: 7, record_ids })).toEqual([
      'record_ids: must not be empty beside a `record_id`; leave one of the two out',
    ]);
  });

  it('refuses ids of other domains, word for word', () => {
    const recordIds = new Set([1, 2]);
    const found = (input: Input): readonly unknown[] => parseRule('waf', input, { recordIds }).diagnostics;
    expect(found({ record_ids: [1, 2] })).toEqual([]);
    expect(found({ record_ids: [1, 3] })).toEqual([
      {
        code: 'foreign_record',
        severity: 'error',
        path: ['record_ids', 1],
        message: 'record_ids do not belong to this domain',
      },
    ]);
    expect(found({ record_id: 3 })).toMatchObject([{ path: ['record_id'] }]);
    expect(found({ record_id: 3, record_ids: [1] })).toEqual([]);
  });
});

describe('fields of answers and unknown fields', () => {
  it('ignores what only answers carry', () => {
    const answer = { id: 5, domain_id: 1, type: 'x', created_at: 'x', updated_at: 'x' };
    for (const type of RULE_TYPES) expect(mistakes(type, answer)).toEqual([]);
    expect(mistakes('redirect', { www_record: 'created' })).toEqual([]);
    expect(mistakes('error_page', { content_codes: [0], content_bytes: {} })).toEqual([]);
    expect(mistakes('waf', { www_record: 'created' })).toHaveLength(1);
  });

  it('names an unknown field and the nearest known one', () => {
    expect(mistakes('waf', { paranoja: 1 })).toEqual([
      'paranoja: is not a known field; did you mean `paranoia`?',
    ]);
    expect(mistakes('waf', { 'host-includes': [] })).toEqual([
      'host-includes: is not a known field; did you mean `host_includes`?'.replace(
        /^[^:]+/,
        '["host-includes"]',
      ),
    ]);
    expect(mistakes('waf', { unrelated: 1, strange: 2 })).toEqual([
      expect.stringMatching(
        /^unrelated: is not a known field; the fields are `record_id`, .*, `on_uninspected`$/,
      ),
      'strange: is not a known field',
    ]);
  });

  it('reports a misspelt field, and not the absence of the field that was meant', () => {
    const told = (type: RuleType, input: object): readonly string[] =>
      parseRule(type, input).diagnostics.map(describeDiagnostic);
    const misspelt = (name: string, meant: string): string =>
      `${name}: is not a known field; did you mean \`${meant}\`?`;
    expect(told('drop', { contries: ['DE'] })).toEqual([misspelt('contries', 'countries')]);
    expect(told('drop', { paths: ['/admin'] })).toEqual([
      'paths: is not a known field; write `path_includes`',
    ]);
    expect(told('drop', { ip_match_type: 'exclude', ip: ['192.0.2.1'], countries: ['DE'] })).toEqual([
      'ip: is not a known field; write `ips`',
    ]);
    expect(told('rate_limit', { limits: 3 })).toEqual([misspelt('limits', 'limit')]);
    expect(told('rate_limit', { burts: 3 })).toEqual([
      misspelt('burts', 'burst'),
      'limit: is missing; it must be a whole number',
    ]);
  });

  it('names the nearest allowed value', () => {
    expect(mistakes('waf', { action_mode: 'dry-run' })).toEqual([
      'action_mode: must be one of `enforce`, `dry_run`, found `dry-run`; did you mean `dry_run`?',
    ]);
    expect(mistakes('redirect', { status_code: '302' })).toEqual([
      'status_code: must be one of `301`, `302`, `307`, `308`, found `302`; write it without quotes',
    ]);
  });

  it('names the quotes around a number or a flag as the mistake', () => {
    expect(mistakes('rate_limit', { limit: '60', enabled: 'true' })).toEqual([
      'enabled: must be `true` or `false`, found `true`; write it without quotes',
      'limit: must be a whole number, found `60`; write it without quotes',
    ]);
    expect(mistakes('rate_limit', { limit: '1m' })).toEqual(['limit: must be a whole number, found `1m`']);
  });

  it('counts characters as people do', () => {
    expect(mistakes('origin_pool', { name: '🦊'.repeat(64) })).toEqual([]);
    expect(mistakes('origin_pool', { name: '🦊'.repeat(65) })).toEqual([
      'name: must be at most 64 characters, found 65 characters',
    ]);
  });
});
