/**
 * Inclusion of schemas against the validator of nodes: on generated pairs no value is valid for the one schema and not for the one
 * that is proved to include it. `EDGEPLAN_SCHEMA_PAIRS` sets how many pairs are tried.
 */
import { expect, test } from 'vitest';
import { sampleValues } from '../../src/workbench/proofs/body-samples.ts';
import { isIncluded } from '../../src/workbench/proofs/schema-inclusion.ts';
import { type Random, seeded } from '../support/generate.ts';
import { testedSchema } from '../support/schema-harness.ts';
import { sizeOf } from '../support/size.ts';

const PAIRS = sizeOf('EDGEPLAN_SCHEMA_PAIRS', { usual: 3_000, full: 100_000 });
const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'];
const NAMES = ['a', 'b', 'c'];
const VALUES = [null, true, 0, 1, 1.5, -3, '', 'x', 'xx', [], ['x'], {}, { a: 1 }, { a: 'x', b: 2 }];

/** A keyword with a value. */
function keyword(random: Random, depth: number): Readonly<Record<string, unknown>> {
  const below = (): unknown => generate(random, depth - 1);
  const list = (): readonly unknown[] => random.times(1 + random.int(2), below);
  const scalars: readonly (() => object)[] = [
    () => ({ type: random.pick(TYPES) }),
    () => ({ type: random.some(TYPES, 3) }),
    () => ({ enum: random.some(VALUES, 4) }),
    () => ({ const: random.pick(VALUES) }),
    () => ({
      [random.pick(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'])]: random.int(4) - 1,
    }),
    () => ({ [random.pick(['minLength', 'maxLength', 'minItems', 'maxItems'])]: random.int(3) }),
    () => ({ [random.pick(['minProperties', 'maxProperties'])]: random.int(3) }),
    () => ({ required: random.some(NAMES, 2) }),
    () => ({ pattern: random.pick(['^x', 'x$']), multipleOf: random.pick([1, 2]) }),
    () => ({ additionalProperties: false, properties: { a: true } }),
    () => ({ title: 'a', uniqueItems: random.chance(0.5) }),
  ];
  const nested: readonly (() => object)[] = [
    () => ({ properties: Object.fromEntries(random.some(NAMES, 3).map((name) => [name, below()])) }),
    () => ({ additionalProperties: below() }),
    () => ({ items: below() }),
    () => ({ prefixItems: list() }),
    () => ({ anyOf: list() }),
    () => ({ oneOf: list() }),
    () => ({ allOf: list() }),
    () => ({ not: below() }),
    () => ({ contains: below(), minContains: random.int(2) }),
    () => ({ patternProperties: { '^a': below() } }),
    () => ({ propertyNames: { maxLength: 1 } }),
    () => Object.fromEntries(['if', 'then'].map((name) => [name, below()])),
    () => ({ $ref: '#/$defs/one' }),
  ];
  return random.pick(depth > 0 && random.chance(0.5) ? nested : scalars)() as Readonly<
    Record<string, unknown>
  >;
}

function generate(random: Random, depth = 2): unknown {
  if (random.chance(0.08)) return random.chance(0.7);
  return Object.assign({}, ...random.times(random.int(4), () => keyword(random, depth)));
}

function documentOf(random: Random): Readonly<Record<string, unknown>> {
  const schema = generate(random);
  return { ...(typeof schema === 'object' ? schema : {}), $defs: { one: generate(random, 0) } };
}

/** A schema that is near to another. */
function changed(
  random: Random,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const names = Object.keys(given).filter((name) => name !== '$defs');
  const without = random.chance(0.5) && names.length > 0 ? random.pick(names) : '';
  const left = Object.fromEntries(Object.entries(given).filter(([name]) => name !== without));
  return random.chance(0.6) ? { ...left, ...keyword(random, 2) } : left;
}

test(`no value is valid for a schema alone whose inclusion is proved, of ${PAIRS} pairs`, {
  timeout: 3_600_000,
}, () => {
  const counts = { pairs: 0, proved: 0, shown: 0, open: 0, values: 0 };
  for (let seed = 1; seed <= PAIRS; seed++) {
    const random = seeded(seed + 4_000);
    const one = documentOf(random);
    const other = random.chance(0.2) ? documentOf(random) : changed(random, one);
    const [narrow, wide] = random.chance(0.5) ? [one, other] : [other, one];
    const compiled = [narrow, wide].map(testedSchema);
    const [mine, theirs] = compiled;
    if (mine?.ok !== true || theirs?.ok !== true) continue;
    counts.pairs++;
    const isProved = isIncluded(narrow, wide);
    if (isProved) counts.proved++;
    const values = [...VALUES, ...sampleValues(narrow), ...sampleValues(wide)].map((value) =>
      JSON.stringify(value),
    );
    counts.values += values.length;
    const isValid = (schema: typeof mine, text: string): boolean =>
      (schema.errorsOf(text)?.length ?? 1) === 0;
    const witness = values.find((text) => isValid(mine, text) && !isValid(theirs, text));
    if (witness !== undefined) counts.shown++;
    else if (!isProved) counts.open++;
    if (isProved && witness !== undefined)
      throw new Error(
        `seed ${seed}: ${witness} is valid for ${JSON.stringify(narrow)} alone, not for ${JSON.stringify(wide)}`,
      );
  }
  if (process.env['SHOW'] !== undefined) console.log(counts);
  expect(counts.proved).toBeGreaterThan(counts.pairs / 5);
  expect(counts.shown).toBeGreaterThan(counts.pairs / 5);
  expect(counts.open).toBeLessThan(counts.pairs / 3);
});
