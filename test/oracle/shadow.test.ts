import { describe, expect, test } from 'vitest';
import type { Rule } from '../../src/rules/model/types.ts';
import { finding } from '../support/generate-waf.ts';
import { decide, dnsRecord, request, rule, ruleSet } from '../support/sample-rules.ts';
import { createOracle } from './index.ts';

const dry = { action_mode: 'dry_run' } as const;
const bot = { kind: 'gptbot', verified: false };
const origins = ['a', 'b'].map((address) => ({
  address,
  port: null,
  scheme: 'https' as const,
  weight: 1,
  node_ids: [],
  country: '',
}));

function told(decision: ReturnType<typeof decide> | null): string[] | undefined {
  return decision?.matches.map((match) => `${match.type}/${match.id} ${match.mode} ${match.effect}`);
}

test('a dry_run rule is recorded, does not stop the next one, and shows its deed in the shadow', () => {
  const rules = [rule('redirect', 1, { ...dry, target: '/dry' }), rule('redirect', 2, { target: '/real' })];
  const decision = decide({ rules });
  expect(decision.location).toBe('/real');
  expect(told(decision)).toEqual(['redirect/1 dry_run redirect', 'redirect/2 enforce redirect']);
  expect(decision.shadow).toMatchObject({
    location: '/dry',
    rule: { type: 'redirect', id: 1 },
    shadow: null,
  });
  expect(told(decision.shadow)).toEqual(['redirect/1 dry_run redirect']);
});

test('there is no shadow where no dry_run rule matched or was reached', () => {
  const rules: Rule[] = [
    rule('drop', 1, { path_includes: ['/a'] }),
    rule('drop', 2, dry),
    rule('captcha', 3, dry),
  ];
  expect(decide({ rules }, { target: '/a' })).toMatchObject({ action: 'block', shadow: null });
  expect(decide({ rules }, { target: '/b' })).toMatchObject({
    action: 'forward',
    matches: [
      { id: 2, effect: 'block' },
      { id: 3, effect: 'challenge' },
    ],
    shadow: { action: 'block', matches: [{ id: 2 }] },
  });
});

test('dry_run tags, alt_origins and rewrites touch only the shadow', () => {
  const rules = [
    rule('fingerprint', 1, { ...dry, match_ja4: ['*'], action: 'tag' }),
    rule('bot_route', 2, { ...dry, action: 'alt_origin', alt_dest: 'alt' }),
    rule('bot_route', 3, { action: 'tag' }),
    rule('rewrite', 4, { ...dry, path_target: '/new' }),
  ];
  const decision = decide({ rules }, { bot, ja4: 'x' });
  expect(decision).toMatchObject({
    tags: ['bot_route/3'],
    path: '/',
    origin: { source: 'record' },
    cache: null,
  });
  expect(told(decision)).toEqual([
    'fingerprint/1 dry_run tag',
    'bot_route/2 dry_run alt_origin',
    'bot_route/3 enforce tag',
    'rewrite/4 dry_run rewrite',
  ]);
  expect(decision.shadow).toMatchObject({
    tags: ['fingerprint/1', 'bot_route/3'],
    path: '/',
    origin: { source: 'alt_origin' },
    cache: { mode: 'bypass' },
  });
});

test('a dry_run self redirect, solved challenge or dot segment is recorded, and alone makes a shadow', () => {
  const rules: Rule[] = [
    rule('redirect', 1, { ...dry, target: '/x' }),
    rule('captcha', 2, dry),
    rule('rewrite', 3, { ...dry, path_match_type: 'regex', path_includes: ['(.*)'], path_target: '/..$1' }),
  ];
  const decision = decide({ rules }, { target: '/x', cleared: ['captcha/2'] });
  expect(told(decision)).toEqual([
    'redirect/1 dry_run self_redirect',
    'captcha/2 dry_run passed',
    'rewrite/3 dry_run refuse',
  ]);
  expect(decision).toMatchObject({
    action: 'forward',
    shadow: { action: 'refuse', status: 400, rule: { type: 'rewrite', id: 3 } },
  });
});

test("a dry_run captcha rule leaves the record's own question standing", () => {
  const records = [dnsRecord(1, '@', { captcha: true })];
  const decision = decide({ records, rules: [rule('captcha', 1, dry)] }, { cleared: ['captcha/1'] });
  expect(decision).toMatchObject({ action: 'challenge', rule: { type: 'record', id: 1 } });
  expect(decision.shadow?.action).toBe('forward');
});

test('dry_run waf settings judge in the shadow', () => {
  const rules = [rule('waf', 1, { ...dry, threshold: 3 }), rule('waf', 2)];
  let calls = 0;
  const inspect = () => {
    calls += 1;
    return finding({ score: 4 });
  };
  const decision = decide({ rules }, {}, { waf: { inspect, has: () => false } });
  expect(told(decision)).toEqual(['waf/1 dry_run block', 'waf/2 enforce passed']);
  expect(decision).toMatchObject({
    action: 'forward',
    shadow: { action: 'block', rule: { id: 1 }, waf: { score: 4 } },
  });
  expect(calls).toBe(2);
});

