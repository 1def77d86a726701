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

// Checks that words are a valid automaton table: no text can make a step leave the table.

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

// Runs the DFA that was built of a regex.

/** So many characters are read from the string itself; most texts are no longer and most regexes are decided by then. */
const NEAR = 64;
/** A request's path has at most 16 KiB octets (semantics §1.1), so no more UTF-16 units than that. */
const MAX_UNITS = 16_384;

/**
 * Whether the regex whose slice starts at `words[offset]` matches anywhere in `text`. One step a code point, whatever the
 * pattern and the text are; a lone surrogate is a code point of its own. Allocates nothing.
 */
export function dfaMatches(words: Uint16Array, offset: number, text: string): boolean {
  const ascii = offset + DFA_ASCII;
  const table = offset + words[offset + DFA_TABLE]!;
  const { length } = text;
  const near = length > MAX_UNITS ? length : Math.min(length, NEAR);
  let code = words[offset + DFA_START]!;
  let i = 0;
  for (; code > DFA_MATCHED && i < near; i++) {
    const unit = text.charCodeAt(i);
    let column: number;
    if (unit < 0x80) {
      column = words[ascii + unit]!;
    } else {
      const point = text.codePointAt(i)!;
      if (point > 0xffff) i++;
      column = classOf(words, offset, point);
    }
    code = words[table + code + column]!;
  }
  if (code > DFA_MATCHED && i < length) code = runOn(words, offset, text, i, code);
  return code !== 0 && code < words[offset + DFA_END]!;
}

/** Whether the regex matches every text that starts with `text`, which has at most `MAX_UNITS` units. Allocates nothing. */
export function dfaMatchesStart(words: Uint16Array, offset: number, text: string): boolean {
  const start = words[offset + DFA_START]!;
  return (start > DFA_MATCHED ? runOn(words, offset, text, 0, start) : start) === DFA_MATCHED;
}

// PERF: charCodeAt takes longer than the automaton's step, most of all on a string that was put together from parts
// (6.5 ns a character in all, against 2.5 ns over an array). A long path is tested against many regexes, so its units are
// read once and cached. The cache has two entries because a path and its form without parameters alternate.
interface Units {
  text: string;
  /** Index of the first unit that is not ASCII. */
  plain: number;
  readonly units: Uint16Array;
}
let recent: Units = { text: '', plain: 0, units: new Uint16Array(MAX_UNITS) };
let older: Units = { text: '', plain: 0, units: new Uint16Array(MAX_UNITS) };

function unitsOf(text: string): Units {
  if (recent.text === text) return recent;
  const last = recent;
  recent = older;
  older = last;
  if (recent.text !== text) {
    recent.text = text;
    recent.plain = text.length;
    for (let i = text.length - 1; i >= 0; i--) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) recent.plain = i;
      recent.units[i] = unit;
    }
  }
  return recent;
}

/** Goes on from unit `at` in state `from`; gives the last state's code. */
// PERF: five parameters, for an object to carry them would be allocated at each call.
function runOn(words: Uint16Array, offset: number, text: string, at: number, from: number): number {
  const ascii = offset + DFA_ASCII;
  const table = offset + words[offset + DFA_TABLE]!;
  const { units, plain } = unitsOf(text);
  const { length } = text;
  let code = from;
  let i = at;
  for (; i < plain; i++) {
    code = words[table + code + words[ascii + units[i]!]!]!;
    if (code <= DFA_MATCHED) return code;
  }
  for (; code > DFA_MATCHED && i < length; i++) {
    const unit = units[i]!;
    let column: number;
    if (unit < 0x80) {
      column = words[ascii + unit]!;
    } else {
      let point = unit;
      if ((unit & 0xfc00) === 0xd800 && i + 1 < length && (units[i + 1]! & 0xfc00) === 0xdc00) {
        point = 0x10000 + ((unit & 0x3ff) << 10) + (units[++i]! & 0x3ff);
      }
      column = classOf(words, offset, point);
    }
    code = words[table + code + column]!;
  }
  return code;
}

/** The class of any code point, for those who walk an automaton themselves. */
export function classAt(words: Uint16Array, offset: number, point: number): number {
  return point < 0x80 ? words[offset + DFA_ASCII + point]! : classOf(words, offset, point);
}

/** The class of a code point from 0x80 on: a binary search for the last run that starts at or before it. */
function classOf(words: Uint16Array, offset: number, point: number): number {
  const bmpRuns = words[offset + DFA_BMP_RUNS]!;
  const bmp = offset + DFA_RUNS;
  let low = 0;
  if (point <= 0xffff) {
    let high = bmpRuns;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (words[bmp + middle]! <= point) low = middle;
      else high = middle;
    }
    return words[bmp + bmpRuns + low]!;
  }
  const astral = bmp + 2 * bmpRuns;
  const runs = words[offset + DFA_ASTRAL_RUNS]!;
  const wanted = point - 0x10000;
  let high = runs;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (words[astral + middle]! * 0x10000 + words[astral + runs + middle]! <= wanted) low = middle;
    else high = middle;
  }
  return words[astral + 2 * runs + low]!;
}
