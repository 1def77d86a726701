/**
 * The layout of one regex's DFA in a plan: a slice of 16-bit words. The compiler writes it, the evaluator reads it.
 *
 * ```
 * word  0   length of the slice in words
 *       1   states are codes: 0 dead, 1 matched, from 2 on a row of the table; this is the start state's code
 *       2   first code whose state does not match at the end of the text; rows that do come first
 *       3   where the table starts, less 2, so that `table + code + class` is a transition
 *       4   B, the number of runs of code points in 0x80…0xFFFF
 *       5   A, the number of runs of code points from 0x10000 on
 *       6…  the classes of the code points 0…127
 *     134…  B first code points, ascending from 0x80; B classes
 *       …   A first code points less 0x10000, ascending from 0: A high words, A low words; A classes
 *       …   the table: one row of codes a state, one column a class
 * ```
 * A code is 2 + row × classes, so following a transition needs no multiplication. A run lasts until the next one starts.
 */
export const DFA_LENGTH = 0;
export const DFA_START = 1;
export const DFA_END = 2;
export const DFA_TABLE = 3;
export const DFA_BMP_RUNS = 4;
export const DFA_ASTRAL_RUNS = 5;
export const DFA_ASCII = 6;
export const DFA_RUNS = 134;

export const DFA_DEAD = 0;
export const DFA_MATCHED = 1;
/** The code of the table's first row. */
export const DFA_FIRST_ROW = 2;
