/**
 * Compiles JSON Schema 2020-12 to a program that `validate.ts` interprets. In: a schema as plain data. Out: its program, or what is
 * wrong with it. Every program ends on every body: what cannot be bounded is refused by name, and `format` and the keywords of
 * contents are annotations, as the specification has it (Validation 2020-12 §7.2.1, §8).
 */
import { isRounded } from './decimal.ts';
import { isKeyword, KEYWORDS, REFUSED } from './keywords.ts';
import {
  COUNT_KEYWORDS,
  type SchemaProgram,
  type SchemaStep,
  VALUE_KINDS,
  valueFrom,
  valueKey,
} from './program.ts';
import {
  createReferences,
  type SchemaPath,
  type SchemaProblem,
  type SchemaReferences,
} from './references.ts';

/** A program, or all problems of the schema. */
export type CompiledSchema = {
  /** Places of keywords that JSON Schema does not have, and that have no effect. */
  readonly unknown: readonly SchemaPath[];
  /** Integers that may have been rounded when the schema was read (`isRounded`). */
  readonly rounded: readonly RoundedNumber[];
} & (
  | { readonly ok: true; readonly program: SchemaProgram }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] }
);

/** A number, and the keyword that has it. */
export interface RoundedNumber {
  readonly path: SchemaPath;
  readonly value: number;
}

/** The number of a pattern, in ECMA-262 syntax, or why it has none. */
export type PlacePattern = (source: string) => number | string;

/** Maximum number of nodes of a program: the largest bodies of public documents have some 1,500. */
export const MAX_SCHEMA_NODES = 4_000;
/** Maximum number of schemas that one value is compared with inside one another: references and combinations come to six. */
export const MAX_SCHEMA_CHAIN = 32;
/** Maximum number of problems that are reported. */
const MAX_PROBLEMS = 20;
/** Maximum number of unknown keywords, and of rounded numbers, that are reported. */
const MAX_UNKNOWN = 100;

/** The state of one compilation. */
interface Compiling {
  readonly references: SchemaReferences;
  readonly placePattern: PlacePattern;
  readonly nodes: SchemaStep[][];
  /** Nodes by the pointers of their schemas. */
  readonly known: Map<string, number>;
  readonly paths: SchemaPath[];
  readonly problems: SchemaProblem[];
  readonly unknown: SchemaPath[];
  readonly rounded: RoundedNumber[];
}

/** Compiles a schema. Never throws for its content. */
export function compileSchema(schema: unknown, placePattern: PlacePattern): CompiledSchema {
  const references = createReferences(schema);
  const problems: SchemaProblem[] = [...references.problems];
  const unknown: SchemaPath[] = [];
  const rounded: RoundedNumber[] = [];
  const tables = { nodes: [], known: new Map(), paths: [] };
  const state: Compiling = { references, placePattern, ...tables, problems, unknown, rounded };
  if (problems.length === 0) {
    place(state, schema, []);
    if (problems.length === 0) checkChains(state);
  }
  return problems.length === 0
    ? { ok: true, program: state.nodes, unknown, rounded }
    : { ok: false, problems: problems.slice(0, MAX_PROBLEMS), unknown, rounded };
}

function report(state: Compiling, path: SchemaPath, message: string, remedy?: string): void {
  state.problems.push({ path, message, ...(remedy === undefined ? {} : { remedy }) });
}

/** The node of a schema; -1: every value is valid. */
function place(state: Compiling, schema: unknown, path: SchemaPath): number {
  const pointer = JSON.stringify(path);
  const known = state.known.get(pointer);
  if (known !== undefined) return known;
  if (schema === true && path.length > 0) return -1;
  const number = state.nodes.length;
  if (number >= MAX_SCHEMA_NODES) {
    const message = `is beyond the ${MAX_SCHEMA_NODES} schemas that a body may have`;
    report(state, path, message, 'leave parts of it out');
    return -1;
  }
  const steps: SchemaStep[] = [];
  state.nodes.push(steps);
  state.paths.push(path);
  state.known.set(pointer, number);
  if (schema === false) steps.push(['never']);
  else if (!isObject(schema)) {
    if (schema !== true) report(state, path, 'must be a schema: an object, `true` or `false`');
  } else for (const keyword of KEYWORDS) steps.push(...stepsOf(state, { schema, path, keyword }));
  if (isObject(schema)) checkNames(state, schema, path);
  return number;
}

/** A keyword of a schema. */
interface Found {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly path: SchemaPath;
  readonly keyword: string;
}

/** Dialects that are read: 2020-12, and that of OpenAPI 3.1. */
const DIALECTS: readonly string[] = [
  'https://json-schema.org/draft/2020-12/schema',
  'https://spec.openapis.org/oas/3.1/dialect/base',
  'https://spec.openapis.org/oas/3.1/dialect/2024-11-10',
];

