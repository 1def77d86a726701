/** Reads the text of an OpenAPI document, YAML or JSON, as operations; each diagnostic has its line and column. */
import { isObject } from '../../base/text/json-object.ts';
import { MAX_FILE_MARKS, MAX_FILE_VALUES } from '../../base/vocabulary/limits.ts';
import { MAX_SCHEMA_DEPTH, MAX_SCHEMA_OCTETS } from '../openapi/limits.ts';
import { type OpenApiDocument, readOpenApi } from '../openapi/read-openapi.ts';
import { byPlace, readYamlBytes } from './yaml.ts';

const BOUNDS = {
  octets: MAX_SCHEMA_OCTETS,
  marks: MAX_FILE_MARKS,
  values: MAX_FILE_VALUES,
  depth: MAX_SCHEMA_DEPTH,
} as const;

/** Codes about a key of the document rather than its value. */
const OF_KEYS: ReadonlySet<string> = new Set([
  'openapi_path',
  'openapi_duplicate',
  'openapi_ignored',
  'unknown_field',
]);

/** Whether octets are a document by its first field: `openapi`, or `swagger` of the versions that are refused. */
export function isOpenApiBytes(bytes: Uint8Array): boolean {
  const file = readYamlBytes(bytes, '', BOUNDS);
  if (!file.ok || !isObject(file.value)) return false;
  return Object.hasOwn(file.value, 'openapi') || Object.hasOwn(file.value, 'swagger');
}

/** Reads the octets of a document, which must be UTF-8. Never throws. `name` is the file name that places carry. */
export function readOpenApiBytes(bytes: Uint8Array, name: string): OpenApiDocument {
  const file = readYamlBytes(bytes, name, BOUNDS);
  if (!file.ok) return { ok: false, diagnostics: file.diagnostics };
  const document = readOpenApi(file.value);
  const diagnostics = document.diagnostics.map((one) => ({
    ...one,
    at: OF_KEYS.has(one.code) ? file.keyAt(one.path) : file.at(one.path),
  }));
  return { ...document, diagnostics: [...diagnostics].sort(byPlace) };
}
