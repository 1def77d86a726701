/** Bodies of operations of gateways: which schemas a rule may have, with the place of what is refused. */
import { describe, expect, test } from 'vitest';
import { formatPath } from '../../../../src/base/diagnostics/diagnostic.ts';
import {
  MAX_BODY_SCHEMA,
  MAX_BODY_SCHEMA_DEPTH,
  MAX_SCHEMA_PATTERNS,
} from '../../../../src/base/vocabulary/limits.ts';
import { parseRule } from '../../../../src/rules/model/parse.ts';

type Content = { readonly type: string; readonly schema?: unknown };

function parse(...content: Content[]) {
  const operations = [{ methods: ['POST'], path: '/a', body: { content } }];
  return parseRule('gateway', { base_path: '/', auth: { require: 'none' }, operations, validation: {} });
}

function refusals(...content: Content[]): readonly string[] {
  return parse(...content).diagnostics.map(({ path, message }) => `${formatPath(path)}: ${message}`);
}

const PLACE = 'operations[0].body.content[0]';
const json = (schema: unknown): Content => ({ type: 'application/json', schema });

/** Objects inside one another. */
function nested(levels: number): unknown {
  return levels === 1 ? {} : { not: nested(levels - 1) };
}

describe('a schema of a body', () => {
  test('is stored whole, as deep as it may be', () => {
    const deep = (levels: number): object =>
      levels === 0 ? { type: 'null' } : { properties: { a: deep(levels - 1) } };
    const schema = deep(20);
    const parsed = parse(json(schema));
    expect(parsed.diagnostics).toEqual([]);
    expect(JSON.stringify(parsed)).toContain(JSON.stringify(schema));
  });

  test.each<[string, Content, string]>([
    [
      'of another keyword',
      json({ not: { unevaluatedItems: false } }),
      '.schema.not.unevaluatedItems: is a keyword that is not evaluated',
    ],
    [
      'of a type that is not JSON',
      { type: 'text/csv', schema: {} },
      '.schema: is of a type that is not read: values are compared of types of JSON alone',
    ],
    [
      'of a range',
      { type: 'application/*', schema: {} },
      '.schema: is of a type that is not read: values are compared of types of JSON alone',
    ],
    [
      'that is too large',
      json({ $comment: 'x'.repeat(MAX_BODY_SCHEMA) }),
      `.schema: must be at most ${MAX_BODY_SCHEMA} characters of JSON`,
    ],
    [
      'that is nested too deep',
      json(nested(MAX_BODY_SCHEMA_DEPTH + 1)),
      `.schema: must be nested at most ${MAX_BODY_SCHEMA_DEPTH} deep`,
    ],
    [
      'that is nested far too deep',
      json(nested(500)),
      `.schema: must be nested at most ${MAX_BODY_SCHEMA_DEPTH} deep`,
    ],
    [
      'with a pattern that needs too large an automaton',
      json({ pattern: '^(?:a|b)*a(?:a|b){20}$' }),
      '.schema.pattern: the pattern is too complex',
    ],
    ['of a malformed type', { type: 'json' }, '.type: must be a media type without parameters'],
  ])('%s is refused', (_what, content, refusal) => {
    expect(refusals(content)[0]).toContain(PLACE + refusal);
  });

  test('of circular data is refused', () => {
    const circle: Record<string, unknown> = {};
    circle['allOf'] = [circle, circle];
    expect(refusals(json(circle))[0]).toContain(`${PLACE}.schema: must be`);
  });

  test('has few patterns with the others of its gateway', () => {
    const patterns = (count: number) => ({
      allOf: Array.from({ length: count }, (_, index) => ({ pattern: `a${index}` })),
    });
    expect(refusals(json(patterns(MAX_SCHEMA_PATTERNS)))).toEqual([]);
    expect(refusals(json(patterns(MAX_SCHEMA_PATTERNS + 1)))).toEqual([
      `${PLACE}.schema.allOf[${MAX_SCHEMA_PATTERNS}].pattern: is beyond the ${MAX_SCHEMA_PATTERNS} patterns that the bodies of a gateway may have`,
    ]);
  });
});

