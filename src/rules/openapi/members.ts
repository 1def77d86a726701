/**
 * Names of members that a schema of OpenAPI 3.0 has together with the branches of its `allOf` and with what these refer to. In: a schema
 * of the document. Out: names; the members that are `readOnly`, which 3.0 requires of responses alone wherever `required` lists them.
 */
import { MAX_SCHEMA_CHAIN } from '../../base/json-schema/compile-schema.ts';
import type { SchemaReferences } from '../../base/json-schema/references.ts';
import { isObject } from '../../base/text/json-object.ts';

export type Names = ReadonlySet<string>;

/** Members of the schemas of one document. */
export interface Members {
  /** Those that are `readOnly`. */
  readOnly(schema: unknown): Names;
  /** Those that `required` lists. */
  required(schema: unknown): Names;
}

type Schema = Readonly<Record<string, unknown>>;

export function createMembers(references: SchemaReferences): Members {
  const marks = createJoined(references, ({ readOnly }) => (readOnly === true ? ['readOnly'] : []));
  return {
    required: createJoined(references, ({ required }) =>
      Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
    ),
    readOnly: createJoined(references, ({ properties }) =>
      isObject(properties) ? Object.keys(properties).filter((name) => marks(properties[name]).size > 0) : [],
    ),
  };
}

/** Collects names of a schema, of the branches of its `allOf`, and of what these refer to; each schema once. */
function createJoined(
  references: SchemaReferences,
  namesOf: (schema: Schema) => readonly string[],
): (schema: unknown) => Names {
  const known = new Map<Schema, Names>();
  const collect = (schema: unknown, depth: number): Names => {
    const names = new Set<string>();
    // A longer chain is refused when the schema is compiled.
    if (!isObject(schema) || depth > MAX_SCHEMA_CHAIN) return names;
    const earlier = known.get(schema);
    if (earlier !== undefined) return earlier;
    known.set(schema, names);
    const add = (one: unknown): void => {
      for (const name of collect(one, depth + 1)) names.add(name);
    };
    if (Object.hasOwn(schema, '$ref')) {
      const target = references.find(schema['$ref']);
      if (typeof target !== 'string') add(target.schema);
      return names;
    }
    for (const name of namesOf(schema)) names.add(name);
    const { allOf } = schema;
    if (Array.isArray(allOf)) for (const branch of allOf) add(branch);
    return names;
  };
  return (schema) => collect(schema, 0);
}
