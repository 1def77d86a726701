import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeEscapes,
  encodeCapture,
  encodeUri,
  escapedOctet,
  hasBadEscape,
  hexValue,
  isUriCode,
  utf8Bytes,
  utf8Length,
} from '../../../../src/base/octets/octets.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 12 });
/** Text with lone surrogates. */
const brokenText = fc
  .array(fc.constantFrom('a', '%', 'é', '中', '😀', '\ud83d', '\ude00', '\ud800', '\udfff'), { maxLength: 8 })
  .map((parts) => parts.join(''));
const octets = fc.uint8Array({ maxLength: 8 });
/** Octets that are nearly UTF-8: leads, continuations, and the values around the forbidden ones. */
const nearUtf8 = fc
  .array(
    fc.constantFrom(
      0x41,
      0x7f,
      0x80,
      0x8f,
      0x90,
      0x9f,
      0xa0,
      0xbf,
      0xc0,
      0xc1,
      0xc2,
      0xdf,
      0xe0,
      0xed,
      0xef,
      0xf0,
      0xf4,
      0xf5,
      0xff,
    ),
    {
      maxLength: 6,
    },
  )
  .map((list) => Uint8Array.from(list));

function escaped(bytes: Uint8Array): string {
  return [...bytes].map((octet) => `%${octet.toString(16).padStart(2, '0')}`).join('');
}

/** Octet by octet: the shortest valid UTF-8 sequence at each place, or `%XX` (decisions on semantics §1.1, step 2). */
function decodeNaively(bytes: Uint8Array): string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let out = '';
  for (let at = 0; at < bytes.length; ) {
    let width = 0;
    for (let length = 1; length <= 4 && width === 0; length++) {
      try {
        out += decoder.decode(bytes.subarray(at, at + length));
        width = Math.min(length, bytes.length - at);
      } catch {
        width = 0;
      }
    }
    if (width === 0) out += `%${bytes[at]!.toString(16).toUpperCase().padStart(2, '0')}`;
    at += Math.max(1, width);
  }
  return out;
}

describe('decoding', () => {
  test('hexadecimal digits are decoded in either case, and nothing else is one', () => {
    for (let code = 0; code < 256; code++) {
      const digit = String.fromCharCode(code);
      expect(hexValue(code), digit).toBe(/^[0-9a-fA-F]$/.test(digit) ? Number.parseInt(digit, 16) : -1);
    }
  });

  test('one complete escape is decoded to its octet', () => {
    expect(escapedOctet('%41', 0)).toBe(0x41);
    expect(escapedOctet('a%fF', 1)).toBe(0xff);
    for (const text of ['', 'a', '%', '%4', '%g1', '%1g', '41%'])
      expect(escapedOctet(text, 0), text).toBe(-1);
  });

  test('valid UTF-8 becomes characters, any other octet stays', () => {
    fc.assert(
      fc.property(
        fc.oneof(octets, nearUtf8),
        (bytes) => decodeEscapes(escaped(bytes)) === decodeNaively(bytes),
      ),
      {
        numRuns: 3_000,
      },
    );
  });

  test('every well-formed text survives being escaped', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        fc.pre(text.isWellFormed());
        return decodeEscapes(escaped(utf8Bytes(text))) === text;
      }),
    );
  });

  test('decoding happens once: the result of an escape is not decoded again', () => {
    expect(decodeEscapes('%2541')).toBe('%41');
    expect(decodeEscapes('%25%32%35')).toBe('%25');
    expect(decodeEscapes('%%34%31')).toBe('%41');
  });

  test('raw characters never join with escaped octets', () => {
    expect(decodeEscapes('%c3\u00a9')).toBe('%C3\u00a9');
    expect(decodeEscapes('%c3a%a9')).toBe('%C3a%A9');
    expect(decodeEscapes('%f0%9f😀')).toBe('%F0%9F😀');
  });

  test('an incomplete escape is left unchanged', () => {
    for (const text of ['', 'plain', '%', '%4', '%zz', 'a%', '%%', '%4%', 'é%g0'])
      expect(decodeEscapes(text)).toBe(text);
  });

  test.each([
    ['', false],
    ['abc', false],
    ['%41', false],
    ['%41%', true],
    ['%4', true],
    ['%zz', true],
    ['%00', true],
    ['a%00b', true],
    ['%2500', false],
    ['%%41', true],
    ['%4%41', true],
  ])('a bad escape in %j: %s', (text, bad) => expect(hasBadEscape(text)).toBe(bad));
});

describe('encoding', () => {
  test('encoding leaves unreserved and reserved characters and `%` unchanged', () => {
    const kept = "ABCXYZabcxyz0189-._~:/?#[]@!$&'()*+,;=%";
    expect(encodeUri(kept)).toBe(kept);
    for (let code = 0; code < 128; code++) {
      const character = String.fromCharCode(code);
      const stays = /[-\w.~:/?#[\]@!$&'()*+,;=%]/.test(character);
      expect(isUriCode(code), character).toBe(stays);
      const hex = `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
      expect(encodeUri(character)).toBe(stays ? character : hex);
      const inPath = /[-\w.~:/@!$&'()*+,;=]/.test(character);
      expect(encodeCapture(character)).toBe(inPath ? character : hex);
    }
    expect(isUriCode(0x80)).toBe(false);
  });

  test('a capture decodes to itself, never twice', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        fc.pre(text.isWellFormed());
        const captured = encodeCapture(text);
        return (
          decodeURIComponent(captured) === text &&
          decodeEscapes(captured) === text &&
          encodeUri(captured) === captured
        );
      }),
    );
    expect(encodeCapture('%41?#')).toBe('%2541%3F%23');
  });

  test('encoding twice is encoding once', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, brokenText), (text) => encodeUri(encodeUri(text)) === encodeUri(text)),
    );
  });

  test('other characters become the escapes that encodeURIComponent writes', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('é', '中', '😀', '\u0080', '\uffff', ' ') }), (text) => {
        return encodeUri(text) === encodeURIComponent(text);
      }),
    );
  });
});

describe('UTF-8', () => {
  const encoder = new TextEncoder();

  test('bytes and their count are those of TextEncoder, lone surrogates included', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, brokenText), (text) => {
        const expected = encoder.encode(text);
        return utf8Length(text) === expected.length && Buffer.compare(utf8Bytes(text), expected) === 0;
      }),
      { numRuns: 2_000 },
    );
  });

  test('every character is encoded as TextEncoder encodes it', () => {
    for (let code = 0; code <= 0x10ffff; code += code < 0x3000 ? 1 : 97) {
      const text = String.fromCodePoint(code);
      const expected = encoder.encode(text);
      if (utf8Length(text) !== expected.length || Buffer.compare(utf8Bytes(text), expected) !== 0) {
        throw new Error(`U+${code.toString(16)}`);
      }
    }
  });
});
