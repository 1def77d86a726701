import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc32 } from '../../../src/base/crc32.ts';

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** CRC-32 of the catalogue of parametrised CRC algorithms (ISO-HDLC), and RFC 3720's zeros and ones by zlib. */
test.each([
  ['', 0],
  ['123456789', 0xcbf43926],
  ['a', 0xe8b7be43],
  ['abc', 0x352441c2],
  ['message digest', 0x20159d7f],
  ['abcdefghijklmnopqrstuvwxyz', 0x4c2750bd],
  ['The quick brown fox jumps over the lazy dog', 0x414fa339],
])('of %j', (text, sum) => expect(crc32(ascii(text))).toBe(sum));

test('of zeros and ones', () => {
  expect(crc32(new Uint8Array(32))).toBe(0x190a55ad);
  expect(crc32(new Uint8Array(32).fill(0xff))).toBe(0xff6cab0b);
});

/** Bit by bit, as RFC 1952 §8 defines it. */
function slowly(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const octet of bytes) {
    crc ^= octet;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** Node has its own from 20.15 on. */
const byNode = 'crc32' in zlib ? (zlib.crc32 as (bytes: Uint8Array) => number) : slowly;

test('of any bytes, at any length and offset', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), fc.nat(9), (bytes, from) => {
      const part = bytes.subarray(Math.min(from, bytes.length));
      expect(crc32(part)).toBe(slowly(part));
      expect(crc32(part)).toBe(byNode(part));
    }),
    { numRuns: 1_000 },
  );
});

test('of a megabyte', () => {
  const bytes = Uint8Array.from({ length: 1 << 20 }, (_, at) => (at * 2_654_435_761) >>> 13);
  expect(crc32(bytes)).toBe(byNode(bytes));
});
