/** Types and functions for documents as plain JSON values. */

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
