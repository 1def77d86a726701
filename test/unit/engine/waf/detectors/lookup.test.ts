import { describe, expect, test } from 'vitest';
import { detectLookup, SHORTEST_LOOKUP } from '../../../../../src/engine/waf/detectors/lookup.ts';

const PLAIN = 'JNDI lookup';
const NESTED = 'JNDI lookup put together from others';

describe('a lookup of JNDI is detected in any spelling', () => {
  test.each([
    ['${jndi:ldap://example.com/a}', PLAIN],
    ['x ${ JnDi:rmi:/a', PLAIN],
    ['${\\u006a\\u006eDi:ldap://a}', PLAIN],
    ['${${::-j}${::-n}di:ldap:/a}', NESTED],
    ['${${lower:J}n${upper:d}${lower:${upper:i}}:dns:/a}', NESTED],
    ["${${date:'j'}${date:'n'}${date:'d'}i${env:X:-:}ldap:/a}", NESTED],
    ['${jn${x:y:-d${a:-i:}}ldap:/a}', NESTED],
    ['${a(b:-}${j${c:d-e:-ndi}${f:-:}ldap', NESTED],
    ['${${lower:jnd}${lower:\xc4\xb1}:ldap:/a}', NESTED],
    [`\${${'x'.repeat(99)}:-}\${\${${'y'.repeat(99)}:-jndi:}a}`, NESTED],
    [`${'${a:'.repeat(200)}\${jndi:a}`, null],
  ])('%j is a %s', (value, expected) => expect(detectLookup(value)).toBe(expected));
});

test.each([
  '${name}',
  '${VAR:-jndi:a}',
  'jndi:ldap://a',
  '${env:STAGE}',
  '$jndi:',
  '${user} uses jndi:',
  'the ${jndi:ldap} lookup',
])('%j is not detected', (value) => expect(detectLookup(value)).toBeNull());

test.each(['${jndi:ldap:x}', '${jndi:ldap', '${jndi:java}${jndi:dns://a}', '${jndi:${env:A}}'])(
  '%j has a name, or gets one',
  (value) => expect(detectLookup(value)).not.toBeNull(),
);

test('the shortest value has SHORTEST_LOOKUP octets', () => {
  expect(detectLookup('${jndi:')).toBe(PLAIN);
  expect('${jndi:').toHaveLength(SHORTEST_LOOKUP);
});
