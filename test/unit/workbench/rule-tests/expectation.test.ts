import { describe, expect, test } from 'vitest';
import { mistakes, run } from './subject.ts';

/** A test of one request with these fields. */
function one(request: string, ...lines: readonly string[]): string {
  return `tests:\n  - name: t\n    request: ${request}\n${lines.map((line) => `    ${line}\n`).join('')}`;
}

function passes(request: string, ...lines: readonly string[]): boolean {
  return run(one(request, ...lines)).results.every((result) => result.passed);
}

const ROOT = 'GET https://example.com/';
const ADMIN = 'GET https://example.com/admin';

describe('short forms that the decision meets', () => {
  test.each([
    [ROOT, 'expect: forward'],
    [ROOT, 'expect: forward to https://10.0.0.1'],
    [`${ROOT}?a=b`, 'expect: forward to https://10.0.0.1/?a=b by origin_pool/pool'],
    [ROOT, 'expect: "forward by  origin_pool/80"'],
    [ADMIN, 'expect: block'],
    [ADMIN, 'expect: block 403'],
    [ADMIN, 'expect: block by drop/office-only'],
    [ADMIN, 'expect: block 403 by drop/41'],
    ['GET https://example.com/nameless', 'expect: block 403 by drop/43'],
    [
      'GET https://example.com/old?x=1',
      'expect: redirect 301 to https://example.com/new?x=1 by redirect/moved',
    ],
    ['GET https://example.com/login', 'expect: challenge by captcha/login'],
    ['GET https://shop.example.com/', 'expect: challenge 403 by record/shop'],
    ['GET https://shop.example.com/', 'expect: challenge 403 by record/2'],
    ['GET https://example.org/', 'expect: refuse 421'],
    [ROOT, 'with: { user_agent: GPTBot }', 'expect: respond 200 by bot_route/talk'],
    [ROOT, 'with: { country: RU }', 'expect: forward', 'would: block 403 by drop/watched'],
    [ROOT, 'would: nothing'],
    [ROOT, 'response: { status: 502 }', 'expect: page custom by error_page/sorry', 'would: nothing'],
    [ROOT, 'response: { status: 502 }', 'expect: page'],
    [ROOT, 'response: { status: 500 }', 'expect: no page'],
  ])('%s  %s', (request, ...lines) => {
    expect(passes(request, ...lines)).toBe(true);
  });
});

describe('short forms that the decision does not meet', () => {
  test.each([
    [ROOT, 'expect: block'],
    [ROOT, 'expect: forward to http://10.0.0.1'],
    [ROOT, 'expect: forward to https://10.0.0.1:444'],
    [ROOT, 'expect: forward to https://10.0.0.1/x'],
    [`${ROOT}?a=b`, 'expect: forward to https://10.0.0.1/'],
    [ROOT, 'expect: forward by bot_route/talk'],
    [ADMIN, 'expect: block 429'],
    [ADMIN, 'expect: block by drop/watched'],
    ['GET https://example.com/old', 'expect: redirect 302'],
    ['GET https://example.com/old', 'expect: redirect to /new'],
    [ROOT, 'with: { country: RU }', 'would: nothing'],
    [ROOT, 'would: forward'],
    [ROOT, 'response: { status: 502 }', 'expect: no page'],
    [ROOT, 'response: { status: 502 }', 'expect: page svc'],
    [ROOT, 'response: { status: 500 }', 'expect: page'],
  ])('%s  %s', (request, ...lines) => {
    expect(passes(request, ...lines)).toBe(false);
  });
});

describe('fields', () => {
  test.each([
    [ADMIN, 'expect: { action: block, rule: drop/office-only, tags: [], origin: ~ }'],
    [
      ROOT,
      'expect: { rule: origin_pool/pool, origin: { address: 10.0.0.1, host_header: example.com, hostHeader: example.com }, query: ~ }',
    ],
    [
      ROOT,
      'with: { country: BY }',
      'expect: { matches: [drop/watched dry_run block, origin_pool/pool] }',
      'would: { action: block }',
    ],
    ['GET https://example.org/', 'expect: { status: 421, rule: ~ }'],
    [ROOT, 'response: { status: 502 }', 'expect: { kind: custom, html: <h1>sorry</h1> }'],
  ])('%s  %s', (request, ...lines) => {
    expect(passes(request, ...lines)).toBe(true);
  });

  test.each([
    ['expect: { matches: [] }'],
    ['expect: { matches: [origin_pool/pool tag] }'],
    ['expect: { tags: [bot_route/talk] }'],
    ['expect: { origin: { port: 80 } }'],
    ['expect: { origin: ~ }'],
    ['expect: { cache: { mode: force } }'],
  ])('the expectation `%s` is not met', (line) => {
    expect(passes(ROOT, line)).toBe(false);
  });
});

describe('mistakes', () => {
  test.each([
    ['expect: blok 403', '`blok` is not an action of the edge, found `blok 403`; write `block`'],
    [
      'expect: block 403 from drop/x',
      '`from` was not expected there, found `block 403 from drop/x`; write block [status] [by <rule>]',
    ],
    ['expect: forward to', 'nothing follows `to`'],
    ['expect: forward to /x', '`/x` is not the URL of an origin'],
    ['expect: block by drop/office-onyl', 'there is no rule `drop/office-onyl`; write `drop/office-only`'],
    [
      'expect: block by captcha/office-only',
      'there is no rule `captcha/office-only`; write `drop/office-only`',
    ],
    ['expect: block by office-only', 'there is no rule `office-only`; write `drop/office-only`'],
    ['expect: block by drp/nothing', '`drp` is not a type of rule; write `drop/nothing`'],
    ['expect: block by waf/core', 'there is no rule `waf/core`; the edge file has no waf rule'],
    ['expect: challenge by record/shup', 'there is no record `shup`; write `record/shop`'],
    ['expect: page custom', 'add a `response`: a page is expected for its status'],
    ['expect: nothing', '`nothing` is not an action of the edge'],
    ['expect: [forward]', 'must be a sentence such as `block 403 by drop/office-only`'],
    ['expect: { statsu: 403 }', 'unknown key `statsu`; write `status`'],
    ['expect: { rule: drop/nope }', 'there is no rule `drop/nope`'],
    ['expect: { origin: { adress: x } }', 'unknown key `adress`; write `address`'],
    ['expect: { tags: drop/off }', 'must be a list'],
    ['expect: { matches: [drop/off blok] }', '`blok` is not an effect of a rule'],
    ['would: blok', 'write `block`'],
  ])('the expectation `%s` is refused: %s', (line, message) => {
    const found = mistakes(one(ROOT, line));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(message);
    expect(found[0]).toMatch(/^edge\.test\.yaml:4:\d+: error: tests\[0\]\.(expect|would)/);
  });

  test('an unknown name in `with` is reported', () => {
    expect(mistakes(one(ROOT, 'with: { cleared: [captcha/logn] }', 'expect: forward'))).toEqual([
      'edge.test.yaml:4:23: error: tests[0].with.cleared[0]: there is no rule `captcha/logn`; write `captcha/login`',
    ]);
    const [down] = mistakes(one(ROOT, 'with: { down: [10.0.0.3] }', 'expect: forward'));
    expect(down).toContain(
      'is not the address of a pool origin, found `10.0.0.3`; write one of `10.0.0.1`, `10.0.0.2`',
    );
  });

  test('a page is expected only beside a `response`', () => {
    const [found] = mistakes(one(ROOT, 'response: { status: 502 }', 'expect: forward'));
    expect(found).toContain(
      '`forward` is not a page, and with a `response` the expectation is about the page',
    );
  });
});
