import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import type { RuleType } from '../../../../src/base/vocabulary/vocabulary.ts';
import { readEdgeFile } from '../../../../src/rules/files/edge-file.ts';
import { parseRule, parseRuleSet } from '../../../../src/rules/model/parse.ts';
import type { Rule, RuleSet } from '../../../../src/rules/model/types.ts';
import { lintRuleSet } from '../../../../src/workbench/proofs/lint.ts';
import { loadRuleSet } from '../../../support/load.ts';

type Fields = Readonly<Record<string, unknown>>;

const RECORDS: readonly Fields[] = [
  { id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true },
  { id: 2, name: 'www', type: 'A', destination: '192.0.2.2', proxied: true },
  { id: 3, name: 'shop', type: 'A', destination: '192.0.2.3', proxied: true },
  { id: 4, name: 'mail', type: 'A', destination: '192.0.2.4', proxied: false },
  { id: 5, name: '*.dev', type: 'A', destination: '192.0.2.5', proxied: true },
];

/** As the store has it: rules that later versions refuse are linted too. */
function read(rules: readonly Fields[], records = RECORDS): RuleSet {
  const numbered = rules.map((rule, index) => ({ id: index + 1, ...rule }));
  const parsed = parseRuleSet({
    domain: { name: 'example.com', status: 'active' },
    records,
  });
  if (!parsed.ok) throw new Error(parsed.diagnostics.map(formatDiagnostic).join('\n'));
  return { ...parsed.ruleSet, rules: numbered.map(readRule) };
}

function readRule({ id, ...fields }: Fields & { readonly id: number }): Rule {
  const type = fields['type'] as RuleType;
  const parsed = parseRule(type, fields, { stored: true });
  if (!parsed.ok) throw new Error(parsed.diagnostics.map(formatDiagnostic).join('\n'));
  return { id, type, ...parsed.fields } as Rule;
}

/** Proofs concern several rules at once; `reach.test.ts` tests them. */
const WITHOUT_PROOFS = { proofs: false } as const;

/** Codes with their places, as `rules[0].target self_redirect`. */
function codes(...rules: readonly Fields[]): readonly string[] {
  return lintRuleSet(read(rules), undefined, WITHOUT_PROOFS).map(
    ({ path, code }) => `${path.slice(1).join('.')} ${code}`,
  );
}

const captcha = (fields: Fields): Fields => ({ type: 'captcha', path_includes: ['/x', '/x/*'], ...fields });
const hosts = (host_match_type: string, ...host_includes: string[]): Fields =>
  captcha({ host_match_type, host_includes });
const drop = (...path_includes: string[]): Fields => ({ type: 'drop', path_includes });
const route = (...path_includes: string[]): Fields => ({
  type: 'origin_route',
  address: '198.51.100.1',
  path_includes,
});
const redirect = (fields: Fields): Fields => ({ type: 'redirect', target: '/new', ...fields });

