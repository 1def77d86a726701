/** Two records of one name are found whichever way the name is written. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { spellingsOf } from '../../../src/api/records/neighbours.ts';
import { absoluteName } from '../../../src/model/record-name.ts';

const DOMAIN = 'shop.example';
const LABELS = ['www', 'a', 'A', '*', 'shop', 'example', 'shop.example', 'SHOP.example', '@', 'x-1'];
const name = fc
  .tuple(fc.array(fc.constantFrom(...LABELS), { minLength: 1, maxLength: 3 }), fc.constantFrom('', '.'))
  .map(([labels, dot]) => labels.join('.') + dot);

test('whoever stands for the same name is among the spellings', () => {
  fc.assert(
    fc.property(name, name, (one, other) => {
      const same = absoluteName(one, DOMAIN) ?? one;
      fc.pre(same === (absoluteName(other, DOMAIN) ?? other));
      expect(spellingsOf(DOMAIN, [one])).toContain(other.toLowerCase());
    }),
    { numRuns: 2_000 },
  );
});

test('the apex, a relative and an absolute name', () => {
  expect(spellingsOf(DOMAIN, ['@'])).toEqual(['shop.example', 'shop.example.', '@']);
  expect(spellingsOf(DOMAIN, ['WWW'])).toEqual(['www.shop.example', 'www.shop.example.', 'www']);
  expect(spellingsOf(DOMAIN, ['www.shop.example.'])).toEqual(spellingsOf(DOMAIN, ['www']));
});
