import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { type RuleTest, readTestFile } from '../../../../src/rules/files/test-file.ts';

function read(text: string): readonly RuleTest[] {
  const file = readTestFile(text, 'edge.test.yaml');
  expect(file.diagnostics.map(formatDiagnostic)).toEqual([]);
  return file.tests;
}

function mistakes(text: string): readonly string[] {
  const file = readTestFile(text, 'edge.test.yaml');
  expect(file.ok).toBe(false);
  return file.diagnostics.map(formatDiagnostic);
}

/** One test with these lines, and a request line unless it has its own. */
function one(...lines: readonly string[]): string {
  const request = lines.some((line) => line.startsWith('request'))
    ? []
    : ['request: GET https://example.com/'];
  const expected = lines.some((line) => line.startsWith('expect')) ? [] : ['expect: forward'];
  return `tests:\n  - name: t\n${[...request, ...expected, ...lines].map((line) => `    ${line}\n`).join('')}`;
}

describe('request lines', () => {
  test.each([
    [
      'GET https://shop.example.com/api/orders?id=7',
      { method: 'GET', scheme: 'https', host: 'shop.example.com', target: '/api/orders?id=7' },
    ],
    ['https://example.com', { method: 'GET', target: '/' }],
    [
      'POST HTTP://example.com:8080/x/../y',
      { method: 'POST', scheme: 'http', host: 'example.com:8080', target: '/x/../y' },
    ],
    ['get https://example.com?a=b', { method: 'get', target: '/?a=b' }],
    ['GET https://[2001:db8::1]/', { host: '[2001:db8::1]' }],
  ])('the request line `%s` is read without normalisation', (line, expected) => {
    expect(read(one(`request: "${line}"`))[0]?.steps[0]?.request).toMatchObject(expected);
  });

  test.each([
    ['/cart', 'must hold a whole http or https URL'],
    ['GET ftp://example.com/', 'must hold a whole http or https URL'],
    ['GET https:///x', 'names no host'],
    ['GET https://me@example.com/', 'holds a user name'],
    ['GET https://example.com/#top', 'holds a fragment'],
    ['GET https://example.com/a b', 'holds a space'],
  ])('the request line `%s` is refused: %s', (line, message) => {
    const [found] = mistakes(one(`request: '${line}'`));
    expect(found).toMatch(/^edge\.test\.yaml:4:14: error: tests\[0\]\.request: /);
    expect(found).toContain(message);
  });
});

