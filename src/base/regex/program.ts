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
