/**
 * Whether every value that one JSON Schema accepts is accepted by another (JSON Schema 2020-12). In: two schemas as gateways have
 * them. Out: `true` if it is proved, by types, bounds, enumerations, members, items and equal keywords; `false`: not known. Inclusion
 * in general is as hard as satisfiability, so most combinations are not decided.
 */
import { valueFrom, valueKey } from '../../base/json-schema/program.ts';
import { isObject } from '../../base/text/json-object.ts';

/** Steps of one question. */
const MAX_STEPS = 20_000;
/** Branches of one alternative that are distinguished. */
const MAX_BRANCHES = 16;

type Members = Readonly<Record<string, unknown>>;

/** Keywords that accept every value. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...['$schema', '$anchor', '$comment', '$defs', 'definitions', 'title', 'description', 'default'],
  ...['examples', 'example', 'deprecated', 'readOnly', 'writeOnly', 'format', 'contentMediaType'],
  ...['contentEncoding', 'contentSchema', 'discriminator', 'xml', 'externalDocs'],
]);

/** A schema with the document that its references are in. */
interface Placed {
  readonly schema: unknown;
  readonly root: unknown;
}

interface Run {
  steps: number;
  /** Pairs that are asked about: a value is finite, so a pair inside itself is about a smaller value. */
  readonly open: Set<string>;
}

/** Whether each value that the narrower schema accepts is certainly accepted by the wider one. */
export function isIncluded(narrow: unknown, wide: unknown): boolean {
  if (JSON.stringify(narrow) === JSON.stringify(wide)) return true;
  const run: Run = { steps: MAX_STEPS, open: new Set() };
  return within([{ schema: narrow, root: narrow }], { schema: wide, root: wide }, run);
}

/** Whether what all of the narrower schemas accept is accepted by the wider one. */
function within(narrow: readonly Placed[], wide: Placed, run: Run): boolean {
  if (run.steps-- <= 0) return false;
  const { schema, root } = wide;
  if (schema === true) return true;
  const facts = flatten(narrow, run);
  if (facts === null) return false;
  if (facts === 'nothing') return true;
  if (!isObject(schema) || (schema['$id'] !== undefined && schema !== root)) return false;
  const pair = JSON.stringify([facts.map((one) => one.schema), schema]);
  if (run.open.has(pair)) return true;
  run.open.add(pair);
  const isProved =
    typesOf(facts).size === 0 || everyKeyword(facts, schema, root, run) || byBranches(facts, wide, run);
  run.open.delete(pair);
  return isProved;
}

/** Each branch of an alternative of the narrower schemas for itself. */
function byBranches(facts: readonly Fact[], wide: Placed, run: Run): boolean {
  for (const [place, { schema, root }] of facts.entries()) {
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      const { [keyword]: branches, ...rest } = schema;
      if (!Array.isArray(branches) || branches.length > MAX_BRANCHES) continue;
      const others = facts.toSpliced(place, 1, { schema: rest, root });
      return branches.every((branch: unknown) => within([...others, { schema: branch, root }], wide, run));
    }
  }
  return false;
}

/** A schema without references and `allOf` at its top. */
interface Fact {
  readonly schema: Members;
  readonly root: unknown;
}

/** The schemas with what they refer to and consist of; `nothing`: they accept no value; `null`: not known. */
function flatten(given: readonly Placed[], run: Run): readonly Fact[] | 'nothing' | null {
  const facts: Fact[] = [];
  const left = [...given];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (run.steps-- <= 0) return null;
    const { schema, root } = one;
    if (schema === false) return 'nothing';
    if (!isObject(schema)) continue;
    // References of what is inside are relative to the identifier.
    if (schema['$id'] !== undefined && schema !== root) return null;
    const { $ref, allOf, ...rest } = schema;
    if ($ref !== undefined) {
      const target = referred($ref, root);
      if (target === undefined) return null;
      left.push({ schema: target, root });
    }
    if (Array.isArray(allOf)) left.push(...allOf.map((part: unknown) => ({ schema: part, root })));
    facts.push({ schema: rest, root });
  }
  return facts;
}

/** What a reference within the document refers to (RFC 6901 §6). */
function referred(reference: unknown, root: unknown): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  if (reference === '#') return root;
  let at: unknown = root;
  for (const part of reference.split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    at = Array.isArray(at)
      ? at[Number(name)]
      : isObject(at) && Object.hasOwn(at, name)
        ? at[name]
        : undefined;
  }
  return reference.startsWith('#/') ? at : undefined;
}

