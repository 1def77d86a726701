/**
 * Lays the indexes of a plan: radix trees over literals (paths forwards, suffixes and hosts backwards, fingerprints
 * forwards), and sorted boundaries of addresses.
 */
import { NODE, NONE } from '../plan/layout.ts';
import { type LabelPool, type PlanDraft, placePosting } from './draft.ts';
import { compareWords } from './filters.ts';

/** Slots by literal: those filed under the whole text, and those filed under a start of it. */
export interface TreeEntries {
  readonly exact: ReadonlyMap<string, readonly number[]>;
  readonly prefix: ReadonlyMap<string, readonly number[]>;
}

/** A node of a tree under construction. */
interface TreeNode {
  /** Text of the edge that leads to the node. */
  label: string;
  /** By the first code unit of their labels, which differ. */
  children: Map<number, TreeNode>;
  exact: readonly number[];
  prefix: readonly number[];
  /** Number of the node in the plan; -1 before it is laid. */
  index: number;
}

/** A node without children and postings. */
function createNode(label: string): TreeNode {
  return { label, children: new Map(), exact: [], prefix: [], index: -1 };
}

/**
 * Lays a tree into `draft.nodes` (row layout: `NODE`) and returns the number of its root; NONE for a tree without entries.
 * Nodes are laid in breadth-first order, so the children of a node are consecutive, ascending by their first code unit.
 */
export function layTree(draft: PlanDraft, entries: TreeEntries): number {
  if (entries.exact.size === 0 && entries.prefix.size === 0) return NONE;
  const root = createNode('');
  for (const [literal, slots] of entries.exact) descend(root, literal).exact = slots;
  for (const [literal, slots] of entries.prefix) descend(root, literal).prefix = slots;
  const order = [root];
  const base = draft.nodes.length / NODE.size;
  for (let at = 0; at < order.length; at++) {
    const node = order[at]!;
    node.index = base + at;
    for (const [, child] of [...node.children].sort(([a], [b]) => a - b)) order.push(child);
  }
  let nextChild = base + 1;
  for (const node of order) {
    draft.nodes.push(
      ...[placeLabel(draft.labels, node.label), node.label.length, node.label.charCodeAt(0) || 0],
      ...[nextChild, node.children.size],
      ...[placePosting(draft, node.exact), placePosting(draft, node.prefix)],
    );
    nextChild += node.children.size;
  }
  return root.index;
}

/** The node for a literal; adds it, and divides an edge where the literal ends or branches off inside its label. */
function descend(root: TreeNode, literal: string): TreeNode {
  let node = root;
  let at = 0;
  while (at < literal.length) {
    const code = literal.charCodeAt(at);
    const child = node.children.get(code);
    if (child === undefined) {
      const leaf = createNode(literal.slice(at));
      node.children.set(code, leaf);
      return leaf;
    }
    let shared = 1;
    while (shared < child.label.length && child.label[shared] === literal[at + shared]) shared++;
    if (shared < child.label.length) {
      const upper = createNode(child.label.slice(0, shared));
      child.label = child.label.slice(shared);
      upper.children.set(child.label.charCodeAt(0), child);
      node.children.set(code, upper);
      node = upper;
    } else node = child;
    at += shared;
  }
  return node;
}

/** The place of a label's code units; equal labels share one. */
function placeLabel(pool: LabelPool, label: string): number {
  const known = pool.places.get(label);
  if (known !== undefined) return known;
  const place = pool.units.length;
  for (let at = 0; at < label.length; at++) pool.units.push(label.charCodeAt(at));
  pool.places.set(label, place);
  return place;
}

/** A literal by code units from its end, for a tree that is read from the end of a text. */
export function reversed(literal: string): string {
  let out = '';
  for (let at = literal.length - 1; at >= 0; at--) out += literal[at];
  return out;
}

// Address intervals as sorted boundaries: the space is cut wherever an interval starts or ends, and each piece names
// the posting of the slots that cover it. A look-up is one binary search. Layout of a section: `n` starts (one word
// each for IPv4, four for IPv6, ascending, the first being 0), then `n` postings.

/** An inclusive interval of addresses and the slot of its rule. */
interface Interval {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly slot: number;
}

/**
 * Entries over all postings allowed per interval. Intervals that nest deeper than this on average (ten thousand
 * prefixes inside one another) would grow with the square of their number; their widest go to the rules that no
 * index narrows instead.
 */
const ENTRIES_PER_INTERVAL = 24;

/** Lays both address families; intervals that nest too deep join `draft.filing.always`. */
export function layCidrIndexes(draft: PlanDraft): void {
  const { intervals, always } = draft.filing;
  const unfiled = new Set(always);
  const four = intervals.filter((interval) => interval.family === 4);
  const six = intervals.filter((interval) => interval.family === 6);
  draft.cidr4 = layFamily(draft, { intervals: four, width: 1, unfiled });
  draft.cidr6 = layFamily(draft, { intervals: six, width: 4, unfiled });
  always.splice(0, Number.POSITIVE_INFINITY);
  for (const slot of [...unfiled].sort((a, b) => a - b)) always.push(slot);
}

