/** Which rules depend on what a log lacks. */
import { expect, it } from 'vitest';
import { compileEdge } from '../../../../src/edge/middleware/node/edge-input.ts';
import { type OpenedPlan, openPlan, seal } from '../../../../src/engine/plan/seal.ts';
import { createFactCounts } from '../../../../src/workbench/access-logs/entry.ts';
import { lackedFacts, withholdableReads } from '../../../../src/workbench/replay/dependencies.ts';

const RECORDS = [{ name: '@', type: 'A', destination: '192.0.2.1', proxied: true }];

function plan(rules: readonly object[]): OpenedPlan {
  const edge = JSON.stringify({ domain: 'example.com', records: RECORDS, rules });
  const compiled = compileEdge(new TextEncoder().encode(edge), 'edge.yaml');
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  return openPlan(seal(compiled.plan, { revision: 0 }));
}

const RULES = [
  { key: 'kp', type: 'drop', countries: ['KP'] },
  { key: 'off', type: 'drop', countries: ['CN'], enabled: false },
  { key: 'office', type: 'drop', ips: ['192.0.2.0/24'] },
  { key: 'rate', type: 'rate_limit', limit: 5, window_sec: 60, on_breach: 'captcha' },
  { key: 'print', type: 'fingerprint', match_ja4: ['t13d1516h2_8daaf6152771_02713d6af862'], action: 'tag' },
  { key: 'bots', type: 'bot_route', bot_kinds: ['gptbot'], action: 'block', require_verified: true },
  { key: 'guard', type: 'waf' },
  { key: 'human', type: 'captcha', path_includes: ['/login'] },
  { key: 'plain', type: 'redirect', path_includes: ['/old'], target: 'https://example.com/new' },
];

it('names each fact that is lacking with the enabled rules that depend on it', () => {
  const lacks = { ...createFactCounts(), host: 7, country: 5, ja4: 9, headers: 9 };
  const facts = lackedFacts([plan(RULES)], { requests: 9, lacks, host: 'example.com', scheme: 'https' });
  expect(facts.map(({ fact, requests, rules }) => [fact, requests, rules])).toEqual([
    ['host', 7, []],
    ['country', 5, ['drop/kp']],
    ['ja4', 9, ['fingerprint/print']],
    ['verified_bot', 9, ['bot_route/bots', 'captcha/human']],
    ['headers', 9, ['waf/guard']],
    ['body', 9, ['waf/guard']],
    ['solved_challenge', 9, ['rate_limit/rate', 'captcha/human']],
  ]);
  expect(facts[0]).toMatchObject({ assumed: 'example.com' });
});

it('names a rule of two plans once', () => {
  const lacks = { ...createFactCounts(), country: 1 };
  const plans = [
    plan(RULES.slice(0, 1)),
    plan([RULES[0]!, { ...RULES[0]!, key: 'other', countries: ['IR'] }]),
  ];
  const facts = lackedFacts(plans, { requests: 1, lacks, host: '', scheme: 'https' });
  expect(facts.map(({ rules }) => rules)).toEqual([['drop/kp', 'drop/other']]);
});

it('names none for rules that depend on nothing that is lacking', () => {
  const lacks = { ...createFactCounts(), country: 1, ja4: 1, headers: 1 };
  expect(lackedFacts([plan(RULES.slice(-1))], { requests: 1, lacks, host: '', scheme: '' })).toEqual([]);
});

it('names the conditions that need a fact, and no header, method, scheme or query that logs have', () => {
  const conditions = {
    methods: ['POST'],
    schemes: ['http'],
    asns: { includes: [64496] },
    query: [{ name: 'q', op: 'present' }],
    cookies: [{ name: 'sid', op: 'absent' }],
    headers: [
      { name: 'referer', op: 'present' },
      { name: 'x-key', op: 'absent' },
      { name: 'user-agent', op: 'prefix', values: ['curl'] },
    ],
  };
  const lacks = { ...createFactCounts(), user_agent: 2, headers: 9 };
  const opened = plan([{ key: 'keys', type: 'cache', mode: 'bypass', conditions }]);
  const facts = lackedFacts([opened], { requests: 9, lacks, host: '', scheme: '' });
  expect(facts.filter(({ fact }) => fact !== 'asn')).toMatchObject([
    { fact: 'user_agent', requests: 2, conditions: ['cache/keys conditions.headers[2] user-agent'] },
    {
      fact: 'headers',
      requests: 9,
      rules: ['cache/keys'],
      conditions: ['cache/keys conditions.headers[1] x-key', 'cache/keys conditions.cookies[0] sid'],
    },
  ]);
  const every = { ...lacks, asn: 9 };
  const asn = lackedFacts([opened], { requests: 9, lacks: every, host: '', scheme: '' });
  expect(asn.find(({ fact }) => fact === 'asn')).toMatchObject({
    conditions: ['cache/keys conditions.asns'],
  });
});

it('names for a tag the facts of the rule that gives it', () => {
  const [print] = RULES.filter(({ key }) => key === 'print');
  const tagged = {
    key: 'tagged',
    type: 'redirect',
    target: '/x',
    conditions: { tags: { includes: ['print'] } },
  };
  const lacks = { ...createFactCounts(), ja4: 3 };
  const facts = lackedFacts([plan([print!, tagged])], { requests: 3, lacks, host: '', scheme: '' });
  expect(facts).toMatchObject([
    {
      fact: 'ja4',
      rules: ['fingerprint/print', 'redirect/tagged'],
      conditions: ['redirect/tagged conditions.tags fingerprint/print'],
    },
  ]);
});

it('names what keys of rate limits are made of, and the values that logs may withhold', () => {
  const key_parts = ['country', 'cookie:sid', 'query:q'];
  const parted = plan([{ key: 'parted', type: 'rate_limit', limit: 5, key_parts }]);
  const lacks = { ...createFactCounts(), ip: 1, country: 1, headers: 1 };
  const facts = lackedFacts([parted], { requests: 1, lacks, host: '', scheme: 'https' });
  expect(facts.map(({ fact, rules }) => [fact, rules])).toEqual([
    ['country', ['rate_limit/parted']],
    ['headers', ['rate_limit/parted']],
  ]);
  expect(
    withholdableReads(parted)
      .get('rate_limit/parted')
      ?.map(({ condition }) => condition),
  ).toEqual(['key_parts[1] sid', 'key_parts[2] q']);
});
