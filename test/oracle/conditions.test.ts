/** Each member of `conditions`, and each op at its edges, decided by hand from semantics §12. */
import { describe, expect, test } from 'vitest';
import type { Conditions, Rule, ValueCondition } from '../../src/rules/model/types.ts';
import { condition, decide, request, rule, ruleSet } from '../support/sample-rules.ts';
import { createOracle } from './index.ts';

type Sent = Parameters<typeof request>[0];

/** Whether a drop rule that is narrowed by nothing else drops the request. */
function holds(conditions: Conditions, sent: Sent = {}): boolean {
  return decide({ rules: [rule('drop', 1, { conditions })] }, sent).action === 'block';
}

type Row = readonly [conditions: Conditions, sent: Sent, expected: boolean];

function check(rows: readonly Row[]): void {
  for (const [conditions, sent, expected] of rows) {
    const shown = JSON.stringify({ conditions, sent });
    expect(holds(conditions, sent), shown.slice(0, 400)).toBe(expected);
  }
}

describe('members', () => {
  test('all must hold, an absent one asks nothing', () => {
    const both: Conditions = { methods: ['POST'], countries: { includes: ['DE'] } };
    check([
      [{}, {}, true],
      [both, { method: 'POST', country: 'DE' }, true],
      [both, { method: 'GET', country: 'DE' }, false],
      [both, { method: 'POST', country: 'FR' }, false],
    ]);
  });

  test('methods are compared as sent, and one suffices', () => {
    const member: Conditions = { methods: ['GET', 'PURGE'] };
    check([
      [member, { method: 'GET' }, true],
      [member, { method: 'PURGE' }, true],
      [member, { method: 'get' }, false],
      [member, { method: 'HEAD' }, false],
      [member, { method: 7 }, false],
      [{ methods: ['7'] }, { method: 7 }, false],
      [member, { method: undefined }, false],
      [{ methods: ['get'] }, { method: 'get' }, true],
    ]);
  });

  test('schemes are those of the gate: all but `http` is `https`', () => {
    check([
      [{ schemes: ['http'] }, { scheme: 'HTTP' }, true],
      [{ schemes: ['http'] }, { scheme: 'https' }, false],
      [{ schemes: ['https'] }, { scheme: 'ws' }, true],
      [{ schemes: ['http', 'https'] }, { scheme: 7 }, true],
    ]);
  });

  test('ips: excludes win, and an unknown address is in neither list', () => {
    const net = '198.51.100.0/24';
    check([
      [{ ips: { includes: [net] } }, { ip: '::ffff:198.51.100.9' }, true],
      [{ ips: { includes: [net] } }, { ip: '192.0.2.1' }, false],
      [{ ips: { includes: [net, '192.0.2.0-192.0.2.3'] } }, { ip: '192.0.2.3' }, true],
      [{ ips: { includes: [net], excludes: ['198.51.100.9'] } }, { ip: '198.51.100.9' }, false],
      [{ ips: { includes: [net], excludes: ['198.51.100.9'] } }, { ip: '198.51.100.8' }, true],
      [{ ips: { excludes: [net] } }, { ip: '2001:db8::1' }, true],
      [{ ips: { excludes: [net] } }, { ip: '198.51.100.1' }, false],
      [{ ips: { includes: ['0.0.0.0/0', '::/0'] } }, { ip: '010.0.0.1' }, false],
      [{ ips: { excludes: ['0.0.0.0/0', '::/0'] } }, { ip: null }, true],
    ]);
  });

  test('countries are compared in upper case, and `XX` is none', () => {
    check([
      [{ countries: { includes: ['DE'] } }, { country: 'de' }, true],
      [{ countries: { excludes: ['DE'] } }, { country: 'DE' }, false],
      [{ countries: { includes: ['DE'] } }, { country: 'XX' }, false],
      [{ countries: { excludes: ['DE'] } }, { country: 'XX' }, true],
      [{ countries: { excludes: ['DE'] } }, {}, true],
    ]);
  });

  test('asns are whole numbers from 1 to 4294967295, anything else is unknown', () => {
    const most = 4_294_967_295;
    check([
      [{ asns: { includes: [1, most] } }, { asn: most }, true],
      [{ asns: { includes: [1, most] } }, { asn: 1 }, true],
      [{ asns: { includes: [1] } }, { asn: 2 }, false],
      [{ asns: { excludes: [1] } }, { asn: 1 }, false],
      [{ asns: { excludes: [1] } }, { asn: 2 }, true],
      ...[0, -1, 1.5, '1', most + 1, null, undefined, Number.NaN, [1]].flatMap((asn): Row[] => [
        [{ asns: { includes: [1] } }, { asn }, false],
        [{ asns: { excludes: [1] } }, { asn }, true],
      ]),
    ]);
  });

  test('bot_kinds: `*` is any classified bot, and who is no bot is in neither list', () => {
    const odd = { kind: 'newbot', verified: false };
    check([
      [{ bot_kinds: { includes: ['*'] } }, { bot: odd }, true],
      [{ bot_kinds: { excludes: ['*'] } }, { bot: odd }, false],
      [{ bot_kinds: { includes: ['gptbot'] } }, { bot: odd }, false],
      [{ bot_kinds: { includes: ['gptbot'] } }, { headers: { 'user-agent': 'GPTBot/1.2' } }, true],
      [{ bot_kinds: { includes: ['*'], excludes: ['gptbot'] } }, { bot: { kind: 'gptbot' } }, false],
      [{ bot_kinds: { includes: ['*'] } }, { bot: null }, false],
      [{ bot_kinds: { excludes: ['*'] } }, { bot: null }, true],
    ]);
  });

  test('verified_bot: `true` is a verified bot, `false` is everybody else', () => {
    const bot = { kind: 'googlebot', verified: true };
    check([
      [{ verified_bot: true }, { bot }, true],
      [{ verified_bot: false }, { bot }, false],
      [{ verified_bot: true }, { bot: { ...bot, verified: false } }, false],
      [{ verified_bot: false }, { bot: { ...bot, verified: false } }, true],
      [{ verified_bot: true }, { bot: null }, false],
      [{ verified_bot: false }, { bot: null }, true],
    ]);
  });

  test('ja4 is exact or a prefix that ends in `*`', () => {
    check([
      [{ ja4: { includes: ['t13*'] } }, { ja4: 't13' }, true],
      [{ ja4: { includes: ['t13'] } }, { ja4: 't13d' }, false],
      [{ ja4: { includes: ['t13*'] } }, { ja4: 'T13' }, false],
      [{ ja4: { includes: ['*'] } }, { ja4: '' }, true],
      [{ ja4: { includes: ['*'] } }, {}, false],
      [{ ja4: { excludes: ['*'] } }, { ja4: null }, true],
      [{ ja4: { includes: ['t1*'], excludes: ['t12'] } }, { ja4: 't12' }, false],
    ]);
  });

  test('user_agents compare as wildcards without case, line by line', () => {
    const agent = (value: unknown) => ({ headers: { 'User-Agent': value } });
    check([
      [{ user_agents: { includes: ['*CURL*'] } }, agent('my curl/8'), true],
      [{ user_agents: { includes: ['curl*'] } }, agent('my curl/8'), false],
      [{ user_agents: { includes: ['curl'] } }, agent(' \tCurl '), true],
      [{ user_agents: { includes: ['a', 'b'] } }, agent(['x', 'B']), true],
      [{ user_agents: { excludes: ['b'] } }, agent(['x', 'B']), false],
      [{ user_agents: { includes: ['*'], excludes: ['b'] } }, agent(['x', 'y']), true],
      [{ user_agents: { includes: ['*'] } }, agent(''), true],
      [{ user_agents: { includes: ['*'] } }, {}, false],
      [{ user_agents: { excludes: ['*'] } }, {}, true],
      [{ user_agents: { includes: ['É'] } }, agent('é'), false],
      [{ user_agents: { includes: ['a*'] } }, agent(`A${'b'.repeat(9_000)}`), true],
      [{ user_agents: { includes: ['a*b'] } }, agent(`A${'b'.repeat(9_000)}`), false],
    ]);
  });
});

