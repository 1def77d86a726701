import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseIpEntry } from '../../../../src/base/addresses/ip.ts';
import {
  type AddressSet,
  ALL_ADDRESSES,
  addressEntries,
  intersectAddresses,
  isEmptySet,
  NO_ADDRESSES,
  readAddresses,
  subtractAddresses,
  uniteAddresses,
} from '../../../../src/workbench/importers/addresses.ts';

/** Addresses close together, so that sets touch and overlap. */
const number = fc.integer({ min: 0, max: 40 });
const entry = fc.oneof(
  number.map((last) => `10.0.0.${last}`),
  fc.tuple(number, fc.integer({ min: 26, max: 32 })).map(([last, length]) => `10.0.0.${last}/${length}`),
  fc
    .tuple(number, number)
    .map(([one, other]) => `2001:db8::${Math.min(one, other)}-2001:db8::${Math.max(one, other)}`),
);
const set = fc
  .array(entry, { maxLength: 6 })
  .map((texts) => uniteAddresses(texts.map((text) => readAddresses(text)!)));
const address = fc.oneof(
  number.map((last) => `10.0.0.${last}`),
  number.map((last) => `2001:db8::${last}`),
);

function has(from: AddressSet, text: string): boolean {
  return !isEmptySet(intersectAddresses(from, readAddresses(text)!));
}

test('union, difference and intersection have the addresses that each says', () => {
  fc.assert(
    fc.property(set, set, address, (one, other, text) => {
      expect(has(uniteAddresses([one, other]), text)).toBe(has(one, text) || has(other, text));
      expect(has(subtractAddresses(one, other), text)).toBe(has(one, text) && !has(other, text));
      expect(has(intersectAddresses(one, other), text)).toBe(has(one, text) && has(other, text));
    }),
  );
});

test('the entries of a set are read as the same set', () => {
  fc.assert(
    fc.property(set, (one) => {
      const entries = addressEntries(one);
      expect(entries.every((text) => parseIpEntry(text).ok)).toBe(true);
      const read = uniteAddresses(entries.map((text) => readAddresses(text)!));
      expect(isEmptySet(subtractAddresses(one, read)) && isEmptySet(subtractAddresses(read, one))).toBe(true);
    }),
  );
});

test('all addresses are two prefixes, and no text of another kind is a set', () => {
  expect(addressEntries(ALL_ADDRESSES)).toEqual(['0.0.0.0/0', '::/0']);
  expect(addressEntries(NO_ADDRESSES)).toEqual([]);
  expect(readAddresses('all')).toBeNull();
});