/** The intervals of one address family. */
interface Family {
  readonly intervals: readonly Interval[];
  /** Words of an address. */
  readonly width: 1 | 4;
  /** Slots that no index narrows; those whose intervals nest too deep are added. */
  readonly unfiled: Set<number>;
}

/**
 * The section of one family. While the pieces exceed the bound, the widest eighth of the intervals is removed and the
 * slots of their rules become unfiled.
 */
function layFamily(draft: PlanDraft, { intervals, width, unfiled }: Family): Uint32Array {
  if (intervals.length === 0) return new Uint32Array(0);
  let indexed = [...intervals].sort((a, b) => compareWords(a.first, b.first)).sort(byWidth);
  let bounds = boundsOf(indexed);
  while (!fits(bounds, indexed.length, width)) {
    const widest = new Set(indexed.slice(0, Math.ceil(indexed.length / 8)).map(({ slot }) => slot));
    for (const slot of widest) unfiled.add(slot);
    indexed = indexed.filter(({ slot }) => !widest.has(slot));
    bounds = bounds.filter(({ slot }) => !widest.has(slot));
  }
  const pieces = indexed.length === 0 ? [] : cut(bounds, width);
  const words = new Uint32Array(pieces.length * (width + 1));
  for (const [index, piece] of pieces.entries()) {
    words.set(piece.start, index * width);
    words[pieces.length * width + index] = placePosting(draft, piece.slots);
  }
  return words;
}

/** Order of intervals by width, the widest first: that is the order in which they lose their index. */
function byWidth(a: Interval, b: Interval): number {
  for (const [word, first] of a.first.entries()) {
    const left = a.last[word]! - first;
    const right = b.last[word]! - b.first[word]!;
    if (left !== right) return right - left;
  }
  return 0;
}

/** An address at which an interval starts (`open`), or before which it ends. */
interface Bound {
  readonly at: readonly number[];
  readonly slot: number;
  readonly open: boolean;
}

/** Both ends of every interval, by address; an interval up to the end of the space has only the first. */
function boundsOf(intervals: readonly Interval[]): readonly Bound[] {
  const bounds = intervals.flatMap(({ first, last, slot }): Bound[] => {
    const after = successor(last);
    const start = { at: first, slot, open: true };
    return after === null ? [start] : [start, { at: after, slot, open: false }];
  });
  return bounds.sort((a, b) => compareWords(a.at, b.at));
}

/** Visits the pieces in order with the slots that cover each, until `visit` returns false; returns whether it never did. */
function sweep(
  bounds: readonly Bound[],
  width: 1 | 4,
  visit: (start: readonly number[], covering: ReadonlyMap<number, number>) => boolean,
): boolean {
  /** By slot, how many of its intervals cover the piece. */
  const covering = new Map<number, number>();
  let at: readonly number[] = new Array<number>(width).fill(0);
  for (let next = 0; ; ) {
    for (; next < bounds.length && compareWords(bounds[next]!.at, at) === 0; next++) {
      const { slot, open } = bounds[next]!;
      const depth = (covering.get(slot) ?? 0) + (open ? 1 : -1);
      if (depth === 0) covering.delete(slot);
      else covering.set(slot, depth);
    }
    if (!visit(at, covering)) return false;
    if (next >= bounds.length) return true;
    at = bounds[next]!.at;
  }
}

/** Whether the lists of all pieces together have at most `ENTRIES_PER_INTERVAL` entries per interval (and 1,024). */
function fits(bounds: readonly Bound[], intervals: number, width: 1 | 4): boolean {
  let budget = intervals * ENTRIES_PER_INTERVAL + 1024;
  return sweep(bounds, width, (_, covering) => {
    budget -= covering.size;
    return budget >= 0;
  });
}

/** A part of the address space that the same rules cover: up to the start of the next piece. */
interface Piece {
  readonly start: readonly number[];
  readonly slots: readonly number[];
}

/** The pieces of the whole address space, ascending. */
function cut(bounds: readonly Bound[], width: 1 | 4): readonly Piece[] {
  const pieces: Piece[] = [];
  sweep(bounds, width, (start, covering) => {
    pieces.push({ start, slots: [...covering.keys()].sort((a, b) => a - b) });
    return true;
  });
  return pieces;
}

/** The address after `last`, or `null` at the end of the space. */
function successor(last: readonly number[]): readonly number[] | null {
  const next = [...last];
  for (let word = next.length - 1; word >= 0; word--) {
    if (next[word] !== 0xffffffff) {
      next[word] = next[word]! + 1;
      return next;
    }
    next[word] = 0;
  }
  return null;
}
