/**
 * Which texts a pattern cannot match, by the kinds of octets they contain alone: one that must read a quote or a `;`
 * somewhere does not match a text without that octet.
 */
import { KIND_BITS, KINDS } from '../octets/octet-kinds.ts';
import { contains, outsOf, type Program } from './program.ts';

/**
 * Kinds of octets, a bit each, of which every text that the pattern matches holds one; -1: nothing is known. The other kinds are as
 * many as can be had, the most ordinary ones first. Assertions are taken as passable.
 */
export function kindsNeeded(program: Program): number {
  const taken = kindsTaken(program);
  let harmless = 0;
  for (const kind of KIND_BITS) {
    if (!matchesWithin(program, taken, harmless | kind)) harmless |= kind;
  }
  return ~harmless;
}

/** For each instruction, the kinds of octets it takes. */
function kindsTaken(program: Program): Int32Array {
  const known = new Map<readonly number[], number>();
  return Int32Array.from(program.instructions, (instruction) => {
    if (instruction.kind !== 'character') return 0;
    let kinds = known.get(instruction.ranges);
    if (kinds === undefined) {
      kinds = 0;
      for (let octet = 0; octet < 256; octet++)
        if (contains(instruction.ranges, octet)) kinds |= KINDS[octet]!;
      known.set(instruction.ranges, kinds);
    }
    return kinds;
  });
}

/** Whether some text of these kinds of octets alone may match. */
function matchesWithin(program: Program, taken: Int32Array, kinds: number): boolean {
  const seen = new Uint8Array(program.instructions.length);
  const open = [program.start];
  seen[program.start] = 1;
  for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
    const instruction = program.instructions[pc]!;
    if (instruction.kind === 'match') return true;
    if (instruction.kind === 'character' && (taken[pc]! & kinds) === 0) continue;
    for (const out of outsOf(instruction)) {
      if (seen[out] === 1) continue;
      seen[out] = 1;
      open.push(out);
    }
  }
  return false;
}
