/**
 * A simpler pattern for one with look-around, backreferences or atomic groups: it matches every text that the original
 * matches, and maybe others, and automata and literals can be made of it. Look-around is taken to hold, an atomic group
 * is an ordinary one, and a backreference matches whatever its group can match.
 */
import type { Instruction, OctetRanges, Program } from '../../../base/regex/program.ts';
import type { BacktrackInstruction, BacktrackProgram } from '../../plan/signature-program.ts';
import { octetSet, withBothCases } from './pcre-classes.ts';

/** A program of a simpler pattern in progress. */
interface Simpler {
  readonly program: BacktrackProgram;
  readonly instructions: Instruction[];
  /** By group, the place where it opens first; `undefined`: the group can never be set. */
  readonly opens: ReadonlyMap<number, number>;
}

/** Number of instructions beyond which backreferences count as any text instead of copies of their groups. */
const MAX_INSTRUCTIONS = 40_000;

/** Where a copied part of the program begins and ends. */
interface Part {
  readonly start: number;
  /** Whether an instruction ends the part. */
  readonly isEnd: (instruction: BacktrackInstruction) => boolean;
  /** The instruction of the copy that follows the part. */
  readonly out: number;
  /** How the backreference that the part replaces matches; `null`: it replaces none. */
  readonly reference: { readonly ignoreCase: boolean } | null;
}

/** Returns the simpler pattern's program. */
export function approximate(program: BacktrackProgram): Program {
  const opens = new Map<number, number>();
  program.instructions.forEach((instruction, pc) => {
    if (instruction.kind === 'open' && !opens.has(instruction.group)) opens.set(instruction.group, pc);
  });
  const simpler: Simpler = { program, instructions: [], opens };
  const out = push(simpler, { kind: 'match' });
  const start = copy(simpler, {
    start: program.start,
    isEnd: ({ kind }) => kind === 'match',
    out,
    reference: null,
  });
  return { start, instructions: simpler.instructions };
}

function push({ instructions }: Simpler, instruction: Instruction): number {
  return instructions.push(instruction) - 1;
}

/** Copies the part's instructions; returns the first of the copy. */
function copy(simpler: Simpler, part: Part): number {
  const { program, instructions } = simpler;
  const places = new Map<number, number>();
  const waiting: { readonly pc: number; readonly out: number }[] = [];
  /** The place of an instruction in the copy. */
  const placeOf = (pc: number, out: number): number => {
    const known = places.get(pc);
    if (known !== undefined) return known;
    const place = push(simpler, { kind: 'fail' });
    places.set(pc, place);
    waiting.push({ pc, out });
    return place;
  };
  const start = placeOf(part.start, part.out);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { pc, out } = next;
    const instruction = program.instructions[pc]!;
    const place = places.get(pc)!;
    if (part.isEnd(instruction) || instruction.kind === 'end') {
      instructions[place] = { kind: 'jump', out };
    } else if (instruction.kind === 'atomic') {
      const after = placeOf(instruction.out, out);
      instructions[place] = { kind: 'jump', out: placeOf(instruction.body, after) };
    } else if (instruction.kind === 'reference') {
      const after = placeOf(instruction.out, out);
      instructions[place] = { kind: 'jump', out: copyGroup(simpler, instruction, { after, part }) };
    } else {
      instructions[place] = simplified(instruction, { program, part, placeOf: (to) => placeOf(to, out) });
    }
  }
  return start;
}

/** Simplifies an instruction that is neither an end nor a backreference nor an atomic group. */
function simplified(
  instruction: BacktrackInstruction,
  from: {
    readonly program: BacktrackProgram;
    readonly part: Part;
    readonly placeOf: (pc: number) => number;
  },
): Instruction {
  const { program, part, placeOf } = from;
  if (!('out' in instruction)) return { kind: 'fail' };
  const out = placeOf(instruction.out);
  switch (instruction.kind) {
    case 'octet': {
      const set = program.sets[instruction.set]!;
      return { kind: 'character', out, ranges: part.reference?.ignoreCase === true ? folded(set) : set };
    }
    case 'split':
    case 'again':
      return { kind: 'split', out, other: placeOf(instruction.other) };
    case 'assert':
      // The group's text was matched elsewhere.
      return part.reference === null
        ? { kind: 'assert', out, flags: instruction.flags }
        : { kind: 'jump', out };
    default:
      return { kind: 'jump', out };
  }
}

function folded(set: OctetRanges): OctetRanges {
  return octetSet(withBothCases(set));
}

/** Copies the body of the group that a backreference names; returns the first instruction of the copy. */
function copyGroup(
  simpler: Simpler,
  { group, ignoreCase }: Extract<BacktrackInstruction, { readonly kind: 'reference' }>,
  { after, part }: { readonly after: number; readonly part: Part },
): number {
  const start = simpler.opens.get(group);
  if (start === undefined) return push(simpler, { kind: 'fail' });
  // A backreference inside the group of another one: any text, since a group may name itself.
  const isLarge = simpler.instructions.length > MAX_INSTRUCTIONS;
  if (part.reference !== null || isLarge) return anyText(simpler, after);
  return copy(simpler, {
    start,
    isEnd: (instruction) => instruction.kind === 'close' && instruction.group === group,
    out: after,
    reference: { ignoreCase },
  });
}

/** Any text before an instruction. */
function anyText(simpler: Simpler, out: number): number {
  const loop = push(simpler, { kind: 'fail' });
  const octet = push(simpler, { kind: 'character', out: loop, ranges: ANY });
  simpler.instructions[loop] = { kind: 'split', out: octet, other: out };
  return loop;
}

const ANY = octetSet([0, 0xff]);
