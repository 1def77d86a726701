/** Each member of `conditions` on facts and tags, decided by hand from semantics §12. */
import { describe, expect, test } from 'vitest';
import type { Conditions, Rule } from '../../src/rules/model/types.ts';
import { type ConditionRow, decide, request, rule, ruleSet, wrongRows } from '../support/sample-rules.ts';
import { createOracle } from './index.ts';

type Sent = Parameters<typeof request>[0];

describe('members', () => {
  test('all must hold, an absent one asks nothing', () => {
    const both: Conditions = { methods: ['POST'], countries: { includes: ['DE'] } };
    expect(
      wrongRows([
        [{}, {}, true],
        [both, { method: 'POST', country: 'DE' }, true],
        [both, { method: 'GET', country: 'DE' }, false],
        [both, { method: 'POST', country: 'FR' }, false],
      ]),
    ).toEqual([]);
  });

  test('methods are compared as sent, and one suffices', () => {
    const member: Conditions = { methods: ['GET', 'PURGE'] };
    expect(
      wrongRows([
        [member, { method: 'GET' }, true],
        [member, { method: 'PURGE' }, true],
        [member, { method: 'get' }, false],
        [member, { method: 'HEAD' }, false],
        [member, { method: 7 }, false],
        [{ methods: ['7'] }, { method: 7 }, false],
        [member, { method: undefined }, false],
        [{ methods: ['get'] }, { method: 'get' }, true],
      ]),
    ).toEqual([]);
  });

  test('schemes are those of the gate: all but `http` is `https`', () => {
    expect(
      wrongRows([
        [{ schemes: ['http'] }, { scheme: 'HTTP' }, true],
        [{ schemes: ['http'] }, { scheme: 'https' }, false],
        [{ schemes: ['https'] }, { scheme: 'ws' }, true],
        [{ schemes: ['http', 'https'] }, { scheme: 7 }, true],
      ]),
    ).toEqual([]);
  });

  test('ips: excludes win, and an unknown address is in neither list', () => {
    const net = '198.51.100.0/24';
    expect(
      wrongRows([
        [{ ips: { includes: [net] } }, { ip: '::ffff:198.51.100.9' }, true],
        [{ ips: { includes: [net] } }, { ip: '192.0.2.1' }, false],
        [{ ips: { includes: [net, '192.0.2.0-192.0.2.3'] } }, { ip: '192.0.2.3' }, true],
        [{ ips: { includes: [net], excludes: ['198.51.100.9'] } }, { ip: '198.51.100.9' }, false],
        [{ ips: { includes: [net], excludes: ['198.51.100.9'] } }, { ip: '198.51.100.8' }, true],
        [{ ips: { excludes: [net] } }, { ip: '2001:db8::1' }, true],
        [{ ips: { excludes: [net] } }, { ip: '198.51.100.1' }, false],
        [{ ips: { includes: ['0.0.0.0/0', '::/0'] } }, { ip: '010.0.0.1' }, false],
        [{ ips: { excludes: ['0.0.0.0/0', '::/0'] } }, { ip: null }, true],
      ]),
    ).toEqual([]);
  });

  test('countries are compared in upper case, and `XX` is none', () => {
    expect(
      wrongRows([
        [{ countries: { includes: ['DE'] } }, { country: 'de' }, true],
        [{ countries: { excludes: ['DE'] } }, { country: 'DE' }, false],
        [{ countries: { includes: ['DE'] } }, { country: 'XX' }, false],
        [{ countries: { excludes: ['DE'] } }, { country: 'XX' }, true],
        [{ countries: { excludes: ['DE'] } }, {}, true],
      ]),
    ).toEqual([]);
  });

  test('asns are whole numbers from 1 to 4294967295, anything else is unknown', () => {
    const most = 4_294_967_295;
    expect(
      wrongRows([
        [{ asns: { includes: [1, most] } }, { asn: most }, true],
        [{ asns: { includes: [1, most] } }, { asn: 1 }, true],
        [{ asns: { includes: [1] } }, { asn: 2 }, false],
        [{ asns: { excludes: [1] } }, { asn: 1 }, false],
        [{ asns: { excludes: [1] } }, { asn: 2 }, true],
        ...[0, -1, 1.5, '1', most + 1, null, undefined, Number.NaN, [1]].flatMap((asn): ConditionRow[] => [
          [{ asns: { includes: [1] } }, { asn }, false],
          [{ asns: { excludes: [1] } }, { asn }, true],
        ]),
      ]),
    ).toEqual([]);
  });

  test('bot_kinds: `*` is any classified bot, and who is no bot is in neither list', () => {
    const odd = { kind: 'newbot', verified: false };
    expect(
      wrongRows([
        [{ bot_kinds: { includes: ['*'] } }, { bot: odd }, true],
        [{ bot_kinds: { excludes: ['*'] } }, { bot: odd }, false],
        [{ bot_kinds: { includes: ['gptbot'] } }, { bot: odd }, false],
        [{ bot_kinds: { includes: ['gptbot'] } }, { headers: { 'user-agent': 'GPTBot/1.2' } }, true],
        [{ bot_kinds: { includes: ['*'], excludes: ['gptbot'] } }, { bot: { kind: 'gptbot' } }, false],
        [{ bot_kinds: { includes: ['*'] } }, { bot: null }, false],
        [{ bot_kinds: { excludes: ['*'] } }, { bot: null }, true],
      ]),
    ).toEqual([]);
  });

  test('verified_bot: `true` is a verified bot, `false` is everybody else', () => {
    const bot = { kind: 'googlebot', verified: true };
    expect(
      wrongRows([
        [{ verified_bot: true }, { bot }, true],
        [{ verified_bot: false }, { bot }, false],
        [{ verified_bot: true }, { bot: { ...bot, verified: false } }, false],
        [{ verified_bot: false }, { bot: { ...bot, verified: false } }, true],
        [{ verified_bot: true }, { bot: null }, false],
        [{ verified_bot: false }, { bot: null }, true],
      ]),
    ).toEqual([]);
  });

  test('ja4 is exact or a prefix that ends in `*`', () => {
    expect(
      wrongRows([
        [{ ja4: { includes: ['t13*'] } }, { ja4: 't13' }, true],
        [{ ja4: { includes: ['t13'] } }, { ja4: 't13d' }, false],
        [{ ja4: { includes: ['t13*'] } }, { ja4: 'T13' }, false],
        [{ ja4: { includes: ['*'] } }, { ja4: '' }, true],
        [{ ja4: { includes: ['*'] } }, {}, false],
        [{ ja4: { excludes: ['*'] } }, { ja4: null }, true],
        [{ ja4: { includes: ['t1*'], excludes: ['t12'] } }, { ja4: 't12' }, false],
      ]),
    ).toEqual([]);
  });

  test('user_agents compare as wildcards without case, line by line', () => {
    const agent = (value: unknown) => ({ headers: { 'User-Agent': value } });
    expect(
      wrongRows([
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
      ]),
    ).toEqual([]);
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
