/**
 * Regex → DFA, ahead of time: subset construction over RE2's program, minimised, laid out flat. Matching then costs one
 * table step a character whatever the pattern is, and opening a plan compiles nothing.
 */
import { type Automaton, type BuildLimits, determinise } from './determinise.ts';
import { type Alphabet, buildAlphabet, type Program } from './program.ts';
import {
  DFA_ASCII,
  DFA_ASTRAL_RUNS,
  DFA_BMP_RUNS,
  DFA_DEAD,
  DFA_END,
  DFA_FIRST_ROW,
  DFA_LENGTH,
  DFA_MATCHED,
  DFA_RUNS,
  DFA_START,
  DFA_TABLE,
} from './table.ts';

/** What one DFA may cost. */
export interface DfaLimits extends BuildLimits {
  /** Octets of the finished slice. */
  readonly octets: number;
}

/**
 * One pattern. Ordinary ones need fewer than 100 states; one that passes 2,000 (built in some 30 ms) is nearly always
 * one whose DFA grows exponentially, where ten times as much would not help.
 */
export const DFA_LIMITS: DfaLimits = { states: 2_000, octets: 65_536, steps: 2_000_000 };

export type DfaResult =
  | { readonly ok: true; readonly table: Uint16Array }
  | { readonly ok: false; readonly reason: string };

/**
 * The DFA that decides whether a program matches anywhere in a text, in the layout of `table.ts`. A refusal's `reason`
 * continues the sentence "the pattern is too complex:".
 */
export function buildDfa(program: Program, limits: DfaLimits = DFA_LIMITS): DfaResult {
  const alphabet = buildAlphabet(program);
  if (alphabet.classes > MAX_CLASSES) {
    return refuse(`it tells ${alphabet.classes} classes of characters apart, at most ${MAX_CLASSES} fit`);
  }
  const automaton = determinise(program, { alphabet, limits });
  if (typeof automaton === 'string') return refuse(automaton);
  const table = layOut(reduce(automaton, alphabet.classes), alphabet);
  if (table === null || table.byteLength > limits.octets) {
    return refuse(`its table would be larger than ${limits.octets} octets`);
  }
  return { ok: true, table };
}

/** Columns of a table. A pattern of 1,024 characters hardly distinguishes more classes. */
const MAX_CLASSES = 256;

function refuse(reason: string): DfaResult {
  return { ok: false, reason };
}

/**
 * How long reading a text to its end takes, in units of a plain table's time; characters beyond ASCII cost a search
 * among the table's runs of code points, so one with large Unicode classes counts up to 4.
 */
export function scanCost(table: Uint16Array): number {
  const runs = table[DFA_BMP_RUNS]! + table[DFA_ASTRAL_RUNS]!;
  return Math.max(1, Math.ceil(Math.log2(runs) / 3));
}

/** An automaton with its states renumbered to codes, ready to be written. */
interface Rows {
  readonly start: number;
  readonly end: number;
  /** Row after row of codes. */
  readonly codes: readonly number[];
}

/** Merges equivalent states, finds the dead one, and orders rows as the layout wants them. */
function reduce(automaton: Automaton, classes: number): Rows {
  const { next, accepts, start } = automaton;
  const labels = Int32Array.from(accepts);
  labels[0] = 2;
  const blocks = minimise({ states: automaton.states, classes, next, labels });
  const first = new Map<number, number>();
  blocks.forEach((block, state) => {
    if (!first.has(block)) first.set(block, state);
  });
  const isDead = (block: number): boolean => {
    const state = first.get(block)!;
    if (labels[state] !== 0) return false;
    for (let column = 0; column < classes; column++) {
      if (blocks[next[state * classes + column]!] !== block) return false;
    }
    return true;
  };
  const codes = new Map<number, number>([[blocks[0]!, DFA_MATCHED]]);
  const live: number[] = [];
  for (const block of first.keys()) {
    if (block === blocks[0]) continue;
    if (isDead(block)) codes.set(block, DFA_DEAD);
    else live.push(block);
  }
  live.sort((a, b) => labels[first.get(b)!]! - labels[first.get(a)!]! || first.get(a)! - first.get(b)!);
  for (const [row, block] of live.entries()) codes.set(block, DFA_FIRST_ROW + row * classes);
  const accepting = live.filter((block) => labels[first.get(block)!] === 1).length;
  const written = live.flatMap((block) => {
    const row = first.get(block)! * classes;
    return Array.from(next.subarray(row, row + classes), (state) => codes.get(blocks[state]!)!);
  });
  return { start: codes.get(blocks[start]!)!, end: DFA_FIRST_ROW + accepting * classes, codes: written };
}

