/**
 * Which sets of literals have one in a text: every set of a level answered in one pass, without case (Aho and Corasick,
 * CACM 18(6), 1975). A set is what one pattern requires, or the phrases of one `@pm`.
 *
 * States are rows of a dense table over classes of octets: letters fold to one class, octets in no literal share
 * another. Rows whose state has something to tell come last, so that one comparison sees them.
 */
import { octetsOf } from '../octets/octet-buffer.ts';

export interface LiteralIndex {
  /** The number of sets, in words of 32 bits. */
  readonly words: number;
  readonly columns: Uint8Array;
  /** Columns of a row are `1 << shift`. */
  readonly shift: number;
  readonly next: Uint16Array | Uint32Array;
  /** Rows from this one on have sets to tell. */
  readonly telling: number;
  /** Where the sets of row `telling + i` start in `sets`; the next one's start ends them. */
  readonly starts: Uint32Array;
  readonly sets: Uint16Array;
  /** By row from `telling` on, the next shorter suffix that has sets to tell, or 0. */
  readonly shorter: Uint32Array;
  /** By row from `telling` on, the length of the row's own text: what a phrase that ends here is. */
  readonly depths: Uint16Array;
  /** By row from `telling` on, the last scan that saw it. */
  readonly seen: Uint32Array;
  scan: number;
}

/** Nothing was found. */
export const NO_SETS: readonly number[] = [];

function lowered(octet: number): number {
  return octet >= 65 && octet <= 90 ? octet + 32 : octet;
}

/** `sets[i]` lists the lower-case literals of set i; none is empty. */
export function literalIndex(sets: readonly (readonly string[])[]): LiteralIndex {
  const columns = columnsOf(sets);
  const trie = trieOf(sets, columns);
  const order = complete(trie);
  const { shorter, ends, depths } = trie;
  const told = order.filter((node) => ends[node] !== undefined || shorter[node] !== 0);
  const untold = order.filter((node) => ends[node] === undefined && shorter[node] === 0);
  const rows = new Uint32Array(order.length);
  for (let row = 0; row < untold.length; row++) rows[untold[row]!] = row;
  for (let i = 0; i < told.length; i++) rows[told[i]!] = untold.length + i;
  const starts = new Uint32Array(told.length + 1);
  const listed: number[] = [];
  for (const [index, node] of told.entries()) {
    listed.push(...(ends[node] ?? []));
    starts[index + 1] = listed.length;
  }
  const shift = Math.max(1, Math.ceil(Math.log2(Math.max(...columns) + 1)));
  return {
    words: (sets.length + 31) >> 5,
    columns,
    shift,
    next: tableOf(trie, { order, rows, shift }),
    telling: untold.length,
    starts,
    sets: Uint16Array.from(listed),
    shorter: Uint32Array.from(told, (node) => rows[shorter[node]!]!),
    depths: Uint16Array.from(told, (node) => depths[node]!),
    seen: new Uint32Array(told.length),
    scan: 0,
  };
}

function columnsOf(sets: readonly (readonly string[])[]): Uint8Array {
  const columns = new Uint8Array(256);
  let count = 1;
  for (const literal of sets.flat()) {
    for (let at = 0; at < literal.length; at++) {
      const octet = literal.charCodeAt(at);
      if (columns[octet] === 0 && count < 256) columns[octet] = count++;
    }
  }
  for (let octet = 65; octet <= 90; octet++) columns[octet] = columns[lowered(octet)]!;
  return columns;
}

/**
 * The trie of all literals, its nodes in the order they were made; node 0 is the root, and stands for "none" where a
 * node is named.
 */
// PERF: flat arrays, since a program's literals make some ten thousand nodes, and the first inspection waits for them.
interface Trie {
  /** The column that leads to a node from its parent. */
  readonly column: Uint8Array;
  /** A node's first child, and the next child of its parent. */
  readonly first: Uint32Array;
  readonly sibling: Uint32Array;
  readonly depths: Uint16Array;
  /** What a node falls back to. */
  readonly fails: Uint32Array;
  /** The next shorter suffix that has sets of its own. */
  readonly shorter: Uint32Array;
  /** The sets a node ends a literal of. */
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

/** Finds what each node falls back to; gives the nodes breadth first. */
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

/** The dense table. Breadth first, so that the row of what a state falls back to is filled before its own. */
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
    const fallen = rows[fails[node]!]! << shift;
    if (node !== 0) next.copyWithin(row, fallen, fallen + (1 << shift));
    for (let child = first[node]!; child !== 0; child = sibling[child]!) {
      next[row + column[child]!] = rows[child]!;
    }
  }
  return next;
}

/** The sets that have a literal in `text`, a bit each; `NO_SETS` when there is none. */
// PERF: words in a plain array, since making a typed one takes longer than scanning a short text.
export function setsIn(index: LiteralIndex, text: string): readonly number[] {
  const { next, columns, shift, telling } = index;
  const octets = octetsOf(text);
  const { length } = text;
  index.scan = index.scan === 0xffffffff ? 1 : index.scan + 1;
  if (index.scan === 1) index.seen.fill(0);
  let found: number[] | null = null;
  let row = 0;
  for (let at = 0; at < length; at++) {
    row = next[(row << shift) + columns[octets[at]!]!]!;
    if (row < telling || index.seen[row - telling] === index.scan) continue;
    found ??= new Array<number>(index.words).fill(0);
    tell(index, row, found);
  }
  return found ?? NO_SETS;
}

/** A row seen before ends the walk to shorter suffixes: they were seen with it. */
function tell(index: LiteralIndex, row: number, found: number[]): void {
  const { telling, starts, sets, seen, scan } = index;
  for (let at = row; at !== 0; at = index.shorter[at - telling]!) {
    const place = at - telling;
    if (seen[place] === scan) return;
    seen[place] = scan;
    for (let i = starts[place]!; i < starts[place + 1]!; i++) found[sets[i]! >> 5]! |= 1 << (sets[i]! & 31);
  }
}

/** The first literal of a set that ends in `text`, as it stands there; `null`: there is none. */
export function literalOf(index: LiteralIndex, set: number, text: string): string | null {
  const { next, columns, shift, telling, starts, sets } = index;
  let row = 0;
  for (let end = 0; end < text.length; end++) {
    row = next[(row << shift) + columns[text.charCodeAt(end)]!]!;
    for (let at = row; at >= telling && at !== 0; at = index.shorter[at - telling]!) {
      const place = at - telling;
      for (let i = starts[place]!; i < starts[place + 1]!; i++) {
        if (sets[i] === set) return text.slice(end + 1 - index.depths[place]!, end + 1);
      }
    }
  }
  return null;
}