describe('a keyword that JSON Schema does not have', () => {
  test.each([
    [{ requierd: ['a'] }, 'requierd', 'required'],
    [{ properties: { a: { minlength: 1 } } }, 'properties.a.minlength', 'minLength'],
    [{ anyOf: [{ additionalPropertes: false }] }, 'anyOf[0].additionalPropertes', 'additionalProperties'],
    [{ $defs: { a: { propertys: {} } }, $ref: '#/$defs/a' }, '["$defs"].a.propertys', 'properties'],
    [{ oneof: [{}] }, 'oneof', 'oneOf'],
    [{ ref: '#/$defs/a' }, 'ref', '$ref'],
    [{ pattternProperties: {} }, 'pattternProperties', 'patternProperties'],
  ])('has a warning at its place if it is near one that it has: %j', (schema, place, keyword) => {
    const parsed = parse(json(schema));
    expect(parsed.ok).toBe(true);
    const [warning, ...others] = parsed.diagnostics;
    expect(others).toEqual([]);
    expect(warning).toMatchObject({ code: 'schema_keyword', severity: 'warning' });
    expect(warning?.remedy).toBe(`did you mean \`${keyword}\`?`);
    const start = place.startsWith('[') ? '' : '.';
    expect(formatPath(warning!.path)).toBe(`${PLACE}.schema${start}${place}`);
  });

  test('has none if it is an annotation, an extension or near nothing', () => {
    const annotations = {
      ...{ $comment: '', title: '', description: '', default: 1, examples: [], example: 1, deprecated: true },
      ...{ readOnly: true, writeOnly: true, format: 'date', contentEncoding: 'base64', contentSchema: {} },
      ...{ discriminator: {}, xml: {}, externalDocs: {}, nullable: true, 'x-requierd': 1, 'x-minlength': 1 },
      ...{ tsType: 'A', markdownDescription: '', titel: '', errorMessage: '', exmaples: [] },
      properties: { requierd: {}, minlength: { const: { requierd: 1 } } },
    };
    expect(refusals(json(annotations))).toEqual([]);
  });
});

// networknt/json-schema-validator#132, RicoSuter/NJsonSchema#1798.
describe('an integer that is rounded when it is read', () => {
  test.each([
    [{ maximum: 2 ** 63 }, 'maximum', '9223372036854775808'],
    [{ properties: { a: { enum: [1, 2 ** 53] } } }, 'properties.a.enum', '9007199254740992'],
    [{ items: { const: -(2 ** 64) } }, 'items.const', '-18446744073709551616'],
  ])('has a warning with what it is read as: %j', (schema, place, value) => {
    const { ok, diagnostics } = parse(json(schema));
    expect(ok).toBe(true);
    expect(diagnostics).toMatchObject([{ code: 'schema_number', severity: 'warning' }]);
    expect(formatPath(diagnostics[0]!.path)).toBe(`${PLACE}.schema.${place}`);
    expect(diagnostics[0]!.message).toContain(`is read as ${value}: `);
  });

  test('has none in an operation of a document, which has it', () => {
    const body = { content: [json({ maximum: 2 ** 63 })] };
    const operations = [{ methods: ['POST'], path: '/a', source: 'schema', body }];
    const rule = { base_path: '/', auth: { require: 'none' }, operations, validation: {} };
    expect(parseRule('gateway', rule).diagnostics).toEqual([]);
  });

  test('has none if it is exact, has few digits or is a fraction', () => {
    const schema = {
      maximum: Number.MAX_SAFE_INTEGER,
      minimum: -1e20,
      multipleOf: 0.1,
      enum: [1e23, 'a', 2.5],
    };
    expect(refusals(json(schema))).toEqual([]);
  });
});
