/**
 * Looks up a request in the indexes of a plan: trees of literals, sorted boundaries of addresses, and the postings that
 * they touch.
 */
import { NODE, NONE, type Plan } from '../plan/layout.ts';

/** From the start of `text`: exact entries that equal it, prefix entries it starts with. */
export function walkForward(plan: Plan, root: number, text: string, touched: Touched): void {
  const { nodes, labels } = plan;
  const length = text.length;
  let row = root * NODE.size;
  let at = 0;
  for (;;) {
    const prefix = nodes[row + NODE.prefix]!;
    if (prefix !== NONE) touch(touched, prefix);
    if (at === length) {
      const exact = nodes[row + NODE.exact]!;
      if (exact !== NONE) touch(touched, exact);
      return;
    }
    row = childRow(nodes, row, text.charCodeAt(at));
    if (row < 0) return;
    const end = at + nodes[row + NODE.length]!;
    if (end > length) return;
    let label = nodes[row + NODE.label]! + 1;
    for (at++; at < end; at++, label++) if (text.charCodeAt(at) !== labels[label]) return;
  }
}

/** As `walkForward`, from the end of `text` to its start. */
export function walkBackward(plan: Plan, root: number, text: string, touched: Touched): void {
  const { nodes, labels } = plan;
  let row = root * NODE.size;
  let at = text.length;
  for (;;) {
    const prefix = nodes[row + NODE.prefix]!;
    if (prefix !== NONE) touch(touched, prefix);
    if (at === 0) {
      const exact = nodes[row + NODE.exact]!;
      if (exact !== NONE) touch(touched, exact);
      return;
    }
    row = childRow(nodes, row, text.charCodeAt(at - 1));
    if (row < 0) return;
    const end = at - nodes[row + NODE.length]!;
    if (end < 0) return;
    let label = nodes[row + NODE.label]! + 1;
    for (at--; at > end; at--, label++) if (text.charCodeAt(at - 1) !== labels[label]) return;
  }
}

/** Up to this many children are searched linearly, more by binary search. */
const FEW = 6;

/** The row of the child that starts with `code`, or -1. */
function childRow(nodes: Uint32Array, row: number, code: number): number {
  const count = nodes[row + NODE.count]!;
  const start = nodes[row + NODE.children]! * NODE.size;
  if (count <= FEW) {
    const end = start + count * NODE.size;
    for (let child = start; child < end; child += NODE.size) {
      if (nodes[child + NODE.first] === code) return child;
    }
    return -1;
  }
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const child = start + middle * NODE.size;
    const first = nodes[child + NODE.first]!;
    if (first === code) return child;
    if (first < code) low = middle + 1;
    else high = middle;
  }
  return -1;
}

// The postings that one request touches, each once. Sized at load, so that a request allocates nothing.

export interface Touched {
  readonly postings: Uint32Array;
  count: number;
  /** Slots in all of them together, duplicates counted. */
  slots: number;
  /** By posting, the number of the last request that touched it. */
  readonly seen: Uint32Array;
  request: number;
  /** Offset and count of each posting: the plan's section. */
  readonly rows: Uint32Array;
}

/** Memory for every posting of a plan, from its section of rows. */
export function createTouched(rows: Uint32Array): Touched {
  const count = rows.length / 2;
  return {
    postings: new Uint32Array(count),
    count: 0,
    slots: 0,
    seen: new Uint32Array(count),
    request: 0,
    rows,
  };
}

/** Starts the next request. */
export function resetTouched(touched: Touched): void {
  touched.count = 0;
  touched.slots = 0;
  touched.request++;
  if (touched.request > 0xffffffff) {
    touched.seen.fill(0);
    touched.request = 1;
  }
}

/** Adds a posting unless this request has touched it before. */
export function touch(touched: Touched, posting: number): void {
  if (touched.seen[posting] === touched.request) return;
  touched.seen[posting] = touched.request;
  touched.postings[touched.count++] = posting;
  touched.slots += touched.rows[posting * 2 + 1]!;
}

// Looks up an address among sorted boundaries by binary search (layout in `engine/compiler/indexes.ts`).

/** The posting of the piece that holds an IPv4 address, or NONE. */
export function lookUp4(section: Uint32Array, address: number): number {
  const count = section.length >>> 1;
  if (count === 0) return NONE;
  let low = 0;
  let high = count;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (section[middle]! <= address) low = middle;
    else high = middle;
  }
  return section[count + low]!;
}

/** As `lookUp4` for the four words of an IPv6 address. */
export function lookUp6(section: Uint32Array, address: Uint32Array): number {
  const count = section.length / 5;
  if (count === 0) return NONE;
  let low = 0;
  let high = count;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (compareAt(section, middle * 4, address) <= 0) low = middle;
    else high = middle;
  }
  return section[count * 4 + low]!;
}

/** Compares the IPv6 address at `offset` with `address`: below 0, 0 or above 0. */
export function compareAt(words: Uint32Array, offset: number, address: Uint32Array): number {
  for (let word = 0; word < 4; word++) {
    const difference = words[offset + word]! - address[word]!;
    if (difference !== 0) return difference;
  }
  return 0;
}
