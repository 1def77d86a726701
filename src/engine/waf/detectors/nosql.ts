/**
 * Detects injection into document stores and caches: `detectNoSql` for `@detectNoSql`. Reports operators of MongoDB in
 * credentials (`password[$ne]`, `"password":{"$gt":""}`) or as a whole value, operators that run code (`$where`), JavaScript
 * behind a value (`' || 1==1`, `'; return true; var x='`), views of CouchDB and scripts of Elasticsearch, and lines of
 * commands for Redis, memcached and mail servers. Queries as ordinary interfaces accept them (`price[$gt]=5`,
 * `{"age":{"$gte":18}}`) are not reported. Sources: the manuals of these servers.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { isDigit, isSpace } from '../octets/latin1.ts';
import {
  beginTokens,
  isNamePart,
  NAME,
  NUMBER,
  newTokens,
  nextToken,
  SIGN,
  STRING,
} from './expression/tokens.ts';
import { serviceLine } from './nosql/lines.ts';

/** The kinds of octets (`base/octets/octet-kinds.ts`) of which every detected value has one. */
export const NOSQL_KINDS =
  KIND.dollar | KIND.apostrophe | KIND.quote | KIND.blank | KIND.bar | KIND.semicolon | KIND.ampersand;
/** The length in octets of the shortest value that is detected: `0;db.`. */
export const SHORTEST_NOSQL = 5;
/** Texts (`Detector.triggers`): an operator, what follows a value, keys of JSON with code, the line break before a command. */
export const NOSQL_TRIGGERS = ['$', ';', '||', '&&', '"map"', '"reduce"', '"script_fields"', '\n', '\r'];

/** The octets that are read before an operator, and the longest name of one. */
const LOOK_BACK = 48;
const LONGEST_OPERATOR = 16;

/** Operators that compare or combine. */
const OPERATORS: ReadonlySet<string> = new Set(
  'ne eq gt gte lt lte in nin regex exists not or and nor type options expr size mod all elemmatch comment'.split(
    ' ',
  ),
);
/** Operators that run JavaScript or read another collection. */
const CODE_OPERATORS: ReadonlySet<string> = new Set([
  'where',
  'function',
  'accumulator',
  'func',
  'lookup',
  'unionwith',
  'graphlookup',
]);
/** Names of arguments that authenticate. */
const CREDENTIALS: ReadonlySet<string> = new Set(
  `user username user_name login email mail pass password passwd passphrase passwort pwd pw psw pswd token otp pin secret reset_token
   resettoken api_key apikey apitoken code session auth uname`.split(/\s+/),
);

const OPERATOR = 'operator of a document store in a credential';
const CODE = 'code for a document store';
const CONDITION = 'JavaScript behind a value';

// PERF: one tokenizer for all calls. Calls are synchronous, and each resets all of its fields.
const tokens = newTokens();

/** Returns the construct found in `value` (Latin-1), or `null`. Takes linear time; never throws. */
export function detectNoSql(value: string): string | null {
  for (let at = value.indexOf('$'); at >= 0; at = value.indexOf('$', at + 1)) {
    const found = operatorAt(value, at);
    if (found !== null) return found;
  }
  return conditionIn(value) ?? scriptIn(value) ?? serviceLine(value);
}

/** Judges the operator whose `$` is at `at`. */
function operatorAt(value: string, at: number): string | null {
  let end = at + 1;
  while (end - at < LONGEST_OPERATOR && isNamePart(value.charCodeAt(end))) end++;
  const name = value.slice(at + 1, end).toLowerCase();
  if (CODE_OPERATORS.has(name)) return isCodeKey(value, at, end) ? CODE : null;
  if (!OPERATORS.has(name)) return null;
  if (isCredential(value, at) || isWholeValue(value, at, end)) return OPERATOR;
  return isAddedKey(value, at, end) ? 'condition of a document store behind a value' : null;
}

/** Whether `$where` is a key with code: a name (`$where`, `a[$where]`, `a.$where`) or a key of JSON with a string. */
function isCodeKey(value: string, at: number, end: number): boolean {
  const before = at === 0 ? '' : value.charAt(at - 1);
  const after = value.charAt(end);
  const named = before === '' || before === '[' || before === '.';
  if (named && (after === '' || after === ']' || after === '=' || after === '.')) return true;
  let next = '"\']'.includes(after) && after !== '' ? end + 1 : end;
  while (isSpace(value.charCodeAt(next))) next++;
  if (value.charAt(next) !== ':') return false;
  next++;
  while (isSpace(value.charCodeAt(next))) next++;
  const first = value.charAt(next).toLowerCase();
  return first !== '' && `"'\`f{`.includes(first);
}

/** Whether the operator belongs to a name of `CREDENTIALS`: `login[$ne]`, `login.$ne`, `"login":{"$ne"`. */
function isCredential(value: string, at: number): boolean {
  let place = at - 1;
  const stop = Math.max(0, at - LOOK_BACK);
  while (place >= stop && `[.]"'{: \t\r\n`.includes(value.charAt(place))) place--;
  if (place === at - 1 || place < stop) return false;
  const end = place + 1;
  while (place >= stop && isNamePart(value.charCodeAt(place))) place--;
  return CREDENTIALS.has(value.slice(place + 1, end).toLowerCase());
}

/** Whether the value is nothing but the operator with an operand that matches everything: `{"$gt":""}`, `{"$ne":null}`. */
function isWholeValue(value: string, at: number, end: number): boolean {
  if (at > 8 || value.length - end > 16) return false;
  // `[$ne]=1` as a value that a name is put before.
  if (at === 1 && value.charAt(0) === '[' && value.charAt(end) === ']') return true;
  const before = squeezed(value.slice(0, at));
  const after = squeezed(value.slice(end));
  if (before !== '{' && before !== '[{') return false;
  if (!after.startsWith(':')) return false;
  const operand = after.slice(1);
  if (value.startsWith('$regex', at) || value.startsWith('$REGEX', at)) return true;
  return ['', 'null', '1', '-1', '0', 'true', 'false', '.*', '^', '.', 'undefined'].includes(operand);
}

