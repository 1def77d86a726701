/** A program's instructions in flat arrays, and the sets of them that consume nothing on the way. */
import {
  contains,
  END_LINE,
  END_TEXT,
  NO_WORD_BOUNDARY,
  type OctetRanges,
  type Program,
  WORD_BOUNDARY,
} from '../../base/regex/program.ts';
import type { OctetClasses } from './octet-classes.ts';

const AHEAD = END_LINE | END_TEXT | WORD_BOUNDARY | NO_WORD_BOUNDARY;

/** Good until the next call; ascending. */
export interface Closed {
  readonly characters: Uint16Array;
  readonly pending: Uint16Array;
  readonly matched: boolean;
}

export interface Places {
  readonly start: number;
  /** Where an instruction that takes a character leads. */
  readonly out: Uint16Array;
  /** Whether an instruction takes the octets of a class. */
  takes(pc: number, column: number): boolean;
  /**
   * Follows everything that consumes no character. `flags` holds what is known to be true of this place; an assertion
   * about the next character stays pending unless `final` says that `flags` knows it too.
   */
  close(seeds: ArrayLike<number>, at: { readonly flags: number; readonly final: boolean }): Closed;
}

const KIND = { fail: 0, match: 1, jump: 2, split: 3, assert: 4, character: 5 } as const;

export function placesOf(program: Program, classes: OctetClasses): Places {
  const { instructions, start } = program;
  const size = instructions.length;
  const kind = new Uint8Array(size);
  const out = new Uint16Array(size);
  const other = new Uint16Array(size);
  const width = (classes.count + 31) >> 5;
  const members = new Uint32Array(size * width);
  const columnsOf = columnReader(classes, width);
  for (const [pc, instruction] of instructions.entries()) {
    kind[pc] = KIND[instruction.kind];
    if ('out' in instruction) out[pc] = instruction.out;
    if (instruction.kind === 'split') other[pc] = instruction.other;
    if (instruction.kind === 'assert') other[pc] = instruction.flags;
    if (instruction.kind === 'character') members.set(columnsOf(instruction.ranges), pc * width);
  }
  const seen = new Uint32Array(size);
  let round = 0;
  const stack = new Uint16Array(size + 1);
  const characters = new Uint16Array(size);
  const pending = new Uint16Array(size);

  const close: Places['close'] = (seeds, at) => {
    round++;
    if (round === 0xffffffff) {
      seen.fill(0);
      round = 1;
    }
    let depth = 0;
    let taken = 0;
    let waiting = 0;
    let matched = false;
    for (let i = 0; i < seeds.length; i++) {
      if (seen[seeds[i]!] === round) continue;
      seen[seeds[i]!] = round;
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
            characters[taken++] = pc;
            break;
          case KIND.split:
            second = other[pc]!;
            first = out[pc]!;
            break;
          case KIND.jump:
            first = out[pc]!;
            break;
          case KIND.assert: {
            const open = other[pc]! & ~at.flags;
            if (open === 0) first = out[pc]!;
            else if (!at.final && (open & ~AHEAD) === 0) pending[waiting++] = pc;
          }
        }
        if (second >= 0 && seen[second] !== round) {
          seen[second] = round;
          stack[depth++] = second;
        }
        if (first >= 0 && seen[first] !== round) {
          seen[first] = round;
          stack[depth++] = first;
        }
      }
    }
    return {
      characters: characters.subarray(0, taken).sort(),
      pending: pending.subarray(0, waiting).sort(),
      matched,
    };
  };

  const takes = (pc: number, column: number): boolean =>
    (members[pc * width + (column >> 5)]! & (1 << (column & 31))) !== 0;

  return { start, out, takes, close };
}

/** The columns whose octets a class of characters takes, a bit each; most instructions share theirs with others. */
function columnReader({ count, ofOctet }: OctetClasses, width: number): (ranges: OctetRanges) => Uint32Array {
  const octets = Array.from({ length: count }, (_, column) => ofOctet.indexOf(column));
  const known = new Map<OctetRanges, Uint32Array>();
  return (ranges) => {
    let bits = known.get(ranges);
    if (bits === undefined) {
      bits = new Uint32Array(width);
      for (const [column, octet] of octets.entries()) {
        if (contains(ranges, octet)) bits[column >> 5]! |= 1 << (column & 31);
      }
      known.set(ranges, bits);
    }
    return bits;
  };
}
