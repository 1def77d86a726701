/** Follows a tree of literals along a text and touches the postings on the way. */
import { NODE, NONE, type Plan } from '../plan/layout.ts';
import { type Touched, touch } from './touched.ts';

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