describe('paths', () => {
  test('`/api/*` without `/api` is a near miss', () => {
    expect(codes(drop('/api/*'))).toEqual(['0.path_includes.0 bare_path_missed']);
    expect(codes(drop('/a/*', '/b', '/b/*'))).toEqual(['0.path_includes.0 bare_path_missed']);
    expect(codes(route('/api/*'))).toEqual(['0.path_includes.0 bare_path_missed']);
  });

  test('a near miss of a guard is a warning, and of any other type a note', () => {
    expect(lintRuleSet(read([drop('/api/*')]))[0]?.severity).toBe('warning');
    expect(lintRuleSet(read([route('/api/*')]))[0]?.severity).toBe('info');
  });

  test.each([
    ['the bare path beside it', [drop('/api/*', '/api')]],
    ['a wider entry beside it', [drop('/api/*', '/ap*', '/api')]],
    ['a star without the slash', [drop('/api*')]],
    ['excluded on purpose', [{ ...drop('/api/*'), path_excludes: ['/api'] }]],
    ['another rule of the type covers it', [drop('/api/*'), drop('/api', '/api/*')].slice(0, 2)],
    ['every path', [captcha({ path_includes: ['/*'] })]],
    ['a folder of files in a cache rule', [{ type: 'cache', path_includes: ['/static/*'] }]],
    ['a well-known folder', [route('/.well-known/*')]],
    ['a regex that allows it', [{ ...drop('^/api(/|$)'), path_match_type: 'regex' }]],
    ['dot files', [drop('/.*', '*/.git/*')]],
  ])('no path near miss: %s', (_, rules) => {
    expect(codes(...rules).filter((code) => code.endsWith('bare_path_missed'))).toEqual([]);
  });

  test('a rule of another type or of other hosts does not cover a near miss', () => {
    const shop = { host_match_type: 'exact', host_includes: ['shop.example.com'] };
    expect(codes(drop('/api/*'), { ...route('/api', '/api/*') })).toEqual([
      '0.path_includes.0 bare_path_missed',
    ]);
    expect(codes(drop('/api/*'), { ...drop('/api', '/api/*'), ...shop })).toEqual([
      '0.path_includes.0 bare_path_missed',
    ]);
    expect(codes({ ...drop('/api/*'), ...shop }, drop('/api', '/api/*'))).toEqual([]);
  });

  test.each([
    ['/search?q=*', 'query_in_path'],
    ['/page#top', 'query_in_path'],
    ['example.com/api', 'relative_path'],
    ['www.example.com:8443/api', 'port_in_path'],
    ['api/*', 'relative_path'],
    ['^/api/', 'regex_in_wildcard'],
    ['/api/v1$', 'regex_in_wildcard'],
    ['/static/{css,js}/*', 'literal_glob'],
    ['/v[0-9]/*', 'literal_glob'],
  ])('the wildcard entry `%s` is reported as %s', (entry, code) => {
    expect(codes(route(entry))).toContain(`0.path_includes.0 ${code}`);
  });

  test.each([
    ['https?://example.com/', 'scheme_in_path'],
    ['^/search\\?q=', 'query_in_path'],
    ['/api/*', 'wildcard_in_regex'],
  ])('the regex entry `%s` is reported as %s', (entry, code) => {
    expect(codes({ ...route(entry), path_match_type: 'regex' })).toEqual([`0.path_includes.0 ${code}`]);
  });

  test.each(['/[slug]', '/price$list', '*.php', '/a(b)', '/*', '*', '/~user/*b'])(
    'wildcard `%s` is fine',
    (entry) => {
      expect(codes(route(entry))).toEqual([]);
    },
  );

  test.each(['^/api(/|$)', '^/v[0-9]+/', '\\.php$', '^/a/?$'])('regex `%s` is fine', (entry) => {
    expect(codes({ ...route(entry), path_match_type: 'regex' })).toEqual([]);
  });
});

