/**
 * Detects code of Python, Ruby, Perl, Lua and Node that reaches the process, a command, a file or the inside of the language:
 * `detectCode` for `@detectCode`, what hardly any code but that of attacks does; `detectCodeLine` for `@detectCodeLine`, a
 * line of code that reaches them in an ordinary way, too. The value is read as names, texts and marks. A chain of members
 * (`a.b`, `a["b"]`, `A::b`, `a:b`, `require('a').b`) is judged by its last two names and by the texts in its brackets.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { isAlphanumeric, isSpace, isUpper } from '../octets/latin1.ts';
import {
  type Inside,
  isDecoder,
  isHiddenName,
  isImport,
  isLoader,
  judgeCall,
  judgeMember,
  judgePassed,
  judgeText,
  type Link,
  newLink,
} from './code/judge.ts';
import { CODE_TRIGGERS, KEYWORDS, SENTENCE } from './code/vocabulary.ts';

/** Every detected value has a bracket, a text, or a member. */
export const CODE_KINDS =
  KIND.round |
  KIND.square |
  KIND.curly |
  KIND.quote |
  KIND.apostrophe |
  KIND.backtick |
  KIND.dot |
  KIND.slash |
  KIND.colon |
  KIND.angle |
  KIND.bar |
  KIND.percent |
  KIND.other |
  KIND.blank;
/** The length in octets of the shortest value that is detected: `qx(a`. */
export const SHORTEST_CODE = 4;

/** The octets of a value that are read, and the octets of the text that it breaks out of. */
const REACH = 2_048;
const LONGEST_QUOTED = 32;
/** The most lines of a value that is reported, without and with ordinary code. */
const MOST_LINES = 2;
const MOST_LINES_BROAD = 3;
/** The octets of a text that are compared. */
const LONGEST_TEXT = 64;
/** The most brackets that are open. */
const MOST_OPEN = 32;

/** Returns the construct found in `value` (Latin-1), or `null`. Takes linear time; never throws. */
export function detectCode(value: string): string | null {
  return detect(value, false);
}

/** Returns the construct found, or `null`, as `detectCode` does, but for ordinary lines of code, too. */
export function detectCodeLine(value: string): string | null {
  return detect(value, true);
}

function detect(value: string, broad: boolean): string | null {
  const limit = Math.min(value.length, REACH);
  const found = read(value, 0, limit, broad) ?? behindQuote(value, limit, broad);
  // A name without a mark beside it is a word: the prefilter leaves such values out.
  return found !== null && hasTrigger(value) ? found : null;
}

function hasTrigger(value: string): boolean {
  const lower = value.toLowerCase();
  return CODE_TRIGGERS.some((trigger) => lower.includes(trigger));
}

/** The construct behind the quote with which a value breaks out of a string of the program. */
function behindQuote(value: string, limit: number, broad: boolean): string | null {
  let quote = 0;
  while (quote < LONGEST_QUOTED && quote < limit && !isQuote(value[quote]) && value[quote] !== ' ') quote++;
  return quote < limit && isQuote(value[quote]) ? read(value, quote + 1, limit, broad) : null;
}

function isQuote(mark: string | undefined): boolean {
  return mark === "'" || mark === '"';
}

/** A bracket that is open: the chain before it, and what it has inside. */
interface Bracket extends Inside {
  readonly mark: string;
  readonly before: Link;
}

// PERF: one state for all calls. Calls are synchronous, and each resets all of its fields.
const link = newLink();
const brackets: Bracket[] = [];
/** The last construct, and the words of sentences. */
const state = { found: null as string | null, prose: 0, wordEnd: -1, wasPlain: false, openTo: [0, 0, 0, 0] };

/** Marks that begin texts; by each, `openTo` is the place up to which none is closed. */
const CLOSES = '"\'`[';

/** Reads `value` from `from` to `limit`; `null`: a sentence, or code without anything that is searched. */
function read(value: string, from: number, limit: number, broad: boolean): string | null {
  brackets.length = 0;
  state.found = null;
  state.prose = 0;
  state.wordEnd = -1;
  state.wasPlain = false;
  state.openTo.fill(0);
  clear();
  let lines = 0;
  for (let at = from; at < limit; ) {
    const code = value.charCodeAt(at);
    if (isSpace(code)) {
      if (code === 0x0a && ++lines > (broad ? MOST_LINES_BROAD : MOST_LINES)) return null;
      at++;
    } else if (isNameStart(code)) {
      at = readName(value, at, broad);
      if (state.prose > 0) return null;
    } else if (isText(value, at)) at = readText(value, at, limit, broad);
    else at = readMark(value, at, broad);
    if (state.found !== null && state.prose > 0) return null;
  }
  return state.found;
}

function clear(): void {
  link.owner = '';
  link.member = '';
  link.imported = false;
  link.reflective = 0;
  link.length = 0;
}

function note(found: string | null): void {
  state.found ??= found;
}

function isNameStart(code: number): boolean {
  return isUpper(code & ~32) || code === 0x5f || code >= 0x80;
}