/** Keywords whose numbers are compared with those of bodies. */
const NUMBERS = 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf const enum'.split(' ');

/** The first number that may have been rounded, of a number or a list; `null`: none is. */
function roundedIn(value: unknown): number | null {
  if (typeof value === 'number') return isRounded(value) ? value : null;
  if (!Array.isArray(value)) return null;
  return value.find((one): one is number => typeof one === 'number' && isRounded(one)) ?? null;
}

/** Refuses keywords that are not evaluated and dialects that are not read; collects unknown keywords and rounded numbers. */
function checkNames(state: Compiling, schema: Found['schema'], path: SchemaPath): void {
  for (const name of Object.keys(schema))
    if (!isKeyword(name) && state.unknown.length < MAX_UNKNOWN) state.unknown.push([...path, name]);
  for (const keyword of NUMBERS) {
    const value = Object.hasOwn(schema, keyword) ? roundedIn(schema[keyword]) : null;
    if (value !== null && state.rounded.length < MAX_UNKNOWN)
      state.rounded.push({ path: [...path, keyword], value });
  }
  for (const [keyword, remedy] of Object.entries(REFUSED))
    if (Object.hasOwn(schema, keyword))
      report(state, [...path, keyword], 'is a keyword that is not evaluated', remedy);
  const dialect = schema['$schema'];
  if (dialect === undefined || (typeof dialect === 'string' && DIALECTS.includes(dialect.replace(/#$/, ''))))
    return;
  report(state, [...path, '$schema'], 'is a dialect that is not read', `write \`${DIALECTS[0]}\``);
}

function stepsOf(state: Compiling, found: Found): readonly SchemaStep[] {
  const { schema, path, keyword } = found;
  if (keyword === 'items') return itemSteps(state, found);
  if (keyword === 'properties') return memberSteps(state, found);
  if (!Object.hasOwn(schema, keyword)) return [];
  const value = schema[keyword];
  const at = [...path, keyword];
  const below = (): number => place(state, value, at);
  const wrong = (message: string): readonly [] => {
    report(state, at, message);
    return [];
  };
  if (COUNT_KEYWORDS.includes(keyword as (typeof COUNT_KEYWORDS)[number]))
    return isCount(value) ? [[keyword as (typeof COUNT_KEYWORDS)[number], value]] : wrong(COUNT);
  switch (keyword) {
    case 'type':
      return typeSteps(value) ?? wrong(`must be one or several of ${VALUE_KINDS.join(', ')}`);
    case 'enum':
      return Array.isArray(value) ? [['enum', value.map(keyOf)]] : wrong('must be a list of values');
    case 'const':
      return [['enum', [keyOf(value)]]];
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return isNumber(value) ? [[keyword, value]] : wrong('must be a number');
    case 'multipleOf':
      return isNumber(value) && value > 0 ? [[keyword, value]] : wrong('must be a number greater than 0');
    case 'pattern':
      return patternSteps(state, value, at);
    case 'required':
      return isTexts(value) ? [['required', [...new Set(value)]]] : wrong('must be a list of names');
    case 'dependentRequired': {
      const entries = isObject(value) ? Object.entries(value) : null;
      if (entries === null || !entries.every((entry): entry is [string, string[]] => isTexts(entry[1])))
        return wrong('must be an object of lists of names');
      return [['dependentRequired', entries]];
    }
    case 'contains': {
      const [least, most] = [
        countOf(state, found, 'minContains', 1),
        countOf(state, found, 'maxContains', -1),
      ];
      return [['contains', below(), least, most]];
    }
    case 'uniqueItems':
      if (typeof value !== 'boolean') return wrong('must be `true` or `false`');
      return value ? [['uniqueItems']] : [];
    case 'propertyNames':
      return [['propertyNames', below()]];
    case 'dependentSchemas':
      return isObject(value) ? [['dependentSchemas', named(state, value, at)]] : wrong(SCHEMAS);
    case '$ref':
      return referenceSteps(state, value, at);
    case 'not':
      return [['not', below()]];
    case 'if':
      return [['if', below(), branch(state, found, 'then'), branch(state, found, 'else')]];
    default:
      if (!Array.isArray(value) || value.length === 0)
        return wrong('must be a list of schemas, and not empty');
      return [[keyword as 'allOf', value.map((one, index) => place(state, one, [...at, index]))]];
  }
}

const COUNT = 'must be an integer from 0 on';
const SCHEMAS = 'must be an object of schemas';

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isCount(value: unknown): value is number {
  return isNumber(value) && Number.isInteger(value) && value >= 0;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function keyOf(value: unknown): string {
  return valueKey(valueFrom(value), () => {});
}

function typeSteps(value: unknown): readonly SchemaStep[] | null {
  const names: readonly string[] = VALUE_KINDS;
  const bits = (Array.isArray(value) ? value : [value]).map((kind) => names.indexOf(kind));
  if (bits.length === 0 || bits.includes(-1)) return null;
  return [['type', bits.reduce((mask, bit) => mask | (1 << bit), 0)]];
}

function countOf(state: Compiling, { schema, path }: Found, keyword: string, preset: number): number {
  const value = schema[keyword];
  if (value === undefined) return preset;
  if (isCount(value)) return value;
  report(state, [...path, keyword], COUNT);
  return preset;
}

function branch(state: Compiling, { schema, path }: Found, keyword: string): number {
  return Object.hasOwn(schema, keyword) ? place(state, schema[keyword], [...path, keyword]) : -1;
}

function named(
  state: Compiling,
  schemas: Readonly<Record<string, unknown>>,
  path: SchemaPath,
): readonly (readonly [string, number])[] {
  return Object.entries(schemas).map(
    ([name, schema]) => [name, place(state, schema, [...path, name])] as const,
  );
}

function patternNumber(state: Compiling, source: unknown, path: SchemaPath): number | null {
  const number = typeof source === 'string' ? state.placePattern(source) : 'must be text';
  if (typeof number === 'number') return number;
  report(state, path, number);
  return null;
}

function patternSteps(state: Compiling, source: unknown, path: SchemaPath): readonly SchemaStep[] {
  const number = patternNumber(state, source, path);
  return number === null ? [] : [['pattern', number]];
}

function itemSteps(state: Compiling, found: Found): readonly SchemaStep[] {
  const { schema, path } = found;
  const first = schema['prefixItems'];
  if (first === undefined && !Object.hasOwn(schema, 'items')) return [];
  if (first !== undefined && (!Array.isArray(first) || first.length === 0)) {
    report(state, [...path, 'prefixItems'], 'must be a list of schemas, and not empty');
    return [];
  }
  if (Array.isArray(schema['items'])) {
    report(state, [...path, 'items'], 'must be a schema', 'write `prefixItems` for the first items');
    return [];
  }
  const firsts = (first ?? []).map((one: unknown, index: number) =>
    place(state, one, [...path, 'prefixItems', index]),
  );
  return [['items', firsts, branch(state, found, 'items')]];
}

function memberSteps(state: Compiling, found: Found): readonly SchemaStep[] {
  const { schema, path } = found;
  const group = (keyword: string): Readonly<Record<string, unknown>> => {
    const value = schema[keyword];
    if (value === undefined || isObject(value)) return value ?? {};
    report(state, [...path, keyword], SCHEMAS);
    return {};
  };
  const members = named(state, group('properties'), [...path, 'properties']);
  const patterns = Object.entries(group('patternProperties')).flatMap(([source, one]) => {
    const at = [...path, 'patternProperties', source];
    const number = patternNumber(state, source, at);
    return number === null ? [] : [[number, place(state, one, at)] as const];
  });
  const others = branch(state, found, 'additionalProperties');
  return members.length === 0 && patterns.length === 0 && others === -1
    ? []
    : [['properties', members, patterns, others]];
}

function referenceSteps(state: Compiling, reference: unknown, path: SchemaPath): readonly SchemaStep[] {
  const target = state.references.find(reference);
  if (typeof target === 'string') {
    report(state, path, target);
    return [];
  }
  return [['allOf', [place(state, target.schema, target.path)]]];
}

/** Refuses schemas that refer to themselves without going into the value, and long chains of schemas of one value. */
function checkChains(state: Compiling): void {
  const depths = new Map<number, number>();
  const open = new Set<number>();
  const depthOf = (node: number): number => {
    if (node < 0) return 0;
    const known = depths.get(node);
    if (known !== undefined) return known;
    if (open.has(node) || open.size > MAX_SCHEMA_CHAIN) return MAX_SCHEMA_CHAIN + 1;
    open.add(node);
    const depth = 1 + Math.max(0, ...state.nodes[node]!.flatMap(appliedTo).map(depthOf));
    open.delete(node);
    depths.set(node, depth);
    return depth;
  };
  for (let node = 0; node < state.nodes.length; node++) {
    if (depthOf(node) <= MAX_SCHEMA_CHAIN) continue;
    const message = `compares one value with more than ${MAX_SCHEMA_CHAIN} schemas inside one another, or refers to itself`;
    report(state, state.paths[node]!, message, 'refer to it from a member or an item');
    return;
  }
}

/** The nodes that a step compares the same value with. */
function appliedTo(step: SchemaStep): readonly number[] {
  switch (step[0]) {
    case 'allOf':
    case 'anyOf':
    case 'oneOf':
      return step[1];
    case 'not':
      return [step[1]];
    case 'if':
      return [step[1], step[2], step[3]];
    case 'dependentSchemas':
      return step[1].map(([, node]) => node);
    default:
      return [];
  }
}
