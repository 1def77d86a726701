import { describe, expect, test } from 'vitest';
import { detectEntities, SHORTEST_ENTITIES } from '../../../../../src/engine/waf/detectors/entities.ts';

const GROWS = 'entity that grows';
const RECURSIVE = 'entity that refers to itself';
const USED = 'entity declared to be used in text';

describe('an attack by entities is detected', () => {
  test.each([
    ['<!ENTITY a "x"><!ENTITY b "&a;&a;"><!ENTITY c "&b;&b;">', GROWS],
    ['<!ENTITY % a "x"><!ENTITY % b "%a;%a;"><!ENTITY % c "%b;%b;">', GROWS],
    ["<!ENTITY % a 'x'><!ENTITY % b '&#37;a;-&#x25;a;'><!ENTITY % c '&#37;b;&#37;b;'>", GROWS],
    ['<!ENTITY b "&a;&a;&a;&a;">', GROWS],
    ['<!entity a "&a;">', RECURSIVE],
    ['<!DOCTYPE r [<!ENTITY name "Ann">]><r>&name;</r>', USED],
  ])('%j is an %s', (value, expected) => expect(detectEntities(value)).toBe(expected));
});

test.each([
  '<!ENTITY a "x">',
  '<r>&amp;&lt;&name;</r>',
  '<!DOCTYPE svg [<!ENTITY ns "http://www.w3.org/2000/svg">]><svg xmlns="&ns;"><g>&amp;</g></svg>',
  '<!ENTITY a "x"><!ENTITY b "&a;"><!ENTITY c "&b;">',
  '<!ENTITY x SYSTEM "a.xml"><r/>',
  '<!-- ENTITY a "&a;" -->',
  '<!ENTITY a',
])('%j is not detected', (value) => expect(detectEntities(value)).toBeNull());

test('the shortest value has SHORTEST_ENTITIES octets', () => {
  expect(detectEntities('<!ENTITYa"&a;')).toBe(RECURSIVE);
  expect('<!ENTITYa"&a;').toHaveLength(SHORTEST_ENTITIES);
});
