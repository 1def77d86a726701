/** Rules for function calls: which calls occur in SQL and hardly ever in ordinary text. */
import { endsValue } from './ending.ts';
import { ADJACENT, COMMENT, FUNCTION, LOGIC, OPEN, VARIABLE } from './kinds.ts';
import { isOrdinary, wordNumber } from './lexicon.ts';
import type { Reading } from './reading.ts';
import { isLater, kindAt } from './reading.ts';

/** Functions that return a property of the database, and `IF`. */
const DATABASE = wordNumber('DATABASE');
const IF = wordNumber('IF');
const SCHEMA = wordNumber('SCHEMA');
const USER = wordNumber('USER');
const VERSION = wordNumber('VERSION');

/** Whether the folded tokens at `i` are a call of a function that ordinary text does not call. */
export function isCall(reading: Reading, i: number): boolean {
  const { folded } = reading;
  if (kindAt(reading, i) !== FUNCTION || kindAt(reading, i + 1) !== OPEN) return false;
  if (isCall(reading, i + 2) || isSystemValue(reading, i + 2)) return true;
  return !isOrdinary(folded.word[i]!) && (folded.flags[i + 1]! & ADJACENT) !== 0;
}

/** Whether the argument at `i` is a property of the database: `LENGTH(version())`, `MID(@@hostname, …`. */
function isSystemValue({ folded, scan }: Reading, i: number): boolean {
  if (i >= folded.size) return false;
  const word = folded.word[i]!;
  if (folded.kind[i] === FUNCTION)
    return word === VERSION || word === DATABASE || word === USER || word === SCHEMA;
  return folded.kind[i] === VARIABLE && word === 0 && scan.text.startsWith('@@', folded.start[i]!);
}

/** Whether any tokens from `i` on are such a call. */
export function hasCall(reading: Reading, i: number): boolean {
  for (let at = i; at < reading.folded.size; at++) if (isCall(reading, at)) return true;
  return false;
}

/** Whether the value begins with a call of any function, followed by a condition or a final comment. */
export function isCallWithTail(reading: Reading): boolean {
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
