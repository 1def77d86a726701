/** How many places of a program a search without a DFA may have to keep apart at once: the cost of its captures. */
import { type Alphabet, buildAlphabet } from './alphabet.ts';
import { startsAtTextBegin } from './literals.ts';
import { outsOf, type Program } from './program.ts';

/** Sets of places visited before the width of the whole program is returned. */
const MAX_SETS = 2_000;

/**
 * The most instructions that can be active at one place of any text. A backtracking search that remembers where it has
 * been, as `re2js` does for captures, visits no more than this for each character. Assertions are taken as passable,
 * and a match does not end the search, so the true number may be smaller. The program's size if there are too many
 * sets to look at.
 */
export function captureWidth(program: Program): number {
  const alphabet = buildAlphabet(program);
  const restart = startsAtTextBegin(program) ? [] : [program.start];
  const sets = new Map<string, readonly number[]>();
  let width = 0;
  const enter = (seeds: readonly number[]): void => {
    const active = close(program, seeds);
    width = Math.max(width, active.length);
    const reading = active.filter((pc) => program.instructions[pc]!.kind === 'character');
    const key = reading.join();
    if (!sets.has(key)) sets.set(key, reading);
  };
  enter([program.start]);
  for (const reading of sets.values()) {
    if (sets.size > MAX_SETS) return program.instructions.length;
    for (let column = 0; column < alphabet.classes; column++) {
      enter([...follow(program, reading, { alphabet, column }), ...restart]);
    }
  }
  return width;
}

function follow(
  program: Program,
  reading: readonly number[],
  { alphabet, column }: { alphabet: Alphabet; column: number },
): number[] {
  const taken = reading.filter((pc) => alphabet.takes.get(pc)![column] === 1);
  return taken.flatMap((pc) => outsOf(program.instructions[pc]!));
}

function close({ instructions }: Program, seeds: readonly number[]): number[] {
  const seen = new Set(seeds);
  for (const pc of seen) {
    const instruction = instructions[pc]!;
    if (instruction.kind === 'character') continue;
    for (const out of outsOf(instruction)) seen.add(out);
  }
  return [...seen].sort((a, b) => a - b);
}
