/**
 * Finds the operation of a path (semantics §15). In: the operations of a gateway, each with the template of its path. Out: a
 * router, a tree by segments: at each segment literal text goes before text around parameters, and that before a parameter alone.
 */
import { parseTemplate, segmentMatches, type TemplateSegment } from '../../base/paths/path-template.ts';

/** A number of requests in a time. */
export interface Throttle {
  readonly rate: number;
  /** Seconds. */
  readonly perSec: number;
  readonly burst: number;
}

/** An operation of a gateway. */
export interface LoadedOperation {
  /** Its place among the operations of the gateway. */
  readonly index: number;
  /** Empty: it has none. */
  readonly id: string;
  readonly path: string;
  readonly methods: readonly string[];
  readonly scopes: readonly string[];
  readonly tags: readonly string[];
  /** It needs no credentials. */
  readonly open: boolean;
  /** How many requests of one consumer it takes; `null`: any number. */
  readonly throttle: Throttle | null;
}

/** The operations of one path, by method. */
export type PathOperations = ReadonlyMap<string, LoadedOperation>;

/** Finds operations by path. */
export interface Router {
  /** @param path below the base path, in canonical form, with its first slash. `null`: no template matches. */
  find(path: string): PathOperations | null;
}

/** A place in the tree: what may follow, and the operations whose template ends here. */
interface Node {
  readonly literals: Map<string, Node>;
  readonly mixed: { readonly segment: TemplateSegment; readonly child: Node }[];
  parameter: Node | null;
  operations: Map<string, LoadedOperation> | null;
}

function createNode(): Node {
  return { literals: new Map(), mixed: [], parameter: null, operations: null };
}

/** A router of operations whose templates the model has accepted. */
export function createRouter(operations: readonly LoadedOperation[]): Router {
  const root = createNode();
  for (const operation of operations) {
    const parsed = parseTemplate(operation.path);
    if (!parsed.ok) continue;
    let node = root;
    for (const segment of parsed.segments) node = childFor(node, segment);
    node.operations ??= new Map();
    for (const method of operation.methods) node.operations.set(method, operation);
  }
  sortMixed(root);
  return { find: (path) => findIn(root, path.slice(1).split('/'), 0) };
}

/** The node after a segment, added if it is new. */
function childFor(node: Node, segment: TemplateSegment): Node {
  const { texts } = segment;
  if (texts.length === 1) {
    const known = node.literals.get(texts[0]!) ?? createNode();
    node.literals.set(texts[0]!, known);
    return known;
  }
  if (texts.every((text) => text === '')) {
    node.parameter ??= createNode();
    return node.parameter;
  }
  const same = node.mixed.find((one) => one.segment.texts.join('\0') === texts.join('\0'));
  if (same !== undefined) return same.child;
  const added = { segment, child: createNode() };
  node.mixed.push(added);
  return added.child;
}

/** Puts the segment with most literal text first; of equal ones the order is that of their texts. */
function sortMixed(node: Node): void {
  const size = ({ texts }: TemplateSegment): number => texts.join('').length;
  const text = ({ texts }: TemplateSegment): string => texts.join('\0');
  node.mixed.sort(({ segment: a }, { segment: b }) => size(b) - size(a) || (text(a) < text(b) ? -1 : 1));
  for (const child of node.literals.values()) sortMixed(child);
  for (const { child } of node.mixed) sortMixed(child);
  if (node.parameter !== null) sortMixed(node.parameter);
}

/** The operations at the end of the first way through the tree. A node is visited once at most, so a path costs no more than the tree. */
function findIn(node: Node, segments: readonly string[], index: number): PathOperations | null {
  if (index === segments.length) return node.operations;
  const segment = segments[index]!;
  const literal = node.literals.get(segment);
  if (literal !== undefined) {
    const found = findIn(literal, segments, index + 1);
    if (found !== null) return found;
  }
  for (const { segment: template, child } of node.mixed) {
    if (!segmentMatches(template, segment)) continue;
    const found = findIn(child, segments, index + 1);
    if (found !== null) return found;
  }
  if (node.parameter === null || segment === '') return null;
  return findIn(node.parameter, segments, index + 1);
}
