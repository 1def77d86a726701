/** Plain data from any value: what the schemas read can then neither throw nor change under them. */

/** The deepest place a schema looks at is `rules[i].origins[j].node_ids[k]`, six steps down. */
const DEEPEST = 8;
/** Ten times the longest list any schema accepts; of a longer one only this much and one entry more are copied. */
const LONGEST = 100_000;

/**
 * A copy of `value` made of own enumerable data. Circular and deeper data ends in empty objects, which no schema
 * reaches. `null` when a property cannot be read at all (a throwing getter, a revoked proxy).
 */
export function plainCopy(value: unknown): { readonly value: unknown } | null {
  try {
    return { value: copy(value, 0) };
  } catch {
    // Only the value's own code can throw here: nothing of ours runs inside but the walk below.
    return null;
  }
}

function copy(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEEPEST) return {};
  if (Array.isArray(value)) {
    const entries: unknown[] = [];
    const length = Math.min(value.length, LONGEST + 1);
    for (let index = 0; index < length; index++) entries.push(copy(value[index], depth + 1));
    return entries;
  }
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const field = copy((value as Record<string, unknown>)[name], depth + 1);
    if (name !== '__proto__') fields[name] = field;
    else
      Object.defineProperty(fields, name, {
        value: field,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return fields;
}
