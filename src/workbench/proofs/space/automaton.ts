/**
 * Automata over letters: of wildcards, of the plan's regexes, and of the path filters that are made of both. Letters are
 * all code points, divided into classes that no pattern distinguishes; automata of the same alphabet can be run side by
 * side. Every automaton is complete; its states say what may still follow (`FATE`), which ends most searches early.
 */
import {
  classAt,
  DFA_ASCII,
  DFA_ASTRAL_RUNS,
  DFA_BMP_RUNS,
  DFA_DEAD,
  DFA_END,
  DFA_MATCHED,
  DFA_RUNS,
  DFA_START,
  DFA_TABLE,
} from '../../../base/regex/table.ts';

/** A deterministic automaton. */
export interface LetterAutomaton {
  readonly states: number;
  readonly start: number;
  /** `next[state * letters + letter]`. */
  readonly next: Int32Array;
  /** By state: 1 if the text may end here. */
  readonly accepts: Uint8Array;
  /** By state: a value of `FATE`. */
  readonly fate: Uint8Array;
}

/** What may follow a state: `dead` no accepted text, `all` only accepted texts. */
export const FATE = { open: 0, dead: 1, all: 2 } as const;

/** An automaton without the fates, which `sealAutomaton` adds. */
export type RawAutomaton = Omit<LetterAutomaton, 'fate'>;

/** Adds the fates. */
export function sealAutomaton(raw: RawAutomaton): LetterAutomaton {
  const reachesAccepting = reaching(raw, 1);
  const reachesRefusing = reaching(raw, 0);
  const fate = Uint8Array.from({ length: raw.states }, (_, state) =>
    reachesAccepting[state] === 0 ? FATE.dead : reachesRefusing[state] === 0 ? FATE.all : FATE.open,
  );
  return { ...raw, fate };
}

/** By state: whether a state whose `accepts` is `value` can be reached. */
function reaching({ states, next, accepts }: RawAutomaton, value: 0 | 1): Uint8Array {
  const letters = states === 0 ? 0 : next.length / states;
  const sources: number[][] = Array.from({ length: states }, () => []);
  for (let state = 0; state < states; state++) {
    for (let at = state * letters; at < (state + 1) * letters; at++) {
      const target = next[at]!;
      const known = sources[target]!;
      if (target !== state && known[known.length - 1] !== state) known.push(state);
    }
  }
  const reached = new Uint8Array(states);
  const open: number[] = [];
  for (let state = 0; state < states; state++) {
    if (accepts[state] !== value) continue;
    reached[state] = 1;
    open.push(state);
  }
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    for (const source of sources[state]!) {
      if (reached[source] === 1) continue;
      reached[source] = 1;
      open.push(source);
    }
  }
  return reached;
}

/**
 * The automaton of a wildcard: `pieces` between the stars, the first at the start and the last at the end; one piece has no
 * star. An inner piece is taken at its leftmost place, which is never worse than another, so no choice is left open
 * (Knuth, Morris and Pratt 1977 for each piece).
 */
export function wildcardAutomaton(pieces: readonly string[], letters: Letters): LetterAutomaton {
  const rows: Int32Array[] = [];
  const add = (): number => rows.push(new Int32Array(letters.count).fill(DEAD_STATE)) - 1;
  const [head = [], ...rest] = pieces.map((piece) =>
    [...piece].map((character) => letters.letterOf(character.codePointAt(0)!)),
  );
  let last = add();
  for (const letter of head) {
    const after = add();
    rows[last]![letter] = after;
    last = after;
  }
  for (const piece of rest) last = addSearch(piece, { rows, add, from: last });
  return fromRows(rows, last, letters.count);
}

/** A row's target that stands for the dead state until all rows are known. */
const DEAD_STATE = -1;

/** A table of rows that grows. */
interface RowTable {
  readonly rows: readonly Int32Array[];
  readonly add: () => number;
  /** The state from which the piece is searched. */
  readonly from: number;
}

/** Adds the states that search for a piece; returns the state that has just found it, and searches on. */
function addSearch(piece: readonly number[], { rows, add, from }: RowTable): number {
  rows[from]!.fill(from);
  let state = from;
  // The state that the text without its first letter leads to: where a mismatch falls back to.
  let fallback = from;
  for (const [place, letter] of piece.entries()) {
    const after = add();
    const ahead = rows[fallback]![letter]!;
    rows[state]![letter] = after;
    if (place > 0) fallback = ahead;
    rows[after]!.set(rows[fallback]!);
    state = after;
  }
  return state;
}

