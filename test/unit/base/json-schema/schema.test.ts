/** Schemas of bodies: what is refused by name, what errors say, and that no schema and no body takes long. */
import { describe, expect, test } from 'vitest';
import {
  compileSchema,
  MAX_SCHEMA_CHAIN,
  MAX_SCHEMA_NODES,
} from '../../../../src/base/json-schema/compile-schema.ts';
import { valueFrom } from '../../../../src/base/json-schema/program.ts';
import { openProgram } from '../../../../src/base/json-schema/validate.ts';
import { testedSchema } from '../../../support/schema-harness.ts';

function problems(schema: unknown): readonly string[] {
  const tested = testedSchema(schema);
  return tested.ok ? [] : tested.problems.map(({ path, message }) => `${path.join('/')}: ${message}`);
}

function errors(schema: unknown, text: string): unknown {
  const tested = testedSchema(schema);
  if (!tested.ok) throw new Error(JSON.stringify(tested.problems));
  return tested.errorsOf(text);
}

/** Schemas of one member each inside one another. */
function nested(levels: number, below: unknown): unknown {
  return levels === 0 ? below : { allOf: [nested(levels - 1, below)] };
}

describe('a schema is refused', () => {
  test.each([
    [{ unevaluatedProperties: false }, 'unevaluatedProperties: is a keyword that is not evaluated'],
    [{ items: [{}] }, 'items: must be a schema'],
    [{ $ref: 'https://a.test/b' }, '$ref: refers to another document, and only this schema is read'],
    [{ $ref: '#/$defs/a' }, '$ref: refers to nothing in the schema'],
    [{ $ref: '#a' }, '$ref: refers to an anchor that the schema does not have'],
    [{ $dynamicRef: '#a' }, '$dynamicRef: is a keyword that is not evaluated'],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, '$schema: is a dialect that is not read'],
    [
      { properties: { a: { $id: 'b' } } },
      'properties/a/$id: begins a resource of its own, and a body has one',
    ],
    [
      { properties: { a: { type: 'text' } } },
      'properties/a/type: must be one or several of null, boolean, string, number, integer, array, object',
    ],
    [{ anyOf: [] }, 'anyOf: must be a list of schemas, and not empty'],
    [{ minLength: -1 }, 'minLength: must be an integer from 0 on'],
    [{ multipleOf: 0 }, 'multipleOf: must be a number greater than 0'],
    [{ exclusiveMinimum: true }, 'exclusiveMinimum: must be a number'],
    [{ pattern: '(?<!a)b' }, 'pattern: looks around with `(?<!`, which no automaton does'],
    [{ pattern: '(a)\\1' }, 'pattern: refers to a group: `\\1`'],
    [
      { patternProperties: { '\\Z': {} } },
      'patternProperties/\\Z: has an escape that ECMA-262 does not have: `\\Z`',
    ],
    [7, ': must be a schema: an object, `true` or `false`'],
  ])('%j', (schema, problem) => {
    expect(problems(schema)).toContain(problem);
  });

  test('that refers to itself without going into the value', () => {
    expect(problems({ anyOf: [{ type: 'null' }, { $ref: '#' }] })).toEqual([
      `: compares one value with more than ${MAX_SCHEMA_CHAIN} schemas inside one another, or refers to itself`,
    ]);
  });

  test('beyond its bounds, and not at them', () => {
    expect(problems(nested(MAX_SCHEMA_CHAIN - 1, {}))).toEqual([]);
    expect(problems(nested(MAX_SCHEMA_CHAIN, {}))).toHaveLength(1);
    const all = (count: number) => ({ allOf: Array.from({ length: count }, () => ({})) });
    expect(problems(all(MAX_SCHEMA_NODES - 1))).toEqual([]);
    expect(problems(all(MAX_SCHEMA_NODES))).toEqual([
      `allOf/${MAX_SCHEMA_NODES - 1}: is beyond the ${MAX_SCHEMA_NODES} schemas that a body may have`,
    ]);
  });
});

describe('an error', () => {
  test('names the place, bounded, and never the value', () => {
    const schema = { additionalProperties: { enum: [1, 'a'] } };
    expect(errors(schema, '{"a/b~":"secret"}')).toEqual([
      { pointer: '#/a~1b~0', detail: 'must be a value that the schema lists' },
    ]);
    const long = 'x'.repeat(300);
    expect(errors(schema, `{"${long}":0}`)).toEqual([
      { pointer: '#', detail: 'must be a value that the schema lists' },
    ]);
  });

  test('is one of five at most', () => {
    expect(errors({ items: false }, '[1,2,3,4,5,6,7]')).toHaveLength(5);
  });
});

