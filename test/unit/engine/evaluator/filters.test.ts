/** What each filter lets through (semantics §3, §5), by hand; the generated cases are held to the oracle elsewhere. */
import { describe, expect, test } from 'vitest';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import { loadPlan } from '../../../../src/engine/evaluator/index.ts';
import type { Rule } from '../../../../src/rules/model/types.ts';
import { dnsRecord, request, rule, ruleSet } from '../../../support/sample-rules.ts';

type Fields = Parameters<typeof request>[0];

/** Whether a rule matches: it is recorded. Error pages are asked for a 500 of the origin. */
function matches(one: Rule, fields: Fields): boolean {
  const records = [dnsRecord(1, '@'), dnsRecord(2, 'www'), dnsRecord(3, '*'), dnsRecord(4, 'www')];
  const evaluator = loadPlan(seal(compile(ruleSet({ rules: [one], records })).plan));
  const asked = request({ bot: null, ...fields });
  const decision =
    one.type === 'error_page' ? evaluator.errorPage(asked, 500, 'origin') : evaluator.evaluate(asked);
  return decision.matches.length === 1;
}

type Row = readonly [string, Rule, Fields, boolean];

describe('the twin of a path with params', () => {
  const admin = { path_includes: ['/admin'] };
  const twice = { path_includes: ['/a*'], path_excludes: ['/admin'] };
  const rows: readonly Row[] = [
    ['an include needs one form', rule('drop', 1, admin), { target: '/admin;x' }, true],
    [
      'an include needs one form, the other',
      rule('drop', 1, { path_includes: ['/admin;x'] }),
      { target: '/admin;x' },
      true,
    ],
    ['an exclude needs both', rule('drop', 1, twice), { target: '/admin;x' }, true],
    [
      'an exclude that holds both',
      rule('drop', 1, { ...twice, path_excludes: ['/admin*'] }),
      { target: '/admin;x' },
      false,
    ],
    ['an exclude without params', rule('drop', 1, twice), { target: '/admin' }, false],
    ['cache: an include needs both', rule('cache', 1, admin), { target: '/admin;x' }, false],
    [
      'cache: an include that holds both',
      rule('cache', 1, { path_includes: ['/admin*'] }),
      { target: '/admin;x' },
      true,
    ],
    ['cache: an exclude needs one form', rule('cache', 1, twice), { target: '/admin;x' }, false],
    ['cache: without params', rule('cache', 1, admin), { target: '/admin' }, true],
    [
      'regexes see both forms',
      rule('redirect', 1, { path_match_type: 'regex', path_includes: ['^/a$'] }),
      { target: '/a;x' },
      true,
    ],
    ['error pages too', rule('error_page', 1, admin), { target: '/admin;x' }, true],
  ];
  test.each(rows)('%s', (_name, one, fields, expected) => expect(matches(one, fields)).toBe(expected));
});

describe('hosts', () => {
  const host = (
    host_match_type: 'exact' | 'wildcard' | 'regex',
    includes: string[],
    excludes: string[] = [],
  ): Rule => rule('redirect', 1, { host_match_type, host_includes: includes, host_excludes: excludes });
  const rows: readonly Row[] = [
    ['no filter', rule('redirect', 1), {}, true],
    ['exact', host('exact', ['WWW.example.com.']), { host: 'www.example.com' }, true],
    ['exact, another', host('exact', ['www.example.com']), { host: 'a.www.example.com' }, false],
    ['`*.` takes any depth', host('wildcard', ['*.example.com']), { host: 'b.a.example.com' }, true],
    ['`*.` leaves the name itself out', host('wildcard', ['*.example.com']), { host: 'example.com' }, false],
    ['a lone star', host('wildcard', ['*']), { host: 'example.com' }, true],
    ['excludes win', host('wildcard', ['*'], ['www.*']), { host: 'www.example.com' }, false],
    ['excludes alone', host('wildcard', [], ['www.*']), { host: 'example.com' }, true],
    [
      'regexes ignore case and are not anchored',
      host('regex', ['W{3}\\.EX']),
      { host: 'www.example.com' },
      true,
    ],
    [
      'regexes see the canonical host',
      host('regex', ['^www\\.example\\.com$']),
      { host: 'WWW.example.com.:8443' },
      true,
    ],
    [
      'host_pattern is one more entry',
      rule('redirect', 1, { host_match_type: 'exact', host_pattern: 'www.example.com' }),
      { host: 'www.example.com' },
      true,
    ],
    [
      'host_pattern beside a list',
      rule('redirect', 1, {
        host_match_type: 'exact',
        host_pattern: 'www.example.com',
        host_includes: ['a.example.com'],
      }),
      { host: 'a.example.com' },
      true,
    ],
  ];
  test.each(rows)('%s', (_name, one, fields, expected) => expect(matches(one, fields)).toBe(expected));
});

describe('scope', () => {
  const rows: readonly Row[] = [
    ['a record of the host', rule('redirect', 1, { record_ids: [2] }), { host: 'www.example.com' }, true],
    ['any record of the host', rule('redirect', 1, { record_ids: [4] }), { host: 'www.example.com' }, true],
    ['another host’s', rule('redirect', 1, { record_ids: [1, 3] }), { host: 'www.example.com' }, false],
    ['the wildcard’s', rule('redirect', 1, { record_ids: [3] }), { host: 'x.y.example.com' }, true],
    ['disabled', rule('redirect', 1, { enabled: false }), {}, false],
  ];
  test.each(rows)('%s', (_name, one, fields, expected) => expect(matches(one, fields)).toBe(expected));
});

