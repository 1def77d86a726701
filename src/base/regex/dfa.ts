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
  /**
   * Words of the table of a guard, for a program whose DFA exceeds a limit: the DFA of the states nearest to the start,
   * in which every transition beyond them counts as a match. It can exclude a text, not prove that it matches. Default:
   * there is no guard.
   */
  readonly guard?: number;
}

/**
 * One pattern. Ordinary ones need fewer than 100 states; one that passes 2,000 (built in some 30 ms) is nearly always
 * one whose DFA grows exponentially, where ten times as much would not help.
 */
export const DFA_LIMITS: DfaLimits = { states: 2_000, octets: 65_536, steps: 2_000_000 };

export type DfaResult =
  | { readonly ok: true; readonly table: Uint16Array }
  | {
      readonly ok: false;
      readonly reason: string;
      /** `null`: none was asked for, or it exceeds the limits too. */
      readonly guard: Uint16Array | null;
    };

/**
 * The DFA that decides whether a program matches anywhere in a text, in the layout of `table.ts`. A refusal's `reason`
 * continues the sentence "the pattern is too complex:".
 */
export function buildDfa(program: Program, limits: DfaLimits = DFA_LIMITS): DfaResult {
  const alphabet = buildAlphabet(program);
  const { classes } = alphabet;
  if (classes > MAX_CLASSES) {
    const reason = `it tells ${classes} classes of characters apart, at most ${MAX_CLASSES} fit`;
    return { ok: false, reason, guard: null };
  }
  const { whole, reason, nearest } = determinise(program, { alphabet, limits });
  const tableOf = (automaton: Automaton | null): Uint16Array | null => {
    const table = automaton === null ? null : layOut(reduce(automaton, classes), alphabet);
    return table === null || table.byteLength > limits.octets ? null : table;
  };
  const table = tableOf(whole);
  if (table !== null) return { ok: true, table };
  return {
    ok: false,
    reason: whole === null ? reason : `its table would be larger than ${limits.octets} octets`,
    guard: limits.guard === undefined ? null : tableOf(nearest(Math.floor(limits.guard / classes))),
  };
}

/** Columns of a table. A pattern of 1,024 characters hardly distinguishes more classes. */
const MAX_CLASSES = 256;

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
  readonly codes: Int32Array;
}

/** Merges equivalent states, finds the dead one, and orders rows as the layout wants them. */
function reduce(automaton: Automaton, classes: number): Rows {
  const { next, accepts, start } = automaton;
  const labels = Int32Array.from(accepts);
  // The state of a match accepts every text, and so does the end of `.*$`: both become one state, where a run ends early.
  labels[0] = 1;
  const blocks = minimise({ states: automaton.states, classes, next, labels });
  /** By block, its first state; -1: none yet. */
  const first = new Int32Array(automaton.states).fill(-1);
  const found: number[] = [];
  for (let state = 0; state < automaton.states; state++) {
    const block = blocks[state]!;
    if (first[block] !== -1) continue;
    first[block] = state;
    found.push(block);
  }
  const isDead = (block: number): boolean => {
    const state = first[block]!;
    if (labels[state] !== 0) return false;
    for (let column = 0; column < classes; column++) {
      if (blocks[next[state * classes + column]!] !== block) return false;
    }
    return true;
  };
  const codes = new Int32Array(automaton.states);
  codes[blocks[0]!] = DFA_MATCHED;
  const live: number[] = [];
  for (const block of found) {
    if (block === blocks[0]) continue;
    if (isDead(block)) codes[block] = DFA_DEAD;
    else live.push(block);
  }
  live.sort((a, b) => labels[first[b]!]! - labels[first[a]!]! || first[a]! - first[b]!);
  for (const [row, block] of live.entries()) codes[block] = DFA_FIRST_ROW + row * classes;
  const accepting = live.filter((block) => labels[first[block]!] === 1).length;
  const written = new Int32Array(live.length * classes);
  for (const [row, block] of live.entries()) {
    const from = first[block]! * classes;
    for (let column = 0; column < classes; column++) {
      written[row * classes + column] = codes[blocks[next[from + column]!]!]!;
    }
  }
  return { start: codes[blocks[start]!]!, end: DFA_FIRST_ROW + accepting * classes, codes: written };
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
  const partition = partitionByLabel(machine.labels);
  const waiting = new Set<number>(Array.from({ length: partition.blocks() }, (_, block) => block));
  for (const splitter of waiting) {
    waiting.delete(splitter);
    const targets = partition.members(splitter);
    for (let column = 0; column < classes; column++) {
      for (const target of targets) {
        const cell = target * classes + column;
        for (let i = heads[cell]!; i < heads[cell + 1]!; i++) partition.mark(sources[i]!);
      }
      // The new block is the smaller part, and the other one waits if the whole did: Hopcroft's point.
      partition.split((fresh) => waiting.add(fresh));
    }
  }
  return partition.blockOf.slice(0, states);
}

/** A partition of states into blocks, which marks split. */
interface Partition {
  readonly blockOf: Int32Array;
  readonly blocks: () => number;
  /** A copy of the states of a block. */
  readonly members: (block: number) => Int32Array;
  readonly mark: (state: number) => void;
  /** Splits each block that has marked states and others; the smaller part becomes the new block. Removes all marks. */
  readonly split: (onSplit: (fresh: number) => void) => void;
}

// The states of a block are neighbours in one array, marked ones first (Valmari and Lehtinen 2008).
function partitionByLabel(labels: Int32Array): Partition {
  const states = labels.length;
  const order = Int32Array.from(labels.keys()).sort((a, b) => labels[a]! - labels[b]!);
  const placeOf = new Int32Array(states);
  const blockOf = new Int32Array(states);
  const from = new Int32Array(states);
  const to = new Int32Array(states);
  const marked = new Int32Array(states);
  let blocks = 0;
  for (const [place, state] of order.entries()) {
    placeOf[state] = place;
    if (place === 0 || labels[state] !== labels[order[place - 1]!]) from[blocks++] = place;
    blockOf[state] = blocks - 1;
    to[blocks - 1] = place + 1;
  }
  const touched: number[] = [];
  return {
    blockOf,
    blocks: () => blocks,
    members: (block) => order.slice(from[block]!, to[block]!),
    mark: (state) => {
      const block = blockOf[state]!;
      const border = from[block]! + marked[block]!;
      const place = placeOf[state]!;
      if (place < border) return;
      if (marked[block] === 0) touched.push(block);
      marked[block]!++;
      const other = order[border]!;
      order[border] = state;
      placeOf[state] = border;
      order[place] = other;
      placeOf[other] = place;
    },
    split: (onSplit) => {
      for (const block of touched) {
        const border = from[block]! + marked[block]!;
        const inside = marked[block]!;
        marked[block] = 0;
        if (border === to[block]!) continue;
        const fresh = blocks++;
        if (2 * inside <= to[block]! - from[block]!) {
          from[fresh] = from[block]!;
          to[fresh] = border;
          from[block] = border;
        } else {
          from[fresh] = border;
          to[fresh] = to[block]!;
          to[block] = border;
        }
        for (let place = from[fresh]!; place < to[fresh]!; place++) blockOf[order[place]!] = fresh;
        onSplit(fresh);
      }
      touched.length = 0;
    },
  };
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