describe('hosts', () => {
  test('`*.name` without `name` is a near miss where `name` is served', () => {
    expect(codes(hosts('wildcard', '*.example.com'))).toEqual(['0.host_includes.0 bare_host_missed']);
    expect(codes({ ...captcha({}), host_pattern: '*.example.com', host_match_type: 'wildcard' })).toEqual([
      '0.host_pattern bare_host_missed',
      '0.host_pattern deprecated_field',
    ]);
  });

  test.each([
    ['the name beside it', [hosts('wildcard', '*.example.com', 'example.com')]],
    ['the name is not served', [hosts('wildcard', '*.dev.example.com')]],
    ['excluded on purpose', [{ ...hosts('wildcard', '*.example.com'), host_excludes: ['example.com'] }]],
    ['another rule of the type has it', [hosts('wildcard', '*.example.com'), hosts('exact', 'example.com')]],
    [
      'the redirect that leads there',
      [
        {
          ...hosts('wildcard', '*.example.com'),
          ...redirect({ target: 'https://example.com', preserve_path: true }),
        },
      ],
    ],
    ['the name is out of scope', [{ ...hosts('wildcard', '*.example.com'), record_ids: [2] }]],
    ['every host', [hosts('wildcard', '*')]],
  ])('no host near miss: %s', (_, rules) => {
    expect(codes(...rules)).toEqual([]);
  });

  test.each([
    ['exact', '*.example.com', 'literal_star'],
    ['exact', 'shop.example.net', 'foreign_host'],
    ['wildcard', '*.example.org', 'foreign_host'],
    ['regex', 'https://shop', 'scheme_in_host'],
    ['regex', '^shop\\.example\\.com:8443$', 'port_in_host'],
    ['regex', '^shop\\.example\\.com/api', 'path_in_host'],
  ])('the %s entry `%s` is reported as %s', (type, entry, code) => {
    expect(codes(hosts(type, entry)).map((line) => line.split(' ')[1])).toContain(code);
  });

  test.each([
    'shop',
    'shop\\.example\\.com',
    '^shop',
    'shop\\.example\\.com$',
    '^a|b$',
    '^(a|b\\.',
    '(www\\.)?shop$',
    'sho[p$]',
  ])('the regex `%s` is reported as unanchored', (entry) => {
    const pattern = entry.split('(').length > entry.split(')').length ? `${entry})` : entry;
    expect(codes(hosts('regex', pattern))).toContain('0.host_includes.0 unanchored_host_regex');
  });

  test.each([
    '^shop\\.example\\.com$',
    '^(shop|www)\\.example\\.com$',
    '(^|\\.)dev\\.example\\.com$',
    '\\.dev\\.example\\.com$',
    '^www\\.',
    '^www\\.example\\.com$|^shop\\.example\\.com$',
    '^(www\\.)?example\\.com$',
    '.*',
    '^shop.*',
    '(?i)^shop\\.example\\.com$',
    '\\Ashop\\.example\\.com\\z',
    '^[a-z]+\\.example\\.com$',
    '^(?:www\\.example\\.com|shop\\.example\\.com)$',
  ])('regex `%s` is fine', (entry) => {
    expect(codes(hosts('regex', entry))).toEqual([]);
  });

  test('entries that the compiler would refuse cause no exception', () => {
    const ruleSet = read([hosts('exact', 'shop.example.com')]);
    const odd = (text: string): RuleSet => ({
      ...ruleSet,
      rules: ruleSet.rules.map((rule) => ({ ...rule, host_includes: ['shop.example.com', text] })),
    });
    const found = (text: string) => lintRuleSet(odd(text)).map(({ code }) => code);
    expect(found('https://shop.example.com')).toEqual(['scheme_in_host']);
    expect(found('shop.example.com:443')).toEqual(['port_in_host']);
    expect(found('shop.example.com?x')).toEqual(['path_in_host']);
  });
});

describe('needless entries', () => {
  test.each([
    [['/a', '/a'], [1]],
    [['/a/*', '/a*'], [0]],
    [
      ['/*', '/b*', '*/c'],
      [1, 2],
    ],
    [['/a*b', '/a*b'], [1]],
    [['/a', '/b'], []],
    [['/a*b', '/a*c'], []],
  ])('of the paths %j the covered ones are reported', (entries, places) => {
    expect(codes(route(...entries))).toEqual(
      places.map((place) => `0.path_includes.${place} needless_entry`),
    );
  });

  test('a covered host entry is reported', () => {
    const found = codes(hosts('wildcard', '*.example.com', 'shop.example.com', 'example.com'));
    expect(found).toEqual(['0.host_includes.1 needless_entry']);
  });

  test('a covered regex of a rewrite is not reported, since its groups depend on the order', () => {
    const rewrite = {
      type: 'rewrite',
      path_match_type: 'regex',
      path_target: '/$1',
      path_includes: ['^/(a)$', '^/(a)$'],
    };
    expect(codes(rewrite)).toEqual([]);
  });
});

