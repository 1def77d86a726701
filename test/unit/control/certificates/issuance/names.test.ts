/** Names of obtained certificates. */
import { describe, expect, test } from 'vitest';
import {
  challengeOwner,
  inOrder,
  isNeeded,
  nameFacts,
  usualNames,
  whyNotOrderable,
} from '../../../../../src/control/certificates/issuance/names.ts';
import { MAX_ORDER_NAMES } from '../../../../../src/control/certificates/limits.ts';

const DOMAIN = 'example.com';
const facts = (names: readonly string[], zone = false) =>
  nameFacts(
    DOMAIN,
    names.map((name) => ({ name, type: 'A', proxied: true })),
    zone,
  );

test('the facts of records are the absolute names of those that are proxied', () => {
  const records = [
    { name: '@', proxied: true },
    { name: 'WWW', proxied: true },
    { name: 'api.example.com', proxied: true },
    { name: '*.shop', proxied: true },
    { name: 'mail', proxied: false },
    { name: 'other.test.', proxied: true },
  ].map((record) => ({ ...record, type: 'A' as const }));
  const { proxied } = nameFacts(DOMAIN, records, false);
  expect([...proxied]).toEqual([DOMAIN, 'www.example.com', 'api.example.com', '*.shop.example.com']);
});

describe('the usual names', () => {
  test.each([
    [['example.com'], ['example.com']],
    [
      ['www.example.com', 'example.com'],
      ['example.com', 'www.example.com'],
    ],
    // Proved by HTTP-01, which cannot prove a wildcard (RFC 8555 section 8.3).
    [['*.example.com', 'example.com'], ['example.com']],
    [['_dmarc.example.com', 'a_b.example.com', '-a.example.com', 'a-.example.com'], []],
    [['xn--bcher-kva.example.com'], ['xn--bcher-kva.example.com']],
    [[], []],
  ])('of %j without a zone are %j', (uncovered, names) => {
    expect(usualNames(uncovered, facts(uncovered))).toEqual(names);
  });

  test.each([
    [['example.com'], ['example.com']],
    [['www.example.com'], ['*.example.com']],
    [
      ['api.example.com', 'www.example.com', 'example.com'],
      ['example.com', '*.example.com'],
    ],
    [
      ['a.b.example.com', 'b.example.com', '*.c.example.com'],
      ['*.example.com', '*.b.example.com', '*.c.example.com'],
    ],
    // The wildcard of its level covers it, with whatever label.
    [['_x.example.com'], ['*.example.com']],
    [['a._x.example.com'], []],
  ])('of %j with a zone are %j', (uncovered, names) => {
    expect(usualNames(uncovered, facts(uncovered, true))).toEqual(names);
  });

  test('are no wildcards where the customer has their proof elsewhere', () => {
    const a = (name: string) => ({ name, type: 'A' as const, proxied: true });
    const away = [
      { name: '_acme-challenge', type: 'CNAME' as const, proxied: false },
      { name: 'c', type: 'NS' as const, proxied: false },
    ];
    const known = nameFacts(DOMAIN, [a('@'), a('www'), a('x.b'), a('x.c'), ...away], true);
    const uncovered = ['example.com', 'www.example.com', 'x.b.example.com', 'x.c.example.com'];
    expect(usualNames(uncovered, known)).toEqual([
      'example.com',
      '*.b.example.com',
      'www.example.com',
      'x.c.example.com',
    ]);
    expect(whyNotOrderable('*.example.com', known)).toMatch(/CNAME record of _acme-challenge\.example\.com/);
    expect(whyNotOrderable('*.c.example.com', known)).toMatch(/NS record of c\.example\.com/);
  });

  test('are no more than an order may have, the shortest first', () => {
    const many = Array.from({ length: 250 }, (_, index) => `n${index}.example.com`);
    const names = usualNames(many, facts(many));
    expect(names).toHaveLength(MAX_ORDER_NAMES);
    expect(names[0]).toBe('n0.example.com');
  });
});

describe('a name', () => {
  const here = ['@', 'www', '*.shop', 'a.b'];
  test.each([
    ['example.com', null, null],
    ['www.example.com', null, null],
    ['any.shop.example.com', null, null],
    ['*.shop.example.com', /wildcard is proved in the zone/, null],
    ['*.example.com', /wildcard is proved in the zone/, null],
    ['*.b.example.com', /wildcard is proved in the zone/, null],
    ['mail.example.com', /no proxied record/, /no proxied record/],
    ['*.mail.example.com', /wildcard is proved in the zone/, /no proxied record/],
    ['example.org', /not a name of example\.com/, /not a name of example\.com/],
    ['notexample.com', /not a name of example\.com/, /not a name of example\.com/],
    ['com', /no host name/, /no host name/],
    ['', /no host name/, /no host name/],
    ['*.', /no host name/, /no host name/],
    ['*.*.example.com', /no host name/, /no host name/],
    ['w*.example.com', /no host name/, /no host name/],
    ['WWW.example.com', /no host name/, /no host name/],
    ['www.example.com.', /no host name/, /no host name/],
    ['a_b.example.com', /no host name/, /no host name/],
    ['192.0.2.1', /no host name|not a name/, /no host name|not a name/],
    ['www.example.com:443', /no host name/, /no host name/],
    [`${'a'.repeat(64)}.example.com`, /no host name|no proxied/, /no host name|no proxied/],
  ])('`%s` is orderable as stated', (name, without, withZone) => {
    const reasons = [whyNotOrderable(name, facts(here)), whyNotOrderable(name, facts(here, true))];
    for (const [index, expected] of [without, withZone].entries()) {
      if (expected === null) expect(reasons[index]).toBeNull();
      else expect(reasons[index]).toMatch(expected);
    }
  });

  test('is needed where a proxied name is served with it', () => {
    const known = facts(here, true);
    const needed = (name: string) => isNeeded(name, known);
    const yes = ['example.com', 'www.example.com', 'x.shop.example.com', '*.shop.example.com'];
    expect(
      [...yes, '*.example.com', '*.b.example.com', 'a.b.example.com'].filter((one) => !needed(one)),
    ).toEqual([]);
    const none = ['mail.example.com', 'b.example.com', '*.mail.example.com', 'y.x.shop.example.com'];
    expect(none.filter(needed)).toEqual([]);
  });

  test('is proved at one owner with its wildcard', () => {
    expect(challengeOwner('example.com')).toBe('_acme-challenge.example.com');
    expect(challengeOwner('*.example.com')).toBe('_acme-challenge.example.com');
  });
});

test('names are ordered by length, then by their characters', () => {
  expect(inOrder(new Set(['b.example.com', 'example.com', 'a.example.com']))).toEqual([
    'example.com',
    'a.example.com',
    'b.example.com',
  ]);
});
