/** Describes a field in words from its JSON Schema: its type and bounds, and its default. */
import type { JsonSchema } from '../../rules/files/json-schema.ts';
import type { FieldEntry } from './field-reference.ts';

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
