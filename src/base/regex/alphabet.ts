/**
 * Splits all code points into classes that a program does not distinguish, so that an automaton needs one column a class
 * instead of one a character.
 */
import {
  BEGIN_LINE,
  END_LINE,
  NO_WORD_BOUNDARY,
  type OctetRanges,
  type Program,
  WORD_BOUNDARY,
} from './program.ts';

const NEWLINE: OctetRanges = [10, 10];
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
  if ((asserted & (BEGIN_LINE | END_LINE)) !== 0) sets.set(NEWLINE, []);
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
    newline: members.get(NEWLINE) ?? none,
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