function isNamePart(code: number): boolean {
  return isAlphanumeric(code) || code === 0x5f || code >= 0x80;
}

/** Reads the name at `at` into the chain, or as a word of a sentence; returns the place behind it. */
function readName(value: string, at: number, broad: boolean): number {
  let end = at;
  while (end < value.length && isNamePart(value.charCodeAt(end))) end++;
  const name = value.slice(at, Math.min(end, at + LONGEST_TEXT));
  if (link.member !== '' && joins(value, at)) {
    link.owner = link.member;
    link.member = name;
    link.length++;
    note(judgeMember(link, broad));
    if (isPassed(value, end)) {
      const isJoined = at - link.owner.length > 1 || end < value.length;
      note(judgePassed(link, brackets.length > 0, isJoined, broad));
    }
  } else {
    countWord(value, at, end, name);
    clear();
    link.member = name;
    link.length = 1;
    const inside = brackets.at(-1);
    if (inside !== undefined) inside.empty = false;
    if (inside !== undefined && isGlobal(name)) inside.global = true;
    if (broad) note(judgeName(value, at, end, name));
  }
  if (isCommandText(value, at, end, name)) note('text that is run as a command');
  return end;
}

/** What a name reaches that no call of it follows: a list of variables, an evaluator as an argument. */
function judgeName(value: string, at: number, end: number, name: string): string | null {
  const mark = value.charAt(at - 1);
  if (name === 'ENV' && mark === '%') return 'environment of the process';
  if (name === 'ARGV' && mark === '@' && value.includes('<>', end)) return 'files named by a list';
  if (name === 'LOAD_PATH' && mark === '$') return 'table of modules';
  const isEvaluator = name === 'eval' || name === 'exec';
  if (isEvaluator && (value.startsWith(':true', end) || (brackets.length > 0 && isPassed(value, end))))
    return 'evaluator as an argument';
  return '([.'.includes(value.charAt(end)) &&
    end < value.length &&
    value.slice(Math.max(0, at - 6), at).endsWith('eval ')
    ? 'text that is computed and run'
    : null;
}

/** Whether the end of an argument, of a statement or of the value is at `at`. */
function isPassed(value: string, at: number): boolean {
  return at >= value.length || ',)};/'.includes(value.charAt(at));
}

function isGlobal(name: string): boolean {
  return (
    name === '_G' ||
    name === '_ENV' ||
    name === 'global' ||
    name === 'globalThis' ||
    name === '__file__' ||
    name === '__builtins__' ||
    name === 'Function'
  );
}

/** Whether a name at `at` is a member of the chain before it. */
function joins(value: string, at: number): boolean {
  const mark = value.charAt(at - 1);
  return mark === '.' || mark === ':' || (mark === '>' && value[at - 2] === '-');
}

/** Counts a word of a sentence: beside another word that is no keyword. */
function countWord(value: string, at: number, end: number, name: string): void {
  const isKeyword = KEYWORDS.has(name);
  const isBeside = state.wordEnd >= 0 && state.wordEnd === at - 1 && value[at - 1] === ' ';
  const isPlain = !isKeyword && name.length > 1;
  const isSentence = isBetweenBlanks(value, at, end) && SENTENCE.has(name.toLowerCase());
  if ((isBeside && isPlain && state.wasPlain) || isSentence) state.prose++;
  state.wordEnd = end;
  state.wasPlain = isPlain;
}

/** Whether a word is at the beginning or behind a blank, and another one behind it. */
function isBetweenBlanks(value: string, at: number, end: number): boolean {
  return (at === 0 || value[at - 1] === ' ') && value[end] === ' ' && isNameStart(value.charCodeAt(end + 1));
}

/** Whether Perl's `qx` or Ruby's `%x` with its delimiter is at `at`. */
function isCommandText(value: string, at: number, end: number, name: string): boolean {
  if (name === 'x' ? value[at - 1] !== '%' || isAlphanumeric(value.charCodeAt(at - 2)) : name !== 'qx')
    return false;
  const next = value.charCodeAt(end + 1);
  return (
    end + 1 < value.length &&
    '/{[(|!<'.includes(value.charAt(end)) &&
    (isUpper(next & ~32) || '/#$`'.includes(value.charAt(end + 1)))
  );
}

/** Whether a text begins at `at`: with a quote, or with the long bracket of Lua behind a name. */
function isText(value: string, at: number): boolean {
  const mark = value.charAt(at);
  if (mark === '"' || mark === '`') return true;
  if (mark === "'") return !isNamePart(value.charCodeAt(at - 1)) || link.member !== '';
  return mark === '[' && value[at + 1] === '[' && link.member !== '';
}