describe('with', () => {
  test('every field of `with` is read', () => {
    const [only] = read(
      one(
        'with:',
        '  ip: 203.0.113.7',
        '  country: de',
        '  asn: 64496',
        '  bot: { kind: gptbot, verified: true }',
        '  ja4: t13d1516h2_8daaf6152771_02713d6af862',
        '  headers: { X-Trace: 1, Accept: [text/html, text/plain] }',
        '  user_agent: GPTBot',
        '  body: a=b',
        '  consumer: acme',
        '  claims: { sub: 7, admin: true, aud: [a, b] }',
        '  scopes: [read, write]',
        '  quota_exhausted: 2026-02-01T00:00:00Z',
        '  cleared: [captcha/login]',
        '  at: 2026-01-31T12:00:00Z',
        '  node: 7',
        '  down: [10.0.4.9]',
        '  busy: { 10.0.4.8: 3 }',
      ),
    );
    const step = only?.steps[0];
    expect(step?.request).toEqual({
      method: 'GET',
      scheme: 'https',
      host: 'example.com',
      target: '/',
      headers: { 'x-trace': '1', accept: ['text/html', 'text/plain'], 'user-agent': 'GPTBot' },
      ip: '203.0.113.7',
      country: 'DE',
      asn: 64_496,
      bot: { kind: 'gptbot', verified: true },
      ja4: 't13d1516h2_8daaf6152771_02713d6af862',
      body: 'a=b',
      identity: {
        consumer: 'acme',
        claims: { sub: 7, admin: true, aud: ['a', 'b'] },
        scopes: ['read', 'write'],
        exhaustedUntil: Date.UTC(2026, 1, 1),
      },
    });
    expect(step?.world).toMatchObject({ now: Date.UTC(2026, 0, 31, 12), node: 7 });
    expect(step?.world.cleared.map((item) => item.value)).toEqual(['captcha/login']);
    expect(step?.world.down.map((item) => item.value)).toEqual(['10.0.4.9']);
    expect(step?.world.busy.map(({ address, count }) => [address.value, count])).toEqual([['10.0.4.8', 3]]);
  });

  test('`unknown` leaves a fact out, and `bot: none` is a visitor that is not a bot', () => {
    const step = read(one('with: { ip: unknown, country: unknown, asn: unknown, bot: none }'))[0]?.steps[0];
    expect(step?.request).toEqual({
      method: 'GET',
      scheme: 'https',
      host: 'example.com',
      target: '/',
      headers: {},
      bot: null,
    });
  });

  test('scopes or claims without a consumer are those of a token that names none', () => {
    const request = (line: string) => read(one(`with: { ${line} }`))[0]?.steps[0]?.request;
    expect(request('scopes: read')?.identity).toEqual({ consumer: null, scopes: ['read'] });
    expect(request('claims: { a: x }')?.identity).toEqual({ consumer: null, claims: { a: 'x' } });
  });

  test('a `host` header replaces the host of the URL', () => {
    expect(read(one('with: { headers: { Host: other.example.com } }'))[0]?.steps[0]?.request.host).toBe(
      'other.example.com',
    );
  });

  test.each([
    ['ip: 203.0.113.07', 'must be an IPv4 or IPv6 address, found `203.0.113.07`'],
    ['country: Germany', 'must be a country of two letters'],
    ['asn: AS64496', 'must be a whole number from 1 to 4294967295, found `AS64496`'],
    ['asn: 0', 'must be a whole number from 1'],
    ['bot: gptbo', 'is not a kind of bot, found `gptbo`; write `gptbot`'],
    ['bot: { verified: true }', 'must name the `kind` of bot'],
    ['at: yesterday', 'must be a time with its zone'],
    ['node: -1', 'must be a whole number from 0'],
    ['userAgent: x', 'unknown key `userAgent`; write `user_agent`'],
    ['headers: x', 'must be a map of header names to values'],
    ['quota_exhausted: soon', 'must be a time with its zone'],
    ['consumer: [acme]', 'must be the username of a consumer'],
    ['claims: sub', 'must be a map of claims by name'],
    ['claims: { sub: { a: 1 } }', 'must be text, a number, `true`, `false` or a list of texts, found a map'],
    ['scopes: { a: 1 }', 'must be a text'],
    ['busy: { a: many }', 'must be a whole number'],
  ])('`%s`: %s', (line, message) => {
    expect(mistakes(one(`with: { ${line} }`)).join('\n')).toContain(message);
  });
});

describe('cases', () => {
  const table = `
defaults: { country: DE }
tests:
  - name: the office
    request: GET https://example.com/admin
    with: { ip: 203.0.113.1, headers: { a: 1, b: 2 } }
    expect: block
    would: nothing
    cases:
      - { name: from home }
      - { with: { ip: 198.51.100.1, headers: { b: 3 } }, expect: forward }
      - GET https://example.com//admin
      - { name: nobody, with: { country: ~ }, would: ~ }
`;

  test('each row of `cases` overrides fields of its test', () => {
    const tests = read(table);
    expect(tests.map(({ name }) => name)).toEqual([
      'the office › from home',
      'the office › ip 198.51.100.1, headers 3',
      'the office › GET https://example.com//admin',
      'the office › nobody',
    ]);
    const steps = tests.map(({ steps: [step] }) => step);
    expect(steps.map((step) => step?.request.country)).toEqual(['DE', 'DE', 'DE', undefined]);
    expect(steps[1]?.request).toMatchObject({
      ip: '198.51.100.1',
      headers: { a: '1', b: '3' },
      target: '/admin',
    });
    expect(steps[1]?.expect).toMatchObject({ value: 'forward' });
    expect(steps[2]?.request.target).toBe('//admin');
    expect(steps[3]?.would).toBeNull();
    expect(steps.map((step) => step?.at.line)).toEqual([10, 11, 12, 13]);
  });

  test('a mistake in the fields that rows inherit is reported once', () => {
    expect(mistakes(table.replace('203.0.113.1', '203.0.113.x'))).toHaveLength(1);
  });

  test('`cases` together with `steps` is refused', () => {
    const rows = 'cases: [{ name: a }]';
    expect(mistakes(one(rows, 'steps: [{ expect: block }]')).join()).toContain(
      'must not be given together with `cases`',
    );
  });
});