const KINDS = ['null', 'boolean', 'string', 'integer', 'fraction', 'array', 'object'] as const;
type Kind = (typeof KINDS)[number];

/** The kinds of a `type`. */
function kindsOf(type: unknown): readonly Kind[] {
  return [type].flat().flatMap((name): readonly Kind[] => {
    if (name === 'number') return ['integer', 'fraction'];
    return KINDS.filter((kind) => kind === name);
  });
}

function kindOfValue(value: unknown): Kind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'fraction';
  return typeof value === 'string' || typeof value === 'boolean' ? (typeof value as Kind) : 'object';
}

/** The values that the schemas list; `null`: they list none. */
function valuesOf(facts: readonly Fact[]): readonly unknown[] | null {
  for (const { schema } of facts) {
    if (Object.hasOwn(schema, 'const')) return [schema['const']];
    if (Array.isArray(schema['enum'])) return schema['enum'];
  }
  return null;
}

/** The kinds of values that the schemas may accept. */
function typesOf(facts: readonly Fact[]): ReadonlySet<Kind> {
  const values = valuesOf(facts);
  const listed: readonly Kind[] = values === null ? KINDS : values.map(kindOfValue);
  const masks = facts.flatMap(({ schema: { type } }) => (type === undefined ? [] : [kindsOf(type)]));
  return new Set(listed.filter((kind) => masks.every((mask) => mask.includes(kind))));
}

/** The kinds that keywords are about; those of other kinds are about all. */
const ABOUT: Readonly<Record<string, readonly Kind[]>> = Object.fromEntries([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].map(
    (name) => [name, ['integer', 'fraction']] as const,
  ),
  ...['minLength', 'maxLength', 'pattern'].map((name) => [name, ['string']] as const),
  ...[
    'minItems',
    'maxItems',
    'uniqueItems',
    'items',
    'prefixItems',
    'contains',
    'minContains',
    'maxContains',
  ].map((name) => [name, ['array']] as const),
  ...[
    'minProperties',
    'maxProperties',
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
  ].map((name) => [name, ['object']] as const),
  ...['propertyNames', 'dependentRequired', 'dependentSchemas'].map((name) => [name, ['object']] as const),
]);

function everyKeyword(facts: readonly Fact[], wide: Members, root: unknown, run: Run): boolean {
  const types = typesOf(facts);
  return Object.entries(wide).every(([name, value]) => {
    if (ANNOTATIONS.has(name) || name.startsWith('x-') || (name === '$id' && wide === root)) return true;
    if (ABOUT[name]?.every((kind) => !types.has(kind)) === true) return true;
    return isImplied(facts, { name, value, wide, root }, run);
  });
}

interface Keyword {
  readonly name: string;
  readonly value: unknown;
  /** The schema that has it. */
  readonly wide: Members;
  readonly root: unknown;
}

const [LEAST, MOST] = [
  ['minLength', 'minItems', 'minProperties'],
  ['maxLength', 'maxItems', 'maxProperties'],
] as const;

function isImplied(facts: readonly Fact[], keyword: Keyword, run: Run): boolean {
  const { name, value, wide, root } = keyword;
  const numbers = (given: string): readonly number[] =>
    facts.flatMap(({ schema: { [given]: one } }) => (typeof one === 'number' ? [one] : []));
  const placed = (schema: unknown): Placed => ({ schema, root });
  if ((LEAST as readonly string[]).includes(name)) return numbers(name).some((one) => one >= Number(value));
  if ((MOST as readonly string[]).includes(name)) return numbers(name).some((one) => one <= Number(value));
  switch (name) {
    case '$ref': {
      const target = referred(value, root);
      return target !== undefined && within(facts, placed(target), run);
    }
    case 'type':
      return [...typesOf(facts)].every((kind) => kindsOf(value).includes(kind));
    case 'enum':
      return isAmong(facts, value as readonly unknown[]);
    case 'const':
      return isAmong(facts, [value]);
    case 'minimum':
      return [...numbers('minimum'), ...numbers('exclusiveMinimum')].some((one) => one >= Number(value));
    case 'maximum':
      return [...numbers('maximum'), ...numbers('exclusiveMaximum')].some((one) => one <= Number(value));
    case 'exclusiveMinimum':
      return (
        numbers('exclusiveMinimum').some((one) => one >= Number(value)) ||
        numbers('minimum').some((one) => one > Number(value))
      );
    case 'exclusiveMaximum':
      return (
        numbers('exclusiveMaximum').some((one) => one <= Number(value)) ||
        numbers('maximum').some((one) => one < Number(value))
      );
    case 'required':
      return (value as readonly string[]).every((one) =>
        facts.some(({ schema: { required } }) => Array.isArray(required) && required.includes(one)),
      );
    case 'properties':
      return Object.entries(value as Members).every(([member, schema]) =>
        within(membersOf(facts, member), placed(schema), run),
      );
    case 'additionalProperties':
      return wide['patternProperties'] === undefined && areOthersWithin(facts, keyword, run);
    case 'items':
      return (
        wide['prefixItems'] === undefined &&
        facts.every(({ schema }) => schema['prefixItems'] === undefined) &&
        within(partsOf(facts, 'items'), placed(value), run)
      );
    case 'allOf':
      return (value as readonly unknown[]).every((one) => within(facts, placed(one), run));
    case 'anyOf':
      return (
        (value as readonly unknown[]).some((one) => within(facts, placed(one), run)) ||
        isStated(facts, keyword)
      );
    default:
      return isStated(facts, keyword);
  }
}

