import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  hashKey,
  isKeyText,
  KEY_CHARACTERS,
  makeKey,
} from '../../../../src/control/accounts/authenticate.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('keys', () => {
  test('have 69 characters that begin with svc_, and no two are equal', () => {
    const keys = Array.from({ length: 200 }, makeKey);
    for (const key of keys) expect(key).toMatch(/^svc_[0-9A-Za-z]{65}$/);
    expect(KEY_CHARACTERS).toBe(69);
    expect(new Set(keys).size).toBe(200);
    expect(keys.every(isKeyText)).toBe(true);
  });

  test('use every character of the alphabet', () => {
    const seen = new Set(Array.from({ length: 200 }, makeKey).flatMap((key) => [...key.slice(4, -6)]));
    expect([...seen].sort().join('')).toBe([...BASE62].sort().join(''));
  });

  test('with one character changed are no keys', () => {
    fc.assert(
      fc.property(fc.nat(64), fc.constantFrom(...BASE62), (place, character) => {
        const key = makeKey();
        const at = place + 4;
        const other = key.slice(0, at) + character + key.slice(at + 1);
        expect(isKeyText(other)).toBe(other === key);
      }),
    );
  });

  test.each(['', 'svc_', `svc_${'a'.repeat(65)}`, `${makeKey()} `, makeKey().slice(0, -1), `${makeKey()}a`])(
    'are not %j',
    (text) => expect(isKeyText(text)).toBe(false),
  );

  test('have their SHA-256 in hex as their stored form', () => {
    expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
