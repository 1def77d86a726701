/**
 * The program RE2 compiles a pattern to (Thompson's construction; https://swtch.com/~rsc/regexp/regexp2.html), as plain
 * data. `re2js` has it behind an untyped field; no other file depends on its numbers.
 */
import { RE2JS } from 're2js';

/** What an assertion requires of a place between two characters; the values are re2js' own. */
export const BEGIN_LINE = 1;
export const END_LINE = 2;
export const BEGIN_TEXT = 4;
export const END_TEXT = 8;
export const WORD_BOUNDARY = 16;
export const NO_WORD_BOUNDARY = 32;

/** Code points as `[low, high, low, high, …]`, sorted, disjoint, both ends included. */
export type OctetRanges = readonly number[];

/** One instruction; `out` and `other` are the indices of what may follow. */
export type Instruction =
  | { readonly kind: 'match' }
  | { readonly kind: 'fail' }
  | { readonly kind: 'jump'; readonly out: number }
  | { readonly kind: 'split'; readonly out: number; readonly other: number }
  | { readonly kind: 'assert'; readonly out: number; readonly flags: number }
  | { readonly kind: 'character'; readonly out: number; readonly ranges: OctetRanges };

/** A pattern's instructions and where it starts. Captures are jumps: only a match's existence can be read from it. */
export interface Program {
  readonly start: number;
  readonly instructions: readonly Instruction[];
}

/** Where an instruction may lead. */
export function outsOf(instruction: Instruction): readonly number[] {
  switch (instruction.kind) {
    case 'match':
    case 'fail':
      return [];
    case 'split':
      return [instruction.out, instruction.other];
    case 'jump':
    case 'assert':
    case 'character':
      return [instruction.out];
    default:
      return instruction satisfies never;
  }
}

/** Whether ranges of code points hold one. */
export function contains(ranges: readonly number[], point: number): boolean {
  for (let i = 0; i < ranges.length && ranges[i]! <= point; i += 2) if (point <= ranges[i + 1]!) return true;
  return false;
}

interface RawInstruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
}

interface RawProgram {
  readonly start: number;
  readonly inst: readonly RawInstruction[];
}

const OP = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  emptyWidth: 4,
  fail: 5,
  match: 6,
  nop: 7,
  rune: 8,
  rune1: 9,
  runeAny: 10,
  runeAnyNotNewline: 11,
} as const;

const FOLD_CASE = 1;
const NEWLINE = 10;
const LAST_CODE_POINT = 0x10ffff;
const ANY: OctetRanges = [0, LAST_CODE_POINT];
const ANY_NOT_NEWLINE: OctetRanges = [0, NEWLINE - 1, NEWLINE + 1, LAST_CODE_POINT];

/** Reads the program of a pattern that has been compiled without look-behind. */
export function readProgram(regex: RE2JS): Program {
  const raw = regex.re2().prog as RawProgram;
  // Classes of many instructions are one array in re2js (a counted repeat copies the instruction, not the class).
  const known = new Map<ArrayLike<number>, OctetRanges>();
  return { start: raw.start, instructions: raw.inst.map((one) => readInstruction(one, known)) };
}

function readInstruction(raw: RawInstruction, known: Map<ArrayLike<number>, OctetRanges>): Instruction {
  const { op, out } = raw;
  switch (op) {
    case OP.alt:
    case OP.altMatch:
      return { kind: 'split', out, other: raw.arg };
    case OP.capture:
    case OP.nop:
      return { kind: 'jump', out };
    case OP.emptyWidth:
      return { kind: 'assert', out, flags: raw.arg };
    case OP.fail:
      return { kind: 'fail' };
    case OP.match:
      return { kind: 'match' };
    case OP.runeAny:
      return { kind: 'character', out, ranges: ANY };
    case OP.runeAnyNotNewline:
      return { kind: 'character', out, ranges: ANY_NOT_NEWLINE };
    case OP.rune:
    case OP.rune1:
      return { kind: 'character', out, ranges: readRanges(raw, known) };
    default:
      throw new Error(`a pattern's program holds instruction ${op}, which only look-behind makes`);
  }
}

function readRanges(raw: RawInstruction, known: Map<ArrayLike<number>, OctetRanges>): OctetRanges {
  const single = raw.runes.length === 1;
  if (single && (raw.arg & FOLD_CASE) !== 0) return foldedRanges(raw.runes[0]!);
  const before = known.get(raw.runes);
  if (before !== undefined) return before;
  const ranges = single ? [raw.runes[0]!, raw.runes[0]!] : normaliseRanges(raw.runes);
  known.set(raw.runes, ranges);
  return ranges;
}

function normaliseRanges(runes: ArrayLike<number>): OctetRanges {
  const pairs: { low: number; high: number }[] = [];
  for (let i = 0; i + 1 < runes.length; i += 2) pairs.push({ low: runes[i]!, high: runes[i + 1]! });
  pairs.sort((a, b) => a.low - b.low);
  const ranges: number[] = [];
  for (const { low, high } of pairs) {
    const last = ranges.length - 1;
    if (last > 0 && low <= ranges[last]! + 1) ranges[last] = Math.max(ranges[last]!, high);
    else ranges.push(low, high);
  }
  return ranges;
}