describe('headers', () => {
  const seen = (headers: unknown, ...asked: Parameters<typeof condition>): Row =>
    [{ headers: [condition(...asked)] }, { headers }, true] as const;
  const unseen = (...row: Parameters<typeof seen>): Row => [seen(...row)[0], seen(...row)[1], false];

  test('all listed conditions must hold', () => {
    const headers = [condition('x-a', 'present'), condition('x-b', 'absent')];
    check([
      [{ headers }, { headers: { 'x-a': '' } }, true],
      [{ headers }, { headers: {} }, false],
      [{ headers }, { headers: { 'x-a': '', 'x-b': '' } }, false],
    ]);
  });

  test('the property in lower case wins over others, of which the last counts', () => {
    check([
      seen({ 'X-A': '1', 'x-a': '2' }, 'x-a', 'equals', ['2']),
      unseen({ 'x-a': '2', 'X-A': '1' }, 'x-a', 'equals', ['1']),
      seen({ 'X-A': '1', 'X-a': '2' }, 'x-a', 'equals', ['2']),
      unseen({ 'X-A': '1', 'X-a': '2' }, 'x-a', 'equals', ['1']),
      unseen({ 'X-A': '1', 'x-a': null }, 'x-a', 'present'),
      unseen({ 'x-ab': '1', x_a: '1' }, 'x-a', 'present'),
      seen({ 'x-a': '' }, 'x-a', 'present'),
    ]);
  });

  test('only own properties are headers', () => {
    check([
      unseen({}, 'constructor', 'present'),
      unseen({}, '__proto__', 'present'),
      seen({ constructor: 'x' }, 'constructor', 'present'),
    ]);
  });

  test('every text of a list is a line; other values are none', () => {
    check([
      seen({ 'x-a': ['1', '2'] }, 'x-a', 'equals', ['2']),
      seen({ 'x-a': [7, null, '2'] }, 'x-a', 'equals', ['2']),
      unseen({ 'x-a': [7, null] }, 'x-a', 'present'),
      unseen({ 'x-a': [] }, 'x-a', 'present'),
      unseen({ 'x-a': 7 }, 'x-a', 'present'),
      seen({ 'x-a': { 0: 'a' } }, 'x-a', 'absent'),
      ...[undefined, null, 'x-a', 7].map((headers) => seen(headers, 'x-a', 'absent')),
    ]);
  });

  test('blanks and tabs around a line are removed, those inside it and other white space are not', () => {
    check([
      seen({ 'x-a': ' \t a b\t ' }, 'x-a', 'equals', ['a b']),
      seen({ 'x-a': ' \t ' }, 'x-a', 'equals', ['']),
      unseen({ 'x-a': '\u00a0a' }, 'x-a', 'equals', ['a']),
      unseen({ 'x-a': 'a, b' }, 'x-a', 'equals', ['a']),
    ]);
  });
});

