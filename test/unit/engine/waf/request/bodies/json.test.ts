import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  MAX_JSON_DEPTH,
  MAX_JSON_NAME_OCTETS,
  parseJson,
} from '../../../../../../src/engine/waf/request/bodies/json.ts';
import { pairs, parse, utf8 } from './body-cases.ts';

describe('a document becomes arguments', () => {
  test.each([
    ['', []],
    [' \n', []],
    ['{}', []],
    ['[]', []],
    ['{"a":[],"b":{}}', []],
    ['{"a":"1","b":2}', ['json.a=1', 'json.b=2']],
    ['{"a":{"b":{"c":"x"}}}', ['json.a.b.c=x']],
    [
      '{"items":[1,"two",[3],{"k":4}]}',
      [
        'json.items.array_0=1',
        'json.items.array_1=two',
        'json.items.array_2.array_0=3',
        'json.items.array_3.k=4',
      ],
    ],
    ['[{"a":1},{"a":2}]', ['json.array_0.a=1', 'json.array_1.a=2']],
    ['"x"', ['json=x']],
    ['-0.5e+10', ['json=-0.5e+10']],
    ['[true,false,null]', ['json.array_0=true', 'json.array_1=false', 'json.array_2=']],
    ['{"":1}', ['json.empty-key=1']],
    ['{"a":1,"a":2}', ['json.a=1', 'json.a=2']],
    ['{"a\\u002eb":"\\u003cscript\\u003e"}', ['json.a.b=<script>']],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t"', ['json="\\/\b\f\n\r\t']],
    ['"\\u00e9\\u20ac\\ud83d\\ude00"', [`json=${utf8('é€😀')}`]],
    ['"\\ud83d"', [`json=${utf8('\ufffd')}`]],
    [utf8('{"ключ":"значение"}'), [utf8('json.ключ=значение')]],
    [utf8('\ufeff[1]'), ['json.array_0=1']],
  ])('%j has the arguments %j', (text, args) => {
    const body = parse('JSON', text);
    expect(pairs(body.args)).toEqual(args);
    expect(body.error).toBeNull();
  });

  test.each([
    ['UTF-16LE with mark', Buffer.from('\ufeff{"a":"é<"}', 'utf16le')],
    ['UTF-16LE', Buffer.from('{"a":"é<"}', 'utf16le')],
    ['UTF-16BE with mark', Buffer.from('\ufeff{"a":"é<"}', 'utf16le').swap16()],
    ['UTF-16BE', Buffer.from('{"a":"é<"}', 'utf16le').swap16()],
    ['UTF-32LE', Buffer.from(Uint32Array.from([...'{"a":"é<"}'].map((c) => c.codePointAt(0)!)).buffer)],
  ])('a document in %s has the same arguments as in UTF-8', (_, octets) => {
    const body = parse('JSON', octets.toString('latin1'));
    expect(pairs(body.args)).toEqual([utf8('json.a=é<')]);
    expect(body.error).toBeNull();
  });
});

describe('invalid JSON is an error, and the arguments before it are returned', () => {
  test.each([
    ['{"a":1', ['json.a=1'], 'json: it ends inside a value'],
    ['{"a":"x', ['json.a=x'], 'json: it ends inside a value'],
    ['{"a', ['json.a='], 'json: it ends inside a value'],
    ['[1', ['json.array_0=1'], 'json: it ends inside a value'],
    ['{"a":1}x', ['json.a=1'], 'json: something follows the document at octet 7'],
    ['{"a":1}{"b":2}', ['json.a=1'], 'json: something follows the document at octet 7'],
    ['[1,]', ['json.array_0=1'], 'json: a value is missing at octet 3'],
    ['[1 2]', ['json.array_0=1'], 'json: a comma or the end of a container is missing at octet 4'],
    ['[1}', ['json.array_0=1'], 'json: a comma or the end of a container is missing at octet 3'],
    ['{"a" 1}', [], 'json: a colon is missing at octet 5'],
    ['{a:1}', [], 'json: a key is missing at octet 1'],
    ['[NaN,1]', ['json.array_0=NaN', 'json.array_1=1'], 'json: the word at octet 1 is not a value'],
    ['[01,2]', ['json.array_0=01', 'json.array_1=2'], 'json: the word at octet 1 is not a value'],
    [
      '["a\nb",2]',
      ['json.array_0=a\nb', 'json.array_1=2'],
      'json: the string at octet 1 holds a control character',
    ],
    [
      '["\\x41\\u00",2]',
      ['json.array_0=\\x41\\u00', 'json.array_1=2'],
      'json: the string at octet 1 holds an invalid escape',
    ],
    ['["\xff<",2]', ['json.array_0=\xff<', 'json.array_1=2'], 'json: the string at octet 1 is not UTF-8'],
    ['test', ['json=test'], 'json: the word at octet 0 is not a value'],
  ])('%j', (text, args, error) => {
    const body = parse('JSON', text);
    expect(pairs(body.args)).toEqual(args);
    expect(body.error).toBe(error);
  });

  test.each(['1e', '1.', '.5', '+1', '-', '1e+', '0x1', 'tru', '--1'])('%s is not a number', (text) => {
    expect(parse('JSON', text).error).toBe('json: the word at octet 0 is not a value');
  });

  test.each(['0', '-0', '10.25', '1E9', '1e-9', '0.0'])('%s is a number', (text) => {
    expect(parse('JSON', text).error).toBeNull();
  });
});

