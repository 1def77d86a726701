import { describe, expect, test } from 'vitest';
import { detectLdap, SHORTEST_LDAP } from '../../../../../src/engine/waf/detectors/ldap.ts';

describe('a value is reported with its construct', () => {
  test.each([
    ['filter that is broken open', '*)(uid=*))(|(uid=*'],
    ['filter that is broken open', ')(cn=*'],
    ['filter that is broken open', '*)(|(a=*'],
    ['filter that is broken open', 'x*)(&'],
    ['filter that is broken open', 'admin)(&)'],
    ['filter that is broken open', 'a)(!(&(|(a=b'],
    ['filter that is broken open', 'x)(mail>=a'],
    ['filter that is broken open', 'x)(useraccountcontrol:1.2.840.113556.1.4.803:=2'],
    ['filter that is broken open', '*)(a;binary=b'],
    ['special characters of a filter as a probe', "*()|&'"],
    ['special characters of a filter as a probe', '(*)&!='],
    ['filter that matches any entry', '|(objectclass=*)'],
    ['filter that matches any entry', '(|(uid=*)'],
    ['null octet behind a filter', 'x))\x00'],
  ])('%s: %j', (construct, value) => expect(detectLdap(value)).toBe(construct));
});

describe('brackets that belong together are not reported', () => {
  test.each([
    'f(x) and (y)',
    '(a) b) (c)',
    'see (1) and 2)',
    ':) (name=x)',
    '(char *)(x)',
    '/^(.*)(a=b)$/',
    '(&(objectClass=user)(uid=anna))',
    'foo(bar)(cn=baz)',
    '(*)',
    ':*)',
    '(*&a)',
    'a)(b::c)',
  ])('%j', (value) => expect(detectLdap(value)).toBeNull());
});

test('the shortest reported value has SHORTEST_LDAP octets', () => {
  const value = '*)\x00';
  expect(detectLdap(value)).not.toBeNull();
  expect(value).toHaveLength(SHORTEST_LDAP);
});
