/**
 * The tree of observed paths: a node for each beginning of a path, with its words by name and all of its values as one parameter.
 * Memory is bounded: by nodes, and by words of one node, which become its parameter when there are too many.
 */
import { type SegmentKind, valueOfText } from '../../base/paths/segment-kind.ts';
import { MAX_NODES, MAX_STATUSES, MAX_WORDS } from './limits.ts';

/** Requests of one method. */
export interface SeenMethod {
  requests: number;
  /** Requests by the status of the response; empty: not known. */
  readonly statuses: Map<number, number>;
}

/** The word of values that an extension follows: `{}.json`. */
export const EXTENDED = '{}';

/** A beginning of paths. */
export interface PathNode {
  /** By the word, or by `EXTENDED` and an extension. */
  readonly words: Map<string, PathNode>;
  /** What follows a value; `null`: no value was seen. */
  parameter: PathNode | null;
  /** What the values were; `word`: not known to be a value by itself. */
  readonly kinds: Set<SegmentKind | 'word'>;
  /** Of requests whose path ends here. */
  readonly methods: Map<string, SeenMethod>;
  /** Further words are values. */
  isOpen: boolean;
}

/** The paths of one API. */
export interface PathTree {
  readonly root: PathNode;
  nodes: number;
}

/** A tree of nothing. */
export function createPathTree(): PathTree {
  return { root: createNode(), nodes: 1 };
}

function createNode(): PathNode {
  return { words: new Map(), parameter: null, kinds: new Set(), methods: new Map(), isOpen: false };
}

/** A number of alike requests. */
export interface ObservedRequests {
  readonly method: string;
  /** Of `generalizePath`. */
  readonly path: string;
  readonly requests: number;
  /** `null`: not known. */
  readonly status: number | null;
}

/** Adds requests. False, and adds nothing to operations: the tree is full. */
export function addObserved(tree: PathTree, { method, path, requests, status }: ObservedRequests): boolean {
  let node = tree.root;
  for (const segment of path.slice(1).split('/')) {
    const next = childOf(tree, node, segment);
    if (next === null) return false;
    node = next;
  }
  const seen: SeenMethod = { requests, statuses: new Map(status === null ? [] : [[status, requests]]) };
  addMethod(node, method, seen);
  return true;
}

/** The node of the next segment; `null`: it is new and the tree is full. */
function childOf(tree: PathTree, node: PathNode, segment: string): PathNode | null {
  const value = valueOfText(segment);
  if (value !== null && value.extension === '') return valueNode(tree, node, value.kind);
  const word = value === null ? segment : `${EXTENDED}${value.extension}`;
  if (!node.isOpen) {
    const known = node.words.get(word);
    if (known !== undefined) return known;
    if (tree.nodes >= MAX_NODES) return null;
    if (node.words.size < MAX_WORDS) {
      const added = createNode();
      tree.nodes++;
      node.words.set(word, added);
      return added;
    }
    node.isOpen = true;
    toParameter(tree, node, [...node.words.keys()]);
  }
  return valueNode(tree, node, 'word');
}

/** The node after a value; `null`: it is new and the tree is full. */
function valueNode(tree: PathTree, node: PathNode, kind: SegmentKind | 'word'): PathNode | null {
  if (node.parameter === null && tree.nodes >= MAX_NODES) return null;
  node.kinds.add(kind);
  return parameterOf(tree, node);
}

function parameterOf(tree: PathTree, node: PathNode): PathNode {
  if (node.parameter === null) {
    node.parameter = createNode();
    tree.nodes++;
  }
  return node.parameter;
}

/** Makes some words of a node values of its parameter. */
export function toParameter(
  tree: PathTree,
  node: PathNode,
  words: readonly string[],
  kind: SegmentKind | 'word' = 'word',
): void {
  for (const word of words) {
    const child = node.words.get(word)!;
    node.words.delete(word);
    const extended = node.isOpen ? null : extendedNode(node, word);
    if (extended === null) node.kinds.add(kind);
    mergeNode(tree, extended ?? parameterOf(tree, node), child);
  }
}

/** The node of values with the extension of a word: its template would be found first. `null`: there is no such node. */
function extendedNode(node: PathNode, word: string): PathNode | null {
  const dot = word.lastIndexOf('.');
  return dot <= 0 ? null : (node.words.get(`${EXTENDED}${word.slice(dot)}`) ?? null);
}

/** Adds a node, which is not used afterwards, to another. Its depth is that of paths. */
function mergeNode(tree: PathTree, to: PathNode, from: PathNode): void {
  tree.nodes--;
  for (const [method, seen] of from.methods) addMethod(to, method, seen);
  for (const [word, child] of from.words) {
    const known = to.words.get(word);
    if (known !== undefined) mergeNode(tree, known, child);
    else if (to.isOpen) {
      to.kinds.add('word');
      mergeNode(tree, parameterOf(tree, to), child);
    } else to.words.set(word, child);
  }
  for (const kind of from.kinds) to.kinds.add(kind);
  if (from.parameter !== null) {
    if (to.parameter === null) to.parameter = from.parameter;
    else mergeNode(tree, to.parameter, from.parameter);
  }
  if (!from.isOpen && to.words.size <= MAX_WORDS) return;
  to.isOpen = true;
  toParameter(tree, to, [...to.words.keys()]);
}

function addMethod(node: PathNode, method: string, { requests, statuses }: SeenMethod): void {
  const known = node.methods.get(method);
  if (known === undefined) {
    node.methods.set(method, { requests, statuses: new Map(statuses) });
    return;
  }
  known.requests += requests;
  for (const [status, some] of statuses) {
    const before = known.statuses.get(status);
    if (before !== undefined || known.statuses.size < MAX_STATUSES)
      known.statuses.set(status, (before ?? 0) + some);
  }
}
