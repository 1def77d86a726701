/**
 * A pattern's NFA over octets: the instructions of its program (`base/regex/program.ts`) in flat arrays, the epsilon
 * closure of a set of them (Thompson, "Regular Expression Search Algorithm", CACM 11(6), 1968), and the classes of
 * octets that it distinguishes.
 */
import {
  contains,
  END_LINE,
  END_TEXT,
  NO_WORD_BOUNDARY,
  type OctetRanges,
  type Program,
  WORD_BOUNDARY,
} from '../../../base/regex/program.ts';

/** Assertions that depend on the next octet. */
const AHEAD = END_LINE | END_TEXT | WORD_BOUNDARY | NO_WORD_BOUNDARY;

/** The kinds of instructions as numbers. */
const KIND = { fail: 0, match: 1, jump: 2, split: 3, assert: 4, character: 5 } as const;

/** A program in arrays by program counter (`pc`), and the scratch arrays of its epsilon closures. */
export interface Nfa {
  /** The first instruction. */
  readonly start: number;
  /** The next instruction; for a `character` instruction, the one to run after it has consumed its octet. */
  readonly out: Uint16Array;
  /** The second way of a `split`; the flags of an `assert`. */
  readonly other: Uint16Array;
  readonly kind: Uint8Array;
  /** Words of 32 bits in one row of `consumed`. */
  readonly width: number;
  /** One row an instruction: a bit for each octet class that it consumes. */
  readonly consumed: Uint32Array;
  readonly scratch: ClosureScratch;
}

/** Arrays that each closure overwrites. */
// PERF: allocated once a pattern; a lazy DFA computes one or two closures for every transition it builds.
interface ClosureScratch {
  /** The closure that visited an instruction last. */
  readonly visited: Uint32Array;
  /** The number of the current closure. */
  round: number;
  readonly stack: Uint16Array;
  readonly characters: Uint16Array;
  readonly pending: Uint16Array;
}

/** An epsilon closure: views of the scratch arrays, valid until the next closure; ascending. */
export interface EpsilonClosure {
  /** Instructions that consume an octet. */
  readonly characters: Uint16Array;
  /** Assertions that depend on the next octet. */
  readonly pending: Uint16Array;
  /** Whether the closure holds a `match`. */
  readonly matched: boolean;
}

/** What is known about the position of a closure. */
export interface ClosurePosition {
  /** Assertions that hold at this position, a bit each. */
  readonly flags: number;
  /** Whether `flags` is complete: an assertion about the next octet fails instead of staying pending. */
  readonly final: boolean;
}

/** Builds the NFA of a program over its octet classes. */
export function nfaOf(program: Program, classes: OctetClasses): Nfa {
  const { instructions, start } = program;
  const size = instructions.length;
  const kind = new Uint8Array(size);
  const out = new Uint16Array(size);
  const other = new Uint16Array(size);
  const width = (classes.count + 31) >> 5;
  const consumed = new Uint32Array(size * width);
  const classesIn = classReader(classes, width);
  for (const [pc, instruction] of instructions.entries()) {
    kind[pc] = KIND[instruction.kind];
    if ('out' in instruction) out[pc] = instruction.out;
    if (instruction.kind === 'split') other[pc] = instruction.other;
    if (instruction.kind === 'assert') other[pc] = instruction.flags;
    if (instruction.kind === 'character') consumed.set(classesIn(instruction.ranges), pc * width);
  }
  return { start, out, other, kind, width, consumed, scratch: scratchFor(size) };
}

function scratchFor(size: number): ClosureScratch {
  return {
    visited: new Uint32Array(size),
    round: 0,
    stack: new Uint16Array(size + 1),
    characters: new Uint16Array(size),
    pending: new Uint16Array(size),
  };
}

/** Whether an instruction consumes the octets of a class. */
export function consumes({ consumed, width }: Nfa, pc: number, octetClass: number): boolean {
  return (consumed[pc * width + (octetClass >> 5)]! & (1 << (octetClass & 31))) !== 0;
}

/** Follows from `seeds` every instruction that consumes nothing. */
export function epsilonClosure(
  nfa: Nfa,
  seeds: ArrayLike<number>,
  position: ClosurePosition,
): EpsilonClosure {
  const { kind, out, other, scratch } = nfa;
  const { visited, stack, characters, pending } = scratch;
  const round = nextRound(scratch);
  let depth = 0;
  let consuming = 0;
  let waiting = 0;
  let matched = false;
  for (let i = 0; i < seeds.length; i++) {
    if (visited[seeds[i]!] === round) continue;
    visited[seeds[i]!] = round;
    stack[depth++] = seeds[i]!;
    while (depth > 0) {
      const pc = stack[--depth]!;
      let first = -1;
      let second = -1;
      switch (kind[pc]) {
        case KIND.match:
          matched = true;
          break;
        case KIND.character:
          characters[consuming++] = pc;
          break;
        case KIND.split:
          second = other[pc]!;
          first = out[pc]!;
          break;
        case KIND.jump:
          first = out[pc]!;
          break;
        case KIND.assert: {
          const unmet = other[pc]! & ~position.flags;
          if (unmet === 0) first = out[pc]!;
          else if (!position.final && (unmet & ~AHEAD) === 0) pending[waiting++] = pc;
        }
      }
      if (second >= 0 && visited[second] !== round) {
        visited[second] = round;
        stack[depth++] = second;
      }
      if (first >= 0 && visited[first] !== round) {
        visited[first] = round;
        stack[depth++] = first;
      }
    }
  }
  return {
    characters: characters.subarray(0, consuming).sort(),
    pending: pending.subarray(0, waiting).sort(),
    matched,
  };
}

