/**
 * JSON Schema against other implementations: on generated schemas and values the compiled program comes to the verdict of `ajv`,
 * and on the public suite of 2020-12 to the suite's. `EDGEPLAN_SCHEMAS` sets how many schemas are generated, `EDGEPLAN_SEED` the first.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@cfworker/json-schema';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { externalSuite } from '../support/external-suites.ts';
import { testedSchema } from '../support/schema-harness.ts';
import { sizeOf } from '../support/size.ts';
import { type Random, seededRandom } from './regex-generator.ts';

const SCHEMAS = sizeOf('EDGEPLAN_SCHEMAS', { usual: 1_500, full: 20_000 });
const FIRST_SEED = Number(process.env['EDGEPLAN_SEED'] ?? 1);
const VALUES = 20;

const SCALARS = ['', 'a', 'ab', 'abc', '😀', 'é1', 0, 1, -1, 2, 3, 6, 1.5, 0.5, 1e21, true, false, null];
const NAMES = ['a', 'b', 'ab', 'c1', '__proto__', 'constructor', '😀'];
const PATTERNS = [
  '^a',
  'b$',
  '^.$',
  '[0-9]',
  '^[^a]*$',
  '\\d+',
  'a|c',
  '^(?:ab?)+$',
  '\\s',
  '^\\S*$',
  '\\u0061',
  '\\p{L}',
];
const TYPES = ['null', 'boolean', 'string', 'number', 'integer', 'array', 'object'];

function generateValue(random: Random, depth: number): unknown {
  const kind = random.below(depth > 0 ? 4 : 2);
  if (kind < 2) return random.pick(SCALARS);
  const size = random.below(4);
  if (kind === 2) return Array.from({ length: size }, () => generateValue(random, depth - 1));
  const entries = Array.from({ length: size }, () => [random.pick(NAMES), generateValue(random, depth - 1)]);
  return Object.fromEntries(entries);
}

type Maker = (random: Random, depth: number) => unknown;

const some = (random: Random, make: () => unknown): unknown[] =>
  Array.from({ length: 1 + random.below(3) }, make);
const named = (random: Random, names: readonly string[], make: () => unknown): object =>
  Object.fromEntries(some(random, () => [random.pick(names), make()]) as [string, unknown][]);
const schemas: Maker = (random, depth) => some(random, () => schemaOf(random, depth - 1));
const below: Maker = (random, depth) => schemaOf(random, depth - 1);
const count: Maker = (random) => random.below(4);
const number: Maker = (random) => random.pick([-1, 0, 1, 1.5, 3]);
const names = (random: Random): unknown[] => [...new Set(some(random, () => random.pick(NAMES)))];

/** Keywords with one schema. */
const APPLIED = ['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else'];

const KEYWORDS: Readonly<Record<string, Maker>> = {
  ...Object.fromEntries(APPLIED.map((keyword) => [keyword, below])),
  type: (random) =>
    random.below(2) === 0 ? random.pick(TYPES) : [...new Set(some(random, () => random.pick(TYPES)))],
  enum: (random) => [
    ...new Map(
      some(random, () => generateValue(random, 1)).map((one) => [JSON.stringify(one), one]),
    ).values(),
  ],
  const: (random) => generateValue(random, 1),
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: (random) => random.pick([1, 2, 0.5, 3]),
  minLength: count,
  maxLength: count,
  pattern: (random) => random.pick(PATTERNS),
  minItems: count,
  maxItems: count,
  uniqueItems: (random) => random.below(4) > 0,
  prefixItems: schemas,
  minContains: count,
  maxContains: count,
  minProperties: count,
  maxProperties: count,
  required: names,
  properties: (random, depth) => named(random, NAMES, () => schemaOf(random, depth - 1)),
  patternProperties: (random, depth) => named(random, PATTERNS, () => schemaOf(random, depth - 1)),
  dependentRequired: (random) => named(random, NAMES, () => names(random)),
  dependentSchemas: (random, depth) => named(random, NAMES, () => schemaOf(random, depth - 1)),
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
};

