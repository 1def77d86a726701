import { describe, expect, it } from 'vitest';
import { readTestFile } from '../../../../src/rules/files/test-file.ts';
import { asTest } from '../../../../src/workbench/simulation/as-test.ts';
import type { RequestFlags } from '../../../../src/workbench/simulation/request-line.ts';
import { type SimulatedRequest, simulate } from '../../../../src/workbench/simulation/simulate.ts';
import { asked, SHOP, subjectOf } from './shop.ts';

function testFor(url: string, flags: RequestFlags = {}, more: Partial<SimulatedRequest> = {}): string {
  const given = asked(url, flags, more);
  const typed = asTest(simulate(SHOP, given), given, SHOP);
  if (!typed.ok) throw new Error(typed.error);
  return typed.value;
}

describe('asTest', () => {
  it('prints request, facts, outcome and shadow in the syntax of a test file', () => {
    expect(testFor('https://shop.example.com/api/orders?id=7', { ip: '203.0.113.7', country: 'RU' })).toBe(
      [
        '  - name: GET /api/orders?id=7 is forwarded by api',
        '    request: GET https://shop.example.com/api/orders?id=7',
        '    with: { ip: 203.0.113.7, country: RU }',
        '    expect: forward to https://10.0.4.9:8443/v2/orders?id=7 by origin_route/api',
        '    would: block 403 by drop/embargo',
        '',
      ].join('\n'),
    );
  });

  it('has the autonomous system', () => {
    expect(testFor('https://shop.example.com/', { asn: '64496' })).toContain('    with: { asn: 64496 }\n');
  });

  it('has the consumer, its claims and scopes, and not how they were verified', () => {
    const flags = { consumer: 'acme', claim: ['sub=7'], scope: ['read'] };
    expect(testFor('https://shop.example.com/', flags)).toContain(
      '    with: { consumer: acme, claims: { sub: "7" }, scopes: [read] }\n',
    );
    const exhausted = { consumer: 'acme', quotaExhausted: '2026-02-01T00:00:00Z' };
    expect(testFor('https://shop.example.com/', exhausted)).toContain(
      '    with: { consumer: acme, quota_exhausted: "2026-02-01T00:00:00.000Z" }\n',
    );
    const given = asked('https://shop.example.com/');
    const identity = { consumer: null, failure: 'expired' } as const;
    const refused = { ...given, request: { ...given.request, identity } };
    expect(asTest(simulate(SHOP, refused), refused, SHOP)).toEqual({
      ok: false,
      error: 'a test contains the consumer, claims and scopes of a request, not how they were verified',
    });
  });

  it('expects the error page when a status was given', () => {
    const response = { status: 502, madeBy: 'edge' as const };
    const text = testFor('https://shop.example.com/', { cleared: ['captcha/shop-captcha'] }, { response });
    expect(text).toContain(
      '    response: { status: 502, by: edge }\n    expect: page custom by error_page/shop-down\n',
    );
  });

  it('names clearances by key and origins by address, and prints the clock only when it was set', () => {
    const { world } = asked('https://x');
    const text = testFor(
      'https://shop.example.com/checkout/x',
      { cleared: ['captcha/shop-captcha'] },
      { world: { ...world, down: ['80/0'], nodeId: 3, nowGiven: true } },
    );
    const rule = SHOP.ruleSet?.rules.find((one) => one.id === 80);
    const address = rule?.type === 'origin_pool' ? rule.origins[0]?.address : '';
    expect(text).toContain(
      `    with: { cleared: [captcha/shop-captcha], at: "2026-01-02T00:00:00.000Z", node: 3, down: [${address}] }\n`,
    );
  });

  it('sends the request as often as its rate limits have counted it, which all must have alike', () => {
    const url = 'https://shop.example.com/api/x';
    const { world } = asked(url);
    const counted = new Map([
      ['rate_limit/api-rate', 120],
      ['rate_limit/login-rate', 3],
    ]);
    const text = testFor(url, { ip: '203.0.113.7' }, { world: { ...world, counted } });
    expect(text).toContain('    repeat: 121\n    expect: block 429 by rate_limit/api-rate\n');
    const two = subjectOf(`domain: example.com
records: [{ name: "@", type: A, destination: 192.0.2.1, proxied: true }]
rules:
  - { key: a, type: rate_limit, limit: 5 }
  - { key: b, type: rate_limit, limit: 9 }
`);
    const given = asked(
      'https://example.com/',
      {},
      { world: { ...world, counted: new Map([['rate_limit/a', 2]]) } },
    );
    expect(asTest(simulate(two, given), given, two)).toEqual({
      ok: false,
      error: expect.stringContaining('each rate limit counts the same'),
    });
  });

  it('prints a test that the test file reader accepts', () => {
    const texts = [
      testFor('https://shop.example.com/api/x', {
        userAgent: 'it\'s: #1 "bot"',
        header: ['X-A: 1', 'X-A: 2', 'X-B: yes'],
      }),
      testFor('https://www.example.com/a?b=%20&c', { bot: 'googlebot:verified', ja4: 't13d' }),
      testFor('https://example.org/', { method: 'POST', data: 'a: b\n- c' }),
      testFor('https://shop.example.com/x', { country: 'no', userAgent: 'curl/8' }),
    ];
    const read = readTestFile(`tests:\n${texts.join('')}`, 'edge.test.yaml');
    expect(read.diagnostics).toEqual([]);
    const requests = read.tests.map((test) => test.steps[0]?.request);
    expect(requests[0]?.headers).toEqual({
      'user-agent': 'it\'s: #1 "bot"',
      'x-a': ['1', '2'],
      'x-b': 'yes',
    });
    expect(requests[1]).toMatchObject({
      target: '/a?b=%20&c',
      bot: { kind: 'googlebot', verified: true },
      ja4: 't13d',
    });
    expect(requests[2]).toMatchObject({ method: 'POST', body: 'a: b\n- c' });
    expect(requests[3]).toMatchObject({ country: 'NO', bot: { kind: 'generic-bot', verified: false } });
  });

  it('has the headers that a waf rule inspects, but for those whose name suggests a secret', () => {
    const header = ['X-A: 1', 'Authorization: Bearer s3cret', 'Cookie: sid=s3cret'];
    const text = testFor('https://shop.example.com/api/x', { header, userAgent: 'curl/8' });
    const [read] = readTestFile(`tests:\n${text}`, 'edge.test.yaml').tests;
    expect(read?.steps[0]?.request.headers).toEqual({ 'user-agent': 'curl/8', 'x-a': '1' });
    expect(testFor('https://example.org/', { header })).not.toContain('headers');
  });

  it('is refused for a request line that a test file cannot contain', () => {
    for (const [url, flags] of [
      ['https://shop.example.com/a b', {}],
      ['https://shop.example.com/', { header: ['Host: a', 'Host: b'] }],
      ['https://shop.example.com/', { method: 'M-SEARCH' }],
    ] as const) {
      const given = asked(url, flags);
      expect(asTest(simulate(SHOP, given), given, SHOP).ok).toBe(false);
    }
  });

  describe('of rules with conditions', () => {
    const HEAD =
      'domain: example.com\nrecords: [{ name: "@", type: A, destination: 192.0.2.1, proxied: true }]\nrules:\n';

    /** The test as text, read back and decided again. */
    function testUnder(conditions: string, flags: RequestFlags): string {
      const subject = subjectOf(`${HEAD}  - { key: k, type: drop, conditions: ${conditions} }\n`);
      const given = asked('https://example.com/', flags);
      const document = simulate(subject, given);
      const typed = asTest(document, given, subject);
      if (!typed.ok) throw new Error(typed.error);
      const read = readTestFile(`tests:\n${typed.value}`, 'edge.test.yaml');
      expect(read.diagnostics).toEqual([]);
      const request = read.tests[0]!.steps[0]!.request;
      const again = simulate(subject, { ...given, request: { ...request, now: 0 } });
      expect(again.decision.action).toBe(document.decision.action);
      return typed.value;
    }

    it('has the method, and of the headers and cookies those that conditions name', () => {
      const conditions =
        '{ methods: [POST], headers: [{ name: accept-language, op: prefix, values: [de] }], cookies: [{ name: sid, op: present }] }';
      const flags = {
        method: 'POST',
        header: ['Accept-Language: de-AT', 'X-A: 1', 'Accept: */*'],
        cookie: 'other=1; sid=s3cret',
      };
      const text = testUnder(conditions, flags);
      expect(text).toContain('request: POST https://example.com/\n');
      const [read] = readTestFile(`tests:\n${text}`, 'edge.test.yaml').tests;
      expect(read?.steps[0]?.request.headers).toEqual({ 'accept-language': 'de-AT', cookie: 'sid=x' });
      expect(text).toContain('expect: block 403 by drop/k\n');
    });

    it('has in place of a value that may be a secret one that meets the same conditions', () => {
      const conditions =
        '{ headers: [{ name: authorization, op: regex, values: ["^Bearer [a-z]{3}"] }, { name: authorization, op: not_suffix, values: [x] }] }';
      const met = testUnder(conditions, { header: ['Authorization: Bearer s3cret'] });
      expect(met).not.toContain('s3cret');
      expect(met).not.toContain('block');
      const text = testUnder(conditions, { header: ['Authorization: Bearer secret'] });
      expect(text).not.toContain('secret');
      expect(text).toMatch(/authorization: Bearer [a-z]{3,4} /);
      expect(text).toContain('expect: block 403 by drop/k\n');
    });

    it('leaves out cookies that no condition names', () => {
      const conditions = '{ cookies: [{ name: sid, op: absent }] }';
      expect(testUnder(conditions, { cookie: 'other=s3cret' })).not.toContain('cookie');
    });

    it('is refused where no other value meets the same conditions', () => {
      const subject = subjectOf(
        `${HEAD}  - { type: drop, conditions: { headers: [{ name: x-key, op: equals, values: ["\\u0001"] }] } }\n`,
      );
      const given = asked('https://example.com/');
      const odd = { ...given, request: { ...given.request, headers: { 'x-key': '\u0001' } } };
      expect(asTest(simulate(subject, odd), odd, subject)).toEqual({
        ok: false,
        error: expect.stringContaining('does not repeat the value of `x-key`'),
      });
    });
  });
});
