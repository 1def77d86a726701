import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { xxhash32 } from '../../../../src/base/octets/xxhash32.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('xxhash32', () => {
  // Published by the reference implementation's sanity test and by the ports that follow it.
  test.each([
    ['', 0x02cc5d05],
    ['a', 0x550d7456],
    ['abc', 0x32d153ff],
    ['message digest', 0x7c948494],
    ['abcdefghijklmnopqrstuvwxyz', 0x63a14d5f],
    ['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', 0x9c285e64],
  ])('%j', (text, sum) => expect(xxhash32(bytes(text))).toBe(sum));

  test('XXH32 detects any damage within one word', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.nat(),
        fc.uint8Array({ minLength: 4, maxLength: 4 }),
        (input, place, damage) => {
          const word = (place % input.length) & ~3;
          const damaged = Uint8Array.from(input, (octet, at) =>
            at >> 2 === word >> 2 ? octet ^ damage[at & 3]! : octet,
          );
          const same = damaged.every((octet, at) => octet === input[at]);
          expect(xxhash32(damaged) === xxhash32(input)).toBe(same);
        },
      ),
    );
  });
});
