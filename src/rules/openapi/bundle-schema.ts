/**
 * Makes a schema of an OpenAPI document one of its own: what it refers to becomes members of `$defs`, annotations are left out, and the
 * dialect of 3.0 (OpenAPI 3.0.4, "Schema Object") becomes JSON Schema 2020-12.
 */
import type { FieldPath } from '../../base/diagnostics/diagnostic.ts';
import { ANNOTATIONS, isKeyword } from '../../base/json-schema/keywords.ts';
import { createReferences } from '../../base/json-schema/references.ts';
import { isObject } from '../../base/text/json-object.ts';
import { createMembers, type Members, type Names } from './members.ts';

/** A schema of its own. */
export interface BundledSchema {
  readonly schema: Readonly<Record<string, unknown>>;
  /** References that lead nowhere, at their places in the document. */
  readonly problems: readonly { readonly path: FieldPath; readonly message: string }[];
  /** Places in the document of unknown keywords, which the schema does not have. */
  readonly unknown: readonly FieldPath[];
  /** `nullable` without an effect, at its places in the document. */
  readonly inert: readonly { readonly path: FieldPath; readonly message: string }[];
  /** The place in the document of a place in the schema. */
  pathOf(path: FieldPath): FieldPath;
}

/** Maximum number of schemas that one refers to: the largest bodies of public documents come to some 300. */
const MAX_DEFINITIONS = 1_000;

/** Keywords with one schema, a list of schemas, or an object of schemas. */
const ONE = ['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else'];
const SEVERAL = ['prefixItems', 'allOf', 'anyOf', 'oneOf'];
const NAMED = ['properties', 'patternProperties', 'dependentSchemas'];
interface Bundling {
  readonly isOldDialect: boolean;
  readonly references: ReturnType<typeof createReferences>;
  readonly members: Members;
  /** By the pointer of the schema, and the names of `Definition.optional`: its name. */
  readonly names: Map<string, string>;
  readonly definitions: Definition[];
  readonly problems: { readonly path: FieldPath; readonly message: string }[];
  readonly unknown: FieldPath[];
  readonly inert: { readonly path: FieldPath; readonly message: string }[];
}

/** A schema that another one refers to. */
interface Definition {
  readonly name: string;
  readonly schema: unknown;
  readonly path: FieldPath;
  /** Members that it does not require, since another branch of the same `allOf` has them as `readOnly`. */
  readonly optional: Names;
}

const NO_NAMES: Names = new Set();

/** Bundles a schema with what it refers to in the document. */
export function bundleSchema(
  { schema, path }: { readonly schema: Readonly<Record<string, unknown>>; readonly path: FieldPath },
  { root, isOldDialect }: { readonly root: unknown; readonly isOldDialect: boolean },
): BundledSchema {
  const references = createReferences(root);
  const state: Bundling = {
    isOldDialect,
    references,
    members: createMembers(references),
    names: new Map(),
    definitions: [],
    problems: [],
    unknown: [],
    inert: [],
  };
  const own = convert(schema, path, { state, optional: NO_NAMES }) as Readonly<Record<string, unknown>>;
  const definitions: [string, unknown][] = [];
  // Definitions add further ones to the list.
  for (const { name, schema: one, path: at, optional } of state.definitions)
    definitions.push([name, convert(one, at, { state, optional })]);
  const places = new Map(state.definitions.map((one) => [one.name, one.path]));
  return {
    schema: definitions.length === 0 ? own : { ...own, $defs: Object.fromEntries(definitions) },
    problems: state.problems,
    unknown: state.unknown,
    inert: state.inert,
    pathOf: ([first, name, ...rest]) => {
      const place = first === '$defs' ? places.get(String(name)) : undefined;
      if (place !== undefined) return [...place, ...rest];
      return first === undefined ? path : [...path, first, ...(name === undefined ? [] : [name, ...rest])];
    },
  };
}

/** Where a schema is converted. */
interface Place {
  readonly state: Bundling;
  /** As of a definition. */
  readonly optional: Names;
}