describe('query', () => {
  const asks = (target: string, ...asked: Parameters<typeof condition>): boolean =>
    holds({ query: [condition(...asked)] }, { target });

  test.each([
    ['/?a=1', 'a', '1'],
    ['/?b&a=1', 'a', '1'],
    ['/?a', 'a', ''],
    ['/?a=', 'a', ''],
    ['/?a=1=2', 'a', '1=2'],
    ['/?x&a=1?2', 'a', '1?2'],
    ['/?%61=%31', 'a', '1'],
    ['/?a+b=1+2%2B3', 'a b', '1 2+3'],
    ['/?a=%2561', 'a', '%61'],
    ['/?a=%C3%a9é', 'a', 'éé'],
    ['/?a=%ff%c3', 'a', '%FF%C3'],
    ['/?a=%zz%4', 'a', '%zz%4'],
    ['/?a=1%26b=2', 'a', '1&b=2'],
    ['/?a%3D=1', 'a=', '1'],
    ['/?a=1;b=2', 'a', '1;b=2'],
  ])('%s: `%s` is `%s`', (target, name, value) => {
    expect(asks(target, name, 'equals', [value])).toBe(true);
  });

  test('names compare exactly, and one without a name is none', () => {
    expect(asks('/?A=1', 'a', 'present')).toBe(false);
    expect(asks('/?ab=1', 'a', 'present')).toBe(false);
    expect(asks('/?=1&&', '', 'present')).toBe(false);
    expect(asks('/', 'a', 'absent')).toBe(true);
    expect(asks('/?', 'a', 'absent')).toBe(true);
    expect(asks('/a=1', 'a', 'absent')).toBe(true);
  });

  test('every occurrence counts', () => {
    expect(asks('/?a=1&a=2', 'a', 'equals', ['2'])).toBe(true);
    expect(asks('/?a=1&a=2', 'a', 'not_equals', ['2'])).toBe(false);
    expect(asks('/?a=1&a=2', 'a', 'not_equals', ['3'])).toBe(true);
  });
});

