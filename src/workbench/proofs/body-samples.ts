/**
 * Bodies that show what two operations accept differently: values made of the schema that should accept them, each beside neighbours
 * that differ in one place. In: a schema. Out: JSON values, most of them valid; the caller compares them with both schemas.
 */
import { isObject } from '../../base/text/json-object.ts';

/** Values of one schema. */
const MAX_VALUES = 240;
/** Values of one part of a schema. */
const MAX_PART = 24;
/** Depth of schemas in one another. */
const MAX_DEPTH = 6;
/** Members, or items, of the longest value. */
const MAX_LENGTH = 64;

type Members = Readonly<Record<string, unknown>>;

/** Samples of a schema, those first that are most like what it describes. */
export function sampleValues(schema: unknown): readonly unknown[] {
  return valuesOf(schema, { root: schema, depth: MAX_DEPTH }).slice(0, MAX_VALUES);
}

interface Place {
  readonly root: unknown;
  readonly depth: number;
}

const ANY: readonly unknown[] = ['x', 1, 1.5, true, null, [], {}, '', 0, -1];

function valuesOf(given: unknown, place: Place): readonly unknown[] {
  if (place.depth === 0 || given === false) return [];
  const below = { ...place, depth: place.depth - 1 };
  const schema = merged(given, place);
  if (schema === null) return ANY;
  const listed = [
    ...(Object.hasOwn(schema, 'const') ? [schema['const']] : []),
    ...[schema['enum'], schema['examples']].flatMap((list) => (Array.isArray(list) ? list : [])),
    ...['example', 'default'].flatMap((name) => (Object.hasOwn(schema, name) ? [schema[name]] : [])),
  ];
  const { anyOf, oneOf, ...rest } = schema;
  const branches = [anyOf, oneOf].flatMap((list) =>
    Array.isArray(list) ? (list as readonly unknown[]) : [],
  );
  const ofBranches = branches.flatMap((branch) =>
    valuesOf({ allOf: [rest, branch] }, below).slice(0, MAX_PART),
  );
  if (branches.length > 0) return [...listed, ...ofBranches];
  const types = typesOf(schema);
  const made = types.map((type) => ofType(type, schema, below));
  // One of each type first.
  return [...listed, ...made.flatMap((list) => list.slice(0, 1)), ...made.flatMap((list) => list.slice(1))];
}

/** A schema with what it refers to and consists of; `null`: it says nothing. */
function merged(given: unknown, { root, depth }: Place): Members | null {
  if (!isObject(given) || depth === 0) return null;
  const { $ref, allOf, ...own } = given;
  const parts = [
    ...(typeof $ref === 'string' ? [referred($ref, root)] : []),
    ...(Array.isArray(allOf) ? (allOf as readonly unknown[]) : []),
  ].flatMap((part): readonly Members[] => {
    const members = merged(part, { root, depth: depth - 1 });
    return members === null ? [] : [members];
  });
  let all: Members = own;
  for (const part of parts) {
    const required = [all['required'], part['required']].flatMap((list) => (Array.isArray(list) ? list : []));
    const [theirs, mine] = [part['properties'], all['properties']];
    const properties = isObject(theirs) && isObject(mine) ? { properties: { ...theirs, ...mine } } : {};
    all = { ...part, ...all, ...properties, ...(required.length === 0 ? {} : { required }) };
  }
  return all;
}

function referred(reference: string, root: unknown): unknown {
  return reference
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), root);
}

function typesOf({ type, properties, required, items, minimum, maximum }: Members): readonly unknown[] {
  if (type !== undefined) return [type].flat();
  if (properties !== undefined || required !== undefined) return ['object', 'string'];
  if (items !== undefined) return ['array', 'string'];
  if (minimum !== undefined || maximum !== undefined) return ['number', 'string'];
  return ['string', 'number', 'object', 'array', 'boolean', 'null'];
}

function ofType(type: unknown, schema: Members, place: Place): readonly unknown[] {
  switch (type) {
    case 'null':
      return [null];
    case 'boolean':
      return [true, false];
    case 'integer':
      return numbersOf(schema).filter(Number.isInteger);
    case 'number':
      return numbersOf(schema);
    case 'string':
      return textsOf(schema);
    case 'array':
      return listsOf(schema, place);
    default:
      return objectsOf(schema, place);
  }
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function numbersOf({
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
  multipleOf,
}: Members): readonly number[] {
  const ends = [minimum, maximum, exclusiveMinimum, exclusiveMaximum].filter(
    (one) => typeof one === 'number',
  );
  const step = numberOf(multipleOf, 1);
  const near = ends.flatMap((end) => [end, end + step, end - step, end + step / 2, end - step / 2]);
  return [...new Set([...near, step, 0, -step, step / 2, 1_000_003 * step])];
}

function textsOf({ minLength, maxLength }: Members): readonly string[] {
  const [least, most] = [numberOf(minLength, 0), numberOf(maxLength, 1_000)];
  const lengths = [Math.max(1, least), least, most, Math.min(least + 1, most)].filter(
    (length) => length <= 4_096,
  );
  return [...new Set(lengths)].map((length) => 'x'.repeat(length));
}

function listsOf(schema: Members, place: Place): readonly unknown[] {
  const { items = {}, minItems, maxItems, prefixItems } = schema;
  const first = Array.isArray(prefixItems) ? prefixItems.map((one: unknown) => valuesOf(one, place)[0]) : [];
  const values = valuesOf(items, place).slice(0, MAX_PART);
  const filled = (length: number): readonly unknown[] =>
    Array.from({ length }, (_, index) =>
      index < first.length ? first[index] : values[index % Math.max(1, values.length)],
    );
  const [least, most] = [numberOf(minItems, first.length), numberOf(maxItems, Math.max(2, first.length))];
  const lengths = [Math.max(1, least), least, most].filter((length) => length <= MAX_LENGTH);
  const each = values.map((value) => [...first, value, ...filled(least).slice(first.length + 1)]);
  return [...lengths.map(filled), ...each];
}

function objectsOf(schema: Members, place: Place): readonly unknown[] {
  const properties = isObject(schema['properties'])
    ? Object.entries(schema['properties']).slice(0, MAX_LENGTH)
    : [];
  const required = Array.isArray(schema['required']) ? (schema['required'] as readonly string[]) : [];
  const values = new Map(properties.map(([name, one]) => [name, valuesOf(one, place).slice(0, MAX_PART)]));
  const firstOf = (name: string): unknown => (values.has(name) ? values.get(name)![0] : 'x');
  const whole = Object.fromEntries(
    [...values].filter(([, list]) => list.length > 0).map(([name, list]) => [name, list[0]]),
  );
  const least = Object.fromEntries(required.map((name) => [name, firstOf(name)]));
  const others = [...values].flatMap(([name, list]) => list.map((value) => ({ ...least, [name]: value })));
  const without = Object.keys(whole).map((name) =>
    Object.fromEntries(Object.entries(whole).filter(([one]) => one !== name)),
  );
  const further = ANY.map((value) => ({ ...least, 'x-further': value }));
  return [whole, least, ...without, ...further.slice(0, 1), ...others, ...further.slice(1)];
}
