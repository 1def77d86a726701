/** From a program to a deterministic automaton that decides whether it matches anywhere in a text. */
import {
  type Alphabet,
  BEGIN_LINE,
  BEGIN_TEXT,
  END_LINE,
  END_TEXT,
  NO_WORD_BOUNDARY,
  type Program,
  WORD_BOUNDARY,
} from './program.ts';

/** A complete automaton over an alphabet's classes. State 0 has matched and stays there. */
export interface Automaton {
  readonly states: number;
  readonly start: number;
  /** `next[state * classes + class]`. */
  readonly next: Int32Array;
  /** By state: 1 when the text may end here. */
  readonly accepts: Uint8Array;
}

/** Where to give up. */
export interface BuildLimits {
  readonly states: number;
  /** Program instructions visited; bounds the time for any program. */
  readonly steps: number;
}

/** A determinised program. */
export interface Determinised {
  /** Its automaton; `null`: it exceeds a limit. */
  readonly whole: Automaton | null;
  /** Why there is no automaton; continues the sentence "the pattern is too complex:". Otherwise `''`. */
  readonly reason: string;
  /**
   * The automaton of the states nearest to the start, in which every transition beyond them is a match: it matches
   * every text that the program matches, and maybe others. `null`: even these states exceed the limit of steps.
   */
  readonly nearest: (states: number) => Automaton | null;
}

/** What came before the place of a state: whether the last character was a word character. */
const AFTER_WORD = 64;
const BEGIN = BEGIN_LINE | BEGIN_TEXT;
const AHEAD = END_LINE | END_TEXT | WORD_BOUNDARY | NO_WORD_BOUNDARY;

/** A set of instructions that wait for a character, and of assertions that must see the next one first. */
interface Closure {
  readonly characters: readonly number[];
  readonly pending: readonly number[];
  readonly matched: boolean;
}

/** Creates the function that follows everything that consumes no character. Its `flags` are what is known to be true
 * of this place; an assertion about the next character stays pending unless `final` says that `flags` has that too. */
function closer({
  instructions,
}: Program): (seeds: readonly number[], at: { flags: number; final: boolean }) => Closure {
  // By instruction, the last closure that reached it: a set that need not be emptied.
  const reached = new Int32Array(instructions.length);
  let round = 0;
  return (seeds, at) => {
    round++;
    const stack = [...seeds];
    for (const pc of seeds) reached[pc] = round;
    const characters: number[] = [];
    const pending: number[] = [];
    let matched = false;
    const follow = (pc: number): void => {
      if (reached[pc] === round) return;
      reached[pc] = round;
      stack.push(pc);
    };
    for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
      const instruction = instructions[pc]!;
      switch (instruction.kind) {
        case 'match':
          matched = true;
          break;
        case 'fail':
          break;
        case 'character':
          characters.push(pc);
          break;
        case 'split':
          follow(instruction.other);
          follow(instruction.out);
          break;
        case 'jump':
          follow(instruction.out);
          break;
        case 'assert': {
          const open = instruction.flags & ~at.flags;
          if (open === 0) follow(instruction.out);
          else if (!at.final && (open & ~AHEAD) === 0) pending.push(pc);
          break;
        }
        default:
          instruction satisfies never;
      }
    }
    return { characters, pending, matched };
  };
}

/** A piece `[from, to)` of an array of instructions. */
interface Piece {
  readonly array: Int32Array;
  readonly from: number;
  readonly to: number;
}

/** Maps a context and a list of instructions to a code ≥ 0. Lists are copied. */
interface ListTable {
  /** -1: the list is not in the table. */
  readonly get: (context: number, list: Piece) => number;
  /** Adds a list that is not in the table. */
  readonly set: (context: number, list: Piece, code: number) => void;
}

// PERF: open addressing over one array of integers. With a `Map` of arrays, garbage collection took a fifth of the time
// that the Core Rule Set takes to compile.
function listTable(): ListTable {
  /** Words of an entry ahead of its list. */
  const HEAD = 3;
  let slots = new Int32Array(1 << 8).fill(-1);
  let count = 0;
  let pool = new Int32Array(1 << 10);
  let used = 0;
  const hashOf = (context: number, { array, from, to }: Piece): number => {
    let hash = context;
    for (let i = from; i < to; i++) hash = (Math.imul(hash, 31) + array[i]!) | 0;
    return Math.imul(hash ^ (hash >>> 15), 0x9e3779b1) >>> 7;
  };
  const equals = (entry: number, context: number, { array, from, to }: Piece): boolean => {
    if (pool[entry] !== context || pool[entry + 1] !== to - from) return false;
    for (let i = from, at = entry + HEAD; i < to; i++, at++) if (pool[at] !== array[i]) return false;
    return true;
  };
  const insert = (entry: number, hash: number): void => {
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== -1) slot = (slot + 1) & mask;
    slots[slot] = entry;
  };
  const widen = (): void => {
    slots = new Int32Array(slots.length * 2).fill(-1);
    for (let entry = 0; entry < used; ) {
      const from = entry + HEAD;
      const to = from + pool[entry + 1]!;
      insert(entry, hashOf(pool[entry]!, { array: pool, from, to }));
      entry = to;
    }
  };
  return {
    get: (context, list) => {
      const mask = slots.length - 1;
      for (let slot = hashOf(context, list) & mask; slots[slot] !== -1; slot = (slot + 1) & mask) {
        if (equals(slots[slot]!, context, list)) return pool[slots[slot]! + 2]!;
      }
      return -1;
    },
    set: (context, list, code) => {
      const length = list.to - list.from;
      if (used + HEAD + length > pool.length) {
        const wider = new Int32Array(2 * pool.length + length);
        wider.set(pool.subarray(0, used));
        pool = wider;
      }
      const entry = used;
      pool[entry] = context;
      pool[entry + 1] = length;
      pool[entry + 2] = code;
      for (let i = 0; i < length; i++) pool[entry + HEAD + i] = list.array[list.from + i]!;
      used += HEAD + length;
      count++;
      if (2 * count > slots.length) widen();
      else insert(entry, hashOf(context, list));
    },
  };
}