function schemaOf(random: Random, depth: number): unknown {
  if (depth < 0) return random.pick([true, false, {}, { $ref: '#/$defs/leaf' }]);
  const chosen = some(random, () => random.pick(Object.keys(KEYWORDS)));
  return Object.fromEntries(chosen.map((keyword) => [keyword, KEYWORDS[keyword as string]!(random, depth)]));
}

/** The verdict on a value; `null`: the two implementations differ, or the generated code of ajv fails. */
function agreed(judges: readonly ((value: unknown) => boolean)[], text: string): boolean | null {
  try {
    const [first, ...others] = judges.map((judge) => judge(JSON.parse(text)));
    return others.every((other) => other === first) ? first! : null;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

test(`agrees with ajv and @cfworker/json-schema on ${SCHEMAS} generated schemas, ${VALUES} values each`, {
  timeout: 3_600_000,
}, () => {
  const counts = { valid: 0, invalid: 0, apart: 0 };
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SCHEMAS; seed++) {
    const random = seededRandom(seed);
    const leaf = { $defs: { leaf: { type: random.pick(TYPES) } } };
    const schema = Object.assign({}, schemaOf(random, 2), leaf);
    const ajv = new Ajv2020({
      strict: false,
      validateFormats: false,
      validateSchema: false,
      ownProperties: true,
    });
    const compiled = ajv.compile(schema);
    const other = new Validator(schema, '2020-12');
    const judges = [
      (value: unknown) => compiled(value) === true,
      (value: unknown) => other.validate(value).valid,
    ];
    const tested = testedSchema(schema);
    if (!tested.ok) throw new Error(`seed ${seed}: ${JSON.stringify({ schema, problems: tested.problems })}`);
    for (let index = 0; index < VALUES; index++) {
      const text = JSON.stringify(generateValue(random, 3));
      const expected = agreed(judges, text);
      counts[expected === null ? 'apart' : expected ? 'valid' : 'invalid']++;
      if (expected === null) continue;
      const errors = tested.errorsOf(text);
      if (!Array.isArray(errors) || (errors.length === 0) !== expected)
        throw new Error(`seed ${seed}: ${JSON.stringify({ schema, text, expected, errors })}`);
    }
  }
  if (process.env['SHOW'] !== undefined) console.log(counts);
  expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan((SCHEMAS * VALUES) / 10);
  expect(counts.apart).toBeLessThan((SCHEMAS * VALUES) / 20);
});

interface SuiteGroup {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

/** Messages of what is refused by name; anything else must compile. */
const REFUSALS =
  /not evaluated|resource of its own|another document|dialect that is not read|invalid character class range/;
/** `format` as an assertion is another vocabulary; the others need a language that is read otherwise. */
const OPTIONAL = [
  'bignum',
  'ecmascript-regex',
  'float-overflow',
  'non-bmp-regex',
  'id',
  'unknownKeyword',
  'refOfUnknownKeyword',
];

const suite = externalSuite('json-schema');
describe.skipIf(suite.missing !== null)(
  `JSON Schema Test Suite${suite.missing === null ? '' : ` (${suite.missing})`}`,
  () => {
    const folder = join(suite.folder, 'tests/draft2020-12');
    const files =
      suite.missing === null
        ? [...readdirSync(folder), ...OPTIONAL.map((name) => `optional/${name}.json`)].filter((name) =>
            name.endsWith('.json'),
          )
        : [];
    test.each(files)('%s: what compiles agrees in every case, and the rest is refused by name', (file) => {
      for (const group of JSON.parse(readFileSync(join(folder, file), 'utf8')) as SuiteGroup[]) {
        const tested = testedSchema(group.schema);
        if (!tested.ok) {
          for (const { message } of tested.problems) expect(message, group.description).toMatch(REFUSALS);
          continue;
        }
        for (const { description, data, valid } of group.tests) {
          const errors = tested.errorsOf(JSON.stringify(data));
          expect(Array.isArray(errors) && errors.length === 0, `${group.description}: ${description}`).toBe(
            valid,
          );
        }
      }
    });
  },
);
