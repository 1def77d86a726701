/** Lines of log entries as recommendations read them. */
import { describe, expect, test } from 'vitest';
import { readEntryRequest } from '../../../../src/control/recommendations/stored-facts.ts';
import { lineOf } from '../../../support/log-lines.ts';

const AT = Date.UTC(2026, 10, 24, 9);

function read(parts: { request?: object; line?: object; rule?: string } = {}) {
  const { request, ...line } = lineOf({
    domain: 'shop.example',
    at: AT,
    matches: ['waf/7'],
    target: '/a/../b?x=1&utm%5Fid=2&&y',
  });
  const text = JSON.stringify({
    ...line,
    request: { ...(request as object), ...parts.request },
    ...parts.line,
  });
  return readEntryRequest(text, parts.rule ?? 'waf/7');
}

describe('the line of a log entry', () => {
  test('gives path, parameters, time and effect', () => {
    expect(read()).toMatchObject({
      at: AT,
      path: '/b',
      parameters: [
        { name: 'x', value: '1' },
        { name: 'utm_id', value: '2' },
        { name: 'y', value: '' },
      ],
      status: 403,
      octets: 10,
      effect: 'block',
      isBot: false,
    });
  });

  test('gives the verdict of the enforced rule, or that of a dry_run match', () => {
    const waf = { score: 5, ids: [1, 1], targets: ['ARGS:a'] };
    expect(read({ line: { waf } })!.verdict).toMatchObject({ matches: [{ id: 1, target: 'ARGS:a' }] });
    const matches = [
      { rule: 'waf/7', mode: 'dry_run', effect: 'block', waf: { score: 5, ids: [2], targets: ['ARGS:b'] } },
      { rule: 'waf/9', mode: 'enforce', effect: 'passed' },
    ];
    expect(read({ line: { waf, matches } })!.verdict).toMatchObject({
      ...{ rule: 'waf/7', blocks: true, matches: [{ id: 2, target: 'ARGS:b' }] },
    });
    expect(
      read({ line: { waf, matches: [{ rule: 'waf/7', mode: 'dry_run', effect: 'block' }] } })!.verdict,
    ).toBe(null);
    expect(read({ line: { waf }, rule: 'cache/7' })!.verdict).toBe(null);
  });

  test('two addresses of one IPv6 /64 are one visitor, two IPv4 addresses are two', () => {
    const of = (ip: unknown) => read({ request: { ip } })!.visitor;
    expect(of('2001:db8::1')).toBe(of('2001:db8::2'));
    expect(of('2001:db8:0:1::1')).not.toBe(of('2001:db8::1'));
    expect(of('192.0.2.1')).not.toBe(of('192.0.2.2'));
    expect(of(null)).toBe(null);
  });

  test.each<[object, boolean]>([
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'cross-site', referer: 'https://shop.example/' }, false],
    [{ origin: 'https://www.shop.example' }, true],
    [{ referer: 'https://shop.example/a?b' }, true],
    [{ referer: 'https://notshop.example/' }, false],
    [{ referer: 'nonsense' }, false],
    [{}, false],
  ])('the headers %j say whether a page of the domain led to it: %s', (headers, expected) => {
    expect(read({ request: { headers } })!.fromOwnPage).toBe(expected);
  });

  test('a cut target has no known parameters, and one without a path is left out', () => {
    expect(read({ request: { target: `/a?${'x'.repeat(2_045)}` } })!.parameters).toBe(null);
    expect(read({ request: { target: '*' } })).toBe(null);
    expect(read({ line: { format: 'edgeplan.gap/v1', request: null } })).toBe(null);
  });
});
