/**
 * Which path filters may share a path, without a comparison of every two: the first letters that the paths of a filter can
 * have, and an index of them. Paths of two filters can be the same only if a start of one continues a start of the other.
 */
import { FATE, type LetterAutomaton } from './automaton.ts';

/** Starts that a filter is divided into. */
const MAX_STARTS = 64;
/** Letters that may follow a start that is divided further; more are those of a wildcard. */
const MAX_FOLLOWING = 4;

/** A start of paths, as letters. `whole`: it is the path, nothing follows. */
interface PathStart {
  readonly letters: readonly number[];
  readonly whole: boolean;
}

/**
 * The starts of the texts that an automaton and `within` both accept: each of these texts continues one of them, or is one
 * that is whole.
 */
export function startsOf(automaton: LetterAutomaton, within: LetterAutomaton): readonly PathStart[] {
  const { states, next, accepts, fate } = automaton;
  const letters = next.length / states;
  const starts: PathStart[] = [];
  const open: { readonly state: number; readonly other: number; readonly text: readonly number[] }[] = [
    { state: automaton.start, other: within.start, text: [] },
  ];
  for (let one = open.shift(); one !== undefined; one = open.shift()) {
    const { state, other, text } = one;
    const following: number[] = [];
    for (let letter = 0; letter < letters; letter++) {
      const isDead = fate[next[state * letters + letter]!] === FATE.dead;
      if (!isDead && within.fate[within.next[other * letters + letter]!] !== FATE.dead)
        following.push(letter);
    }
    // The open ones are starts as well.
    const room = MAX_STARTS - starts.length - open.length;
    if (fate[state] === FATE.all || following.length > Math.min(MAX_FOLLOWING, room - 1)) {
      starts.push({ letters: text, whole: false });
      continue;
    }
    if (accepts[state] === 1) starts.push({ letters: text, whole: true });
    for (const letter of following) {
      open.push({
        state: next[state * letters + letter]!,
        other: within.next[other * letters + letter]!,
        text: [...text, letter],
      });
    }
  }
  return starts;
}

/** What is filed by starts. */
export interface StartIndex<Value> {
  /** Files a value; `null`: under every start. */
  add(starts: readonly PathStart[] | null, value: Value): void;
  /** Every value filed so far whose paths may be among those of the starts, in the order of filing. */
  sharing(starts: readonly PathStart[] | null): readonly Value[];
}

/** A tree of letters. */
interface StartNode {
  readonly after: Map<number, StartNode>;
  /** Places of values whose paths continue here, and of those whose path ends here. */
  readonly starts: number[];
  readonly wholes: number[];
}

export function createStartIndex<Value>(): StartIndex<Value> {
  const root = createNode();
  const values: Value[] = [];
  return {
    add(starts, value) {
      const place = values.push(value) - 1;
      for (const { letters, whole } of starts ?? [{ letters: [], whole: false }]) {
        let node = root;
        for (const letter of letters) {
          const after = node.after.get(letter) ?? createNode();
          node.after.set(letter, after);
          node = after;
        }
        (whole ? node.wholes : node.starts).push(place);
      }
    },
    sharing(starts) {
      if (starts === null) return [...values];
      const found = new Set<number>();
      for (const one of starts) findSharing(root, one, found);
      return [...found].sort((a, b) => a - b).map((place) => values[place]!);
    },
  };
}

function createNode(): StartNode {
  return { after: new Map(), starts: [], wholes: [] };
}

function findSharing(root: StartNode, { letters, whole }: PathStart, found: Set<number>): void {
  let node: StartNode | undefined = root;
  for (const letter of letters) {
    for (const place of node.starts) found.add(place);
    node = node.after.get(letter);
    if (node === undefined) return;
  }
  const open = [node];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    for (const place of one.starts) found.add(place);
    for (const place of one.wholes) found.add(place);
    if (!whole) open.push(...one.after.values());
  }
}
