/** A hash table from numbers to numbers, for the memo of a search: open addressing with linear probing. */

/** The entries; double in size when half full. */
export interface NumberTable {
  keys: Float64Array;
  values: Int32Array;
  /** Entries in use. */
  size: number;
}

/** The value of a key without entry; no entry has it. */
export const ABSENT = -1;

/** Slots of a new table. */
const FIRST_SLOTS = 64;

/** Creates an empty table. */
export function numberTable(): NumberTable {
  return { keys: new Float64Array(FIRST_SLOTS).fill(-1), values: new Int32Array(FIRST_SLOTS), size: 0 };
}

/** The slot of a key, or the free one where it belongs. */
function slotOf(keys: Float64Array, key: number): number {
  const mask = keys.length - 1;
  // Keys are whole numbers below 2⁵³: both halves take part, since the lower one alone repeats itself.
  const hash = Math.imul((key | 0) ^ Math.imul((key / 0x1_0000_0000) | 0, 0x85eb_ca6b), 0x9e37_79b1);
  let slot = (hash ^ (hash >>> 15)) & mask;
  while (keys[slot] !== key && keys[slot] !== -1) slot = (slot + 1) & mask;
  return slot;
}

/** The value of a key, a whole number from 0 on; `ABSENT`: it has none. */
export function entryOf({ keys, values }: NumberTable, key: number): number {
  const slot = slotOf(keys, key);
  return keys[slot] === key ? values[slot]! : ABSENT;
}

/** Sets the value of a key. */
export function setEntry(table: NumberTable, key: number, value: number): void {
  let slot = slotOf(table.keys, key);
  if (table.keys[slot] === -1) {
    if (table.size * 2 >= table.keys.length) {
      grow(table);
      slot = slotOf(table.keys, key);
    }
    table.keys[slot] = key;
    table.size++;
  }
  table.values[slot] = value;
}

function grow(table: NumberTable): void {
  const { keys, values } = table;
  table.keys = new Float64Array(keys.length * 2).fill(-1);
  table.values = new Int32Array(keys.length * 2);
  for (let slot = 0; slot < keys.length; slot++) {
    if (keys[slot] === -1) continue;
    const to = slotOf(table.keys, keys[slot]!);
    table.keys[to] = keys[slot]!;
    table.values[to] = values[slot]!;
  }
}
