/**
 * Detects statements of SQL, whole or from the middle on: `@detectSqlStatement`. `detectSqli` finds what breaks out of a
 * quote or a number; this detector finds what an application never has for a value: a statement that names system objects
 * or changes the database, and the tail of a statement with a condition that is always true, a delay or a comment that cuts
 * off the rest. The value is tokenized as `detectSqli` does it, and one grammar for all dialects reads the tokens. The head
 * of a statement must be among the first tokens, so that most prose is rejected after a few words.
 */
import { KINDS } from '../../../base/octets/octet-kinds.ts';
import {
  delayTail,
  groupingTail,
  isCast,
  isComparison,
  keywordTail,
  logicTail,
  type Place,
  unionTail,
} from './sql-statement/conditions.ts';
import { isStacked, statementAt } from './sql-statement/statements.ts';
import {
  beginTokens,
  kindAt,
  MOST_TOKENS,
  nameAt,
  newTokens,
  readUpTo,
  type SqlContext,
  type SqlTokens,
} from './sql-statement/tokens.ts';
import { WORDS } from './sqli/lexicon.ts';
import {
  BAREWORD,
  CLOSE,
  COMMA,
  EXPRESSION,
  FUNCTION,
  GROUPING,
  isInWord,
  isLetter,
  isSpace,
  KEYWORD,
  LOGIC,
  NUMBER,
  OPEN,
  OPERATOR,
  SEMICOLON,
  STATEMENT,
  STRING,
  TYPE,
  UNION,
  VARIABLE,
} from './sqli/scan.ts';

/** The length in octets of the shortest value that is detected: a quote and an open comment. */
export const SHORTEST_STATEMENT = 3;

/** What separates the words of a statement: white space, controls, and signs; each detected value has one of them. */
export const STATEMENT_KINDS = separatorKinds();

function separatorKinds(): number {
  let kinds = 0;
  for (let code = 0; code < 256; code++) if (isSpace(code)) kinds |= KINDS[code]!;
  for (const sign of '()\'"/*#=;+|&<>@') kinds |= KINDS[sign.charCodeAt(0)]!;
  return kinds;
}

/** The tokens among which the head of a statement is. */
const HEAD = 12;

/** The statements behind a semicolon that are read at most. */
const MOST_STATEMENTS = 8;

/** Commands that are names in the lexicon, because prose has them. */
const COMMANDS: ReadonlySet<string> = new Set(['copy', 'restore', 'do']);

/** The kinds of words with which a head begins, as letters of the lexicon. */
const HEAD_KINDS = [LOGIC, EXPRESSION, STATEMENT, UNION, GROUPING, KEYWORD, FUNCTION].map((kind) =>
  String.fromCharCode(kind),
);

/**
 * Texts (`Detector.triggers`): words that begin a head, the signs of `AND` and `OR`, a comment, which may divide a word, and
 * a back quote, which may be inside of a name.
 */
export const STATEMENT_TRIGGERS: readonly string[] = [
  ...HEAD_KINDS.flatMap((kind) => (WORDS[kind] ?? '').toLowerCase().match(/\S+/g) ?? []),
  ...COMMANDS,
  ...['group', 'order', '&&', '||', '/*', '`'],
];

// PERF: one reading for all calls. Calls are synchronous, and each resets all of its fields.
const tokens: SqlTokens = newTokens();

const SINGLE = 0x27;
const DOUBLE = 0x22;

/**
 * Returns the construct of a statement in `value` (Latin-1), or `null`. Takes linear time: at most twelve readings of
 * `MOST_TOKENS` tokens, each after the first only if the value has a quote or a comment. Never throws.
 */
export function detectSqlStatement(value: string): string | null {
  const found = inContexts(value, false);
  if (found !== null || !value.includes('/*')) return found;
  const joined = withoutComments(value);
  return joined === value ? null : inContexts(joined, true);
}

/** Reads the value as it is, and as the rest of a string in each kind of quote. `altered`: comments were removed. */
function inContexts(value: string, altered: boolean): string | null {
  const found = inDialects(value, 0, altered);
  if (found !== null) return found;
  const inString = isLeft(value, "'") ? inDialects(value, SINGLE, altered) : null;
  if (inString !== null) return inString;
  const inDouble = isLeft(value, '"') ? inContext(value, { quote: DOUBLE, mysql: true }, altered) : null;
  return inDouble ?? inDollars(value, altered);
}

/** The most words before a quote that a value leaves; prose and code have more. */
const MOST_WORDS = 4;

/** Whether a value can be the rest of a string that its first `quote` ends: few words are before it, or it ends in a comment. */
function isLeft(value: string, quote: string): boolean {
  const end = value.indexOf(quote);
  let words = 0;
  for (let at = 1; at <= end; at++) {
    if (isSpace(value.charCodeAt(at)) && !isSpace(value.charCodeAt(at - 1))) words++;
    if (words > MOST_WORDS) return endsInComment(value);
  }
  return end >= 0;
}

/** The most octets of a comment at the end of a value: `-- -`, `--+x`. */
const LONGEST_COMMENT = 6;

/** Whether a value ends in a short comment, which takes the rest of a query away: sentences and code hardly do. */
function endsInComment(value: string): boolean {
  const tail = value.slice(-LONGEST_COMMENT);
  return tail.includes('--') || tail.includes('/*') || tail.endsWith('#');
}

/** Reads what is behind the first `$$`, which ends a string of PostgreSQL. */
function inDollars(value: string, altered: boolean): string | null {
  const dollars = value.indexOf('$$');
  if (dollars < 0) return null;
  return inContext(`'${value.slice(dollars + 2)}`, { quote: SINGLE, mysql: false }, altered);
}

