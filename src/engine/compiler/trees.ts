/** Radix trees over literals: paths forwards, suffixes and hosts backwards, fingerprints forwards. */
import { NODE, NONE } from '../plan/layout.ts';
import type { LabelPool, PlanDraft } from './draft.ts';
import { placePosting } from './draft.ts';

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
