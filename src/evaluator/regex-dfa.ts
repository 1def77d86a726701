/** Runs the DFA that the compiler made of a regex (`plan/regex-dfa` has the layout). */
import {
  DFA_ASCII,
  DFA_ASTRAL_RUNS,
  DFA_BMP_RUNS,
  DFA_END,
  DFA_MATCHED,
  DFA_RUNS,
  DFA_START,
  DFA_TABLE,
} from '../plan/regex-dfa.ts';

/**
 * Whether the regex whose slice starts at `words[offset]` matches anywhere in `text`. One step a code point, whatever the
 * pattern and the text are; a lone surrogate is a code point of its own. Allocates nothing.
 */
export function dfaMatches(words: Uint16Array, offset: number, text: string): boolean {
  const ascii = offset + DFA_ASCII;
  const table = offset + words[offset + DFA_TABLE]!;
  let code = words[offset + DFA_START]!;
  const { length } = text;
  for (let i = 0; code > DFA_MATCHED && i < length; i++) {
    const unit = text.charCodeAt(i);
    let column: number;
    if (unit < 0x80) {
      column = (words[ascii + (unit >> 1)]! >> ((unit & 1) << 3)) & 0xff;
    } else {
      const point = text.codePointAt(i)!;
      if (point > 0xffff) i++;
      column = classOf(words, offset, point);
    }
    code = words[table + code + column]!;
  }
  return code !== 0 && code < words[offset + DFA_END]!;
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
