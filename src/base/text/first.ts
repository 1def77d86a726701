/** Returns the first item, `undefined` without one. */
export function first<Item>(items: Iterable<Item>): Item | undefined {
  for (const item of items) return item;
  return undefined;
}
