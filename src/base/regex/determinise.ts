/** From a program to a deterministic automaton that decides whether it matches anywhere in a text. */
import {
  type Alphabet,
  BEGIN_LINE,
  BEGIN_TEXT,
  END_LINE,
  END_TEXT,
  NO_WORD_BOUNDARY,
  outsOf,
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
  /**
   * What becomes of states beyond `states`: the program is refused, or each of them counts as a match. The automaton then
   * matches every text that the program matches, and maybe others: it can exclude a text, not prove that it matches.
   */
  readonly beyond?: 'refuse' | 'match';
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
  /** `BEGIN` flags and `AFTER_WORD`; 0 if no assertion is pending, for then nothing depends on it. */
  readonly context: number;
}

/** The states found so far. Code 0 is the matched state; state i of the list has code i + 1. */
interface StateTable {
  readonly states: readonly State[];
  /** Instructions visited so far. */
  readonly steps: () => number;
  /** The code of the state of a set of instructions, entered when it is new; 0 if there is no room for it. */
  readonly intern: (seeds: readonly number[], context: number) => number;
  /** A state with its assertions resolved: `ahead` and `isWord` describe the next character. */
  readonly settle: (state: State, next: { ahead: number; isWord: boolean }) => Closure;
}

/** Maps a context and a list to a code. A list must not be modified after it is added. */
interface ListTable {
  readonly get: (context: number, list: readonly number[]) => number | undefined;
  readonly set: (context: number, list: readonly number[], code: number) => void;
}

// PERF: lists written out as text would be keys of a map, too; writing them took a third of the time.
function listTable(): ListTable {
  interface Entry {
    readonly context: number;
    readonly list: readonly number[];
    readonly code: number;
  }
  const buckets = new Map<number, Entry[]>();
  const hashOf = (context: number, list: readonly number[]): number => {
    let hash = context;
    for (let i = 0; i < list.length; i++) hash = (Math.imul(hash, 31) + list[i]!) | 0;
    return hash;
  };
  return {
    get: (context, list) =>
      buckets.get(hashOf(context, list))?.find((one) => one.context === context && isEqual(one.list, list))
        ?.code,
    set: (context, list, code) => {
      const hash = hashOf(context, list);
      const bucket = buckets.get(hash);
      if (bucket === undefined) buckets.set(hash, [{ context, list, code }]);
      else bucket.push({ context, list, code });
    },
  };
}

function isEqual(left: readonly number[], right: readonly number[]): boolean {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false;
  return true;
}

function stateTable(program: Program, most: number): StateTable {
  const states: State[] = [];
  const codes = listTable();
  const singles = new Map<number, Closure>();
  let steps = 0;

  /** One instruction's closure if only what lies before is known; there are 8 such `flags`. */
  const closeOne = (pc: number, flags: number): Closure => {
    const key = pc * 8 + flags;
    let closure = singles.get(key);
    if (closure === undefined) {
      closure = close(program, [pc], { flags, final: false });
      singles.set(key, closure);
    }
    return closure;
  };

  const enter = (seeds: readonly number[], before: number): number => {
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
    const key = pending.length === 0 ? characters : [...characters, -1, ...pending];
    let code = codes.get(context, key);
    if (code === undefined) {
      if (states.length >= most) return 0;
      code = states.push({ closure: { characters, pending, matched: false }, context });
      codes.set(context, key, code);
    }
    return code;
  };

  // The sets of places that transitions lead to: few differ, and the start of a new attempt alone is the most frequent.
  const known = listTable();
  const alone = new Map<number, number>();
  const intern = (seeds: readonly number[], before: number): number => {
    // A class that no place takes leads to a new attempt alone: identified by its one seed, without a key made of text.
    if (seeds.length === 1 && seeds[0] === program.start) {
      let code = alone.get(before);
      if (code === undefined) {
        code = enter(seeds, before);
        alone.set(before, code);
      }
      steps++;
      return code;
    }
    let code = known.get(before, seeds);
    if (code === undefined) {
      code = enter(seeds, before);
      known.set(before, seeds, code);
    }
    steps += seeds.length;
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
 * the search. Assertions about the next character are settled one step late, as in RE2's own DFA. A sentence when a
 * limit is passed.
 */
export function determinise(
  program: Program,
  { alphabet, limits }: { alphabet: Alphabet; limits: BuildLimits },
): Automaton | string {
  const { classes, newline, word } = alphabet;
  const table = stateTable(program, limits.beyond === 'match' ? limits.states : Number.POSITIVE_INFINITY);
  const next: number[] = new Array<number>(classes).fill(0);
  const accepts: number[] = [1];
  const start = table.intern([program.start], BEGIN);
  for (let at = 0; at < table.states.length; at++) {
    // Each state that was found will be visited: there is no need to wait for that.
    if (table.states.length > limits.states) return `it needs more than ${limits.states} states`;
    const state = table.states[at]!;
    accepts.push(table.settle(state, { ahead: END_LINE | END_TEXT, isWord: false }).matched ? 1 : 0);
    const kinds: (readonly number[] | null)[][] = [];
    for (let column = 0; column < classes; column++) {
      if (table.steps() > limits.steps) return `it takes more than ${limits.steps} steps to build`;
      const kind = newline[column]! * 2 + word[column]!;
      kinds[kind] ??= seedsByColumn(program, { alphabet, table, state, kind });
      const seeds = kinds[kind][column]!;
      const context = (newline[column] === 1 ? BEGIN_LINE : 0) | (word[column] === 1 ? AFTER_WORD : 0);
      next.push(seeds === null ? 0 : table.intern(seeds, context));
    }
  }
  return { states: accepts.length, start, next: Int32Array.from(next), accepts: Uint8Array.from(accepts) };
}

/** What a state leads to by class, when the next character is a newline (2), a word character (1) or neither (0);
 * `null` if that character shows that there was a match before it. */
function seedsByColumn(
  program: Program,
  from: { alphabet: Alphabet; table: StateTable; state: State; kind: number },
): (readonly number[] | null)[] {
  const { classes, columns } = from.alphabet;
  const next = { ahead: from.kind === 2 ? END_LINE : 0, isWord: from.kind === 1 };
  const { characters, matched } = from.table.settle(from.state, next);
  if (matched) return new Array<null>(classes).fill(null);
  const none: readonly number[] = [program.start];
  const seeds = new Array<readonly number[]>(classes).fill(none);
  const own: number[][] = [];
  for (const pc of characters) {
    const [out] = outsOf(program.instructions[pc]!) as [number];
    for (const column of columns.get(pc)!) {
      let list = own[column];
      if (list === undefined) {
        list = [program.start];
        own[column] = list;
        seeds[column] = list;
      }
      list.push(out);
    }
  }
  return seeds;
}
