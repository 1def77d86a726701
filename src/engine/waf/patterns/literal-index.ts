/**
 * Finds in one pass over a text, without case, which sets of literals have a member in it (Aho and Corasick, CACM 18(6),
 * 1975). A set is the literals that one `@rx` pattern requires, or the phrases of one `@pm`.
 *
 * States are rows of a dense table over columns of octets: both cases of a letter share a column, and so do all octets
 * in no literal. Rows of states with output (where a literal ends) come last, so that one comparison recognises them.
 */
import { octetsOf } from '../octets/octet-buffer.ts';

/** An Aho–Corasick automaton over the literals of all sets. */
export interface LiteralIndex {
  /** Number of 32-bit words in a bit set with one bit per literal set. */
  readonly words: number;
  /** By octet, its column. */
  readonly columns: Uint8Array;
  /** A row has `1 << shift` columns. */
  readonly shift: number;
  /** The row that a row leads to: `next[(row << shift) + column]`. */
  readonly next: Uint16Array | Uint32Array;
  /** The first row with output; all rows behind it have output too. */
  readonly firstOutput: number;
  /** The output of row `firstOutput + i` starts at `starts[i]` in `sets` and ends at `starts[i + 1]`. */
  readonly starts: Uint32Array;
  readonly sets: Uint16Array;
  /** By row from `firstOutput` on, the row of the longest proper suffix with output, or 0. */
  readonly shorter: Uint32Array;
  /** By row from `firstOutput` on, the length in octets of the literal that ends there. */
  readonly depths: Uint16Array;
  /** By row from `firstOutput` on, the last scan that reached it. */
  readonly seen: Uint32Array;
  /** The number of the current scan. */
  scan: number;
}

/** The result of a scan that found no literal. */
export const NO_SETS: readonly number[] = [];

function lowered(octet: number): number {
  return octet >= 65 && octet <= 90 ? octet + 32 : octet;
}

/** Builds the index; `sets[i]` lists the literals of set i, in lower case and not empty. */
export function literalIndex(sets: readonly (readonly string[])[]): LiteralIndex {
  const columns = columnsOf(sets);
  const trie = trieOf(sets, columns);
  const order = complete(trie);
  const { shorter, ends, depths } = trie;
  const withOutput = order.filter((node) => ends[node] !== undefined || shorter[node] !== 0);
  const silent = order.filter((node) => ends[node] === undefined && shorter[node] === 0);
  const rows = new Uint32Array(order.length);
  for (let row = 0; row < silent.length; row++) rows[silent[row]!] = row;
  for (let i = 0; i < withOutput.length; i++) rows[withOutput[i]!] = silent.length + i;
  const starts = new Uint32Array(withOutput.length + 1);
  const listed: number[] = [];
  for (const [index, node] of withOutput.entries()) {
    listed.push(...(ends[node] ?? []));
    starts[index + 1] = listed.length;
  }
  const shift = Math.max(1, Math.ceil(Math.log2(Math.max(...columns) + 1)));
  return {
    words: (sets.length + 31) >> 5,
    columns,
    shift,
    next: tableOf(trie, { order, rows, shift }),
    firstOutput: silent.length,
    starts,
    sets: Uint16Array.from(listed),
    shorter: Uint32Array.from(withOutput, (node) => rows[shorter[node]!]!),
    depths: Uint16Array.from(withOutput, (node) => depths[node]!),
    seen: new Uint32Array(withOutput.length),
    scan: 0,
  };
}

/**
 * The octets of ordinary text, which have the first columns. PERF: 32 columns of a row are one cache line of 64 octets, so
 * that a scan of text touches a quarter of each row.
 */
const FREQUENT = ' etaoinsrhldcumfpgwybvkxjqz.-/_0123456789=:;,';

/** Assigns a column to each octet of the literals, the same to both cases of a letter, and 0 to all other octets. */
function columnsOf(sets: readonly (readonly string[])[]): Uint8Array {
  const columns = new Uint8Array(256);
  const used = new Uint8Array(256);
  for (const literal of sets.flat()) {
    for (let at = 0; at < literal.length; at++) used[literal.charCodeAt(at)] = 1;
  }
  let count = 1;
  const add = (octet: number): void => {
    if (used[octet] === 1 && columns[octet] === 0 && count < 256) columns[octet] = count++;
  };
  for (let at = 0; at < FREQUENT.length; at++) add(FREQUENT.charCodeAt(at));
  for (let octet = 0; octet < 256; octet++) add(octet);
  for (let octet = 65; octet <= 90; octet++) columns[octet] = columns[lowered(octet)]!;
  return columns;
}

/** The trie of all literals, its nodes in order of creation. Node 0 is the root; as a link, 0 means "no node". */
// PERF: flat arrays, since a program's literals need some ten thousand nodes, and the first inspection waits for them.
interface Trie {
  /** The column that leads to a node from its parent. */
  readonly column: Uint8Array;
  /** A node's first child, and the next child of its parent. */
  readonly first: Uint32Array;
  readonly sibling: Uint32Array;
  readonly depths: Uint16Array;
  /** The failure link: the node of the longest proper suffix that is in the trie. */
  readonly fails: Uint32Array;
  /** The output link: the node of the longest proper suffix that is a literal. */
  readonly shorter: Uint32Array;
  /** The sets with the node's text as a literal. */
  readonly ends: readonly (readonly number[] | undefined)[];
}

