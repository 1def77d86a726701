/** Digests and encodings against Node's own, and against the vectors of their documents. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TRANSFORMATIONS } from '../../../../../src/engine/waf/transformations/transformations.ts';

const octets = fc.uint8Array({ maxLength: 200 }).map(latin1);

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

function hex(text: string): string {
  return Buffer.from(text, 'latin1').toString('hex');
}

test.each([
  { text: 'abc', digest: 'a9993e364706816aba3e25717850c26c9cd0d89d' },
  {
    text: 'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    digest: '84983e441c3bd26ebaae4aa1f95129e5e54670f1',
  },
  { text: 'a'.repeat(1_000_000), digest: '34aa973cd4c4daa4f61eeb2bdbad27316534016f' },
  { text: '01234567'.repeat(80), digest: 'dea356a2cddd90c7a7ecedc5ebb563934f460452' },
])('sha1 returns the digest of RFC 3174 §7.3: $digest', ({ text, digest }) => {
  expect(hex(TRANSFORMATIONS.sha1(text))).toBe(digest);
});

test.each([
  { text: '', digest: 'd41d8cd98f00b204e9800998ecf8427e' },
  { text: 'a', digest: '0cc175b9c0f1b6a831c399e269772661' },
  { text: 'abc', digest: '900150983cd24fb0d6963f7d28e17f72' },
  { text: 'message digest', digest: 'f96b697d7cb7938d525a2f31aaf161d0' },
  { text: 'abcdefghijklmnopqrstuvwxyz', digest: 'c3fcd3d76192e4007dfb496cca67e13b' },
  { text: '1234567890'.repeat(8), digest: '57edf4a22be3c955ac49da2e2107b67a' },
])('md5 returns the digest of RFC 1321 §A.5: $digest', ({ text, digest }) => {
  expect(hex(TRANSFORMATIONS.md5(text))).toBe(digest);
});

test.each(['sha1', 'md5'] as const)('%s returns the digest that Node computes', (name) => {
  fc.assert(
    fc.property(octets, (text) => {
      expect(hex(TRANSFORMATIONS[name](text))).toBe(createHash(name).update(text, 'latin1').digest('hex'));
    }),
  );
});

test('base64Encode returns what Node encodes, and both decoders invert it', () => {
  fc.assert(
    fc.property(octets, (text) => {
      const encoded = Buffer.from(text, 'latin1').toString('base64');
      expect(TRANSFORMATIONS.base64Encode(text)).toBe(encoded);
      expect(TRANSFORMATIONS.base64Decode(encoded)).toBe(text);
      expect(TRANSFORMATIONS.base64DecodeExt(encoded)).toBe(text);
    }),
  );
});

test('hexEncode returns what Node encodes, and hexDecode inverts it in either case', () => {
  fc.assert(
    fc.property(octets, (text) => {
      expect(TRANSFORMATIONS.hexEncode(text)).toBe(hex(text));
      expect(TRANSFORMATIONS.hexDecode(hex(text))).toBe(text);
      expect(TRANSFORMATIONS.hexDecode(hex(text).toUpperCase())).toBe(text);
    }),
  );
});

test('urlDecode inverts urlEncode', () => {
  fc.assert(
    fc.property(octets, (text) => {
      expect(TRANSFORMATIONS.urlDecode(TRANSFORMATIONS.urlEncode(text))).toBe(text);
    }),
  );
});