/** Writes the slice; `null` when its codes do not fit 16 bits. */
function layOut({ start, end, codes }: Rows, alphabet: Alphabet): Uint16Array | null {
  const { starts, classOf } = alphabet;
  const runsFrom = (low: number, high: number): { point: number; column: number }[] => {
    const before = starts.findLastIndex((point) => point <= low);
    const runs = [{ point: low, column: classOf[before]! }];
    for (let i = before + 1; i < starts.length && starts[i]! <= high; i++) {
      runs.push({ point: starts[i]!, column: classOf[i]! });
    }
    return runs;
  };
  const bmp = runsFrom(0x80, 0xffff);
  const astral = runsFrom(0x10000, 0x10ffff).map(({ point, column }) => ({ point: point - 0x10000, column }));
  const table = DFA_RUNS + 2 * bmp.length + 3 * astral.length;
  if (table + codes.length > 0xffff) return null;
  const words = new Uint16Array(table + codes.length);
  words[DFA_LENGTH] = words.length;
  words[DFA_START] = start;
  words[DFA_END] = end;
  words[DFA_TABLE] = table - DFA_FIRST_ROW;
  words[DFA_BMP_RUNS] = bmp.length;
  words[DFA_ASTRAL_RUNS] = astral.length;
  let run = 0;
  for (let point = 0; point < 0x80; point++) {
    while (run + 1 < starts.length && starts[run + 1]! <= point) run++;
    words[DFA_ASCII + point] = classOf[run]!;
  }
  const columns = [
    bmp.map(({ point }) => point),
    bmp.map(({ column }) => column),
    astral.map(({ point }) => point >> 16),
    astral.map(({ point }) => point & 0xffff),
    astral.map(({ column }) => column),
  ].flat();
  words.set(columns, DFA_RUNS);
  words.set(codes, table);
  return words;
}

// Minimisation of a deterministic automaton (Hopcroft 1971): states × classes × log states, whatever its shape.

/** A complete automaton; states with different labels are never merged. */
export interface Machine {
  readonly states: number;
  readonly classes: number;
  /** `next[state * classes + class]`. */
  readonly next: Int32Array;
  readonly labels: Int32Array;
}

/** The coarsest grouping of states that agree on their label and, class by class, on the group they lead to. */
function minimise(machine: Machine): Int32Array {
  const { states, classes } = machine;
  const { heads, sources } = invert(machine);
  const blockOf = new Int32Array(states);
  const members: Set<number>[] = [];
  const byLabel = new Map<number, number>();
  for (let state = 0; state < states; state++) {
    const label = machine.labels[state]!;
    let block = byLabel.get(label);
    if (block === undefined) {
      block = members.push(new Set()) - 1;
      byLabel.set(label, block);
    }
    members[block]!.add(state);
    blockOf[state] = block;
  }

  const waiting = new Set<number>(members.keys());
  const split = (block: number, inside: readonly number[]): void => {
    const old = members[block]!;
    if (inside.length === old.size) return;
    const fresh = members.push(new Set(inside)) - 1;
    for (const state of inside) {
      old.delete(state);
      blockOf[state] = fresh;
    }
    // Splitting by the smaller half is enough unless the whole was still to be used: Hopcroft's point.
    if (waiting.has(block) || inside.length <= old.size) waiting.add(fresh);
    else waiting.add(block);
  };

  for (const splitter of waiting) {
    waiting.delete(splitter);
    const targets = [...members[splitter]!];
    for (let column = 0; column < classes; column++) {
      const touched = new Map<number, number[]>();
      for (const target of targets) {
        const cell = target * classes + column;
        for (let i = heads[cell]!; i < heads[cell + 1]!; i++) {
          const source = sources[i]!;
          const block = blockOf[source]!;
          const inside = touched.get(block);
          if (inside === undefined) touched.set(block, [source]);
          else inside.push(source);
        }
      }
      for (const [block, inside] of touched) split(block, inside);
    }
  }
  return blockOf;
}

/** Who leads to a state under a class: `sources[heads[cell]…heads[cell + 1]]`, where cell is `state * classes + class`. */
function invert({ states, classes, next }: Machine): { heads: Int32Array; sources: Int32Array } {
  const heads = new Int32Array(states * classes + 1);
  for (let at = 0; at < next.length; at++) heads[next[at]! * classes + (at % classes) + 1]!++;
  for (let cell = 0; cell < states * classes; cell++) heads[cell + 1]! += heads[cell]!;
  const fill = heads.slice();
  const sources = new Int32Array(next.length);
  for (let at = 0; at < next.length; at++) {
    const cell = next[at]! * classes + (at % classes);
    sources[fill[cell]!++] = Math.floor(at / classes);
  }
  return { heads, sources };
}
