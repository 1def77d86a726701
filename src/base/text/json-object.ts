/** Documents as plain JSON values: their types, tests of parsed values, and text for terminals. */

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [name: string]: Json;
}

/** Whether a value is an object, not a list or `null`. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object in a field; an empty object where the field is absent or no object. */
export function objectAt(value: JsonObject, name: string): JsonObject {
  const found = value[name];
  return isJsonObject(found) ? found : {};
}

/** Rebuilds a value from the leaves up; `change` sees every object after its fields were changed. */
export function mapObjects(value: Json, change: (object: JsonObject) => JsonObject): Json {
  if (Array.isArray(value)) return value.map((entry: Json) => mapObjects(entry, change));
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, mapObjects(field, change)]);
  return change(Object.fromEntries(fields));
}

// The test for objects among values of unknown type, such as parsed JSON.

/** Whether a value is an object, not a list or `null`. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// JSON for streams that may be terminals.

// The controls that JSON permits in texts (DEL, C1), and the marks that turn the direction of text.
const INTERPRETED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** JSON in which characters that a terminal interprets are escaped (RFC 8259, §7); it parses to the same value. */
export function terminalJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(
    INTERPRETED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