function convert(schema: unknown, path: FieldPath, { state, optional }: Place): unknown {
  if (!isObject(schema)) return schema;
  const message = schema['nullable'] === true ? inertNullable(schema, state.isOldDialect) : null;
  if (message !== null) state.inert.push({ path: [...path, 'nullable'], message });
  const written = Object.entries(schema);
  if (state.isOldDialect && Object.hasOwn(schema, '$ref'))
    // Its siblings have no effect in 3.0.
    return { $ref: referenceTo(schema['$ref'], path, { state, optional }) };
  const fields = written.flatMap(([name, value]): [string, unknown][] => {
    if (!isKeyword(name)) state.unknown.push([...path, name]);
    if (!isKeyword(name) || name.startsWith('x-') || ANNOTATIONS.includes(name)) return [];
    const below = state.isOldDialect && name === 'allOf' ? optionalOf(schema, { state, optional }) : NO_NAMES;
    return [[name, converted(name, value, { path: [...path, name], state, optional: below })]];
  });
  return state.isOldDialect
    ? withoutOldDialect(Object.fromEntries(fields), optionalOf(schema, { state, optional }), schema)
    : Object.fromEntries(fields);
}

/** Keywords that may refuse null where there is no `type`. */
const REFUSING = ['enum', 'allOf', 'anyOf', 'oneOf', 'not'];

/** Why `nullable: true` does not admit null (OpenAPI 3.0.4, "Schema Object"); `null`: it does, or nothing refuses null. */
function inertNullable(schema: Readonly<Record<string, unknown>>, isOldDialect: boolean): string | null {
  if (!isOldDialect) return 'is of OpenAPI 3.0 and has no effect';
  if (Object.hasOwn(schema, '$ref')) return 'has no effect beside `$ref`';
  const isRefused = REFUSING.some((keyword) => Object.hasOwn(schema, keyword));
  return isRefused && typeof schema['type'] !== 'string' ? 'has no effect without `type` beside it' : null;
}

/** Members that a schema of 3.0 and the branches of its `allOf` do not require of requests. */
function optionalOf(schema: unknown, { state, optional }: Place): Names {
  const own = state.members.readOnly(schema);
  return optional.size === 0 ? own : new Set([...optional, ...own]);
}

function converted(
  name: string,
  value: unknown,
  { path, state, optional }: Place & { readonly path: FieldPath },
): unknown {
  const place = { state, optional };
  if (name === '$ref') return referenceTo(value, path.slice(0, -1), place);
  if (ONE.includes(name)) return convert(value, path, place);
  if (SEVERAL.includes(name) && Array.isArray(value))
    return value.map((one, index) => convert(one, [...path, index], place));
  if (!NAMED.includes(name) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, convert(one, [...path, key], place)]),
  );
}

function referenceTo(reference: unknown, path: FieldPath, { state, optional }: Place): unknown {
  const target = state.references.find(reference);
  if (typeof target === 'string' || state.names.size >= MAX_DEFINITIONS) {
    const message = typeof target === 'string' ? target : `leads to more than ${MAX_DEFINITIONS} schemas`;
    state.problems.push({ path: [...path, '$ref'], message });
    return reference;
  }
  // A schema that requires none of them is the same wherever it is referred to.
  const lifted = [...optional].filter((name) => state.members.required(target.schema).has(name)).sort();
  const pointer = JSON.stringify([target.path, lifted]);
  const known = state.names.get(pointer);
  const name = known ?? `s${state.names.size}`;
  if (known === undefined) {
    state.names.set(pointer, name);
    state.definitions.push({ name, ...target, optional: new Set(lifted) });
  }
  return `#/$defs/${name}`;
}

/** A schema of 3.0 in the words of 2020-12. `fields`: those that are converted; `optional`: members that are not required. */
function withoutOldDialect(
  fields: Readonly<Record<string, unknown>>,
  optional: Names,
  written: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const made: Record<string, unknown> = { ...fields };
  if (written['nullable'] === true && typeof made['type'] === 'string') made['type'] = [made['type'], 'null'];
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (typeof made[exclusive] !== 'boolean') continue;
    if (made[exclusive] && made[limit] !== undefined) {
      made[exclusive] = made[limit];
      delete made[limit];
    } else delete made[exclusive];
  }
  const { required } = made;
  // Members that only responses have are required of responses alone.
  if (Array.isArray(required)) made['required'] = required.filter((name) => !optional.has(name));
  return made;
}
