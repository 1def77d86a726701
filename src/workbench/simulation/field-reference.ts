/**
 * The fields of everything that a customer writes: rules by type, records, the domain, and both files. They are read
 * from the JSON Schemas of the files, which are made from the forms, so the reference states what the readers check.
 */
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import type { JsonSchema } from '../../rules/files/json-schema.ts';
import { COMMON_FIELDS, PATH_FIELDS } from '../../rules/model/common.ts';
import { RULE_FORMS, RULE_SUMMARIES } from '../../rules/model/rule.ts';
import { schemaOf } from './file-schemas.ts';

/** One field. */
export interface FieldEntry {
  /** Path below the section's object, such as `origins[].weight`. */
  readonly name: string;
  /** The schema of the field itself; its fields are entries of their own. */
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** The fields of one kind of object. */
export interface FieldSection {
  /** What `edgeplan fields` calls it: a rule type, `rule`, `record`, `domain`, `edge.yaml` or `edge.test.yaml`. */
  readonly name: string;
  readonly title: string;
  /** What the object is for, in one line. */
  readonly summary: string;
  readonly fields: readonly FieldEntry[];
  /** Whether the type has the fields of every rule too; `path`: with the path filter. */
  readonly common?: 'path' | 'hosts';
}

/** Fields of every rule in a file, in the order of the reference. */
const RULE_FIELDS = ['type', 'key', 'id', 'records', ...Object.keys(COMMON_FIELDS)];
const PATH_NAMES = Object.keys(PATH_FIELDS);

/** All sections: rules first, then the other objects, then the files. */
export function fieldSections(): readonly FieldSection[] {
  const edge = schemaOf('edge');
  const definitions = edge['definitions'] as Readonly<Record<string, JsonSchema>>;
  const properties = fieldsOf(edge);
  const domain = (properties['domain']!['anyOf'] as readonly JsonSchema[])[1]!;
  const common = pickFields(definitions['drop']!, [...RULE_FIELDS, ...PATH_NAMES]);
  const test = schemaOf('test');
  return [
    ...RULE_TYPES.map((type): FieldSection => {
      const { own, hasPath } = RULE_FORMS[type];
      return {
        name: type,
        title: `Rules of type ${type}`,
        summary: RULE_SUMMARIES[type],
        fields: entriesOf(pickFields(definitions[type]!, Object.keys(own)), ''),
        common: hasPath ? 'path' : 'hosts',
      };
    }),
    {
      name: 'rule',
      title: 'Fields of every rule',
      summary: 'Which requests a rule applies to, and in which order; the path filter is not in every type',
      fields: entriesOf({ ...common, properties: { ...common.properties, type: typeField(edge) } }, ''),
    },
    {
      name: 'record',
      title: 'DNS records',
      summary: 'A DNS record, and how the edge reaches the origin if it is proxied',
      fields: entriesOf(fieldsOf(edge)['records']!['items'] as JsonSchema, ''),
    },
    {
      name: 'domain',
      title: 'Domain',
      summary: 'The domain and its settings',
      fields: entriesOf(domain, ''),
    },
    {
      name: 'edge.yaml',
      title: 'edge.yaml',
      summary: 'The file of a domain with its records and rules',
      fields: Object.entries(properties).map(([name, schema]) => ({
        name,
        schema,
        required: name === 'domain',
      })),
    },
    {
      name: 'edge.test.yaml',
      title: 'edge.test.yaml',
      summary: 'Requests, and what the rules of edge.yaml do with them',
      fields: entriesOf(test, '', test['definitions'] as Readonly<Record<string, JsonSchema>>),
    },
  ];
}

/** The field `type` of any rule. */
function typeField(edge: JsonSchema): JsonSchema {
  return fieldsOf(fieldsOf(edge)['rules']!['items'] as JsonSchema)['type']!;
}

/** The properties of an object schema. */
function fieldsOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
}

/** An object schema with some of its fields, in the order of `names`. */
function pickFields(
  schema: JsonSchema,
  names: readonly string[],
): { readonly properties: Readonly<Record<string, JsonSchema>>; readonly required: unknown } {
  const all = fieldsOf(schema);
  return {
    properties: Object.fromEntries(names.map((name) => [name, all[name]!])),
    required: schema['required'],
  };
}

/** Named schemas that others refer to. */
type Definitions = Readonly<Record<string, JsonSchema>>;

/** The entries of an object and of the objects in it. A schema that several objects share is entered once. */
function entriesOf(
  schema: JsonSchema,
  above: string,
  definitions: Definitions = {},
  seen: Set<JsonSchema> = new Set(),
): readonly FieldEntry[] {
  const required = (schema['required'] ?? []) as readonly string[];
  return Object.entries(fieldsOf(schema)).flatMap(([key, field]) => {
    // Fields that only answers carry are accepted and ignored; their schema is empty.
    if (Object.keys(field).length === 0 || seen.has(field)) return [];
    seen.add(field);
    const name = `${above}${key}`;
    const own: FieldEntry = { name, schema: field, required: required.includes(key) };
    const inner = objectsIn(field, definitions).flatMap(({ object, step }) =>
      entriesOf(object, `${name}${step}.`, definitions, seen),
    );
    return [own, ...inner];
  });
}

/** The objects that a field is or contains. */
function objectsIn(
  field: JsonSchema,
  definitions: Definitions,
): readonly { readonly object: JsonSchema; readonly step: string }[] {
  const { $ref, anyOf, items } = field;
  if (typeof $ref === 'string') return objectsIn(definitions[$ref.split('/').at(-1)!]!, definitions);
  const choices = [field, ...((anyOf ?? []) as readonly JsonSchema[])];
  const inList = items === undefined ? [] : objectsIn(items as JsonSchema, definitions);
  return [
    ...choices.filter((one) => one['properties'] !== undefined).map((object) => ({ object, step: '' })),
    ...inList.map(({ object, step }) => ({ object, step: `[]${step}` })),
  ];
}