describe('cookies', () => {
  const asks = (cookie: unknown, ...asked: Parameters<typeof condition>): boolean =>
    holds({ cookies: [condition(...asked)] }, { headers: { Cookie: cookie } });

  test.each([
    ['a=1', '1'],
    ['b=2; a=1', '1'],
    ['b=2;a=1;', '1'],
    [' \ta\t = 1 \t; b=2', '1'],
    ['a=', ''],
    ['a=1=2', '1=2'],
    ['a="1"', '"1"'],
    ['a=%31', '%31'],
    ['a=1, b=2', '1, b=2'],
    [['b=2', 'a=1'], '1'],
    ['a=1; a=2', '2'],
  ])('%j: `a` is `%s`', (cookie, value) => {
    expect(asks(cookie, 'a', 'equals', [value])).toBe(true);
  });

  test('a pair without `=` or without a name is none, and names compare exactly', () => {
    for (const cookie of ['a', 'a; b=1', 'A=1', 'ab=1', '=a', 'b=a=1', 7]) {
      expect(asks(cookie, 'a', 'absent'), String(cookie)).toBe(true);
    }
  });
});

describe('ops', () => {
  /** Whether the condition holds for a header with these lines; its negation must do the opposite. */
  function compared(
    lines: readonly string[],
    op: ValueCondition['op'],
    [values, ignore_case = false]: readonly [values: readonly string[], ignore_case?: boolean],
  ): boolean {
    const ask = (asked: ValueCondition['op']): boolean =>
      holds({ headers: [condition('x', asked, values, { ignore_case })] }, { headers: { x: lines } });
    expect(ask(`not_${op}` as ValueCondition['op'])).toBe(!ask(op));
    return ask(op);
  }

  test.each([
    ['equals', 'abc', 'abc', true],
    ['equals', 'abc', 'ab', false],
    ['equals', '', '', true],
    ['equals', 'a', 'A', false],
    ['prefix', 'abc', 'ab', true],
    ['prefix', 'abc', 'bc', false],
    ['suffix', 'abc', 'bc', true],
    ['suffix', 'abc', 'ab', false],
    ['contains', 'abc', 'b', true],
    ['contains', 'abc', 'ac', false],
    ['wildcard', 'abc', 'a*c', true],
    ['wildcard', 'ac', 'a*c', true],
    ['wildcard', 'a\nc', 'a*c', true],
    ['wildcard', 'abcd', 'a*c', false],
    ['wildcard', 'abc', 'b', false],
    ['wildcard', 'a?c', 'a?c', true],
    ['wildcard', 'abc', 'a?c', false],
    ['wildcard', 'a', 'a*a', false],
    ['wildcard', '', '*', true],
    ['regex', 'xabcx', 'a.c', true],
    ['regex', 'a\nc', 'a.c', true],
    ['regex', 'abc', '^b', false],
    ['regex', 'abc', 'B', false],
    ['regex', 'abc', '(?i)B', true],
    ['regex', 'a\nb', '^b', false],
    ['regex', 'é', '^\\xe9$', true],
    ['regex', '', '^$', true],
  ] as const)('%s: %j with %j: %s', (op, text, value, expected) => {
    expect(compared([text], op, [[value]])).toBe(expected);
  });

  test('one value of one occurrence suffices, and none for the negation', () => {
    expect(compared(['a', 'b'], 'equals', [['x', 'b']])).toBe(true);
    expect(compared(['a', 'b'], 'equals', [['x', 'y']])).toBe(false);
    expect(compared([], 'contains', [['a']])).toBe(false);
  });

  test.each([
    ['equals', 'ABC', 'aBc', true],
    ['prefix', 'ABC', 'aB', true],
    ['suffix', 'ABC', 'bc', true],
    ['contains', 'ABC', 'b', true],
    ['wildcard', 'ABC', 'a*C', true],
    ['equals', 'É', 'é', false],
    ['wildcard', 'É', 'é', false],
    ['regex', 'ABC', '^a.c$', true],
    ['regex', 'É', 'é', true],
  ] as const)('%s without case: %j with %j: %s', (op, text, value, expected) => {
    expect(compared([text], op, [[value], true])).toBe(expected);
  });

  test('of a value over 8,192 octets only what is read decides', () => {
    const read = `ab${'x'.repeat(8_188)}yz`;
    const long = (op: ValueCondition['op'], value: string): boolean => compared([`${read}w`], op, [[value]]);
    expect(compared([read], 'suffix', [['yz']])).toBe(true);
    expect(long('equals', `${read}w`)).toBe(false);
    expect(long('suffix', 'w')).toBe(false);
    expect(long('suffix', 'z')).toBe(false);
    expect(long('prefix', 'ab')).toBe(true);
    expect(long('contains', 'yz')).toBe(true);
    expect(long('contains', 'w')).toBe(false);
    expect(long('wildcard', 'ab*yz*')).toBe(true);
    expect(long('wildcard', 'ab*w*')).toBe(false);
    expect(long('wildcard', '*w')).toBe(false);
    expect(long('regex', '^ab')).toBe(true);
    expect(long('regex', 'yz')).toBe(true);
    expect(long('regex', 'yz$')).toBe(false);
    expect(long('regex', 'z\\b')).toBe(false);
    expect(long('regex', '^ab.*$')).toBe(true);
    expect(long('regex', '[^q]*$')).toBe(true);
    expect(long('regex', '^[^q]*$')).toBe(false);
    expect(long('regex', 'w')).toBe(false);
  });

  test('a parameter has the octets of its UTF-8 form, of which whole characters are read', () => {
    const asks = (value: string, op: ValueCondition['op'], wanted: string): boolean =>
      holds({ query: [condition('q', op, [wanted])] }, { target: `/?q=${value}` });
    const full = 'é'.repeat(4_096);
    expect(asks(full, 'suffix', 'é')).toBe(true);
    expect(asks(`${full}a`, 'suffix', 'a')).toBe(false);
    expect(asks(`a${full}`, 'suffix', 'é')).toBe(false);
    expect(asks(`a${'b'.repeat(8_190)}é`, 'contains', 'é')).toBe(false);
    expect(asks(`a${'b'.repeat(8_189)}é`, 'contains', 'é')).toBe(true);
    expect(asks('%C3%A9'.repeat(2_000), 'suffix', 'é')).toBe(true);
    expect(asks(`${'%ff'.repeat(2_730)}bc`, 'suffix', 'c')).toBe(true);
    expect(asks(`${'%ff'.repeat(2_730)}bcd`, 'suffix', 'd')).toBe(false);
  });

  test('a cookie has the characters of its value, and its line any number', () => {
    const asks = (cookie: string, op: ValueCondition['op'], wanted: string): boolean =>
      holds({ cookies: [condition('a', op, [wanted])] }, { headers: { cookie } });
    expect(asks(`b=${'x'.repeat(9_000)}; a=1`, 'equals', '1')).toBe(true);
    expect(asks(`a=${'é'.repeat(8_192)}`, 'suffix', 'é')).toBe(true);
    expect(asks(`a=${'é'.repeat(8_193)}`, 'suffix', 'é')).toBe(false);
    expect(asks(`a= ${'x'.repeat(8_192)} ; b=1`, 'suffix', 'x')).toBe(true);
  });
});