/** Bounded by the characters that have a case, some 2,900. */
const folded = new Map<number, OctetRanges>();

/** A character and all that differ from it only in case, by Unicode's simple folding. */
function foldedRanges(rune: number): OctetRanges {
  let ranges = folded.get(rune);
  if (ranges === undefined) {
    // re2js does not export its folding table, but it folds classes while it compiles them. The second member keeps
    // the class from being turned back into a single folded character.
    const companion = String.fromCodePoint(LAST_CODE_POINT);
    const regex = RE2JS.compile(`[\\x{${rune.toString(16)}}${companion}]`, RE2JS.CASE_INSENSITIVE);
    const inst = (regex.re2().prog as RawProgram).inst.find(({ op }) => op === OP.rune)!;
    ranges = normaliseRanges(inst.runes).slice(0, -2);
    folded.set(rune, ranges);
  }
  return ranges;
}

// Splits all code points into classes that a program does not distinguish, so that an automaton needs one column a class
// instead of one a character.

const LINE_FEED: OctetRanges = [10, 10];
/** The word characters of `\b`: ASCII only, also if case is ignored. */
const WORD: OctetRanges = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];

/** Classes are numbered from 0 in the order in which code points first show them. */
export interface Alphabet {
  readonly classes: number;
  /** First code points of the runs, ascending from 0; run i lasts until the next one's start. */
  readonly starts: readonly number[];
  /** The class of each run. */
  readonly classOf: readonly number[];
  /**
   * By instruction, for `character` instructions: which classes it takes (1 or 0), shared by instructions with the same
   * ranges.
   */
  readonly takes: ReadonlyMap<number, Uint8Array>;
  /** The same as lists of classes. */
  readonly columns: ReadonlyMap<number, readonly number[]>;
  /** By class: whether it is the newline, if the program tests for line ends; whether it is of word characters. */
  readonly newline: Uint8Array;
  readonly word: Uint8Array;
}

/** The classes of one program. */
export function buildAlphabet(program: Program): Alphabet {
  const sets = new Map<OctetRanges, number[]>();
  let asserted = 0;
  program.instructions.forEach((instruction, index) => {
    if (instruction.kind === 'assert') asserted |= instruction.flags;
    if (instruction.kind !== 'character') return;
    const users = sets.get(instruction.ranges);
    if (users === undefined) sets.set(instruction.ranges, [index]);
    else users.push(index);
  });
  if ((asserted & (BEGIN_LINE | END_LINE)) !== 0) sets.set(LINE_FEED, []);
  if ((asserted & (WORD_BOUNDARY | NO_WORD_BOUNDARY)) !== 0) sets.set(WORD, []);
  return classify(sets);
}

function classify(sets: ReadonlyMap<OctetRanges, readonly number[]>): Alphabet {
  const bounds = new Set<number>([0]);
  for (const ranges of sets.keys()) {
    for (let i = 0; i < ranges.length; i += 2) {
      bounds.add(ranges[i]!);
      bounds.add(ranges[i + 1]! + 1);
    }
  }
  bounds.delete(0x110000);
  const points = [...bounds].sort((a, b) => a - b);
  const signatures = refine([...sets.keys()], points);

  const numbers = new Map<number, number>();
  const starts: number[] = [];
  const classOf: number[] = [];
  points.forEach((point, i) => {
    const signature = signatures[i]!;
    let number = numbers.get(signature);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(signature, number);
    }
    if (classOf.at(-1) === number) return;
    starts.push(point);
    classOf.push(number);
  });

  const classes = numbers.size;
  const takes = new Map<number, Uint8Array>();
  const columns = new Map<number, readonly number[]>();
  const members = new Map<OctetRanges, Uint8Array>();
  for (const [ranges, users] of sets) {
    const member = new Uint8Array(classes);
    starts.forEach((start, i) => {
      if (includes(ranges, start)) member[classOf[i]!] = 1;
    });
    members.set(ranges, member);
    const list = [...member.keys()].filter((column) => member[column] === 1);
    for (const user of users) {
      takes.set(user, member);
      columns.set(user, list);
    }
  }
  const none = new Uint8Array(classes);
  return {
    classes,
    starts,
    classOf,
    takes,
    columns,
    newline: members.get(LINE_FEED) ?? none,
    word: members.get(WORD) ?? none,
  };
}

/** Numbers such that two points share one exactly when every set treats them alike; refined one set at a time. */
function refine(sets: readonly OctetRanges[], points: readonly number[]): Int32Array {
  const signatures = new Int32Array(points.length);
  let count = 1;
  for (const ranges of sets) {
    const inside = new Map<number, number>();
    let at = 0;
    points.forEach((point, i) => {
      while (at < ranges.length && ranges[at + 1]! < point) at += 2;
      if (at >= ranges.length || point < ranges[at]!) return;
      const old = signatures[i]!;
      let split = inside.get(old);
      if (split === undefined) {
        split = count++;
        inside.set(old, split);
      }
      signatures[i] = split;
    });
  }
  return signatures;
}

function includes(ranges: OctetRanges, point: number): boolean {
  for (let i = 0; i < ranges.length; i += 2) {
    if (point <= ranges[i + 1]!) return ranges[i]! <= point;
  }
  return false;
}