describe('scope', () => {
  test('a record in the scope that is not proxied is reported', () => {
    expect(codes(captcha({ record_ids: [2, 4] }))).toEqual(['0.record_ids.1 unproxied_record']);
    const [alone] = lintRuleSet(read([captcha({ record_ids: [4] })]));
    expect(alone).toMatchObject({ code: 'unproxied_record', severity: 'error', found: '4' });
  });

  test('a scope and host filter that leave no served host are an error', () => {
    expect(codes({ ...hosts('exact', 'shop.example.com'), record_ids: [2] })).toEqual([
      '0.host_includes empty_scope',
    ]);
    expect(codes(hosts('exact', 'mail.example.com'))).toEqual(['0.host_includes empty_scope']);
    expect(codes({ ...hosts('regex', '^nothing\\.'), record_ids: [1, 2] })).toEqual([
      '0.host_includes empty_scope',
    ]);
  });

  test.each([
    ['a host below a wildcard record', hosts('exact', 'a.b.dev.example.com')],
    ['a wildcard that meets one', hosts('wildcard', 'x*.example.com')],
    ['a regex over a wildcard record', { ...hosts('regex', '^pr-[0-9]+\\.dev\\.'), record_ids: [5] }],
    ['proxied records only', captcha({ record_ids: [1, 2, 5] })],
    ['a disabled rule', captcha({ record_ids: [4], enabled: false })],
  ])('no finding for the scope: %s', (_, rule) => {
    expect(codes(rule)).toEqual([]);
  });

  test('a zone without proxied records is an empty scope', () => {
    const bare = RECORDS.map((record) => ({ ...record, proxied: false }));
    expect(lintRuleSet(read([captcha({})], bare)).map(({ code }) => code)).toEqual(['empty_scope']);
  });

  test('a record id that does not exist is reported', () => {
    const ruleSet = read([captcha({ record_ids: [2] })]);
    const lost: RuleSet = {
      ...ruleSet,
      rules: ruleSet.rules.map((rule) => ({ ...rule, record_ids: [2, 99] })),
    };
    expect(lintRuleSet(lost).map(({ code, severity }) => [code, severity])).toEqual([
      ['unknown_record', 'warning'],
    ]);
  });
});

describe('excludes', () => {
  const paths = (path_includes: string[], path_excludes: string[], path_match_type = 'wildcard') =>
    codes({ ...route(), path_includes, path_excludes, path_match_type });

  test('an exclude that covers every include is an error', () => {
    expect(paths(['/api/x', '/api/y'], ['/api/*'])).toEqual(['0.path_excludes.0 exclude_swallows_includes']);
    expect(paths([], ['/*'])).toEqual(['0.path_excludes.0 exclude_swallows_includes']);
    expect(paths(['/a', '/b'], ['/a*', '/b'])).toEqual(['0.path_excludes.0 exclude_swallows_includes']);
    expect(paths(['^/api'], ['^/'], 'regex')).toEqual(['0.path_excludes.0 exclude_swallows_includes']);
    expect(paths(['^/api'], ['^/api'], 'regex')).toEqual(['0.path_excludes.0 exclude_swallows_includes']);
  });

  test('a host exclude that covers every include is an error', () => {
    const rule = { ...hosts('wildcard', 'shop.example.com'), host_excludes: ['*.example.com'] };
    expect(codes(rule)).toContain('0.host_excludes.0 exclude_swallows_includes');
  });

  test.each([
    [['/api/*'], ['/api/health']],
    [['/api/*', '/x*'], ['/api/*']],
    [['/*'], ['/static/*']],
    [[], ['/static/*']],
  ])('the includes %j without %j still match', (includes, excludes) => {
    expect(paths(includes, excludes).filter((code) => code.includes('swallows'))).toEqual([]);
  });
});