describe('tags', () => {
  const tagged = { ja4: 't13d', bot: { kind: 'gptbot', verified: false } };
  const tagging = [
    rule('fingerprint', 1, { match_ja4: ['t13*'], action: 'tag' }),
    rule('bot_route', 2, { action: 'tag' }),
  ];

  function matched(last: Rule, rules: readonly Rule[] = tagging, sent: Sent = tagged): boolean {
    const { matches } = decide({ rules: [...rules, last] }, sent);
    return matches.some(({ id }) => id === last.id);
  }

  const redirect = (tags: Conditions['tags']): Rule => rule('redirect', 9, { conditions: { tags } });

  test('an entry is the tag of a rule that has tagged the request', () => {
    expect(matched(redirect({ includes: ['fingerprint/1'] }))).toBe(true);
    expect(matched(redirect({ includes: ['fingerprint/7', 'bot_route/2'] }))).toBe(true);
    expect(matched(redirect({ includes: ['fingerprint/2'] }))).toBe(false);
    expect(matched(redirect({ includes: ['fingerprint/1'], excludes: ['bot_route/2'] }))).toBe(false);
    expect(matched(redirect({ excludes: ['fingerprint/1'] }), tagging, { ja4: 't12' })).toBe(true);
    expect(matched(redirect({ includes: ['fingerprint/1'] }), tagging, { ja4: 't12' })).toBe(false);
  });

  test('a rule that matched without tagging gave no tag', () => {
    const rules = [rule('bot_route', 2, { action: 'alt_origin', alt_dest: 'alt' })];
    const last = rule('rate_limit', 9, { conditions: { tags: { includes: ['bot_route/2'] } } });
    expect(matched(last, rules)).toBe(false);
  });

  test('bot_route rules see tags of fingerprint rules, and none of their own phase', () => {
    const last = (entry: string): Rule =>
      rule('bot_route', 9, { action: 'tag', conditions: { tags: { includes: [entry] } } });
    expect(matched(last('fingerprint/1'))).toBe(true);
    expect(matched(last('bot_route/2'))).toBe(false);
  });

  test('keys name rules as ids do', () => {
    const keys = { rules: new Map([[1, 'browsers']]), records: new Map() };
    const action = (entry: string): string => {
      const rules = [...tagging, redirect({ includes: [entry] })];
      return createOracle({ ...ruleSet({ rules }), keys }).evaluate(request(tagged)).action;
    };
    for (const entry of ['browsers', 'fingerprint/browsers', 'fingerprint/1', 'bot_route/2']) {
      expect([entry, action(entry)]).toEqual([entry, 'redirect']);
    }
    for (const entry of ['bot_route/browsers', '1', 'Browsers']) {
      expect([entry, action(entry)]).toEqual([entry, 'forward']);
    }
  });

  test('a dry_run rule tags in the shadow alone', () => {
    const [first, second] = tagging;
    const rules = [{ ...first!, action_mode: 'dry_run' as const }, second!];
    const decision = decide({ rules: [...rules, redirect({ includes: ['fingerprint/1'] })] }, tagged);
    expect(decision).toMatchObject({ action: 'forward', shadow: { action: 'redirect' } });
    const other = decide({ rules: [...rules, redirect({ excludes: ['fingerprint/1'] })] }, tagged);
    expect(other).toMatchObject({ action: 'redirect', shadow: { action: 'forward' } });
  });

  test('error_page rules see the tags up to the rule that ended the request', () => {
    const page = (includes: string[], rules: readonly Rule[] = tagging): boolean => {
      const last = rule('error_page', 9, { codes: [403], conditions: { tags: { includes } } });
      const oracle = createOracle(ruleSet({ rules: [...rules, last] }));
      return oracle.errorPage(request(tagged), 403, 'edge').page !== null;
    };
    expect(page(['fingerprint/1'])).toBe(true);
    expect(page(['bot_route/2'])).toBe(true);
    const blocked = [...tagging, rule('fingerprint', 3, { match_ja4: ['t13*'], action: 'drop' })];
    expect(page(['fingerprint/1'], blocked)).toBe(true);
    expect(page(['bot_route/2'], blocked)).toBe(false);
    expect(page(['fingerprint/1'], [...tagging, rule('drop', 3)])).toBe(false);
  });

  test('the shadow of an error page has the tags of the shadow', () => {
    const dry = { action_mode: 'dry_run' } as const;
    const rules = [
      rule('fingerprint', 1, { ...dry, match_ja4: ['*'], action: 'tag' }),
      rule('error_page', 8, { codes: [500], conditions: { tags: { includes: ['fingerprint/1'] } } }),
      rule('error_page', 9, { ...dry, priority: 200, codes: [500], mode: 'origin' }),
    ];
    const answer = createOracle(ruleSet({ rules })).errorPage(request(tagged), 500, 'origin');
    expect(answer).toMatchObject({ page: null, shadow: { page: { rule: { id: 8 } } } });
  });
});