/** Starts a closure: no instruction counts as visited, without clearing the array but once in 2³² closures. */
function nextRound(scratch: ClosureScratch): number {
  scratch.round++;
  if (scratch.round === 0xffffffff) {
    scratch.visited.fill(0);
    scratch.round = 1;
  }
  return scratch.round;
}

/** Returns a function from octet ranges to the classes they cover, a bit each; equal ranges share one result. */
function classReader({ count, ofOctet }: OctetClasses, width: number): (ranges: OctetRanges) => Uint32Array {
  const octets = Array.from({ length: count }, (_, octetClass) => ofOctet.indexOf(octetClass));
  const known = new Map<OctetRanges, Uint32Array>();
  return (ranges) => {
    let bits = known.get(ranges);
    if (bits === undefined) {
      bits = new Uint32Array(width);
      for (const [octetClass, octet] of octets.entries()) {
        if (contains(ranges, octet)) bits[octetClass >> 5]! |= 1 << (octetClass & 31);
      }
      known.set(ranges, bits);
    }
    return bits;
  };
}

// Equivalence classes of octets: two octets are in one class if every instruction of a program treats them alike. A
// DFA then has one transition a class instead of 256 a state.

/** The classes of a program's octets. */
export interface OctetClasses {
  readonly count: number;
  /** By octet, its class: 0 to `count - 1`. */
  readonly ofOctet: Uint8Array;
  /** The class of the line feed; no other octet is in it. */
  readonly newline: number;
  /** By class: 1 when its octets are word characters (ASCII letters, digits, `_`). */
  readonly word: Uint8Array;
}

const NEWLINE = 10;

/** Whether an octet is a word character: an ASCII letter, a digit or `_`. */
export function isWord(octet: number): boolean {
  const letter = octet | 32;
  return (octet >= 48 && octet <= 57) || (letter >= 97 && letter <= 122 && octet < 128) || octet === 95;
}

/** Computes the classes of a program. The line feed and word characters have classes of their own for `^`, `$` and `\b`. */
export function octetClasses(program: Program): OctetClasses {
  const starts = new Uint8Array(257);
  starts[0] = 1;
  starts[NEWLINE] = 1;
  starts[NEWLINE + 1] = 1;
  let words = false;
  for (const instruction of program.instructions) {
    if (instruction.kind === 'assert')
      words ||= (instruction.flags & (WORD_BOUNDARY | NO_WORD_BOUNDARY)) !== 0;
    if (instruction.kind !== 'character') continue;
    const { ranges } = instruction;
    for (let i = 0; i < ranges.length && ranges[i]! < 256; i += 2) {
      starts[ranges[i]!] = 1;
      starts[Math.min(255, ranges[i + 1]!) + 1] = 1;
    }
  }
  if (words)
    for (let octet = 1; octet < 256; octet++) if (isWord(octet) !== isWord(octet - 1)) starts[octet] = 1;
  return mergeRuns(program, starts);
}

/** Merges runs of octets that the same instructions consume into one class; `starts` flags the first octet of a run. */
function mergeRuns(program: Program, starts: Uint8Array): OctetClasses {
  const sets = distinctSets(program);
  const known = new Map<string, number>();
  const ofOctet = new Uint8Array(256);
  const word: number[] = [];
  let newline = 0;
  let current = 0;
  for (let octet = 0; octet < 256; octet++) {
    if (starts[octet] === 1) {
      const members = sets.map((ranges) => (contains(ranges, octet) ? '1' : '0')).join('');
      const key = `${octet === NEWLINE} ${isWord(octet)} ${members}`;
      current = known.get(key) ?? known.size;
      if (current === known.size) {
        known.set(key, current);
        word.push(isWord(octet) ? 1 : 0);
      }
      if (octet === NEWLINE) newline = current;
    }
    ofOctet[octet] = current;
  }
  return { count: known.size, ofOctet, newline, word: Uint8Array.from(word) };
}

/** The distinct octet ranges of a program's instructions. */
function distinctSets(program: Program): readonly OctetRanges[] {
  // PERF: most instructions share one ranges object, and comparing ranges as text takes most of the time.
  const classes = new Set<OctetRanges>();
  for (const instruction of program.instructions) {
    if (instruction.kind === 'character') classes.add(instruction.ranges);
  }
  const sets = new Map<string, OctetRanges>();
  for (const ranges of classes) sets.set(ranges.slice(0, 512).join(), ranges);
  return [...sets.values()];
}