/** A set of places in the program, and what is known of the text before it. */
interface State {
  /** Sorted. */
  readonly characters: readonly number[];
  /** Sorted. */
  readonly pending: readonly number[];
  /** `BEGIN` flags and `AFTER_WORD`; 0 if no assertion is pending, for then nothing depends on it. */
  readonly context: number;
}

/** The states found so far. Code 0 is the matched state; state i of the list has code i + 1. */
interface StateTable {
  readonly states: readonly State[];
  /** Instructions visited so far. */
  readonly steps: () => number;
  /** The code of the state of a set of instructions, entered when it is new. */
  readonly intern: (seeds: Piece, context: number) => number;
  /** A state with its assertions resolved: `ahead` and `isWord` describe the next character. */
  readonly settle: (
    state: State,
    next: { ahead: number; isWord: boolean },
  ) => { readonly characters: readonly number[]; readonly matched: boolean };
}

function stateTable(program: Program): StateTable {
  const states: State[] = [];
  const codes = listTable();
  const close = closer(program);
  const singles: Closure[] = [];
  let steps = 0;

  /** One instruction's closure if only what lies before is known; there are 8 such `flags`. */
  const closeOne = (pc: number, flags: number): Closure =>
    (singles[pc * 8 + flags] ??= close([pc], { flags, final: false }));

  const reached = new Int32Array(program.instructions.length);
  let round = 0;
  const enter = ({ array, from, to }: Piece, before: number): number => {
    round++;
    const characters: number[] = [];
    const pending: number[] = [];
    const add = (list: number[], places: readonly number[]): void => {
      for (const pc of places) {
        if (reached[pc] === round) continue;
        reached[pc] = round;
        list.push(pc);
      }
    };
    for (let i = from; i < to; i++) {
      const closure = closeOne(array[i]!, before & BEGIN);
      if (closure.matched) return 0;
      add(characters, closure.characters);
      add(pending, closure.pending);
      steps += 1 + closure.characters.length + closure.pending.length;
    }
    const context = pending.length === 0 ? 0 : before;
    characters.sort((a, b) => a - b);
    pending.sort((a, b) => a - b);
    const key = Int32Array.from(pending.length === 0 ? characters : [...characters, -1, ...pending]);
    const piece = { array: key, from: 0, to: key.length };
    const known = codes.get(context, piece);
    if (known >= 0) return known;
    const code = states.push({ characters, pending, context });
    codes.set(context, piece, code);
    return code;
  };

  // The sets of places that transitions lead to: few differ, and the start of a new attempt alone is the most frequent.
  const known = listTable();
  const alone = new Map<number, number>();
  const intern = (seeds: Piece, before: number): number => {
    if (seeds.to - seeds.from === 1) {
      let code = alone.get(before);
      if (code === undefined) {
        code = enter(seeds, before);
        alone.set(before, code);
      }
      steps++;
      return code;
    }
    let code = known.get(before, seeds);
    if (code < 0) {
      code = enter(seeds, before);
      known.set(before, seeds, code);
    }
    steps += seeds.to - seeds.from;
    return code;
  };

  const settle: StateTable['settle'] = (state, next) => {
    const { characters, pending, context } = state;
    if (pending.length === 0) return { characters, matched: false };
    const changes = next.isWord !== ((context & AFTER_WORD) !== 0);
    const flags = (context & BEGIN) | next.ahead | (changes ? WORD_BOUNDARY : NO_WORD_BOUNDARY);
    const settled = close(pending, { flags, final: true });
    steps += pending.length + settled.characters.length;
    return { characters: [...characters, ...settled.characters], matched: settled.matched };
  };

  return { states, steps: () => steps, intern, settle };
}

/**
 * Subset construction (Rabin and Scott 1959), unanchored: every step starts a new attempt, and the first match ends
 * the search. Assertions about the next character are settled one step late, as in RE2's own DFA.
 */
