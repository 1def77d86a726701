/**
 * The alphabet of a set of patterns: all code points, divided into letters that no pattern distinguishes. Automata of the
 * same alphabet can be run side by side.
 */
import { DFA_ASCII, DFA_ASTRAL_RUNS, DFA_BMP_RUNS, DFA_RUNS } from '../../../base/regex/table.ts';

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
