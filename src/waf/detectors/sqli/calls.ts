/** Calls of functions that everyday text does not have. */
import { endsValue } from './ending.ts';
import { ADJACENT, COMMENT, FUNCTION, LOGIC, OPEN, VARIABLE } from './kinds.ts';
import { isOrdinary, wordNumber } from './lexicon.ts';
import type { Reading } from './reading.ts';
import { isLater, kindAt } from './reading.ts';

const DATABASE = wordNumber('DATABASE');
const IF = wordNumber('IF');
const SCHEMA = wordNumber('SCHEMA');
const USER = wordNumber('USER');
const VERSION = wordNumber('VERSION');

/** Whether a call stands at `i` that everyday text does not have. */
export function isCall(reading: Reading, i: number): boolean {
  const { folded } = reading;
  if (kindAt(reading, i) !== FUNCTION || kindAt(reading, i + 1) !== OPEN) return false;
  if (isCall(reading, i + 2) || isSystemValue(reading, i + 2)) return true;
  return !isOrdinary(folded.word[i]!) && (folded.flags[i + 1]! & ADJACENT) !== 0;
}

/** `LENGTH(version())`, `MID(@@hostname, …`: what the database says of itself, handed to a function. */
function isSystemValue({ folded, scan }: Reading, i: number): boolean {
  if (i >= folded.size) return false;
  const word = folded.word[i]!;
  if (folded.kind[i] === FUNCTION)
    return word === VERSION || word === DATABASE || word === USER || word === SCHEMA;
  return folded.kind[i] === VARIABLE && word === 0 && scan.text.startsWith('@@', folded.start[i]!);
}

/** Whether such a call stands anywhere from `i` on. */
export function hasCall(reading: Reading, i: number): boolean {
  for (let at = i; at < reading.folded.size; at++) if (isCall(reading, at)) return true;
  return false;
}

/** A call of any function with a condition or a comment after it. */
export function isCalledFurther(reading: Reading): boolean {
  const { scan } = reading;
  if (kindAt(reading, 1) !== OPEN) return false;
  if (isLater(reading, 2, COMMENT) && endsValue(reading)) return scan.names === 0;
  return (
    isLater(reading, 2, LOGIC) &&
    (scan.constant ||
      (scan.compares && scan.names === 0 && reading.folded.word[0] !== IF) ||
      hasCall(reading, 2))
  );
}