test('a truncated document is no error at any length, and its complete values are arguments', () => {
  const text = utf8('{"a":[1,true,"x\\u00e9\\n"],"b":{"c":null,"d":-1.5e3},"é":""}');
  const whole = parse('JSON', text);
  for (let at = 0; at <= text.length; at++) {
    const body = parse('JSON', text.slice(0, at), { truncated: true });
    expect(body.error).toBeNull();
    const settled = body.args.slice(0, -1);
    expect(settled).toEqual(whole.args.slice(0, settled.length));
  }
});

describe('limits', () => {
  test('a hundred levels of nesting are no error', () => {
    const body = parse('JSON', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`);
    expect(pairs(body.args)).toEqual([`json${'.a'.repeat(100)}=1`]);
    expect(body.error).toBeNull();
  });

  test('the deepest allowed nesting is no error, one more level is', () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
    expect(parse('JSON', nested(MAX_JSON_DEPTH)).args).toHaveLength(1);
    expect(parse('JSON', nested(MAX_JSON_DEPTH)).error).toBeNull();
    expect(parse('JSON', nested(MAX_JSON_DEPTH + 1)).error).toBe(
      'json: it is nested more than 512 deep; the rest was not inspected',
    );
    expect(parse('JSON', '['.repeat(1_000_000)).args).toEqual([]);
  });

  test('the names of many values inside long keys stay below the limit of octets', () => {
    const key = 'k'.repeat(2_000);
    const text = `${`{"x":1,"${key}":`.repeat(500)}1${'}'.repeat(500)}`;
    const body = parse('JSON', text);
    const octets = body.args.reduce((sum, { name }) => sum + name.length, 0);
    expect(octets).toBeLessThanOrEqual(MAX_JSON_NAME_OCTETS);
    expect(body.args.length).toBeGreaterThan(40);
    expect(body.error).toBe('json: its names take more than 2097152 octets; the rest was not inspected');
  });
});

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

function flatten(name: string, value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => flatten(`${name}.array_${index}`, one));
  if (value !== null && typeof value === 'object') {
    return Object.entries(value).flatMap(([key, one]) =>
      flatten(`${name}.${key === '' ? 'empty-key' : key}`, one),
    );
  }
  return [`${name}=${value === null ? '' : String(value)}`];
}

test('the arguments are the flattened result of JSON.parse', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(undefined, 2), (text, indent) => {
      const value = JSON.parse(text) as Json;
      const body = parse('JSON', utf8(JSON.stringify(value, null, indent)));
      expect(pairs(body.args)).toEqual(flatten('json', value).map(utf8));
      expect(body.error).toBeNull();
    }),
  );
});

describe('the relaxed dialect', () => {
  const relaxed = (text: string, truncated = false) =>
    parseJson(
      { text, contentType: '', truncated },
      { relaxed: true, isNested: false, root: 'json', names: { octets: 0 } },
    );

  test.each([
    ['/* a */ [1, // b\n 2 # c\r\n]', ['json.array_0=1', 'json.array_1=2']],
    ['{"a":1/**/,"b"/*"c":*/:2,}', ['json.a=1', 'json.b=2']],
    ["{a: 'it\\'s', $b_1: \"x\", 'c': 1, d-e: 2}", ["json.a=it's", 'json.$b_1=x', 'json.c=1', 'json.d-e=2']],
    [
      '[+1, .5, 5., 0xFF, -Infinity, NaN]',
      ['+1', '.5', '5.', '0xFF', '-Infinity', 'NaN'].map((value, at) => `json.array_${at}=${value}`),
    ],
    ['"\\x41\\v\\\nb\\q"', ['json=A\vbq']],
    ['{"a":1}\n{"a":2}\r\n\x1e{"b":3}', ['json.a=1', 'json.a=2', 'json.b=3']],
    ['[1,]', ['json.array_0=1']],
    [utf8('{"é":1}'), [utf8('json.é=1')]],
  ])('has the arguments of %j', (text, args) => {
    const body = relaxed(text);
    expect(pairs(body.args)).toEqual(args);
    expect(body.error).toBeNull();
  });

  test.each([
    '[,]',
    '{,}',
    '{a}',
    '[1 2]',
    '/* a',
    '[1',
    '{"a":1}}',
    '[see]',
    '{"a":1} x',
    '0x',
    '[.]',
    '{"a":1;"b":2}',
  ])('has an error in %j', (text) => {
    expect(relaxed(text).error).toMatch(/^json: /);
  });

  test('has all arguments of valid JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(relaxed(text)).toEqual(parse('JSON', utf8(text)));
      }),
    );
  });

  test('has no error in a truncated text at any length', () => {
    const text = '{a: \'b\', /* c */ "d": [1, .5, {e: null,}], // f\n g: "h"}\n[1]';
    for (let at = 0; at <= text.length; at++) {
      expect(relaxed(text.slice(0, at), true).error, text.slice(0, at)).toBeNull();
    }
  });
});
