import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJson } from '../../../../src/base/http/json-body.ts';

const octets = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('a JSON body', () => {
  test('that JSON.stringify wrote is read as the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)])
          expect(readJson(octets(text))).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });

  test.each(['', ' \r\n\t'])('that is empty (%j) is read as no value', (text) => {
    expect(readJson(octets(text))).toEqual({ ok: true, value: undefined });
  });

  test.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['[{"b":{"c":1 , "d":2,\n"c" : 3}}]', 'c'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('with a name twice is refused: %s', (text, name) => {
    expect(readJson(octets(text))).toEqual({
      ok: false,
      reason: `the body holds the field \`${name}\` twice in one object`,
    });
  });

  test.each([
    '{"a":{"a":1},"b":{"a":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":"a","b":["a","a"]}',
    '{"a":"\\",\\"a\\":"}',
  ])('with one name in several objects is fine: %s', (text) =>
    expect(readJson(octets(text))).toEqual({ ok: true, value: JSON.parse(text) }),
  );

  test('is refused beyond 32 levels', () => {
    const nested = (depth: number): Uint8Array => octets('['.repeat(depth) + ']'.repeat(depth));
    expect(readJson(nested(32)).ok).toBe(true);
    expect(readJson(nested(33))).toMatchObject({ ok: false });
    expect(readJson(octets('{"a":'.repeat(1_000_000)))).toMatchObject({ ok: false });
    expect(readJson(octets('["[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["]')).ok).toBe(true);
  });

  test.each(['{', '{"a"', '"', '{"a":1,}', 'nul', "{'a':1}", '1 2', '{"a":01}', '\u0000'])(
    'that is none is refused: %j',
    (text) => expect(readJson(octets(text))).toEqual({ ok: false, reason: 'the body must be valid JSON' }),
  );

  test('must be UTF-8', () => {
    for (const bytes of [[0xff], [0x22, 0xed, 0xa0, 0x80, 0x22], [0xc0, 0x80]])
      expect(readJson(Uint8Array.from(bytes))).toEqual({ ok: false, reason: 'the body must be valid UTF-8' });
  });

  test('never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => typeof readJson(bytes).ok === 'boolean'),
    );
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('{', '}', '[', ']', '"', ':', ',', 'a', '\\', '1', ' ')),
        (parts) => {
          const text = parts.join('');
          const read = readJson(octets(text));
          if (read.ok && text.trim() !== '') expect(read.value).toEqual(JSON.parse(text));
        },
      ),
    );
  });
});
