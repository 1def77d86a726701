/** Keywords of JSON Schema 2020-12 and of schemas of OpenAPI, by what becomes of them. */
import { COUNT_KEYWORDS } from './program.ts';

/** Keywords that assert, in the order in which they are evaluated: what is cheap comes first. */
export const KEYWORDS: readonly string[] = [
  ...['type', 'enum', 'const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...COUNT_KEYWORDS,
  ...['pattern', 'required', 'dependentRequired', 'items', 'contains', 'uniqueItems', 'properties'],
  ...['propertyNames', 'dependentSchemas', '$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if'],
];

/** Keywords that are evaluated with one of KEYWORDS. */
const PARTS = [
  ...['prefixItems', 'minContains', 'maxContains', 'patternProperties', 'additionalProperties'],
  ...['then', 'else'],
];

/** Keywords that would assert, with the reason why they do not. */
export const REFUSED: Readonly<Record<string, string>> = {
  unevaluatedProperties: 'write `additionalProperties` in each branch',
  unevaluatedItems: 'write `items` in each branch',
  $dynamicRef: 'write `$ref`',
  $recursiveRef: 'write `$ref`',
  additionalItems: 'write `items`, and `prefixItems` for the first ones',
  dependencies: 'write `dependentRequired` or `dependentSchemas`',
};

/** Keywords that identify a schema, or its dialect. */
const IDENTIFIERS = ['$schema', '$id', '$anchor', '$dynamicAnchor', '$recursiveAnchor', '$vocabulary'];

/** Keywords that assert nothing by themselves: definitions, annotations, and what OpenAPI adds. */
export const ANNOTATIONS: readonly string[] = [
  ...['$defs', 'definitions', '$comment', 'title', 'description', 'default', 'examples', 'deprecated'],
  ...['readOnly', 'writeOnly', 'format', 'contentEncoding', 'contentMediaType', 'contentSchema'],
  ...['example', 'nullable', 'discriminator', 'xml', 'externalDocs'],
];

/** Keywords that a misspelt one may be meant as: a misspelt annotation changes nothing. */
export const EFFECTIVE_KEYWORDS: readonly string[] = [...KEYWORDS, ...PARTS, ...Object.keys(REFUSED)];

const KNOWN: ReadonlySet<string> = new Set([...EFFECTIVE_KEYWORDS, ...IDENTIFIERS, ...ANNOTATIONS]);

/** Whether a name is a keyword, or an extension by its prefix `x-`. */
export function isKeyword(name: string): boolean {
  return KNOWN.has(name) || name.startsWith('x-');
}