function trieOf(sets: readonly (readonly string[])[], columns: Uint8Array): Trie {
  const most = sets.reduce((sum, literals) => sum + literals.join('').length, 1);
  const ends = new Array<number[] | undefined>(most);
  const trie = {
    column: new Uint8Array(most),
    first: new Uint32Array(most),
    sibling: new Uint32Array(most),
    depths: new Uint16Array(most),
    fails: new Uint32Array(most),
    shorter: new Uint32Array(most),
    ends,
  };
  let nodes = 1;
  for (const [set, literals] of sets.entries()) {
    for (const literal of literals) {
      let node = 0;
      for (let at = 0; at < literal.length; at++) {
        const column = columns[literal.charCodeAt(at)]!;
        let child = childOf(trie, node, column);
        if (child === 0) {
          child = nodes++;
          trie.column[child] = column;
          trie.depths[child] = at + 1;
          trie.sibling[child] = trie.first[node]!;
          trie.first[node] = child;
        }
        node = child;
      }
      const own = ends[node];
      if (own === undefined) ends[node] = [set];
      else if (!own.includes(set)) own.push(set);
    }
  }
  return trie;
}

function childOf({ first, sibling, column }: Trie, node: number, wanted: number): number {
  let child = first[node]!;
  while (child !== 0 && column[child] !== wanted) child = sibling[child]!;
  return child;
}

/** Computes the failure and output links; returns the nodes breadth first. */
function complete(trie: Trie): readonly number[] {
  const { first, sibling, column, fails, shorter, ends } = trie;
  const order = [0];
  for (let at = 0; at < order.length; at++) {
    const node = order[at]!;
    for (let child = first[node]!; child !== 0; child = sibling[child]!) {
      order.push(child);
      if (node === 0) continue;
      let fail = fails[node]!;
      let found = childOf(trie, fail, column[child]!);
      while (found === 0 && fail !== 0) {
        fail = fails[fail]!;
        found = childOf(trie, fail, column[child]!);
      }
      fails[child] = found;
      shorter[child] = ends[found] === undefined ? shorter[found]! : found;
    }
  }
  return order;
}

/** Builds the dense table breadth first, so that the row of a failure link is complete before it is copied. */
function tableOf(
  { first, sibling, column, fails }: Trie,
  to: { readonly order: readonly number[]; readonly rows: Uint32Array; readonly shift: number },
): Uint16Array | Uint32Array {
  const { order, rows, shift } = to;
  const size = order.length << shift;
  const next = order.length > 0xffff ? new Uint32Array(size) : new Uint16Array(size);
  for (let at = 0; at < order.length; at++) {
    const node = order[at]!;
    const row = rows[node]! << shift;
    const failed = rows[fails[node]!]! << shift;
    if (node !== 0) next.copyWithin(row, failed, failed + (1 << shift));
    for (let child = first[node]!; child !== 0; child = sibling[child]!) {
      next[row + column[child]!] = rows[child]!;
    }
  }
  return next;
}

/** Returns the sets with a literal in `text`, a bit each in words of 32; `NO_SETS`: absent. */
// PERF: words in a plain array, since allocating a typed one takes longer than the scan of a short text.
export function setsIn(index: LiteralIndex, text: string): readonly number[] {
  const { next, columns, shift, firstOutput } = index;
  const octets = octetsOf(text);
  const { length } = text;
  index.scan = index.scan === 0xffffffff ? 1 : index.scan + 1;
  if (index.scan === 1) index.seen.fill(0);
  let found: number[] | null = null;
  let row = 0;
  for (let at = 0; at < length; at++) {
    row = next[(row << shift) + columns[octets[at]!]!]!;
    if (row < firstOutput || index.seen[row - firstOutput] === index.scan) continue;
    found ??= new Array<number>(index.words).fill(0);
    addOutput(index, row, found);
  }
  return found ?? NO_SETS;
}

/** Adds the sets of a row and of its shorter suffixes; stops at a row already seen, since it added its suffixes. */
function addOutput(index: LiteralIndex, row: number, found: number[]): void {
  const { firstOutput, starts, sets, seen, scan } = index;
  for (let at = row; at !== 0; at = index.shorter[at - firstOutput]!) {
    const place = at - firstOutput;
    if (seen[place] === scan) return;
    seen[place] = scan;
    for (let i = starts[place]!; i < starts[place + 1]!; i++) found[sets[i]! >> 5]! |= 1 << (sets[i]! & 31);
  }
}

/** Returns the literal of a set that ends first in `text`, in the text's own case; `null`: absent. */
export function literalOf(index: LiteralIndex, set: number, text: string): string | null {
  const { next, columns, shift, firstOutput, starts, sets } = index;
  let row = 0;
  for (let end = 0; end < text.length; end++) {
    row = next[(row << shift) + columns[text.charCodeAt(end)]!]!;
    for (let at = row; at >= firstOutput && at !== 0; at = index.shorter[at - firstOutput]!) {
      const place = at - firstOutput;
      for (let i = starts[place]!; i < starts[place + 1]!; i++) {
        if (sets[i] === set) return text.slice(end + 1 - index.depths[place]!, end + 1);
      }
    }
  }
  return null;
}