/** The automaton of rows that accepts in one state; `DEAD_STATE` becomes a state of its own. */
function fromRows(rows: readonly Int32Array[], accepting: number, letters: number): LetterAutomaton {
  const dead = rows.length;
  const next = new Int32Array((dead + 1) * letters).fill(dead);
  rows.forEach((row, state) => {
    next.set(
      row.map((target) => (target === DEAD_STATE ? dead : target)),
      state * letters,
    );
  });
  const accepts = new Uint8Array(dead + 1);
  accepts[accepting] = 1;
  return sealAutomaton({ states: dead + 1, start: 0, next, accepts });
}

/** The automaton of a regex of the plan. `table`: its slice (`base/regex/table.ts`), which matches anywhere in a text. */
export function regexAutomaton(table: Uint16Array, letters: Letters): LetterAutomaton {
  const columns = letters.samples.map((sample) => columnOf(table, sample));
  const numbers = new Map<number, number>();
  const codes: number[] = [];
  const numberOf = (code: number): number => {
    const known = numbers.get(code);
    if (known !== undefined) return known;
    numbers.set(code, codes.length);
    codes.push(code);
    return codes.length - 1;
  };
  const rows: number[] = [];
  const start = numberOf(table[DFA_START]!);
  for (let state = 0; state < codes.length; state++) {
    const code = codes[state]!;
    const isFinal = code === DFA_DEAD || code === DFA_MATCHED;
    for (const column of columns)
      rows.push(isFinal ? state : numberOf(table[table[DFA_TABLE]! + code + column]!));
  }
  const accepts = codes.map((code) => Number(code !== DFA_DEAD && code < table[DFA_END]!));
  return sealAutomaton({
    states: codes.length,
    start,
    next: Int32Array.from(rows),
    accepts: Uint8Array.from(accepts),
  });
}

/** The class of a character in a regex's automaton. */
function columnOf(table: Uint16Array, sample: string): number {
  const point = sample.codePointAt(0);
  return point === undefined ? 0 : classAt(table, 0, point);
}

/**
 * By letter: the first letter that leads every state of every automaton to the same state.
 * PERF: a few patterns distinguish few of the letters that a whole plan does.
 * @param apart letters that no other is like
 */
export function alikeLetters(
  automata: readonly LetterAutomaton[],
  count: number,
  apart: readonly number[] = [],
): Int32Array {
  let classes = Int32Array.from({ length: count }, (_, letter) => apart.indexOf(letter));
  for (const { states, next } of automata) {
    for (let state = 0; state < states; state++) classes = refined(classes, next, state * count);
  }
  const first = new Map<number, number>();
  return classes.map((one, letter) => {
    if (!first.has(one)) first.set(one, letter);
    return first.get(one)!;
  });
}

/** The classes, divided by the states that their letters lead to. */
function refined(classes: Int32Array<ArrayBuffer>, next: Int32Array, row: number): Int32Array<ArrayBuffer> {
  const numbers = new Map<number, number>();
  return classes.map((one, letter) => {
    // Targets are below 2²¹ and classes below 2¹⁶, so the product is exact.
    const key = (one + 1) * 0x200000 + next[row + letter]!;
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return known;
  });
}

/** Whether the automaton accepts a text of letters. */
export function acceptsLetters(automaton: LetterAutomaton, text: readonly number[]): boolean {
  const letters = automaton.next.length / automaton.states;
  let state = automaton.start;
  for (const letter of text) {
    const fate = automaton.fate[state]!;
    if (fate !== FATE.open) return fate === FATE.all;
    state = automaton.next[state * letters + letter]!;
  }
  return automaton.accepts[state] === 1;
}

/** Letters, numbered from 0. */
export interface Letters {
  readonly count: number;
  /** The letter of a code point. */
  letterOf(point: number): number;
  /** A code point of each letter, as text; a readable one if the letter has one. */
  readonly samples: readonly string[];
  /** Letters in the order in which witnesses prefer them: those that no pattern names first. */
  readonly preferred: readonly number[];
}

/** What the alphabet must distinguish. */
export interface LetterSources {
  /** Texts whose every character is a letter of its own. */
  readonly literals: Iterable<string>;
  /** Automata of regexes, as slices in the layout of `base/regex/table.ts`. */
  readonly tables: readonly Uint16Array[];
}