/** Whether the operator is a key behind a value that it leaves: `', $or: [`, `1, $or: [`. */
function isAddedKey(value: string, at: number, end: number): boolean {
  if (at > LOOK_BACK || !squeezed(value.slice(end, end + 8)).startsWith(':')) return false;
  const before = value.slice(0, at).trimEnd();
  if (!before.endsWith(',')) return false;
  const behind = before.slice(0, -1).trimEnd();
  return behind.length < 2 || `'"]}`.includes(behind.charAt(behind.length - 1));
}

/** A short text without white space, quotes and closing brackets, in lower case. */
function squeezed(text: string): string {
  let result = '';
  for (let at = 0; at < text.length; at++) {
    if (!isSpace(text.charCodeAt(at)) && !`"'}]`.includes(text.charAt(at)))
      result += text.charAt(at).toLowerCase();
  }
  return result;
}

/** Finds JavaScript behind the string or the number that a value is in. */
function conditionIn(value: string): string | null {
  const exit = exitOf(value);
  if (exit < 0) return null;
  beginTokens(tokens, value);
  tokens.at = exit;
  if (!nextToken(tokens)) return null;
  while (tokens.kind === SIGN && ')}'.includes(tokens.word)) if (!nextToken(tokens)) return null;
  const separator = value.charAt(tokens.start);
  if (separator === ';') return isStatement() ? CONDITION : null;
  if (separator !== '|' && separator !== '&') return null;
  if (value.charAt(tokens.at) !== separator) return null;
  tokens.at++;
  return isCondition() ? CONDITION : null;
}

/** The place where a value leaves the string or the number that it is in; -1: it does not. */
function exitOf(value: string): number {
  if (value.startsWith('||') || value.startsWith('&&')) return 0;
  const single = value.indexOf("'");
  const double = value.indexOf('"');
  const quote = single < 0 ? double : double < 0 ? single : Math.min(single, double);
  let digits = 0;
  while (isDigit(value.charCodeAt(digits))) digits++;
  if (digits > 0 && quote !== digits) return digits;
  return quote < 0 ? -1 : quote + 1;
}

/** Reads the next token; `false`: it is of another kind. */
function isNext(kind: number): boolean {
  return nextToken(tokens) && tokens.kind === kind;
}

/** Names that begin a statement which ends or delays the function of a query. */
function isStatement(): boolean {
  if (!isNext(NAME)) return false;
  const { word } = tokens;
  const { text, at } = tokens;
  if (word === 'return') {
    if (!nextToken(tokens)) return false;
    if (tokens.word === '(' && !nextToken(tokens)) return false;
    return tokens.kind === STRING || ['true', 'false', '1', 'this', '!'].includes(tokens.word);
  }
  if (word === 'sleep' || word === 'while' || word === 'for') return isCalled(text, at);
  if (word === 'if' || word === 'do') return text.includes('this.', at) || text.includes('sleep(', at);
  if (word === 'this' || word === 'db') return text.charAt(at) === '.';
  if (text.startsWith('=new', at)) return true;
  if (word !== 'var' && word !== 'let') return false;
  if (!isNext(NAME) || !nextToken(tokens) || tokens.word !== '=') return false;
  // `'; var x = '`: the quote that follows the value closes the string.
  if (!nextToken(tokens)) return false;
  return tokens.kind === NUMBER || tokens.kind === STRING || ["'", '"', 'new'].includes(tokens.word);
}

function isCalled(text: string, at: number): boolean {
  let next = at;
  while (isSpace(text.charCodeAt(next))) next++;
  return text.charCodeAt(next) === 0x28;
}

/** Whether a condition of JavaScript follows: `this.a`, `1==1`, `'a'=='a`, `true//`, `sleep(5)`. */
function isCondition(): boolean {
  if (!nextToken(tokens)) return false;
  const { word, kind, text, at } = tokens;
  if (word === 'this' && kind === NAME) return text.charAt(at) === '.' || text.charAt(at) === '[';
  if (word === 'sleep' && kind === NAME) return isCalled(text, at);
  if (word === 'function' || word === 'return') return kind === NAME;
  if (text.startsWith('//', at) || text.startsWith('<!--', at)) return word === 'true' || word === '1';
  if (kind === SIGN) return false;
  return nextToken(tokens) && tokens.word === '=' && text.charAt(tokens.at) === '=';
}

/** Keys of JSON whose value is code, and how that value begins: a view of CouchDB, a script of Elasticsearch. */
const SCRIPT_KEYS: readonly (readonly [key: string, pieces: readonly string[]])[] = [
  ['"map"', [':', '"function']],
  ['"reduce"', [':', '"function']],
  ['"script_fields"', [':', '{', '"']],
];

/** Finds a view of CouchDB or a script of Elasticsearch in JSON. */
function scriptIn(value: string): string | null {
  for (const [key, pieces] of SCRIPT_KEYS) {
    for (let at = value.indexOf(key); at >= 0; at = value.indexOf(key, at + key.length)) {
      if (startsWithPieces(value, at + key.length, pieces)) return CODE;
    }
  }
  return null;
}

/** Whether the pieces are at `at`, with white space between them. */
function startsWithPieces(value: string, at: number, pieces: readonly string[]): boolean {
  let next = at;
  for (const piece of pieces) {
    while (isSpace(value.charCodeAt(next))) next++;
    if (!value.startsWith(piece, next)) return false;
    next += piece.length;
  }
  return true;
}
