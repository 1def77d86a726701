/** The field reference as JSON, in the format `edgeplan.fields/v1`: names in snake_case, absent bounds left out. */
import type { JsonSchema } from '../../rules/files/test-schema.ts';
import {
  describeType,
  type FieldEntry,
  type FieldSection,
} from '../../workbench/simulation/field-reference.ts';

/** Keywords of JSON Schema and their names in the document. */
const KEYWORDS: readonly (readonly [keyword: string, name: string])[] = [
  ['enum', 'one_of'],
  ['minimum', 'minimum'],
  ['maximum', 'maximum'],
  ['maxLength', 'max_characters'],
  ['maxItems', 'max_entries'],
  ['maxProperties', 'max_entries'],
  ['pattern', 'pattern'],
  ['format', 'format'],
  ['default', 'default'],
  ['deprecated', 'deprecated'],
];

/** Sections as JSON text that ends in a line feed. */
export function fieldsDocument(sections: readonly FieldSection[]): string {
  const types = sections.map(({ name, title, summary, fields, common }) => ({
    name,
    title,
    summary,
    // The fields of every rule are in the type `rule`; `hosts`: without the path filter.
    common_fields: common ?? null,
    fields: fields.map(fieldDocument),
  }));
  return `${JSON.stringify({ format: 'edgeplan.fields/v1', types }, null, 2)}\n`;
}

/** One field. */
function fieldDocument({ name, schema, required }: FieldEntry): object {
  return {
    name,
    type: describeType(schema),
    required,
    ...boundsOf(schema),
    description: schema['description'],
    examples: schema['examples'],
  };
}

/** The keywords that a schema has. */
function boundsOf(schema: JsonSchema): object {
  const present = KEYWORDS.filter(([keyword]) => schema[keyword] !== undefined);
  return Object.fromEntries(present.map(([keyword, name]) => [name, schema[keyword]]));
}
