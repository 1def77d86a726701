/**
 * Regex → DFA, ahead of time: subset construction over RE2's program, minimised, laid out flat. Matching then costs one
 * table step a character whatever the pattern is, and opening a plan compiles nothing.
 */
import { type Alphabet, buildAlphabet } from '../base/regex/alphabet.ts';
import { minimise } from '../base/regex/minimise.ts';
import {
  BEGIN_LINE,
  BEGIN_TEXT,
  END_LINE,
  END_TEXT,
  NO_WORD_BOUNDARY,
  type Program,
  WORD_BOUNDARY,
} from '../base/regex/program.ts';
import type { Pattern } from '../base/regex.ts';
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
} from '../plan/regex-dfa.ts';

/** What one pattern's DFA may cost. */
export interface DfaLimits {
  /** States before minimisation. */
  readonly states: number;
  /** Octets of the finished slice. */
  readonly octets: number;
  /** Program instructions looked at while building; bounds the time, whatever the pattern. */
  readonly steps: number;
}

/**
 * 2,000 states are far beyond what ordinary patterns need (fewer than 100) and are built in some 20 ms; a pattern
 * that passes any of the three is one whose DFA grows exponentially, where ten times as much would not help either.
 */
export const DFA_LIMITS: DfaLimits = { states: 2_000, octets: 65_536, steps: 2_000_000 };

export type DfaResult =
  | { readonly ok: true; readonly table: Uint16Array }
  | { readonly ok: false; readonly reason: string };

/** A DFA before it is laid out. State 0 has matched and stays there. */
interface Automaton {
  readonly states: number;
  readonly start: number;
  /** `next[state * classes + class]`. */
  readonly next: Int32Array;
  /** By state: 1 when the text may end here. */
  readonly accepts: Uint8Array;
}

/**
 * The DFA that tells whether `pattern` matches anywhere in a text, in the layout of `plan/regex-dfa`. A refusal's
 * `reason` names the limit that was passed; such a pattern can still be run by `re2js`.
 */
export function buildDfa(pattern: Pattern, limits: DfaLimits = DFA_LIMITS): DfaResult {
  const alphabet = buildAlphabet(pattern.program);
  if (alphabet.classes > 256) {
    return refuse(`it tells ${alphabet.classes} classes of characters apart, at most 256 fit`);
  }
  const automaton = determinise(pattern.program, { alphabet, limits });
  if (typeof automaton === 'string') return refuse(automaton);
  const table = layOut(reduce(automaton, alphabet.classes), alphabet);
  if (table === null || table.byteLength > limits.octets) {
    return refuse(`its table would be larger than ${limits.octets} octets`);
  }
  return { ok: true, table };
}

function refuse(reason: string): DfaResult {
  return { ok: false, reason };
}

/** What came before the place a state stands for: whether the last character was a word character. */
const AFTER_WORD = 64;
const BEGIN = BEGIN_LINE | BEGIN_TEXT;
const AHEAD = END_LINE | END_TEXT | WORD_BOUNDARY | NO_WORD_BOUNDARY;

/** A set of instructions that wait for a character, and of assertions that must see the next one first. */
interface Closure {
  readonly characters: readonly number[];
  readonly pending: readonly number[];
  readonly matched: boolean;
}

/** Follows everything that consumes no character. `flags` holds what is known to be true of this place; an assertion
 * about the next character stays pending unless `final` says that `flags` knows it too. */
function close(program: Program, seeds: readonly number[], at: { flags: number; final: boolean }): Closure {
  const seen = new Set<number>(seeds);
  const stack = [...seeds];
  const characters: number[] = [];
  const pending: number[] = [];
  let matched = false;
  const follow = (pc: number): void => {
    if (!seen.has(pc)) {
      seen.add(pc);
      stack.push(pc);
    }
  };
  for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
    const instruction = program.instructions[pc]!;
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
}

/** A set of places in the program, and what is known of the text before it. */
interface State {
  readonly closure: Closure;
  /** `BEGIN` flags and `AFTER_WORD`; 0 where no assertion is pending, for then nothing depends on it. */
  readonly context: number;
}

/** The states found so far. Code 0 is the matched state; state i of the list has code i + 1. */
interface StateTable {
  readonly states: readonly State[];
  /** Instructions looked at so far. */
  readonly steps: () => number;
  /** The code of the state of a set of instructions, entered when it is new. */
  readonly intern: (seeds: ReadonlySet<number>, context: number) => number;
  /** A state with its assertions settled: `ahead` and `isWord` tell what comes next. */
  readonly settle: (state: State, next: { ahead: number; isWord: boolean }) => Closure;
}

