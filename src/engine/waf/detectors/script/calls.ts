/**
 * Calls of JavaScript that hide what they run: a dialog or `eval` with text put together from pieces, character codes or
 * Base64; a member of the global object with a computed name; a function made from a constructor; a call behind the end of
 * an argument. ECMAScript 2025 §13.3 (calls, optional chains, tagged templates), §19.2.1 (`eval`), §20.2.1 (`Function`).
 */

/** The longest name that is read, in characters. */
const LONGEST_NAME = 20;
/** The characters of arguments that are read. */
const LONGEST_ARGUMENTS = 64;
/** The longest computed name between square brackets. */
const LONGEST_MEMBER = 96;
/** The white space and signs that are skipped at most between a name and its bracket. */
const MOST_BETWEEN = 4;

/** Functions that run text as script. */
const RUNNERS: ReadonlySet<string> = new Set(['eval', 'execscript', 'settimeout', 'setinterval', 'function']);
/** Functions that show or write text. */
const WRITERS: ReadonlySet<string> = new Set(['alert', 'confirm', 'prompt', 'write', 'writeln']);
/** Functions that attacks call to show that they work. */
const DIALOGS: ReadonlySet<string> = new Set(['alert', 'confirm', 'prompt', 'eval']);
/** Names of the global object, and of the document. */
const GLOBALS: ReadonlySet<string> = new Set([
  'window',
  'self',
  'top',
  'parent',
  'frames',
  'globalthis',
  'this',
  'document',
]);

/** Texts in lower case of which every call and every member that is reported has one. */
export const CALL_TRIGGERS: readonly string[] = [
  ...['constructor', '__definegetter__'],
  ...RUNNERS,
  ...WRITERS,
  ...Array.from(GLOBALS, (name) => `${name}[`),
];

/** Beginnings of arguments, in lower case without white space, that hide text or read it from the page. */
const HIDDEN: readonly string[] = [
  'string.fromcharcode(',
  'string.fromcodepoint(',
  'atob(',
  'unescape(',
  'decodeuri(',
  'decodeuricomponent(',
  'document.cookie',
  'document.domain',
  'document.location',
  'document.url',
  'document[',
  'window.name',
  'window[',
  'location.hash',
  'location.search',
];

/** Parts of a computed name, in lower case. */
const COMPUTED: readonly string[] = [
  '.source',
  '\\x',
  '\\u',
  'tostring',
  'charat',
  'atob',
  'fromcharcode',
  'slice(',
];

const PIECES = 'script put together from pieces';
const MEMBER = 'computed member of the global object';
const BEHIND = 'script behind the end of an argument';

/** What is known of the text before a call. */
export interface Around {
  /** Whether the value closes a quote and a bracket that it has not opened: `x');`. */
  readonly escaped: boolean;
}

/** The construct of the call whose opening bracket or back quote is at `open`, or `null`. */
export function callConstruct(value: string, open: number, { escaped }: Around): string | null {
  const end = nameEnd(value, open);
  const start = nameStart(value, end);
  if (end - start < 4) return null;
  // PERF: most calls are rejected by their first letter.
  if (!mayBeListed(value.charCodeAt(start) | 0x20)) return null;
  const name = value.slice(start, end).toLowerCase();
  if (name === 'constructor') return isConstructed(value, start) ? 'function made from a constructor' : null;
  const isCall = value.charCodeAt(open) === 0x28;
  if (name === '__definegetter__') return isCall ? 'getter that runs script' : null;
  const runs = RUNNERS.has(name);
  if (!runs && !WRITERS.has(name)) return null;
  const text = argumentsAt(value, open);
  if (HIDDEN.some((hidden) => text.startsWith(hidden))) return 'call with hidden text';
  if (runs && (isJoined(text) || (name !== 'function' && isSumOfNames(text)))) return PIECES;
  return escaped && isCall && end === open && DIALOGS.has(name) ? BEHIND : null;
}

