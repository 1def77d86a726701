/**
 * The fields of everything that a customer writes: rules by type, records, the domain, and both files, each with its
 * description in words. They are read from the JSON Schemas of the files, which are made from the forms, so the
 * reference states what the readers check.
 */
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import { ACTIONS } from '../../engine/evaluator/decision.ts';
import { edgeFileSchema } from '../../rules/files/edge-schema.ts';
import { type JsonSchema, testFileSchema } from '../../rules/files/test-schema.ts';
import { COMMON_FIELDS, PATH_FIELDS } from '../../rules/model/common.ts';
import { RULE_FORMS } from '../../rules/model/rule.ts';
import { EXPECTED_KEYS } from './expected-schema.ts';

// The JSON Schemas of `edge.yaml` and `edge.test.yaml`, as editors and `/docs/` get them.

export const SCHEMA_NAMES = ['edge', 'test'] as const;
export type SchemaName = (typeof SCHEMA_NAMES)[number];

/** The file that `edgeplan init` writes for a schema, and its name below `/docs/`. */
export const SCHEMA_FILES = {
  edge: 'edge.schema.json',
  test: 'edge.test.schema.json',
} as const satisfies Readonly<Record<SchemaName, string>>;

/** One of the two schemas as JSON text that ends in a line feed. */
export function fileSchema(name: SchemaName): string {
  return `${JSON.stringify(schemaOf(name), null, 2)}\n`;
}

/** One of the two schemas as an object. */
export function schemaOf(name: SchemaName): JsonSchema {
  return name === 'edge' ? edgeFileSchema() : testFileSchema(EXPECTATION);
}

/** What follows `expect`, `would` and `earlier`: a sentence, or fields of the decision (of a page, beside `response`). */
const EXPECTATION: JsonSchema = {
  anyOf: [
    {
      type: 'string',
      description:
        'such as `block 403 by drop/office-only`, `forward to https://192.0.2.1`, `page custom`, `nothing`',
      pattern: `^\\s*(${[...ACTIONS, 'page', 'no page', 'nothing'].join('|')})\\b`,
    },
    {
      type: 'object',
      description: 'fields of the decision; absent ones may have any value',
      additionalProperties: false,
      properties: EXPECTED_KEYS,
    },
  ],
};

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
  /** What `edgeplan fields` calls it: a rule type, `rule`, `conditions`, `record`, `domain`, `edge.yaml` or `edge.test.yaml`. */
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

/** What gateways refer to. */
const REGISTRY_SECTIONS = [
  {
    list: 'consumers',
    name: 'consumer',
    title: 'Consumers',
    summary: 'Who calls the APIs of a domain, with which keys, and what of them it may call',
  },
  {
    list: 'usage_plans',
    name: 'usage_plan',
    title: 'Usage plans',
    summary: 'What consumers with one plan may ask for',
  },
  {
    list: 'token_issuers',
    name: 'token_issuer',
    title: 'Token issuers',
    summary: 'Whose JSON Web Tokens gateways accept, and which of their claims name a consumer',
  },
] as const;