/** Lone surrogates: no canonical text has one. */
const SURROGATES = [0xd800, 0xe000] as const;
const BEYOND = 0x110000;

/** Divides the code points. */
export function createLetters({ literals, tables }: LetterSources): Letters {
  const literal = new Set<number>();
  for (const text of literals) for (const character of text) literal.add(character.codePointAt(0)!);
  const bounds = new Set<number>([0, ...SURROGATES]);
  for (const point of literal) bounds.add(point).add(point + 1);
  for (const table of tables) for (const start of runsOf(table).starts) bounds.add(start);
  const starts = [...bounds].filter((point) => point < BEYOND).sort((a, b) => a - b);
  let numbers = starts.map((start) =>
    literal.has(start) ? start + 2 : start >= SURROGATES[0] && start < SURROGATES[1] ? 1 : 0,
  );
  for (const table of tables) numbers = refine(numbers, starts, runsOf(table));
  const order = new Map<number, number>();
  const letters = numbers.map((number) => {
    const known = order.get(number);
    if (known !== undefined) return known;
    order.set(number, order.size);
    return order.size - 1;
  });
  return lettersOf(starts, letters, literal);
}

/** Runs of code points of one class. */
interface Runs {
  readonly starts: readonly number[];
  readonly classes: readonly number[];
}

/** The classes of a regex's automaton, run after run. */
function runsOf(table: Uint16Array): Runs {
  const starts: number[] = [];
  const classes: number[] = [];
  const add = (start: number, column: number): void => {
    if (classes.at(-1) === column) return;
    starts.push(start);
    classes.push(column);
  };
  for (let point = 0; point < 0x80; point++) add(point, table[DFA_ASCII + point]!);
  const [bmp, astral] = [table[DFA_BMP_RUNS]!, table[DFA_ASTRAL_RUNS]!];
  for (let run = 0; run < bmp; run++) add(table[DFA_RUNS + run]!, table[DFA_RUNS + bmp + run]!);
  const from = DFA_RUNS + 2 * bmp;
  for (let run = 0; run < astral; run++) {
    const start = 0x10000 + table[from + run]! * 0x10000 + table[from + astral + run]!;
    add(start, table[from + 2 * astral + run]!);
  }
  return { starts, classes };
}

/** Numbers that also distinguish the classes of one more automaton. */
function refine(numbers: readonly number[], starts: readonly number[], runs: Runs): number[] {
  const pairs = new Map<string, number>();
  let run = 0;
  return numbers.map((number, index) => {
    while (run + 1 < runs.starts.length && runs.starts[run + 1]! <= starts[index]!) run++;
    const key = `${number} ${runs.classes[run]}`;
    const known = pairs.get(key);
    if (known !== undefined) return known;
    pairs.set(key, pairs.size);
    return pairs.size - 1;
  });
}

/** Code points by how well they read in a URL; others follow. */
const READABLE =
  'xyzqabcdefghijklmnoprstuvw0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_~!,:@$&\'()+=*.;/ "<>[]^`{|}%?#';

function lettersOf(
  starts: readonly number[],
  letters: readonly number[],
  literal: ReadonlySet<number>,
): Letters {
  const letterOf = (point: number): number => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= point) low = middle;
      else high = middle;
    }
    return letters[low]!;
  };
  const count = Math.max(...letters) + 1;
  const samples = new Array<string | undefined>(count).fill(undefined);
  const ranks = new Array<number>(count).fill(READABLE.length + 1);
  for (const [rank, character] of [...READABLE].entries()) {
    const letter = letterOf(character.codePointAt(0)!);
    if (samples[letter] !== undefined) continue;
    samples[letter] = character;
    ranks[letter] = rank;
  }
  starts.forEach((start, index) => {
    const isSurrogate = start >= SURROGATES[0] && start < SURROGATES[1];
    if (isSurrogate) return;
    samples[letters[index]!] ??= String.fromCodePoint(start);
  });
  const isNamed = (letter: number): boolean => literal.has((samples[letter] ?? '/').codePointAt(0)!);
  const preferred = [...samples.keys()].sort(
    (a, b) => Number(isNamed(a)) - Number(isNamed(b)) || ranks[a]! - ranks[b]!,
  );
  return { count, letterOf, samples: samples.map((sample) => sample ?? ''), preferred };
}
