/**
 * One automaton for many wildcards: the texts that one of them matches. Whole texts and starts are a tree; ends and inner texts are
 * searched all at once (Aho and Corasick, CACM 18(6), 1975); each wildcard with more pieces is an automaton of its own. A state of
 * the union is a state of all of these. In: wildcards as pieces. Out: their union, or `null` if it has too many states.
 */
import { FATE, type LetterAutomaton, type Letters, sealAutomaton, wildcardAutomaton } from './automaton.ts';
import type { SpaceRoom } from './budget.ts';

/** States of a union: those of 500 User-Agents of 100 characters. */
const MAX_UNION_STATES = 60_000;

/** No place in the tree. */
const OUT = -1;
/** The number of the state that every continuation is accepted from. */
const ALL = 0;

/** A tree of texts by letters. Node 0 is its root. */
interface Tree {
  readonly after: Map<number, number>[];
  /** By node: a text ends here, and a text that is enough whatever follows. */
  readonly ends: boolean[];
  readonly decides: boolean[];
}

/** A state of the union. */
interface UnionState {
  readonly place: number;
  readonly search: number;
  /** Of the wildcards with more pieces. */
  readonly others: readonly number[];
}

/** What a step reads. */
interface Parts {
  readonly tree: Tree;
  readonly search: Tree;
  /** By node of `search` and letter: the node after it. */
  readonly next: Int32Array;
  readonly others: readonly LetterAutomaton[];
  readonly count: number;
}

/** The union of wildcards; `null`: it has more than `MAX_UNION_STATES`, or more than the space may take. */
export function unionAutomaton(
  wildcards: readonly (readonly string[])[],
  { letters, room }: { readonly letters: Letters; readonly room: SpaceRoom },
): LetterAutomaton | null {
  const parts = partsOf(wildcards, letters, room);
  if (parts === null) return null;
  const states: (UnionState | null)[] = [null];
  const numbers = new Map<number | string, number>();
  const numberOf = (state: UnionState): number => {
    if (isDecided(state, parts)) return ALL;
    const { place, search, others } = state;
    const pair = (place + 1) * parts.search.after.length + search;
    const key = others.length === 0 ? pair : `${pair} ${others.join(' ')}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, states.length);
    return states.push(state) - 1;
  };
  const start = numberOf({ place: 0, search: 0, others: parts.others.map((one) => one.start) });
  const used = [...usedLetters(wildcards, letters)];
  const other = letters.preferred.find((letter) => !used.includes(letter));
  const rows: Int32Array[] = [new Int32Array(letters.count).fill(ALL)];
  for (let number = 1; number < states.length; number++) {
    if (number > MAX_UNION_STATES || !room.takeWork(used.length + 1)) return null;
    const state = states[number]!;
    // Letters that no wildcard has lead to one state.
    const row = new Int32Array(letters.count);
    if (other !== undefined) row.fill(numberOf(advance(state, other, parts)));
    for (const letter of used) row[letter] = numberOf(advance(state, letter, parts));
    rows.push(row);
  }
  if (!room.takeCells(rows.length * letters.count)) return null;
  const next = new Int32Array(rows.length * letters.count);
  for (const [number, row] of rows.entries()) next.set(row, number * letters.count);
  const accepts = Uint8Array.from(states, (state) => Number(state === null || isAccepted(state, parts)));
  return sealAutomaton({ states: states.length, start, next, accepts });
}

function* usedLetters(wildcards: readonly (readonly string[])[], letters: Letters): Iterable<number> {
  const points = new Set<number>();
  for (const pieces of wildcards)
    for (const piece of pieces) for (const character of piece) points.add(character.codePointAt(0)!);
  yield* new Set([...points].map((point) => letters.letterOf(point)));
}

function partsOf(wildcards: readonly (readonly string[])[], letters: Letters, room: SpaceRoom): Parts | null {
  const [tree, search] = [createTree(), createTree()];
  const others: LetterAutomaton[] = [];
  for (const pieces of wildcards) {
    const [head = '', tail = ''] = [pieces[0], pieces.at(-1)];
    const text = pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '');
    if (pieces.length === 1) grow(tree, head, letters, 'ends');
    else if (pieces.length === 2 && tail === '') grow(tree, head, letters, 'decides');
    else if (pieces.length === 2 && head === '') grow(search, tail, letters, 'ends');
    else if (pieces.length === 3 && head === '' && tail === '') grow(search, text, letters, 'decides');
    else others.push(wildcardAutomaton(pieces, letters));
    if (tree.after.length + search.after.length > MAX_UNION_STATES) return null;
  }
  if (!room.takeCells(search.after.length * letters.count)) return null;
  return { tree, search, next: linked(search, letters.count), others, count: letters.count };
}

function createTree(): Tree {
  return { after: [new Map()], ends: [false], decides: [false] };
}

/** Adds a text to a tree. */
function grow(tree: Tree, text: string, letters: Letters, mark: 'ends' | 'decides'): void {
  let node = 0;
  for (const character of text) {
    const letter = letters.letterOf(character.codePointAt(0)!);
    const known = tree.after[node]!.get(letter);
    if (known === undefined) {
      tree.after[node]!.set(letter, tree.after.length);
      node = tree.after.push(new Map()) - 1;
      tree.ends.push(false);
      tree.decides.push(false);
    } else node = known;
  }
  tree[mark][node] = true;
}

/** The step table of a search for all texts of a tree; nodes get the marks of the shorter texts that end at them. */
function linked(tree: Tree, count: number): Int32Array {
  const next = new Int32Array(tree.after.length * count);
  const open: { readonly node: number; readonly fail: number }[] = [{ node: 0, fail: 0 }];
  for (let at = 0; at < open.length; at++) {
    const { node, fail } = open[at]!;
    tree.ends[node] ||= tree.ends[fail]!;
    tree.decides[node] ||= tree.decides[fail]!;
    if (node !== 0) next.copyWithin(node * count, fail * count, (fail + 1) * count);
    for (const [letter, child] of tree.after[node]!) {
      open.push({ node: child, fail: node === 0 ? 0 : next[node * count + letter]! });
      next[node * count + letter] = child;
    }
  }
  return next;
}

function advance(state: UnionState, letter: number, { tree, next, others, count }: Parts): UnionState {
  return {
    place: state.place === OUT ? OUT : (tree.after[state.place]!.get(letter) ?? OUT),
    search: next[state.search * count + letter]!,
    others:
      others.length === 0
        ? state.others
        : others.map((one, at) => one.next[state.others[at]! * count + letter]!),
  };
}

/** Whether a wildcard matches every continuation. */
function isDecided({ place, search, others }: UnionState, parts: Parts): boolean {
  return (
    (place !== OUT && parts.tree.decides[place]!) ||
    parts.search.decides[search]! ||
    others.some((state, at) => parts.others[at]!.fate[state] === FATE.all)
  );
}

/** Whether the text may end here. */
function isAccepted({ place, search, others }: UnionState, parts: Parts): boolean {
  return (
    (place !== OUT && parts.tree.ends[place]!) ||
    parts.search.ends[search]! ||
    others.some((state, at) => parts.others[at]!.accepts[state] === 1)
  );
}