/** Reads the text at `at`: of a bracket, or of a call without one; returns the place behind it. */
function readText(value: string, at: number, limit: number, broad: boolean): number {
  const mark = value.charAt(at);
  const close = mark === '[' ? ']]' : mark;
  const start = at + close.length;
  const end = start >= state.openTo[CLOSES.indexOf(mark)]! ? textEnd(value, start, limit, close) : limit;
  if (end >= limit) {
    // The text of the program that the value breaks out of: what is inside may be code as well.
    state.openTo[CLOSES.indexOf(mark)] = limit;
    clear();
    return start;
  }
  const text = value.slice(start, Math.min(end, start + LONGEST_TEXT));
  if (link.member !== '' && isCallPlace(value, at)) {
    if (isImport(link, textOf(text))) return end + close.length;
    note(judgeText(link, text, broad));
  }
  addText(text);
  clear();
  link.member = '""';
  link.length = 1;
  state.wordEnd = -1;
  return end + close.length;
}

/** The place of the mark that closes a text; `limit`: absent. */
function textEnd(value: string, from: number, limit: number, close: string): number {
  for (let at = from; at < limit; at++) {
    if (value[at] === '\\' && close !== ']]') at++;
    else if (value[at] === close[0] && (close.length === 1 || value[at + 1] === ']')) return at;
  }
  return limit;
}

/** Whether the text at `at` directly follows a name, with one blank between at most. */
function isCallPlace(value: string, at: number): boolean {
  const before = value[at - 1] === ' ' ? at - 2 : at - 1;
  return before >= 0 && isNamePart(value.charCodeAt(before));
}

function textOf(text: string): Inside {
  return {
    text,
    pieces: 1,
    piped: false,
    decoded: false,
    global: false,
    empty: false,
    computed: false,
    spaced: false,
  };
}

function addText(text: string): void {
  const inside = brackets.at(-1);
  if (inside === undefined) return;
  inside.pieces++;
  inside.empty = false;
  if (inside.text.length < LONGEST_TEXT) inside.text += text;
  inside.piped ||=
    text === '-|' || text === '|-' || (text.length > 1 && (text.startsWith('|') || text.endsWith('|')));
}

/** Reads the mark at `at`; returns the place behind it. */
function readMark(value: string, at: number, broad: boolean): number {
  const mark = value.charAt(at);
  state.wordEnd = mark === ',' ? -1 : state.wordEnd;
  switch (mark) {
    case '(':
    case '[':
      if (isSpace(value.charCodeAt(at - 1)) && !isCallPlace(value, at)) clear();
      open(mark, value[at - 1] === ' ');
      return at + 1;
    case ')':
    case ']':
      closeBracket(value, at, broad);
      return at + 1;
    case '.':
    case ':':
    case '?':
      return at + 1;
    case '-':
      return value[at + 1] === '>' ? at + 2 : unlinked(at);
    case '@':
      if (isInterpolation(value, at)) note('code in a text of Perl');
      if (isDecorator(value, at)) note('decorator that runs a text');
      return unlinked(at);
    default:
      return unlinked(at);
  }
}

function unlinked(at: number): number {
  clear();
  return at + 1;
}

function open(mark: string, spaced: boolean): void {
  if (brackets.length < MOST_OPEN)
    brackets.push({
      ...textOf(''),
      pieces: 0,
      empty: true,
      computed: false,
      spaced,
      mark,
      before: { ...link },
    });
  clear();
}

/** Closes the bracket that was opened last, and judges its call. */
function closeBracket(value: string, at: number, broad: boolean): void {
  const bracket = brackets.pop();
  if (bracket === undefined) {
    clear();
    return;
  }
  Object.assign(link, bracket.before);
  const around = brackets.at(-1);
  if (around !== undefined) around.empty = false;
  if (bracket.mark === '[') {
    if (isHiddenName(link, bracket)) note('member of a hidden name');
    if (bracket.pieces > 0 && link.member !== '' && bracket.text !== '') {
      link.owner = link.member;
      link.member = bracket.text;
      link.length++;
      note(judgeMember(link, broad));
    } else if (around !== undefined && link.member === '') {
      // A list of arguments: `run(['ls'])`.
      around.text ||= bracket.text;
      around.pieces += bracket.pieces;
    }
    if (link.member === '') link.member = '[]';
    return;
  }
  if (link.member === '') {
    // A group, or the result of a call that is called.
    if (around !== undefined && around.text === '') around.text = bracket.text;
    link.member = '()';
    link.length = 1;
    return;
  }
  note(judgeCall(link, bracket, broad));
  if (isImport(link, bracket)) return;
  const isLoad = isLoader(link) && link.length === 1 && (link.member !== 'assert' || bracket.decoded);
  if (isLoad && bracket.pieces > 0 && value[at + 1] === '(') note('text that is run');
  if (around === undefined) return;
  around.computed = true;
  if (isDecoder(link, bracket) || bracket.decoded) around.decoded = true;
}

/** Whether an expression in a text of Perl that runs a call is at `at`: `@{[ f() ]}`. */
function isInterpolation(value: string, at: number): boolean {
  if (!value.startsWith('@{[', at)) return false;
  const inner = value.slice(at + 3, at + LONGEST_TEXT);
  return inner.includes('(') || inner.includes('`') || inner.includes('<');
}

/** Whether a line of `at` alone decorates a class or a function of Python with `exec` or `eval`. */
function isDecorator(value: string, at: number): boolean {
  return value.startsWith('@exec\n', at) || value.startsWith('@eval\n', at);
}
