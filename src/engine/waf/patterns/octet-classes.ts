/**
 * Equivalence classes of octets: two octets are in one class if every instruction of a program treats them alike. A
 * DFA then has one transition a class instead of 256 a state.
 */
import {
  contains,
  NO_WORD_BOUNDARY,
  type OctetRanges,
  type Program,
  WORD_BOUNDARY,
} from '../../../base/regex/program.ts';

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

function isWord(octet: number): boolean {
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