/** All sections: rules first, then the other objects, then the files. */
export function fieldSections(): readonly FieldSection[] {
  const edge = schemaOf('edge');
  const definitions = edge['definitions'] as Readonly<Record<string, JsonSchema>>;
  const properties = fieldsOf(edge);
  const domain = (properties['domain']!['anyOf'] as readonly JsonSchema[])[1]!;
  const common = pickFields(definitions['drop']!, [...RULE_FIELDS, ...PATH_NAMES]);
  const conditions = common.properties['conditions']!;
  const test = schemaOf('test');
  return [
    ...RULE_TYPES.map((type): FieldSection => {
      const { own, hasPath } = RULE_FORMS[type];
      return {
        name: type,
        title: `Rules of type ${type}`,
        summary: RULE_FORMS[type].summary,
        fields: entriesOf(pickFields(definitions[type]!, Object.keys(own)), ''),
        common: hasPath ? 'path' : 'hosts',
      };
    }),
    {
      name: 'rule',
      title: 'Fields of every rule',
      summary:
        'Which requests a rule applies to, and in which order; the path filter is not in every type, and `conditions` has a section of its own',
      fields: entriesOf(
        {
          ...common,
          // Its fields are a section of their own.
          properties: {
            ...common.properties,
            type: typeField(edge),
            conditions: { ...conditions, properties: undefined },
          },
        },
        '',
      ),
    },
    {
      name: 'conditions',
      title: 'Fields of `conditions`',
      summary: 'What else must hold of a request for a rule of any type to match; all that is written must',
      fields: entriesOf(conditions, ''),
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
    ...REGISTRY_SECTIONS.map(
      ({ list, ...words }): FieldSection => ({
        ...words,
        fields: entriesOf(properties[list]!['items'] as JsonSchema, ''),
      }),
    ),
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

// Describes a field in words from its JSON Schema: its type and bounds, and its default.

/** The words for the types of JSON Schema. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'true or false',
  array: 'list',
  object: 'object',
  null: 'null',
};

/** The type and bounds of a field: `whole number from 1 to 100, or null`. */
export function describeType(schema: JsonSchema): string {
  const { enum: choices, const: only, anyOf, $ref, type } = schema;
  if (only !== undefined) return valueText(only);
  if (Array.isArray(choices)) return `one of ${choices.map(valueText).join(', ')}`;
  if (typeof $ref === 'string') return 'a sentence or fields of the decision';
  if (Array.isArray(anyOf)) return anyOf.map((one) => describeType(one as JsonSchema)).join(', or ');
  const types = (Array.isArray(type) ? type : [type ?? 'object']) as readonly string[];
  return types.map((one) => describeOne(one, schema)).join(', or ');
}

/** One type of a schema with the bounds that apply to it. */
function describeOne(type: string, schema: JsonSchema): string {
  const name = TYPES[type] ?? type;
  if (type === 'string') return `${name}${textBounds(schema)}`;
  if (type === 'integer' || type === 'number') return `${name}${numberBounds(schema)}`;
  if (type === 'array') return `${name}${listBounds(schema)}`;
  const { maxProperties } = schema;
  return type === 'object' && typeof maxProperties === 'number'
    ? `${name} of at most ${maxProperties}`
    : name;
}

function textBounds({ maxLength, pattern, format }: JsonSchema): string {
  if (format === 'date-time') return ' (RFC 3339 time)';
  if (typeof pattern === 'string') return ` that matches \`${pattern}\``;
  return typeof maxLength === 'number' ? ` of at most ${maxLength} characters` : '';
}

function numberBounds({ minimum, maximum }: JsonSchema): string {
  if (minimum === undefined) return maximum === undefined ? '' : ` up to ${maximum}`;
  return maximum === undefined ? ` from ${minimum}` : ` from ${minimum} to ${maximum}`;
}

function listBounds({ items, maxItems }: JsonSchema): string {
  const most = typeof maxItems === 'number' ? ` of at most ${maxItems}` : '';
  if (items === undefined) return most;
  return `${most}: ${describeType(items as JsonSchema)}`;
}

/** `required`, `default …`, or `optional` for a field without either. */
export function describeDefault({ schema, required }: FieldEntry): string {
  if (required) return 'required';
  return schema['default'] === undefined ? 'optional' : `default ${valueText(schema['default'])}`;
}

/** Words that some YAML reader takes for a boolean or null. */
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** A value as an edge file may write it: flow YAML, plain words without quotes. */
export function valueText(value: unknown): string {
  if (typeof value === 'string' && /^[A-Za-z_][\w-]*$/.test(value) && !WORDS.test(value)) return value;
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => `${keyText(name)}: ${valueText(field)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

/** A key of a mapping. */
function keyText(name: string): string {
  return /^[A-Za-z_][\w-]*$/.test(name) ? name : JSON.stringify(name);
}

/** The first example of a field; empty without one. */
export function exampleText({ schema }: FieldEntry): string {
  const [example] = (schema['examples'] ?? []) as readonly unknown[];
  return example === undefined ? '' : valueText(example);
}
