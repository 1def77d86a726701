/** The JSON Schemas of `edge.yaml` and `edge.test.yaml`, as editors and `/docs/` get them. */
import { ACTIONS } from '../../engine/evaluator/decision.ts';
import { edgeFileSchema } from '../../rules/files/edge-schema.ts';
import type { JsonSchema } from '../../rules/files/json-schema.ts';
import { testFileSchema } from '../../rules/files/test-schema.ts';
import { EXPECTED_KEYS } from './expected-schema.ts';

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
