/** The test for objects among values of unknown type, such as parsed JSON. */

/** Whether a value is an object, not a list or `null`. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