describe('steps and repetitions', () => {
  test('steps inherit the fields of their test and run in order', () => {
    const text = one(
      'with: { ip: 203.0.113.1, at: 1000 }',
      'steps:',
      '  - { repeat: 3 }',
      '  - { after: 1.5s, expect: block }',
      '  - { with: { at: 5000 }, name: later }',
    );
    const [only] = read(text);
    expect(only?.steps.map((step) => [step.name, step.times, step.afterMs, step.world.now])).toEqual([
      ['1', 3, 0, 1000],
      ['2', 1, 1500, null],
      ['later', 1, 0, 5000],
    ]);
    expect(only?.steps.map((step) => step.request.ip)).toEqual(['203.0.113.1', '203.0.113.1', '203.0.113.1']);
  });

  test('`repeat` reads the number of requests, their interval and the earlier expectation', () => {
    const step = read(one('repeat: { times: 101, every: 100ms, earlier: forward }', 'expect: block'))[0]
      ?.steps[0];
    expect(step).toMatchObject({
      times: 101,
      everyMs: 100,
      earlier: { value: 'forward' },
      expect: { value: 'block' },
    });
  });

  test.each([
    ['repeat: 0', 'must be a whole number from 1 to 100000'],
    ['repeat: { every: 1s }', 'must say how many `times`'],
    ['repeat: { times: 2, every: 5 }', 'must be a duration with its unit'],
    ['repeat: { times: 2, evry: 5s }', 'unknown key `evry`; write `every`'],
    ['steps: []', 'must be a list of rows'],
    ['steps: [{ after: soon }]', 'must be a duration with its unit'],
  ])('`%s`: %s', (line, message) => {
    expect(mistakes(one(line)).join('\n')).toContain(message);
  });
});

describe('mistakes of the file', () => {
  test.each([
    ['', 'must be a map with a list of `tests`'],
    ['tests: none', 'must hold a list of `tests`'],
    ['test: []', 'unknown key `test`; write `tests`'],
    ['tests: [GET https://example.com/]', 'must be a test with `name`, `request` and `expect`'],
    ['tests: [{ request: GET https://example.com/, expect: forward }]', 'must have a `name`'],
    ['tests: [{ name: a, expect: forward }]', 'must have a `request`'],
    ['tests: [{ name: a, request: GET https://example.com/ }]', 'must say what to `expect`'],
    [
      'tests: [{ name: a, requset: GET https://example.com/, expect: forward }]',
      'unknown key `requset`; write `request`',
    ],
    ['tests: [', 'edge.test.yaml:1:'],
  ])('%s', (text, message) => {
    expect(mistakes(text).join('\n')).toContain(message);
  });

  test('`response` reads a status and its maker', () => {
    const step = read(one('response: { status: 502 }', 'expect: no page'))[0]?.steps[0];
    expect(step?.response).toEqual({ status: 502, by: 'origin' });
    expect(mistakes(one('response: { status: 502, by: nobody }')).join()).toContain(
      'must be `origin` or `edge`',
    );
    expect(mistakes(one('response: { by: edge }')).join()).toContain('must have a `status`');
    const earlier = one('response: { status: 502 }', 'repeat: { times: 2, earlier: forward }');
    expect(mistakes(earlier).join()).toContain('must not be given together with a `response`');
  });

  test('all mistakes of a file are reported, each with its line', () => {
    const text =
      'tests:\n  - name: a\n    request: /x\n    expect: forward\n  - name: b\n    requst: y\n    expect: block\n';
    expect(mistakes(text).map((line) => line.split(': ')[0])).toEqual([
      'edge.test.yaml:3:14',
      'edge.test.yaml:5:5',
      'edge.test.yaml:6:5',
    ]);
  });
});