test('every type of rule takes conditions', () => {
  const conditions: Conditions = { methods: ['POST'] };
  const { rules } = {
    rules: [
      rule('drop', 1, { conditions, action_mode: 'dry_run' }),
      rule('fingerprint', 2, { conditions, match_ja4: ['*'], action: 'tag' }),
      rule('bot_route', 3, { conditions, action: 'tag' }),
      rule('rate_limit', 4, { conditions }),
      rule('waf', 5, { conditions }),
      rule('redirect', 6, { conditions, action_mode: 'dry_run' }),
      rule('captcha', 7, { conditions, action_mode: 'dry_run' }),
      rule('rewrite', 8, { conditions, path_target: '/x' }),
      rule('cache', 9, { conditions }),
      rule('origin_route', 10, { conditions, action_mode: 'dry_run' }),
      rule('origin_pool', 11, {
        conditions,
        origins: [{ address: 'a.test', port: null, scheme: 'https', weight: 1, node_ids: [], country: '' }],
      }),
    ] as const,
  };
  const sent = { ja4: 'x', bot: { kind: 'gptbot', verified: false } };
  const ids = (method: string) => decide({ rules }, { ...sent, method }).matches.map(({ id }) => id);
  expect(ids('POST')).toEqual(rules.map(({ id }) => id));
  expect(ids('GET')).toEqual([]);
});