describe('paths', () => {
  const path = (path_match_type: 'wildcard' | 'regex', ...path_includes: string[]): Rule =>
    rule('redirect', 1, { path_match_type, path_includes });
  const rows: readonly Row[] = [
    ['an empty list, wildcard', path('wildcard'), { target: '/x' }, true],
    ['an empty list, regex', path('regex'), { target: '/x' }, true],
    ['`/api/*` and what is below', path('wildcard', '/api/*'), { target: '/api/' }, true],
    ['`/api/*` and `/api`', path('wildcard', '/api/*'), { target: '/api' }, false],
    ['case counts', path('wildcard', '/API'), { target: '/api' }, false],
    ['a star takes slashes', path('wildcard', '/a*z'), { target: '/a/b/c/z' }, true],
    ['a star takes nothing', path('wildcard', '/a*z'), { target: '/az' }, true],
    ['pieces may not overlap', path('wildcard', '/aba*aba'), { target: '/aba' }, false],
    ['a question mark is itself', path('wildcard', '/a%3F'), { target: '/a%3fb' }, false],
    ['an escaped star is itself', path('wildcard', '/%2A'), { target: '/a' }, false],
    ['an escaped star meets a star', path('wildcard', '/%2A'), { target: '/*' }, true],
    ['regex: `.` takes newlines', path('regex', '^/a.b$'), { target: '/a%0Ab' }, true],
    ['regex: case counts', path('regex', '/A'), { target: '/a' }, false],
    ['regex: not anchored', path('regex', 'b+'), { target: '/abbc' }, true],
    ['regex: escapes in it are not decoded', path('regex', '%41'), { target: '/A' }, false],
    ['regex: beyond ASCII', path('regex', '^/[à-ü]$'), { target: '/%C3%A9' }, true],
  ];
  test.each(rows)('%s', (_name, one, fields, expected) => expect(matches(one, fields)).toBe(expected));
});

describe('visitors', () => {
  const both = { countries: ['DE'], ips: ['192.0.2.0/24'] };
  const bot = { kind: 'gptbot', verified: false };
  const rows: readonly Row[] = [
    ['country and address must both match', rule('drop', 1, both), { country: 'DE', ip: '192.0.2.1' }, true],
    ['country alone is not enough', rule('drop', 1, both), { country: 'DE', ip: '203.0.113.1' }, false],
    ['address alone is not enough', rule('drop', 1, both), { country: 'FR', ip: '192.0.2.1' }, false],
    [
      'exclude takes the unknown country',
      rule('drop', 1, { countries: ['DE'], country_match_type: 'exclude' }),
      {},
      true,
    ],
    [
      'exclude leaves the listed',
      rule('drop', 1, { countries: ['DE'], country_match_type: 'exclude' }),
      { country: 'de' },
      false,
    ],
    ['include never takes the unknown', rule('drop', 1, { countries: ['DE'] }), { country: 'XX' }, false],
    ['a bot of the list', rule('bot_route', 1, { bot_kinds: ['gptbot'] }), { bot }, true],
    ['a bot of no list', rule('bot_route', 1, { bot_kinds: ['ccbot'] }), { bot }, false],
    [
      '`*` takes kinds that have no name',
      rule('bot_route', 1),
      { bot: { kind: 'newbot', verified: false } },
      true,
    ],
    ['`*` takes no people', rule('bot_route', 1), { bot: null }, false],
    [
      'generic-bot is a kind',
      rule('bot_route', 1, { bot_kinds: ['generic-bot'] }),
      { bot: { kind: 'generic-bot', verified: false } },
      true,
    ],
    ['unverified where verified is asked', rule('bot_route', 1, { require_verified: true }), { bot }, false],
    [
      'verified where it is asked',
      rule('bot_route', 1, { require_verified: true }),
      { bot: { ...bot, verified: true } },
      true,
    ],
    ['an exact fingerprint', rule('fingerprint', 1, { match_ja4: ['t13d'] }), { ja4: 't13d' }, true],
    ['no prefix without a star', rule('fingerprint', 1, { match_ja4: ['t13'] }), { ja4: 't13d' }, false],
    ['a prefix with a star', rule('fingerprint', 1, { match_ja4: ['t13*'] }), { ja4: 't13d' }, true],
    ['a lone star needs a fingerprint', rule('fingerprint', 1, { match_ja4: ['*'] }), {}, false],
    [
      'both lists must match',
      rule('fingerprint', 1, { match_ja4: ['a'], match_ja4h: ['b'] }),
      { ja4: 'a', ja4h: 'c' },
      false,
    ],
    [
      'inside a list any',
      rule('fingerprint', 1, { match_ja4: ['x', 'a'], match_ja4h: ['b'] }),
      { ja4: 'a', ja4h: 'b' },
      true,
    ],
  ];
  test.each(rows)('%s', (_name, one, fields, expected) => expect(matches(one, fields)).toBe(expected));
});