describe('redirects', () => {
  test.each([
    ['its own path', 'warning', { path_includes: ['/here'], target: '/here' }],
    ['its own path, by way of a fragment', 'warning', { path_includes: ['/here'], target: '/here#top' }],
    [
      'the path appended to the root',
      'error',
      { path_includes: ['/old*'], target: '/', preserve_path: true },
    ],
    ['the root itself', 'warning', { path_includes: ['/'], target: '/' }],
  ])('a redirect to the own URL is reported: %s', (_, severity, fields) => {
    const rule = redirect(fields);
    expect(codes(rule)).toEqual(['0.target self_redirect']);
    expect(lintRuleSet(read([rule]), undefined, WITHOUT_PROOFS).map((one) => one.severity)).toEqual([
      severity,
    ]);
  });

  test.each(['/here;x', '/%68ere'])('a redirect to its own path acts on %s', (target) => {
    const evaluator = loadRuleSet(read([redirect({ path_includes: ['/here'], target: '/here' })]));
    const request = { scheme: 'https', method: 'GET', host: 'example.com', target, headers: {} } as const;
    expect(evaluator.evaluate(request)).toMatchObject({ action: 'redirect', location: '/here' });
  });

  test.each([['/new/*'], ['/new/$1'], ['https://www.example.com/{path}']])(
    'a pattern as the target of a redirect is a warning, since visitors get it as it is written: %s',
    (target) => {
      expect(codes(redirect({ path_includes: ['/old', '/old/*'], target }))).toEqual([
        '0.target literal_target',
      ]);
    },
  );

  test.each([
    ['/new/$1', []],
    ['/new/${1}/${rest}', []],
    ['/new/$1/*', ['0.target literal_target']],
    ['/new/$1/{path}', ['0.target literal_target']],
  ])('groups of a target with captures are meant, other patterns are not: %s', (target, found) => {
    const captures = { path_match_type: 'regex', target_mode: 'captures' };
    expect(codes(redirect({ ...captures, path_includes: ['^/old/(?P<rest>.*)$'], target }))).toEqual(found);
  });

  test('an entry whose paths another one has may give other groups, so it is not needless', () => {
    const captures = { path_match_type: 'regex', target_mode: 'captures', target: '/new/$1' };
    const path_includes = ['^/old/(a)', '^/old/(.*)'];
    expect(codes(redirect({ ...captures, path_includes }))).toEqual([]);
  });

  test.each([
    ['appended to a target it matches', { target: '/new', preserve_path: true }],
    ['on its own host', { target: 'https://www.example.com/de/', preserve_path: true }],
    ['the folder itself', { path_includes: ['/de/*', '/de'], target: '/de', preserve_path: true }],
  ])('a redirect loop is an error: %s', (_, fields) => {
    expect(codes(redirect(fields))).toEqual(['0.target redirect_loop']);
  });

  test.each([
    [
      'up to https',
      {
        target: 'https://shop.example.com',
        preserve_path: true,
        host_match_type: 'exact',
        host_includes: ['shop.example.com'],
      },
    ],
    ['the whole site to one host', { target: 'https://www.example.com', preserve_path: true }],
    ['a maintenance page', { target: '/maintenance', path_includes: ['/*'] }],
    ['stripping a query', { path_includes: ['/here'], target: '/here', preserve_query: false }],
    ['a query of its own', { path_includes: ['/here'], target: '/here?v=2' }],
    ['a folder that moved', { path_includes: ['/old*'], target: '/new', preserve_path: true }],
    ['excluded where it leads', { target: '/de', preserve_path: true, path_excludes: ['/de', '/de/*'] }],
    [
      'another site',
      {
        target: 'https://example.net/x',
        preserve_path: true,
        host_match_type: 'exact',
        host_includes: ['www.example.com'],
      },
    ],
    ['adding the slash', { path_includes: ['/here'], target: '/here/' }],
  ])('no finding for the redirect: %s', (_, fields) => {
    expect(codes(redirect(fields))).toEqual([]);
  });
});

