/** Rules for clauses after a value: `GROUP BY`, `HAVING`, `INTO OUTFILE`, further members of a list. */
import { isCall } from './calls.ts';
import { endsValue } from './ending.ts';
import { BAREWORD, CLOSE, COMMENT, EXPRESSION, FUNCTION, KEYWORD, NUMBER, OPEN, STRING } from './kinds.ts';
import { wordNumber } from './lexicon.ts';
import type { Reading } from './reading.ts';
import { isLater, kindAt } from './reading.ts';
import { isQuery } from './statements.ts';

/** The keywords of clauses that have a rule. */
const FROM = wordNumber('FROM');
const HAVING = wordNumber('HAVING');
const LIMIT = wordNumber('LIMIT');
const WHERE = wordNumber('WHERE');
const OUTFILE = wordNumber('INTO OUTFILE');
const DUMPFILE = wordNumber('INTO DUMPFILE');
const ANALYSE = wordNumber('PROCEDURE ANALYSE');

/** Whether the tokens at `i`, after `GROUP BY` or `ORDER BY`, are columns rather than prose. */
export function isGrouping(reading: Reading, i: number): boolean {
  const next = kindAt(reading, i + 1);
  const from = reading.quoted || kindAt(reading, 0) === NUMBER || kindAt(reading, i - 2) === CLOSE;
  switch (kindAt(reading, i)) {
    case NUMBER:
      // `ORDER BY 5`
      return from ? next !== BAREWORD : next === COMMENT || next === 0;
    case FUNCTION:
      // `ORDER BY rand()`
      return next === OPEN;
    case BAREWORD:
      // `ORDER BY name--`
      return next === COMMENT ? endsValue(reading) : from && next !== BAREWORD;
    case OPEN:
      // `ORDER BY (…`
      return from;
    default:
      return false;
  }
}

/** Whether the keyword at `i` begins a clause of SQL rather than prose. */
export function isClause(reading: Reading, i: number): boolean {
  const { folded, scan, quoted } = reading;
  const next = kindAt(reading, i + 1);
  switch (folded.word[i]) {
    case OUTFILE:
    case DUMPFILE:
      // `INTO OUTFILE '…'`
      return next !== 0;
    case ANALYSE:
      // `PROCEDURE ANALYSE(…`
      return next === OPEN;
    case HAVING:
      // `HAVING 1=1`, `HAVING sum(…`
      return (
        scan.compares ||
        next === OPEN ||
        next === FUNCTION ||
        (next === NUMBER && kindAt(reading, i + 2) !== BAREWORD)
      );
    case WHERE:
      // `WHERE id=1`
      if (!scan.compares || i === 0) return false;
      if (isLater(reading, i, COMMENT) && endsValue(reading)) return true;
      return quoted ? next !== 0 : next === NUMBER || next === STRING || next === FUNCTION;
    case FROM:
      // `) FROM t WHERE a=b`
      return isLater(reading, i, KEYWORD) && kindAt(reading, i - 1) === CLOSE && scan.compares;
    case LIMIT:
      // `LIMIT 1--`
      return next === NUMBER && (quoted || isLater(reading, i, COMMENT));
    default:
      return false;
  }
}

/** Whether the tokens at `i`, after a comma that folding kept, are a member of an SQL list. */
export function isListed(reading: Reading, i: number): boolean {
  const next = kindAt(reading, i + 1);
  switch (kindAt(reading, i)) {
    case OPEN:
      // `, (SELECT …`
      return next === EXPRESSION || next === FUNCTION || (next === NUMBER && reading.quoted);
    case FUNCTION:
      // `, sleep(5)`
      return isCall(reading, i) || (next === OPEN && (reading.quoted || kindAt(reading, 0) === NUMBER));
    case EXPRESSION:
      // `, CASE WHEN …`
      return isQuery(reading, i);
    default:
      return false;
  }
}