/** Reads the value with the comments of ANSI SQL, and with those of MySQL if they differ. */
function inDialects(value: string, quote: number, altered: boolean): string | null {
  const found = inContext(value, { quote, mysql: false }, altered);
  if (found !== null || !tokens.scan.dialect) return found;
  return inContext(value, { quote, mysql: true }, altered);
}

/** Reads the value in one context. */
function inContext(value: string, context: SqlContext, altered: boolean): string | null {
  beginTokens(tokens, value, context);
  const head = headAt();
  if (head < 0) return null;
  readUpTo(tokens, MOST_TOKENS);
  return constructAt(head, altered) ?? stackedConstruct(head);
}

/** The place of the first token that begins a statement or a tail of one; -1: it is not among the first tokens. */
function headAt(): number {
  let named = false;
  for (let i = tokens.quoted ? 1 : 0; i < HEAD; i++) {
    if (!readUpTo(tokens, i + 1)) return commentedString() ? i : -1;
    switch (tokens.kind[i]) {
      case LOGIC:
      case EXPRESSION:
      case STATEMENT:
      case UNION:
      case GROUPING:
      case KEYWORD:
      case FUNCTION:
        return i;
      case BAREWORD:
        if (isCast(tokens, i - 1)) break;
        if (COMMANDS.has(nameAt(tokens, i)) || isPhrase(i)) return i;
        if (named || tokens.quoted) return -1;
        named = true;
        break;
      case NUMBER:
      case STRING:
      case VARIABLE:
      case OPEN:
      case CLOSE:
      case COMMA:
      case SEMICOLON:
        break;
      case OPERATOR:
        if (isAssignment(i)) return -1;
        break;
      case TYPE:
        if (!isCast(tokens, i - 1)) return -1;
        break;
      default:
        return -1;
    }
  }
  return -1;
}

/** Whether `GROUP BY` or `ORDER BY` is at `i`: the lexicon has their first words as names. */
function isPhrase(i: number): boolean {
  const name = nameAt(tokens, i);
  return (name === 'group' || name === 'order') && readUpTo(tokens, i + 2) && nameAt(tokens, i + 1) === 'by';
}

/** Whether a name and `=` precede: a filter, a setting or code, and no value of a query. */
function isAssignment(i: number): boolean {
  return kindAt(tokens, i - 1) === BAREWORD;
}

/** Whether the value is one word, a quote and an open comment: `admin'/*`. */
function commentedString(): boolean {
  return tokens.quoted && tokens.size === 1 && tokens.tail >= 0;
}

/** The construct of what begins with the token at `i`. */
function constructAt(i: number, altered: boolean): string | null {
  const place = placeOf(i);
  switch (kindAt(tokens, i)) {
    case 0:
      return isOpenComment() ? 'comment that cuts off the statement' : null;
    case LOGIC:
      return logicTail(tokens, i, place);
    case KEYWORD:
      return keywordTail(tokens, i, place) ?? (isStacked(tokens, i) ? statementAt(tokens, i) : null);
    case GROUPING:
      return groupingTail(tokens, i, place);
    case UNION:
      return unionTail(tokens, i, altered);
    case FUNCTION:
      return delayTail(tokens, i) ?? statementAt(tokens, i);
    case BAREWORD:
      if (isPhrase(i)) return groupingTail(tokens, i + 1, place);
      return place.named ? null : statementAt(tokens, i);
    default:
      return place.named && kindAt(tokens, i - 1) !== SEMICOLON ? null : statementAt(tokens, i);
  }
}

/** What is before the token at `i`. */
function placeOf(i: number): Place {
  let named = false;
  let compares = false;
  for (let at = 0; at < i; at++) {
    named ||= kindAt(tokens, at) === BAREWORD;
    compares ||= isComparison(tokens, at);
  }
  const opens = !named && !compares;
  return { opens, named, follows: opens && i > 0 };
}

/** The construct of a statement behind a later semicolon, one of the first `MOST_STATEMENTS`. */
function stackedConstruct(head: number): string | null {
  let statements = 0;
  for (let i = head; i + 1 < tokens.size && statements < MOST_STATEMENTS; i++) {
    if (!isStacked(tokens, i + 1)) continue;
    statements++;
    const found = statementAt(tokens, i + 1);
    if (found !== null) return found;
  }
  return null;
}

/** Whether the string before a comment has no white space, and the comment has no end: `admin"/*`. */
function isOpenComment(): boolean {
  const { text } = tokens.scan;
  const open = text.indexOf('/*', tokens.tail);
  if (open < 0 || open + 2 !== text.trimEnd().length) return false;
  for (let at = 0; at < tokens.end[0]!; at++) if (isSpace(text.charCodeAt(at))) return false;
  return true;
}

/**
 * The value without comments between letters, as a filter leaves it that removes comments (`un/**\/ion`), and without the
 * marks of MySQL's conditional comments, whose content is run.
 */
function withoutComments(value: string): string {
  let text = '';
  let from = 0;
  for (let open = value.indexOf('/*'); open >= 0; open = value.indexOf('/*', from)) {
    if (value.charCodeAt(open + 2) === 0x21) {
      text += `${value.slice(from, open)} `;
      from = afterVersion(value, open + 3);
      continue;
    }
    const close = value.indexOf('*/', open + 2);
    if (close < 0) break;
    const joins = isLetter(value.charCodeAt(open - 1)) && isLetter(value.charCodeAt(close + 2));
    text += value.slice(from, open) + (joins ? '' : ' ');
    from = close + 2;
  }
  return (text + value.slice(from)).replaceAll('*/', ' ');
}

/** The place after the digits of a version at `at`. */
function afterVersion(value: string, at: number): number {
  let end = at;
  while (end < at + 6 && isInWord(value.charCodeAt(end)) && !isLetter(value.charCodeAt(end))) end++;
  return end;
}
