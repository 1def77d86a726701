import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_BODY_ARGUMENTS } from '../../../../../../src/engine/waf/request/bodies/parsed-body.ts';
import { pairs, parse } from './body-cases.ts';

describe('a urlencoded body', () => {
  test.each([
    ['', []],
    ['a=1&b=2', ['a=1', 'b=2']],
    ['a', ['a=']],
    ['a=1=2', ['a=1=2']],
    ['=1', ['=1']],
    ['a+b=%26%3d%00', ['a b=&=\0']],
    ['a=1&&b=2&', ['a=1', '=', 'b=2']],
    ['a=1&a=2', ['a=1', 'a=2']],
    ['%zz=%4', ['%zz=%4']],
    ['a=%u0041', ['a=%u0041']],
    ['a=\xff%ff;b=1', ['a=\xff\xff;b=1']],
  ])('%j has the arguments %j', (text, args) => {
    const body = parse('URLENCODED', text);
    expect(pairs(body.args)).toEqual(args);
    expect(body.error).toBeNull();
  });

  test('is no error when truncated inside an escape', () => {
    const body = parse('URLENCODED', 'a=1&b=%4', { truncated: true });
    expect(pairs(body.args)).toEqual(['a=1', 'b=%4']);
    expect(body.error).toBeNull();
  });

  test('with ten thousand arguments is no error, with one more it is', () => {
    const full = Array.from({ length: MAX_BODY_ARGUMENTS }, (_, index) => `a${index}=1`).join('&');
    expect(parse('URLENCODED', full).args).toHaveLength(MAX_BODY_ARGUMENTS);
    expect(parse('URLENCODED', full).error).toBeNull();
    const over = parse('URLENCODED', `${full}&b=2`);
    expect(over.args).toHaveLength(MAX_BODY_ARGUMENTS);
    expect(over.error).toBe('urlencoded: it holds more than 10000 values; the rest was not inspected');
  });

  test('has the arguments that URLSearchParams wrote', () => {
    const word = fc.string({ unit: 'binary-ascii', maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.tuple(word, word), { minLength: 1, maxLength: 6 }), (list) => {
        const body = parse('URLENCODED', new URLSearchParams(list).toString());
        expect(body.args.map(({ name, value }) => [name, value])).toEqual(list);
      }),
    );
  });
});