describe('rate limits', () => {
  test('dry_run ones count in counters of their own and act in the shadow', () => {
    const rules = [rule('rate_limit', 1, { ...dry, limit: 1 }), rule('rate_limit', 2, { limit: 2 })];
    const oracle = createOracle(ruleSet({ rules }));
    const send = () => oracle.evaluate(request());
    expect(told(send())).toEqual(['rate_limit/1 dry_run counted', 'rate_limit/2 enforce counted']);
    const second = send();
    expect(second).toMatchObject({
      action: 'forward',
      retryAfter: null,
      shadow: { status: 429, retryAfter: 60 },
    });
    expect(told(second)).toEqual(['rate_limit/1 dry_run block', 'rate_limit/2 enforce counted']);
    const third = send();
    expect(told(third)).toEqual(['rate_limit/1 dry_run block', 'rate_limit/2 enforce block']);
    expect(told(third.shadow)).toEqual(['rate_limit/1 dry_run block', 'rate_limit/2 enforce counted']);
    expect([third.rule?.id, third.shadow?.rule?.id]).toEqual([2, 1]);
  });

  test('what only the shadow reaches is peeked at when enforced, counted when dry_run', () => {
    const rules: Rule[] = [
      rule('bot_route', 1, { ...dry, action: 'alt_origin', alt_dest: 'alt' }),
      rule('bot_route', 2),
      rule('rate_limit', 3, { limit: 1, path_includes: ['/a'] }),
      rule('rate_limit', 4, { ...dry, limit: 1, path_includes: ['/b'] }),
    ];
    const oracle = createOracle(ruleSet({ rules }));
    const shadow = (target: string) => oracle.evaluate(request({ target, bot })).shadow?.action;
    expect([shadow('/a'), shadow('/a')]).toEqual(['forward', 'forward']);
    expect([shadow('/b'), shadow('/b')]).toEqual(['forward', 'block']);
    expect(oracle.evaluate(request({ target: '/a' })).action).toBe('forward');
    expect([shadow('/a'), shadow('/a')]).toEqual(['block', 'block']);
    expect(oracle.evaluate(request({ target: '/a' })).action).toBe('block');
  });
});

describe('pools and records', () => {
  test('a dry_run pool is peeked at; a pick of the real run is reused', () => {
    const pools = [rule('origin_pool', 1, { ...dry, origins }), rule('origin_pool', 2, { origins })];
    const oracle = createOracle(ruleSet({ rules: pools }));
    const addresses = () => {
      const { origin, shadow } = oracle.evaluate(request());
      return `${origin?.address} ${shadow?.origin?.address}`;
    };
    expect([addresses(), addresses(), addresses()]).toEqual(['a a', 'b a', 'a a']);
    const tagged = [rule('fingerprint', 1, { ...dry, match_ja4: ['*'], action: 'tag' }), pools[1]!];
    const reusing = createOracle(ruleSet({ rules: tagged }));
    const both = () => {
      const { origin, shadow } = reusing.evaluate(request({ ja4: 'x' }));
      return `${origin?.address} ${shadow?.origin?.address}`;
    };
    expect([both(), both(), both()]).toEqual(['a a', 'b b', 'a a']);
  });

  test('an enforced pool that only the shadow reaches does not move', () => {
    const rules: Rule[] = [
      rule('captcha', 1, { ...dry, priority: 1 }),
      rule('captcha', 2),
      rule('origin_pool', 3, { origins }),
    ];
    const oracle = createOracle(ruleSet({ rules }));
    const peeked = () => oracle.evaluate(request({ cleared: ['captcha/1'] }));
    expect(peeked()).toMatchObject({
      action: 'challenge',
      origin: null,
      shadow: { origin: { address: 'a' } },
    });
    expect(peeked().shadow?.origin?.address).toBe('a');
    const passing = () => oracle.evaluate(request({ cleared: ['captcha/2'] })).origin?.address;
    expect([passing(), passing()]).toEqual(['a', 'b']);
  });

  test('records: the real pick is reused, what only the shadow reaches does not move', () => {
    const records = [dnsRecord(1, '@'), dnsRecord(2, '@')];
    const rules: Rule[] = [
      rule('fingerprint', 1, { ...dry, match_ja4: ['*'], action: 'tag' }),
      rule('bot_route', 2, { ...dry, action: 'alt_content', body: 'x' }),
    ];
    const oracle = createOracle(ruleSet({ records, rules }));
    const reused = oracle.evaluate(request({ ja4: 'x' }));
    expect([reused.origin?.address, reused.shadow?.origin?.address]).toEqual(['192.0.2.1', '192.0.2.1']);
    const captcha = [rule('captcha', 3, { ...dry, priority: 1 }), rule('captcha', 4)];
    const peeking = createOracle(ruleSet({ records, rules: captcha }));
    const peeked = () => peeking.evaluate(request({ cleared: ['captcha/3'] }));
    expect(peeked()).toMatchObject({ action: 'challenge', shadow: { origin: { address: '192.0.2.1' } } });
    expect(peeked().shadow?.origin?.address).toBe('192.0.2.1');
    expect(peeking.evaluate(request({ cleared: ['captcha/4'] })).origin?.address).toBe('192.0.2.1');
  });
});