describe('bots, old fields, cache', () => {
  const bots = (...bot_kinds: string[]): Fields => ({ type: 'bot_route', action: 'tag', bot_kinds });

  test('`google-extended` is reported, since no User-Agent declares it', () => {
    expect(codes(bots('gptbot', 'google-extended'))).toEqual(['0.bot_kinds.1 google_extended']);
    expect(lintRuleSet(read([bots('google-extended')]))[0]?.message).toContain('the rule never acts');
    expect(codes(bots('gptbot', 'googlebot'), bots('*'))).toEqual([]);
  });

  test('`host_pattern` is reported as deprecated, in disabled rules too', () => {
    const rule = captcha({ host_match_type: 'exact', host_pattern: 'shop.example.com', enabled: false });
    expect(codes(rule)).toEqual(['0.host_pattern deprecated_field']);
  });

  test('deprecated fields are reported only where the source has them', () => {
    const ruleSet = read([captcha({ record_id: 2 }), { type: 'cache', action_mode: 'enforce' }]);
    const names = ['record_id', 'action_mode'];
    const found = lintRuleSet(ruleSet, {
      written: (rule, field) => names[rule.id - 1] === field,
      place: (rule, field) => ({ file: 'edge.yaml', line: rule.id * 10, column: field.length }),
      path: (rule) => ['rules', rule.type, rule.id],
      at: () => ({ file: 'edge.yaml', line: 1, column: 1 }),
    });
    expect(found.map(formatDiagnostic)).toEqual([
      'edge.yaml:10:1: warning: rules.captcha[1].record_id: is deprecated; write `record_ids: [2]`',
      'edge.yaml:20:1: info: rules.cache[2].action_mode: is ignored by cache rules, found `enforce`; remove the field',
    ]);
    expect(lintRuleSet(ruleSet)).toEqual([]);
  });

  test('`dry_run` on a cache rule is a warning', () => {
    expect(codes({ type: 'cache', action_mode: 'dry_run' })).toEqual(['0.action_mode action_mode_on_cache']);
    expect(codes({ type: 'cache' }, captcha({ action_mode: 'dry_run' }))).toEqual([]);
  });
});

describe('guards that depend on how origins read a path', () => {
  test('a guard on one exact path is reported', () => {
    expect(codes(drop('/wp-login.php'))).toEqual(['0.path_includes.0 exact_path_guard']);
    expect(codes(captcha({ path_includes: ['/login'] }))).toEqual(['0.path_includes.0 exact_path_guard']);
  });

  test.each([
    ['with what lies below', [drop('/login', '/login/*')]],
    ['below in another rule of the type', [drop('/login'), drop('/login*')]],
    ['below excluded on purpose', [{ ...drop('/login'), path_excludes: ['/login/*'] }]],
    ['a prefix', [drop('/login*')]],
    ['a type that guards nothing', [route('/login'), redirect({ path_includes: ['/login'] })]],
    ['the root', [captcha({ path_includes: ['/'] })]],
  ])('no finding for the guard: %s', (_, rules) => {
    expect(codes(...rules)).toEqual([]);
  });

  const waf = (path_excludes: string[], path_match_type = 'wildcard'): Fields => ({
    type: 'waf',
    path_excludes,
    path_match_type,
  });

  test('a guard that excludes a suffix is reported', () => {
    expect(codes(waf(['*.css', '/*.png']))).toEqual([
      '0.path_excludes.0 suffix_exclude',
      '0.path_excludes.1 suffix_exclude',
    ]);
    expect(codes(waf(['\\.(css|js)$', '\\.png$'], 'regex'))).toEqual([
      '0.path_excludes.0 suffix_exclude',
      '0.path_excludes.1 suffix_exclude',
    ]);
  });

  test('an excluded folder is not reported', () => {
    expect(
      codes(waf(['/static/*', '/assets/*.css', '/health']), waf(['^/static/.*\\.css$'], 'regex')),
    ).toEqual([]);
    expect(codes({ type: 'cache', path_excludes: ['*.css'] })).toEqual([]);
  });
});

test('findings are sorted in the order of the rules', () => {
  const places = codes(route('/a', '/a'), drop('/b'), redirect({ target: '/', path_includes: ['/'] }));
  expect(places.map((place) => place[0])).toEqual(['0', '1', '2']);
});

