/** The type of the JSON Schemas of files, and their draft. */

export type JsonSchema = Readonly<Record<string, unknown>>;

export const JSON_SCHEMA_DRAFT = 'http://json-schema.org/draft-07/schema#';
