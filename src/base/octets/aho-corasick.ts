/**
 * Many literals in one pass over a text (Aho and Corasick, CACM 18(6), 1975). The machine is one flat array of
 * 32-bit words, so it can lie in a plan and be read where it lies.
 *
 * States are numbered breadth first, which puts the children of a state side by side: a state needs only where its
 * children start. Layout: `[states, literals, root table: 128 words, then per state: character, first child, fail,
 * literal + 1, next state up the fail chain that has a literal]`, with one more row to end the last children.
 */
const HEADER = 2;
const ROOT_TABLE = 128;
const STRIDE = 5;
const CHARACTER = 0;
const CHILDREN = 1;
const FAIL = 2;
const LITERAL = 3;
const DICTIONARY = 4;
const ROWS = HEADER + ROOT_TABLE;

interface TrieState {
  readonly children: Map<number, TrieState>;
  literal: number;
  index: number;
}

/** Builds the machine for `literals`, none of them empty; its hits name them by their place in the list. */
export function buildAhoCorasick(literals: readonly string[]): Uint32Array {
  const states = numberStates(buildTrie(literals));
  const words = new Uint32Array(ROWS + (states.length + 1) * STRIDE);
  words[0] = states.length;
  words[1] = literals.length;
  let next = 1;
  for (const [index, state] of states.entries()) {
    const row = ROWS + index * STRIDE;
    words[row + CHILDREN] = next;
    words[row + LITERAL] = state.literal + 1;
    for (const [character, child] of state.children) {
      words[ROWS + child.index * STRIDE + CHARACTER] = character;
      if (index === 0 && character < ROOT_TABLE) words[HEADER + character] = child.index;
    }
    next += state.children.size;
  }
  words[ROWS + states.length * STRIDE + CHILDREN] = next;
  linkFailures(words, states);
  return words;
}

function buildTrie(literals: readonly string[]): TrieState {
  const root: TrieState = { children: new Map(), literal: -1, index: 0 };
  for (const [index, literal] of literals.entries()) {
    let state = root;
    for (let at = 0; at < literal.length; at++) {
      const code = literal.charCodeAt(at);
      let child = state.children.get(code);
      if (child === undefined) {
        child = { children: new Map(), literal: -1, index: 0 };
        state.children.set(code, child);
      }
      state = child;
    }
    state.literal = index;
  }
  return root;
}

function numberStates(root: TrieState): readonly TrieState[] {
  const states = [root];
  for (let at = 0; at < states.length; at++) {
    for (const [, child] of [...states[at]!.children].sort(([a], [b]) => a - b)) {
      child.index = states.length;
      states.push(child);
    }
  }
  return states;
}

function linkFailures(words: Uint32Array, states: readonly TrieState[]): void {
  for (const [index, state] of states.entries()) {
    const fail = words[ROWS + index * STRIDE + FAIL]!;
    for (const [character, child] of state.children) {
      const row = ROWS + child.index * STRIDE;
      const target = index === 0 ? 0 : advance(words, 0, fail, character);
      words[row + FAIL] = target;
      const failRow = ROWS + target * STRIDE;
      words[row + DICTIONARY] = words[failRow + LITERAL] === 0 ? words[failRow + DICTIONARY]! : target;
    }
  }
}

/**
 * What is wrong with words that claim to be a machine, to follow "the machine of literals"; `null`: nothing. A machine
 * without fault is left by every scan: each link leads to a state numbered below, so none leads round in a circle. Looks
 * at each word once.
 */
export function ahoCorasickFault(words: Uint32Array): string | null {
  const states = words[0] ?? 0;
  const literals = words[1] ?? 0;
  if (states === 0 || words.length !== ROWS + (states + 1) * STRIDE) return 'has another number of states';
  if (literals > states) return 'has more literals than states';
  for (let at = HEADER; at < ROWS; at++)
    if (words[at]! >= states) return 'leads to a state that is not there';
  let children = 1;
  for (let state = 0; state <= states; state++) {
    const row = ROWS + state * STRIDE;
    if (words[row + CHILDREN]! < children || words[row + CHILDREN]! > states)
      return 'has children out of order';
    children = words[row + CHILDREN]!;
    if (state === states) break;
    if (words[row + LITERAL]! > literals) return 'names a literal that is not there';
    const most = Math.max(state, 1);
    if (words[row + FAIL]! >= most || words[row + DICTIONARY]! >= most) return 'falls back in a circle';
    if (words[row + DICTIONARY] !== 0 && words[ROWS + words[row + DICTIONARY]! * STRIDE + LITERAL] === 0) {
      return 'tells a literal that is not there';
    }
  }
  return null;
}

/** The child of `state` by `code`, or -1. Children are in ascending order of their character. */
function childOf(words: Uint32Array, base: number, state: number, code: number): number {
  const row = base + ROWS + state * STRIDE;
  let low = words[row + CHILDREN]!;
  let high = words[row + STRIDE + CHILDREN]!;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const character = words[base + ROWS + middle * STRIDE + CHARACTER]!;
    if (character === code) return middle;
    if (character < code) low = middle + 1;
    else high = middle;
  }
  return -1;
}

function advance(words: Uint32Array, base: number, from: number, code: number): number {
  let state = from;
  for (;;) {
    if (state === 0) {
      if (code < ROOT_TABLE) return words[base + HEADER + code]!;
      return Math.max(0, childOf(words, base, 0, code));
    }
    const child = childOf(words, base, state, code);
    if (child >= 0) return child;
    state = words[base + ROWS + state * STRIDE + FAIL]!;
  }
}

/** Which literals a scan has met; made once by `createHits` and used for every text. */
export interface LiteralHits {
  /** The literals met, `count` of them, each once. */
  readonly literals: Uint32Array;
  count: number;
  /** Per literal the number of the last scan that met it, so that clearing costs nothing. */
  readonly seen: Uint32Array;
  scan: number;
}

/** The number of literals of the machine at `base`. */
export function literalCount(words: Uint32Array, base: number): number {
  return words[base + 1]!;
}

export function createHits(literals: number): LiteralHits {
  return { literals: new Uint32Array(literals), count: 0, seen: new Uint32Array(literals), scan: 0 };
}

/** Starts a new text; several `scan`s may then add to the same hits. */
export function resetHits(hits: LiteralHits): void {
  hits.count = 0;
  hits.scan++;
  if (hits.scan === 0xffffffff) {
    hits.seen.fill(0);
    hits.scan = 1;
  }
}

/**
 * Adds every literal that `text` holds to `hits`.
 * A literal found before ends the way up the dictionary links: whatever lies further up was met with it. So a scan
 * costs the text's length plus the number of literals, however they nest.
 */
export function scanAhoCorasick(words: Uint32Array, base: number, text: string, hits: LiteralHits): void {
  let state = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // PERF: most characters start no literal, and the root has no output.
    state =
      state === 0 && code < ROOT_TABLE ? words[base + HEADER + code]! : advance(words, base, state, code);
    if (state === 0) continue;
    const row = base + ROWS + state * STRIDE;
    let found = words[row + LITERAL] === 0 ? words[row + DICTIONARY]! : state;
    while (found !== 0) {
      const literal = words[base + ROWS + found * STRIDE + LITERAL]! - 1;
      if (hits.seen[literal] === hits.scan) break;
      hits.seen[literal] = hits.scan;
      hits.literals[hits.count++] = literal;
      found = words[base + ROWS + found * STRIDE + DICTIONARY]!;
    }
  }
}
