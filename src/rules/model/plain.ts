/**
 * Copies any value to plain data before the schemas read it, so that no getter or proxy of the value can throw during
 * the read or return different values to two reads.
 */

/** Levels that are copied: the deepest value a schema reads is `rules[i].origins[j].node_ids[k]`, six steps down. */
const DEEPEST = 8;
/**
 * Entries of a list that are copied, and one more: ten times the longest list any schema accepts, so its length is
 * still refused.
 */
const LONGEST = 100_000;

/**
 * Copies the own enumerable properties of `value`. Below `DEEPEST` levels, and so in circular data, every object becomes
 * an empty one, which no schema reads. `null` when a property cannot be read at all (a throwing getter, a revoked proxy).
 */
export function plainCopy(value: unknown): { readonly value: unknown } | null {
  try {
    return { value: copy(value, 0) };
  } catch {
    // Only code of the value itself (a getter, a proxy trap) can throw inside `copy`.
    return null;
  }
}

/** Copies one value; `depth` counts the levels above it. */
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
    // An assignment to `__proto__` would set the prototype instead of a property.
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