/** The place where the name before a bracket ends: before white space, `?.` and a closing bracket of its own. */
function nameEnd(value: string, open: number): number {
  let at = open;
  for (; at > 0 && at > open - MOST_BETWEEN; at--) {
    const code = value.charCodeAt(at - 1);
    if (code !== 0x20 && code !== 0x29 && code !== 0x2e && code !== 0x3f) break;
  }
  return at;
}

function nameStart(value: string, end: number): number {
  let at = end;
  while (at > 0 && at > end - LONGEST_NAME && isNamePart(value.charCodeAt(at - 1))) at--;
  return at;
}

function isNamePart(code: number): boolean {
  return ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a) || code === 0x5f;
}

/** Whether a listed name begins with a letter. */
function mayBeListed(first: number): boolean {
  return 'acefpsw_\x7f'.includes(String.fromCharCode(first));
}

/** Whether the `constructor` at `start` is that of another constructor. */
function isConstructed(value: string, start: number): boolean {
  return value
    .slice(Math.max(0, start - 13), start)
    .toLowerCase()
    .endsWith('constructor.');
}

/** The arguments behind `open` in lower case, without white space, opening brackets and `?` of optional chains. */
function argumentsAt(value: string, open: number): string {
  let text = '';
  const limit = Math.min(value.length, open + LONGEST_ARGUMENTS);
  for (let at = open + 1; at < limit; at++) {
    const code = value.charCodeAt(at);
    if (code <= 0x20 || code === 0x3f || (text === '' && code === 0x28)) continue;
    text += value.charAt(at);
  }
  return text.toLowerCase();
}

/** Whether arguments begin with two texts that are joined: `'al'+'ert(1)'`. */
function isJoined(text: string): boolean {
  const quote = text.charAt(0);
  if (quote !== "'" && quote !== '"') return false;
  const close = text.indexOf(quote, 1);
  if (close <= 1) return false;
  // In a query string that is decoded twice, a plus has become white space, which is left out.
  return text.charAt(close + (text.charAt(close + 1) === '+' ? 2 : 1)) === quote;
}

/** Whether the only argument is a sum of three names or more: `a+b+c`. */
function isSumOfNames(text: string): boolean {
  let names = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x2b) names++;
    else if (!isNamePart(code) && (code < 0x30 || code > 0x39)) return code === 0x29 && at > 0 && names >= 3;
  }
  return false;
}

/** The construct of a computed member of the global object at the `[` at `open`, or `null`: `window['al'+'ert'](1)`. */
export function memberConstruct(value: string, open: number): string | null {
  const start = nameStart(value, open);
  if (open - start < 3 || !GLOBALS.has(value.slice(start, open).toLowerCase())) return null;
  const end = closingSquare(value, open);
  if (end < 0) return null;
  const name = value.slice(open + 1, end).toLowerCase();
  return isSumOfTexts(name) || COMPUTED.some((part) => name.includes(part)) ? MEMBER : null;
}

/** Whether texts are joined in a name, by `+` or by the white space that a second decoding has made of it. */
function isSumOfTexts(name: string): boolean {
  const quote = name.includes("'") ? "'" : '"';
  const close = name.indexOf(quote, name.indexOf(quote) + 1);
  return close > 0 && (name.includes('+') || name.indexOf(quote, close + 1) > 0);
}

/** The place of the `]` that closes the `[` at `open`, if a call follows it; -1: none. */
function closingSquare(value: string, open: number): number {
  const limit = Math.min(value.length, open + LONGEST_MEMBER);
  let depth = 0;
  for (let at = open; at < limit; at++) {
    const code = value.charCodeAt(at);
    if (code === 0x5b) depth++;
    else if (code === 0x5d && --depth === 0) {
      const next = value.charCodeAt(at + 1);
      return next === 0x28 || next === 0x60 || next === 0x3f || next === 0x5b ? at : -1;
    }
  }
  return -1;
}
