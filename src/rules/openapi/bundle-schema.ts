/**
 * Makes a schema of an OpenAPI document one of its own: what it refers to becomes members of `$defs`, annotations are left out, and the
 * dialect of 3.0 (OpenAPI 3.0.4, "Schema Object") becomes JSON Schema 2020-12.
 */
import type { FieldPath } from '../../base/diagnostics/diagnostic.ts';
import { ANNOTATIONS, isKeyword } from '../../base/json-schema/keywords.ts';
import { createReferences } from '../../base/json-schema/references.ts';
import { isObject } from '../../base/text/json-object.ts';

/** A schema of its own. */
export interface BundledSchema {
  readonly schema: Readonly<Record<string, unknown>>;
  /** References that lead nowhere, at their places in the document. */
  readonly problems: readonly { readonly path: FieldPath; readonly message: string }[];
  /** Places in the document of unknown keywords, which the schema does not have. */
  readonly unknown: readonly FieldPath[];
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
  /** By the pointer of the schema: its name. */
  readonly names: Map<string, string>;
  readonly definitions: { readonly name: string; readonly schema: unknown; readonly path: FieldPath }[];
  readonly problems: { readonly path: FieldPath; readonly message: string }[];
  readonly unknown: FieldPath[];
}

/** Bundles a schema with what it refers to in the document. */
export function bundleSchema(
  { schema, path }: { readonly schema: Readonly<Record<string, unknown>>; readonly path: FieldPath },
  { root, isOldDialect }: { readonly root: unknown; readonly isOldDialect: boolean },
): BundledSchema {
  const references = createReferences(root);
  const state: Bundling = {
    isOldDialect,
    references,
    names: new Map(),
    definitions: [],
    problems: [],
    unknown: [],
  };
  const own = convert(schema, path, state) as Readonly<Record<string, unknown>>;
  const definitions: [string, unknown][] = [];
  // Definitions add further ones to the list.
  for (const one of state.definitions) definitions.push([one.name, convert(one.schema, one.path, state)]);
  const places = new Map(state.definitions.map((one) => [one.name, one.path]));
  return {
    schema: definitions.length === 0 ? own : { ...own, $defs: Object.fromEntries(definitions) },
    problems: state.problems,
    unknown: state.unknown,
    pathOf: ([first, name, ...rest]) => {
      const place = first === '$defs' ? places.get(String(name)) : undefined;
      if (place !== undefined) return [...place, ...rest];
      return first === undefined ? path : [...path, first, ...(name === undefined ? [] : [name, ...rest])];
    },
  };
}

function convert(schema: unknown, path: FieldPath, state: Bundling): unknown {
  if (!isObject(schema)) return schema;
  const written = Object.entries(schema);
  if (state.isOldDialect && Object.hasOwn(schema, '$ref'))
    // Its siblings have no effect in 3.0.
    return { $ref: referenceTo(schema['$ref'], path, state) };
  const fields = written.flatMap(([name, value]): [string, unknown][] => {
    if (!isKeyword(name)) state.unknown.push([...path, name]);
    if (!isKeyword(name) || name.startsWith('x-') || ANNOTATIONS.includes(name)) return [];
    return [[name, converted(name, value, { path: [...path, name], state })]];
  });
  return state.isOldDialect
    ? withoutOldDialect(schema, Object.fromEntries(fields))
    : Object.fromEntries(fields);
}

function converted(
  name: string,
  value: unknown,
  { path, state }: { readonly path: FieldPath; readonly state: Bundling },
): unknown {
  if (name === '$ref') return referenceTo(value, path.slice(0, -1), state);
  if (ONE.includes(name)) return convert(value, path, state);
  if (SEVERAL.includes(name) && Array.isArray(value))
    return value.map((one, index) => convert(one, [...path, index], state));
  if (!NAMED.includes(name) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, convert(one, [...path, key], state)]),
  );
}

function referenceTo(reference: unknown, path: FieldPath, state: Bundling): unknown {
  const target = state.references.find(reference);
  if (typeof target === 'string' || state.names.size >= MAX_DEFINITIONS) {
    const message = typeof target === 'string' ? target : `leads to more than ${MAX_DEFINITIONS} schemas`;
    state.problems.push({ path: [...path, '$ref'], message });
    return reference;
  }
  const pointer = JSON.stringify(target.path);
  const known = state.names.get(pointer);
  const name = known ?? `s${state.names.size}`;
  if (known === undefined) {
    state.names.set(pointer, name);
    state.definitions.push({ name, ...target });
  }
  return `#/$defs/${name}`;
}

/** A schema of 3.0 in the words of 2020-12. */
function withoutOldDialect(
  written: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, unknown>>,
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
  const { properties } = written;
  const { required } = made;
  // Members that only responses have are required of responses alone.
  if (isObject(properties) && Array.isArray(required))
    made['required'] = required.filter((name) => !isReadOnly(properties, name));
  return made;
}

function isReadOnly(properties: Readonly<Record<string, unknown>>, name: unknown): boolean {
  const member = typeof name === 'string' && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(member) && member['readOnly'] === true;
}