describe('numbers are exact', () => {
  test.each([
    [{ multipleOf: 0.01 }, '19.99', true],
    [{ multipleOf: 0.01 }, '19.995', false],
    [{ multipleOf: 3 }, `${'3'.repeat(60)}`, true],
    [{ multipleOf: 3 }, `${'3'.repeat(60)}1`, false],
    [{ multipleOf: 7 }, '7e99999', true],
    [{ multipleOf: 7 }, '1e99999', false],
    [{ maximum: 9007199254740992 }, '9007199254740993', false],
    [{ maximum: 9007199254740992 }, '9007199254740992.0', true],
    // networknt/json-schema-validator#132. A schema has the number that JSON of it is read as, here 2^63 and -2^63.
    [{ maximum: 2 ** 63 }, '9223372036854775808', true],
    [{ maximum: 2 ** 63 }, '9223372036854775809', false],
    [{ minimum: -(2 ** 63) }, '-9223372036854775808', true],
    [{ minimum: -(2 ** 63) }, '-9223372036854775809', false],
    [{ const: 2 ** 64 }, '18446744073709551616', true],
    [{ const: 1e23 }, '100000000000000000000000', true],
    [{ const: 123456789e12 }, '123456789000000000000', true],
    [{ multipleOf: 2 ** 60 }, '2305843009213693952', true],
    [{ type: 'integer' }, '1.0000000000000000000', true],
    [{ type: 'integer' }, '1.0000000000000000001', false],
    [{ type: 'integer' }, '1e400', true],
    [{ exclusiveMaximum: 1 }, '0.99999999999999999999', true],
    [{ const: 1 }, '10e-1', true],
    [{ const: 0 }, '-0', true],
    [{ uniqueItems: true }, '[1, 1.0]', false],
    [{ uniqueItems: true }, '[10000000000000000, 10000000000000001]', true],
    [{ uniqueItems: true }, '[{"a":1,"b":[2]},{"b":[2],"a":1}]', false],
  ])('%j with %s: %s', (schema, text, isValid) => {
    expect((errors(schema, text) as readonly unknown[]).length === 0).toBe(isValid);
  });

  test('and too long ones are not read', () => {
    expect(errors({}, '1'.repeat(1_024))).toEqual([]);
    expect(errors({}, '1'.repeat(1_025))).toBe('beyond');
    expect(errors({}, '1e1000001')).toBe('beyond');
  });
});

describe('a body is read strictly', () => {
  test.each([
    ...[
      '',
      ' ',
      '{',
      '[1,]',
      '{"a":1,}',
      '{"a" 1}',
      '01',
      '+1',
      '.5',
      '1.',
      '1e',
      "'a'",
      'nul',
      'truex',
      '1 2',
    ],
    ...[
      '"\t"',
      '"\\x"',
      '"\\u12"',
      '"a',
      '{"a":1,"a":1}',
      '{"a":1,"\\u0061":2}',
      '"\\ud800"',
      '\ufeff1',
      '\u00a01',
    ],
    ...['NaN', 'Infinity', '-', '[1}', '{"a":1]', '/**/1'],
  ])('%j is none', (text) => {
    expect(errors({}, text)).toBe('unreadable');
  });

  test('and as JSON.parse reads it otherwise', () => {
    const text =
      ' {"__proto__": [1, -2.5e3, "\\u00e9\\ud83d\\ude00\\n", true, false, null, {}], "": {"a": []}}\r\n';
    expect(errors({ const: JSON.parse(text) }, text)).toEqual([]);
  });

  test('down to 32 levels', () => {
    expect(errors({}, '['.repeat(32) + ']'.repeat(32))).toEqual([]);
    expect(errors({}, '['.repeat(33) + ']'.repeat(33))).toBe('beyond');
  });
});

describe('time is bounded', () => {
  test('of schemas that try each branch at every level', () => {
    const branch = { properties: { a: { $ref: '#' } } };
    const schema = {
      anyOf: [{ allOf: [branch, { required: ['b'] }] }, { allOf: [branch, { required: ['c'] }] }],
    };
    expect(errors(schema, `${'{"a":'.repeat(30)}{}${'}'.repeat(30)}`)).toBe(null);
  });

  const branches = (make: (index: number) => object) => ({
    anyOf: Array.from({ length: 1_000 }, (_, index) => make(index)),
  });
  const LONG = 'x'.repeat(100_000);

  test.each<readonly [string, object, string]>([
    ['long names', branches((a) => ({ enum: [{ a }] })), `{"${LONG}":1}`],
    ['long texts', branches((least) => ({ minLength: 60_000 + least })), `"${'é'.repeat(50_000)}"`],
    ['long numbers', { items: branches((a) => ({ enum: [a] })) }, `[${Array(100).fill('7'.repeat(1_000))}]`],
  ])('of %s that many branches compare', (_, schema, text) => {
    expect(errors(schema, text)).toBe(null);
  });

  test.each<readonly [string, object, unknown]>([
    ['texts', branches(() => ({ pattern: 'y$' })), LONG],
    [
      'names',
      branches(() => ({ patternProperties: { y$: {} }, additionalProperties: false })),
      { [LONG]: 1 },
    ],
  ])('of patterns that many branches compare with long %s', (_, schema, value) => {
    const compiled = compileSchema(schema, () => 0);
    let matches = 0;
    const validator = compiled.ok ? openProgram(compiled.program, () => ++matches < 0) : null;
    expect(validator?.(valueFrom(value), LONG.length)).toBe(null);
    expect(matches).toBeLessThan(100);
  });

  test('of lists of unique items', () => {
    const start = performance.now();
    const items = Array.from({ length: 40_000 }, (_, index) => `{"a":${index}}`);
    expect(errors({ uniqueItems: true }, `[${items.join()}]`)).toEqual([]);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});

describe('a pattern', () => {
  test.each([
    ['a', 'xay', true],
    ['^.$', '😀', true],
    ['^.$', '\u2028', false],
    ['^\\s$', '\u00a0', true],
    ['^[\\S]$', '\u00a0', false],
    ['^\\d$', '٣', false],
    ['^\\u{1F600}\\cJ$', '😀\n', true],
    ['^\\ud83d\\ude00$', '😀', true],
    ['^[[:alpha:]]$', ':]', true],
    ['^[^]$', '\n', true],
    ['a$', 'a\n', false],
    ['^(?<year>\\d{4})-(?:\\d\\d)$', '2026-12', true],
    ['^[\\w.\\-]+\\/$', 'a.b-c/', true],
  ])('%s is ECMA-262: %j', (pattern, text, isMatch) => {
    expect(new RegExp(pattern).test(text) || new RegExp(pattern.replace('\\-', '-'), 'u').test(text)).toBe(
      isMatch,
    );
    expect((errors({ pattern }, JSON.stringify(text)) as readonly unknown[]).length === 0).toBe(isMatch);
  });
});