/** Whether every listed value of the narrower schemas is among these. */
function isAmong(facts: readonly Fact[], values: readonly unknown[]): boolean {
  const own = valuesOf(facts);
  const keyOf = (value: unknown): string => valueKey(valueFrom(value), () => undefined);
  const keys = new Set(values.map(keyOf));
  return own?.every((value) => keys.has(keyOf(value))) === true;
}

/** Keywords that mean something together. */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  contains: ['minContains', 'maxContains'],
  if: ['then', 'else'],
};
/** Keywords that mean nothing without their first. */
const DEPENDENT: ReadonlySet<string> = new Set(['minContains', 'maxContains', 'then', 'else']);
/** Keywords that are equal wherever their text is, since it refers to nothing else. */
const CLOSED: ReadonlySet<string> = new Set([
  ...['pattern', 'multipleOf', 'uniqueItems', 'propertyNames', 'dependentRequired', 'dependentSchemas'],
  ...['contains', 'not', 'if', 'anyOf', 'oneOf', 'patternProperties'],
]);

/** Whether one of the narrower schemas has the keyword, with the same text. */
function isStated(facts: readonly Fact[], { name, wide }: Keyword): boolean {
  if (DEPENDENT.has(name))
    return Object.keys(TOGETHER).some(
      (first) => TOGETHER[first]!.includes(name) && wide[first] !== undefined,
    );
  if (!CLOSED.has(name)) return false;
  const text = (schema: Members): string =>
    JSON.stringify([name, ...(TOGETHER[name] ?? [])].map((one) => schema[one] ?? null));
  const own = text(wide);
  return !own.includes('"$') && facts.some(({ schema }) => text(schema) === own);
}

/** What the narrower schemas demand of a member. */
function membersOf(facts: readonly Fact[], name: string): readonly Placed[] {
  return facts.flatMap(({ schema, root }): readonly Placed[] => {
    const { properties, patternProperties, additionalProperties } = schema;
    if (isObject(properties) && Object.hasOwn(properties, name)) return [{ schema: properties[name], root }];
    if (patternProperties !== undefined || additionalProperties === undefined) return [];
    return [{ schema: additionalProperties, root }];
  });
}

function partsOf(facts: readonly Fact[], keyword: string): readonly Placed[] {
  return facts.flatMap(({ schema: { [keyword]: schema }, root }) =>
    schema === undefined ? [] : [{ schema, root }],
  );
}

/** Whether members that the wider schema does not name are as it demands. */
function areOthersWithin(facts: readonly Fact[], { value, wide, root }: Keyword, run: Run): boolean {
  const isNamed = (name: string): boolean =>
    isObject(wide['properties']) && Object.hasOwn(wide['properties'], name);
  const named = facts.flatMap(({ schema: { properties } }) =>
    isObject(properties) ? Object.keys(properties) : [],
  );
  const open = facts.filter(({ schema }) => schema['patternProperties'] === undefined);
  return (
    within(partsOf(open, 'additionalProperties'), { schema: value, root }, run) &&
    named.every((name) => isNamed(name) || within(membersOf(facts, name), { schema: value, root }, run))
  );
}
