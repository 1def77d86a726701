/** Documents as plain JSON values. */

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object at a field; empty where there is none. */
export function objectAt(value: JsonObject, name: string): JsonObject {
  const found = value[name];
  return isJsonObject(found) ? found : {};
}

/** Rebuilds a value from the leaves up; `change` sees every object after its fields were changed. */
export function mapObjects(value: Json, change: (object: JsonObject) => JsonObject): Json {
  if (Array.isArray(value)) return value.map((one: Json) => mapObjects(one, change));
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, mapObjects(field, change)]);
  return change(Object.fromEntries(fields));
}