export function determinise(
  program: Program,
  { alphabet, limits }: { alphabet: Alphabet; limits: BuildLimits },
): Determinised {
  const table = stateTable(program);
  const rows = transitionRows(program, { alphabet, table });
  const first = Int32Array.of(program.start);
  const start = table.intern({ array: first, from: 0, to: 1 }, BEGIN);
  let reason = '';
  // Each state that was found will be visited: there is no need to wait for that.
  const exceeds = (): boolean => table.states.length > limits.states;
  while (rows.written() < table.states.length && reason === '') {
    if (exceeds()) reason = `it needs more than ${limits.states} states`;
    else if (!rows.write(limits.steps)) reason = `it takes more than ${limits.steps} steps to build`;
  }
  return {
    whole: reason === '' ? rows.read(start, table.states.length) : null,
    reason,
    nearest: (states) => {
      while (rows.written() < Math.min(states, table.states.length)) {
        if (!rows.write(limits.steps)) return null;
      }
      return rows.read(start, Math.min(states, table.states.length));
    },
  };
}

/** The transitions of an automaton, written state by state in the order in which they were found. */
interface TransitionRows {
  /** The number of states whose transitions are written. */
  readonly written: () => number;
  /** Writes those of the next state; false: that takes more steps than allowed. */
  readonly write: (steps: number) => boolean;
  /** The automaton of the first `states`, all of them written; codes beyond are a match. */
  readonly read: (start: number, states: number) => Automaton;
}

function transitionRows(
  program: Program,
  { alphabet, table }: { alphabet: Alphabet; table: StateTable },
): TransitionRows {
  const { classes, newline, word } = alphabet;
  const rows: Int32Array[] = [];
  const accepts: number[] = [1];
  // By what the next character is: a newline (2), a word character (1) or neither (0).
  const kinds = [0, 1, 2].map((kind) => ({
    ahead: kind === 2 ? END_LINE : 0,
    isWord: kind === 1,
    context: kind === 2 ? BEGIN_LINE : kind === 1 ? AFTER_WORD : 0,
    seeds: seedsByColumn(program, alphabet),
    /** The state that `seeds` are of. */
    of: -1,
    /** Whether that character shows that there was a match before it. */
    matched: false,
  }));
  return {
    written: () => rows.length,
    write: (steps) => {
      const state = table.states[rows.length]!;
      const row = new Int32Array(classes);
      const ends = table.settle(state, { ahead: END_LINE | END_TEXT, isWord: false }).matched;
      for (let column = 0; column < classes; column++) {
        if (table.steps() > steps) return false;
        const { context } = kinds[newline[column]! * 2 + word[column]!]!;
        // Without assertions, all kinds lead to the same.
        const kind = kinds[state.pending.length === 0 ? 0 : newline[column]! * 2 + word[column]!]!;
        if (kind.of !== rows.length) {
          const settled = table.settle(state, kind);
          kind.seeds.fill(settled.characters);
          kind.matched = settled.matched;
          kind.of = rows.length;
        }
        row[column] = kind.matched ? 0 : table.intern(kind.seeds.of(column), context);
      }
      rows.push(row);
      accepts.push(ends ? 1 : 0);
      return true;
    },
    read: (start, states) => {
      const next = new Int32Array((states + 1) * classes);
      for (let i = 0; i < states; i++) next.set(rows[i]!, (i + 1) * classes);
      for (let at = classes; at < next.length; at++) if (next[at]! > states) next[at] = 0;
      return { states: states + 1, start, next, accepts: Uint8Array.from(accepts.slice(0, states + 1)) };
    },
  };
}

/** What a set of instructions leads to, by class of the next character. */
interface SeedColumns {
  /** Replaces the set. */
  readonly fill: (characters: readonly number[]) => void;
  /** The start of the program, then what the set leads to under a class; valid until the next `fill`. */
  readonly of: (column: number) => Piece;
}

function seedsByColumn({ start, instructions }: Program, { classes, columns }: Alphabet): SeedColumns {
  const outs = Int32Array.from(instructions, (one) => (one.kind === 'character' ? one.out : -1));
  const ends = new Int32Array(classes);
  const starts = new Int32Array(classes);
  let seeds = new Int32Array(1 << 10);
  return {
    fill: (characters) => {
      // A counting sort: the first pass measures each column's list, the second one writes it.
      ends.fill(1);
      for (const pc of characters) for (const column of columns.get(pc)!) ends[column]!++;
      let used = 0;
      for (let column = 0; column < classes; column++) {
        starts[column] = used;
        used += ends[column]!;
      }
      if (used > seeds.length) seeds = new Int32Array(2 * used);
      for (let column = 0; column < classes; column++) {
        seeds[starts[column]!] = start;
        ends[column] = starts[column]! + 1;
      }
      for (const pc of characters) {
        for (const column of columns.get(pc)!) seeds[ends[column]!++] = outs[pc]!;
      }
    },
    of: (column) => ({ array: seeds, from: starts[column]!, to: ends[column]! }),
  };
}
