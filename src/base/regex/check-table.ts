/** Checks that words are a valid automaton table (`table.ts`): no text can make a step leave the table. */
import {
  DFA_ASCII,
  DFA_ASTRAL_RUNS,
  DFA_BMP_RUNS,
  DFA_END,
  DFA_FIRST_ROW,
  DFA_LENGTH,
  DFA_MATCHED,
  DFA_RUNS,
  DFA_START,
  DFA_TABLE,
} from './table.ts';

/**
 * What is wrong with the automaton whose slice starts at `words[offset]`, to follow "an automaton"; `null`: nothing. Looks
 * at each of its words once.
 */
export function dfaFault(words: Uint16Array, offset: number): string | null {
  const room = words.length - offset;
  if (room < DFA_RUNS || words[offset + DFA_LENGTH]! > room) return 'ends beyond the section it is in';
  const slice = words.subarray(offset, offset + words[offset + DFA_LENGTH]!);
  if (slice.length < DFA_RUNS) return 'is shorter than its own head';
  const runs = slice[DFA_BMP_RUNS]!;
  const astral = slice[DFA_ASTRAL_RUNS]!;
  const rows = DFA_RUNS + 2 * runs + 3 * astral;
  if (runs === 0 || astral === 0) return 'has no class for some characters';
  if (rows > slice.length || slice[DFA_TABLE] !== rows - DFA_FIRST_ROW) return 'has its table elsewhere';
  const classes = [
    slice.subarray(DFA_ASCII, DFA_RUNS),
    slice.subarray(DFA_RUNS + runs, DFA_RUNS + 2 * runs),
    slice.subarray(rows - astral, rows),
  ];
  // Codes from `DFA_FIRST_ROW` on name rows; the last column of the last row must lie inside.
  const last = slice.length - rows + DFA_FIRST_ROW - 1 - Math.max(...classes.map(greatest));
  const isCode = (code: number): boolean => code <= DFA_MATCHED || code <= last;
  if (!isCode(slice[DFA_START]!)) return 'starts outside its table';
  if (slice[DFA_END]! < DFA_FIRST_ROW) return 'has no first state that does not match';
  for (let at = rows; at < slice.length; at++) {
    if (!isCode(slice[at]!)) return 'leads out of its table';
  }
  return null;
}

function greatest(words: Uint16Array): number {
  return words.reduce((most, word) => Math.max(most, word), 0);
}
