/**
 * Event attributes anywhere in a value, without the tag that they belong to: `onfocus=alert(1)` behind a closing quote, at
 * the beginning of a value, or in a tag that HTML would read otherwise. The name alone is no sign, since prose and code
 * have `once =` and `onload =`: the value must be code, and the place one where an attribute can be.
 */
import { EVENTS } from '../xss/events.ts';

/** The longest name of an attribute, in characters; the longest event has 26 and `on`. */
const LONGEST_NAME = 40;
/** The characters of a value that are read. */
const LONGEST_VALUE = 128;
/** The white space that is skipped at most on each side of `=`. */
const MOST_SPACE = 16;

/** Texts in lower case that only script in a page has: dialogs, its objects, escapes in names. */
const SINKS: readonly string[] = [
  'alert',
  'confirm',
  'prompt',
  'eval',
  'print(',
  'print`',
  'document.',
  'document[',
  'window.',
  'window[',
  'self[',
  'top[',
  'parent[',
  'this[',
  'location',
  'javascript:',
  'fromcharcode',
  'settimeout',
  'import(',
  'fetch(',
  'constructor',
  'throw',
  '\\u00',
  '\\u{',
  '\\x',
  '&#',
  '&lpar',
];

/** What a value is: no code; code of any program; code that only a page runs. */
const NO_CODE = 0;
const CODE = 1;
const PAGE_CODE = 2;

/** What is known of the text before an attribute. */
export interface Before {
  /** Whether a tag is open: a `<` and a letter without `>` since. */
  readonly inTag: boolean;
  /** Whether an attribute can be here: a quote, a `<` or another attribute precedes. */
  readonly broken: boolean;
}

/** Whether the `=` at `equals` belongs to an event attribute that runs script. */
export function isEventAttribute(value: string, equals: number, { inTag, broken }: Before): boolean {
  const end = skipSpaceBack(value, equals);
  const start = nameStart(value, end);
  if (!beginsWithOn(value, start, end) || !isAttributePlace(value, start)) return false;
  const code = codeAt(value, equals + 1);
  if (code === NO_CODE) return false;
  if (!EVENTS.has(nameOf(value, start, end).slice(2))) return inTag && code === PAGE_CODE;
  if (inTag || code === PAGE_CODE) return true;
  const spaced = end < equals || isSpace(value.charCodeAt(equals + 1));
  return !spaced && (start === 0 || (broken && isQuote(value.charCodeAt(skipSpaceBack(value, start) - 1))));
}

/** The place after the last character before the white space and NULs that end at `end`. */
function skipSpaceBack(value: string, end: number): number {
  let at = end;
  while (at > 0 && at > end - MOST_SPACE && isSpace(value.charCodeAt(at - 1))) at--;
  return at;
}

/** The place where the letters, digits and NULs begin that end at `end`. */
function nameStart(value: string, end: number): number {
  let at = end;
  while (at > 0 && at > end - LONGEST_NAME && isNamePart(value.charCodeAt(at - 1))) at--;
  while (at < end && value.charCodeAt(at) === 0) at++;
  return at;
}

/** White space of HTML, vertical tab, or NUL. */
function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0;
}

function isLetter(code: number): boolean {
  return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
}

function isNamePart(code: number): boolean {
  return isLetter(code) || code === 0 || (code >= 0x30 && code <= 0x39) || code === 0x5f;
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27 || code === 0x60;
}

/** Whether a name begins with `on` and three letters. PERF: most names are rejected here, before a string is cut. */
function beginsWithOn(value: string, start: number, end: number): boolean {
  if (end - start < 5) return false;
  if ((value.charCodeAt(start) | 0x20) !== 0x6f) return false;
  const second = value.charCodeAt(start + 1);
  return ((second | 0x20) === 0x6e || second === 0) && isLetter(value.charCodeAt(end - 1));
}

/** Whether an attribute can begin at `start`: at the beginning, or behind white space, a quote or a slash. */
function isAttributePlace(value: string, start: number): boolean {
  if (start === 0) return true;
  const code = value.charCodeAt(start - 1);
  return isSpace(code) || isQuote(code) || code === 0x2f;
}

/** A name in lower case without NULs. */
function nameOf(value: string, start: number, end: number): string {
  const name = value.slice(start, end);
  return (name.includes('\0') ? name.replaceAll('\0', '') : name).toLowerCase();
}

/** What the value of an attribute at `from` is. */
function codeAt(value: string, from: number): number {
  let start = from;
  while (start < from + MOST_SPACE && isSpace(value.charCodeAt(start))) start++;
  const quote = value.charCodeAt(start);
  const end = valueEnd(value, start, isQuote(quote) ? quote : 0);
  const text = value.slice(start, end).toLowerCase();
  const closed = isQuote(quote) && end < value.length && value.charCodeAt(end) === quote;
  const isCode = text.includes('(') || text.includes('`', 1) || text.includes('=') || text.includes('\\');
  if (SINKS.some((sink) => text.includes(sink)) && (isCode || text.includes(':'))) return PAGE_CODE;
  if (closed && isPageCall(text.slice(1))) return NO_CODE;
  // JSX writes braces where HTML has quotes.
  return isCode && !text.startsWith('{') && !text.startsWith('${') ? CODE : NO_CODE;
}

/** Arguments of a call in a page: words, numbers and one kind of quotes. */
const ARGUMENT_MARKS = '\'" _-';

/**
 * Whether the text of an attribute is one call of a function of the page, `save()`, `return cart.check(this);`: script that an
 * attacker puts into the page cannot name its functions, and calls those of the browser, which are `SINKS`.
 */
function isPageCall(text: string): boolean {
  let at = text.startsWith('return ') ? 'return '.length : 0;
  const name = at;
  while ((isNamePart(text.charCodeAt(at)) && text.charCodeAt(at) !== 0) || text[at] === '.') at++;
  if (at === name || text.charCodeAt(at) !== 0x28) return false;
  at++;
  while (isNamePart(text.charCodeAt(at)) || (at < text.length && ARGUMENT_MARKS.includes(text.charAt(at))))
    at++;
  if (text.charCodeAt(at) !== 0x29) return false;
  const rest = text.slice(at + 1).trim();
  return rest === '' || rest === ';';
}

/** The place where a value ends: at its quote, else at `>` or the end of the line; at most `LONGEST_VALUE` on. */
function valueEnd(value: string, start: number, quote: number): number {
  const limit = Math.min(value.length, start + LONGEST_VALUE);
  for (let at = start + 1; at < limit; at++) {
    const code = value.charCodeAt(at);
    if (quote === 0 ? code === 0x3e || code === 0x0a : code === quote) return at;
  }
  return limit;
}