describe('waf rules', () => {
  const waf = (fields: Fields): Fields => ({ type: 'waf', ...fields });
  const signatures = {
    name: 'set/1',
    hasId: (id: number) => id === 942_100,
    hasTag: (tag: string) => tag === 'attack-sqli',
  };
  const messages = (fields: Fields) => {
    return lintRuleSet(read([waf(fields)]), undefined, { signatures }).map(formatDiagnostic);
  };

  test('an exclusion that names no signature of the set is reported', () => {
    expect(messages({ rule_excludes: ['942100', '942999', '942100-942199'] })).toEqual(
      [
        'rules[0].rule_excludes[1]: names no signature of set/1, so it excludes nothing, found `942999`; remove it, or name the set that has it with --signatures or --crs',
        'rules[0].rule_excludes[2]: is not a signature id, so it excludes nothing, found `942100-942199`; write one id an entry, such as `942100`',
      ].map((line) => `warning: ${line}`),
    );
    expect(
      messages({
        exclusions: [{ id: 942_100 }, { id: 1, target: 'ARGS:q' }, { tag: 'attack-sqli' }, { tag: 'sqli' }],
      }),
    ).toEqual([
      expect.stringContaining('rules[0].exclusions[1].id: names no signature of set/1'),
      expect.stringContaining('rules[0].exclusions[3].tag: names no signature with this tag of set/1'),
    ]);
  });

  test('a waf rule that inspects with no signatures is reported', () => {
    const found = lintRuleSet(read([waf({})]), undefined, { signatures: 'none' });
    expect(found.map(({ code, severity }) => [code, severity])).toContainEqual([
      'waf_no_signatures',
      'warning',
    ]);
  });

  test('exclusions are not checked without signatures, nor in disabled rules', () => {
    expect(codes(waf({ rule_excludes: ['1'], exclusions: [{ tag: 'x' }] }))).toEqual([]);
    expect(messages({ enabled: false, rule_excludes: ['1'] })).toEqual([]);
  });

  test.each([
    [{ threshold: 6 }, ['0.threshold waf_threshold']],
    [{ threshold: 5 }, []],
    [{ threshold: 20, paranoia: 2 }, []],
    [{ body_cap_kb: 0, paranoia: 2 }, ['0.body_cap_kb waf_no_body']],
    [{ body_cap_kb: 0 }, []],
  ])('the settings %j have the expected findings', (fields, expected) => {
    expect(codes(waf(fields))).toEqual(expected);
  });
});

describe('rules of an edge file that are identified by content', () => {
  const HEAD = `domain: example.com
records:
  - { name: '@', type: A, destination: 192.0.2.1, proxied: true }
rules:
`;
  /** Codes with their places and severities, of a rule as an edge file has it. */
  function found(rule: string): readonly string[] {
    const file = readEdgeFile(`${HEAD}  - { ${rule} }\n`, 'edge.yaml');
    if (!file.ok) throw new Error(file.diagnostics.map(formatDiagnostic).join('\n'));
    return lintRuleSet(file.ruleSet).map(formatDiagnostic);
  }
  const messages = (state: string): string =>
    `info: rules[0].key: is missing, so the rule is identified by its content: each edit of it resets ${state}; add a name that does not change, such as \`key: login-limit\``;
  const POOL = 'type: origin_pool, host_includes: [example.com], origins';

  test.each([
    ['type: rate_limit, limit: 5', 'its counters'],
    ['type: rate_limit, limit: 5, action_mode: dry_run', 'its counters'],
    ['type: rate_limit, limit: 5, on_breach: captcha', 'its counters and the clearances of visitors'],
    ['type: captcha', 'the clearances of visitors'],
    ['type: fingerprint, match_ja4: [t13d*], action: challenge', 'the clearances of visitors'],
    [`${POOL}: [{ address: 198.51.100.1 }, { address: 198.51.100.2 }]`, 'the health of its origins'],
  ])('%s: a missing key is reported', (rule, state) => {
    expect(found(rule)).toEqual([messages(state)]);
    expect(found(`${rule}, key: named`)).toEqual([]);
    expect(found(`${rule}, id: 70`)).toEqual([]);
    expect(found(`${rule}, enabled: false`)).toEqual([]);
  });

  test.each([
    'type: drop, countries: [KP]',
    'type: waf',
    'type: cache',
    'type: fingerprint, match_ja4: [t13d*], action: tag',
    `${POOL}: [{ address: 198.51.100.1 }]`,
  ])('%s: no finding, since an edit resets no state', (rule) => {
    expect(found(rule)).toEqual([]);
  });

  test('rules of the API are not reported, since they have ids', () => {
    const rules = [{ type: 'rate_limit', limit: 5 }, { type: 'captcha' }];
    expect(codes(...rules)).toEqual([]);
  });
});
