/** The clauses that can follow a value: `GROUP BY`, `HAVING`, `INTO OUTFILE`, more of a list. */
import { isCall } from './calls.ts';
import { endsValue } from './ending.ts';
import { BAREWORD, CLOSE, COMMENT, EXPRESSION, FUNCTION, KEYWORD, NUMBER, OPEN, STRING } from './kinds.ts';
import { wordNumber } from './lexicon.ts';
import type { Reading } from './reading.ts';
import { isLater, kindAt } from './reading.ts';
import { isQuery } from './statements.ts';

const FROM = wordNumber('FROM');
const HAVING = wordNumber('HAVING');
const LIMIT = wordNumber('LIMIT');
const WHERE = wordNumber('WHERE');
const OUTFILE = wordNumber('INTO OUTFILE');
const DUMPFILE = wordNumber('INTO DUMPFILE');
const ANALYSE = wordNumber('PROCEDURE ANALYSE');

/** What stands after `GROUP BY` or `ORDER BY`. */
export function isGrouping(reading: Reading, i: number): boolean {
  const next = kindAt(reading, i + 1);
  const from = reading.quoted || kindAt(reading, 0) === NUMBER || kindAt(reading, i - 2) === CLOSE;
  switch (kindAt(reading, i)) {
    case NUMBER:
      return from ? next !== BAREWORD : next === COMMENT || next === 0;
    case FUNCTION:
      return next === OPEN;
    case BAREWORD:
      return next === COMMENT ? endsValue(reading) : from && next !== BAREWORD;
    case OPEN:
      return from;
    default:
      return false;
  }
}

export function isClause(reading: Reading, i: number): boolean {
  const { folded, scan, quoted } = reading;
  const next = kindAt(reading, i + 1);
  switch (folded.word[i]) {
    case OUTFILE:
    case DUMPFILE:
      return next !== 0;
    case ANALYSE:
      return next === OPEN;
    case HAVING:
      return (
        scan.compares ||
        next === OPEN ||
        next === FUNCTION ||
        (next === NUMBER && kindAt(reading, i + 2) !== BAREWORD)
      );
    case WHERE:
      if (!scan.compares || i === 0) return false;
      if (isLater(reading, i, COMMENT) && endsValue(reading)) return true;
      return quoted ? next !== 0 : next === NUMBER || next === STRING || next === FUNCTION;
    case FROM:
      return isLater(reading, i, KEYWORD) && kindAt(reading, i - 1) === CLOSE && scan.compares;
    case LIMIT:
      return next === NUMBER && (quoted || isLater(reading, i, COMMENT));
    default:
      return false;
  }
}

/** What stands after a comma that lists could not be folded over. */
export function isListed(reading: Reading, i: number): boolean {
  const next = kindAt(reading, i + 1);
  switch (kindAt(reading, i)) {
    case OPEN:
      return next === EXPRESSION || next === FUNCTION || (next === NUMBER && reading.quoted);
    case FUNCTION:
      return isCall(reading, i) || (next === OPEN && (reading.quoted || kindAt(reading, 0) === NUMBER));
    case EXPRESSION:
      return isQuery(reading, i);
    default:
      return false;
  }
}