function stateTable(program: Program): StateTable {
  const states: State[] = [];
  const codes = new Map<string, number>();
  const singles = new Map<number, Closure>();
  let steps = 0;

  /** One instruction's closure where only what lies before is known; there are 8 such `flags`. */
  const closeOne = (pc: number, flags: number): Closure => {
    const key = pc * 8 + flags;
    let closure = singles.get(key);
    if (closure === undefined) {
      closure = close(program, [pc], { flags, final: false });
      singles.set(key, closure);
    }
    return closure;
  };

  const intern = (seeds: ReadonlySet<number>, before: number): number => {
    const union = new Set<number>();
    const waiting = new Set<number>();
    for (const seed of seeds) {
      const { characters, pending, matched } = closeOne(seed, before & BEGIN);
      if (matched) return 0;
      for (const pc of characters) union.add(pc);
      for (const pc of pending) waiting.add(pc);
      steps += 1 + characters.length + pending.length;
    }
    const context = waiting.size === 0 ? 0 : before;
    const characters = [...union].sort((a, b) => a - b);
    const pending = [...waiting].sort((a, b) => a - b);
    const key = `${context}:${characters.join()}:${pending.join()}`;
    let code = codes.get(key);
    if (code === undefined) {
      code = states.push({ closure: { characters, pending, matched: false }, context });
      codes.set(key, code);
    }
    return code;
  };

  const settle = ({ closure, context }: State, next: { ahead: number; isWord: boolean }): Closure => {
    if (closure.pending.length === 0) return closure;
    const changes = next.isWord !== ((context & AFTER_WORD) !== 0);
    const flags = (context & BEGIN) | next.ahead | (changes ? WORD_BOUNDARY : NO_WORD_BOUNDARY);
    const settled = close(program, closure.pending, { flags, final: true });
    steps += closure.pending.length + settled.characters.length;
    return { ...settled, characters: [...closure.characters, ...settled.characters] };
  };

  return { states, steps: () => steps, intern, settle };
}

/**
 * Subset construction (Rabin and Scott 1959), unanchored: every step starts a new attempt, and the first match ends
 * the search. Assertions about the next character are settled one step late, as in RE2's own DFA.
 */
function determinise(program: Program, build: { alphabet: Alphabet; limits: DfaLimits }): Automaton | string {
  const { alphabet, limits } = build;
  const { classes, takes, newline, word } = alphabet;
  const table = stateTable(program);
  const next: number[] = new Array<number>(classes).fill(0);
  const accepts: number[] = [1];
  let steps = 0;
  const start = table.intern(new Set([program.start]), BEGIN);
  for (let at = 0; at < table.states.length; at++) {
    if (at >= limits.states) return `it needs more than ${limits.states} states`;
    const state = table.states[at]!;
    accepts.push(table.settle(state, { ahead: END_LINE | END_TEXT, isWord: false }).matched ? 1 : 0);
    for (let column = 0; column < classes; column++) {
      if (steps + table.steps() > limits.steps) return `it takes more than ${limits.steps} steps to build`;
      const isNewline = newline[column] === 1;
      const isWord = word[column] === 1;
      const { characters, matched } = table.settle(state, { ahead: isNewline ? END_LINE : 0, isWord });
      if (matched) {
        next.push(0);
        continue;
      }
      const seeds = new Set<number>([program.start]);
      for (const pc of characters) {
        if (takes.get(pc)![column] === 1) seeds.add(outOf(program, pc));
      }
      steps += characters.length;
      next.push(table.intern(seeds, (isNewline ? BEGIN_LINE : 0) | (isWord ? AFTER_WORD : 0)));
    }
  }
  return { states: accepts.length, start, next: Int32Array.from(next), accepts: Uint8Array.from(accepts) };
}

function outOf(program: Program, pc: number): number {
  const instruction = program.instructions[pc]!;
  return instruction.kind === 'character' ? instruction.out : pc;
}

/** An automaton with its states renumbered to codes, ready to be written. */
interface Rows {
  readonly start: number;
  readonly end: number;
  /** Row after row of codes. */
  readonly codes: readonly number[];
}

/** Merges states that cannot be told apart, finds the dead one, and orders rows as the layout wants them. */
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
    words[DFA_ASCII + (point >> 1)]! |= classOf[run]! << ((point & 1) << 3);
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
