/**
 * Short values that are nothing but script: a call of a dialog (HTML Standard, "Simple dialogs"), however its name is written.
 * In: a value. Out: a construct. Names in escapes, in texts between square brackets, through `call`, `apply` and `bind`, in
 * brackets of their own, and as callbacks (ECMAScript 2025 §12.9.4 escapes, §13.3 calls, §20.2.3 `Function.prototype`).
 */
import { htmlEntityDecode, jsDecode } from '../../transformations/escapes.ts';

/** The longest value that is read: a longer one is a text, or has other constructs too. */
const LONGEST = 256;
/** Spaces between two words that a value has at most: prose about functions has more. */
const MOST_SPACES = 1;
/** The longest text before or behind a call: quotes, brackets, signs, an attribute or a member that it was put into. */
const LONGEST_AROUND = 40;

const DIALOGS = ['alert', 'confirm', 'prompt'] as const;
/** What calls a function with others' arguments, or makes another of it. */
const CALLERS = ['.call(', '.call`', '.apply(', '.apply`', '.bind(', '.bind`'] as const;

/** Escapes of characters by their codes; letters have those of `\101` to `\172`. */
const ESCAPES = ['\\u', '\\x', '\\1'] as const;
/** Calls by a template: the text before its first expression, and the values of the expressions, are the arguments. */
const TEMPLATES = ['.call`${', '.apply`${'] as const;

/** Texts of which every reported value has one, besides the names of the dialogs. */
export const DIALOG_TRIGGERS: readonly string[] = [...ESCAPES, ...TEMPLATES];

const DIALOG = 'call of a dialog';
const HIDDEN_DIALOG = 'hidden call of a dialog';

/** The construct of a value that is a call of a dialog, or `null`. Linear: values are at most `LONGEST`. */
export function dialogConstruct(value: string): string | null {
  if (value.length > LONGEST || spacesBetweenWords(value) > MOST_SPACES) return null;
  const lower = value.toLowerCase();
  if (TEMPLATES.some((text) => lower.includes(text))) return HIDDEN_DIALOG;
  const isEscaped = ESCAPES.some((text) => lower.includes(text));
  if (!isEscaped && !DIALOGS.some((name) => lower.includes(name))) return null;
  const script = withoutSpaces(value.includes('&') ? htmlEntityDecode(value) : value);
  const plain = isEscaped ? jsDecode(script).toLowerCase() : script;
  for (const name of DIALOGS) {
    for (let at = plain.indexOf(name); at >= 0; at = plain.indexOf(name, at + 1)) {
      if (isNamePart(plain.charCodeAt(at - 1)) || isNamePart(plain.charCodeAt(at + name.length))) continue;
      if (!script.includes(name) && mayCall(plain)) return HIDDEN_DIALOG;
      if (isReferred(plain, at, at + name.length)) return HIDDEN_DIALOG;
      if (isCalled(plain, at, at + name.length)) return DIALOG;
    }
  }
  return null;
}

function spacesBetweenWords(value: string): number {
  let count = 0;
  for (let at = 1; at < value.length - 1; at++) {
    if (value.charCodeAt(at) > 0x20) continue;
    if (isNamePart(value.charCodeAt(at - 1)) && isNamePart(value.charCodeAt(at + 1))) count++;
  }
  return count;
}

/** The value in lower case without white space and comments. */
function withoutSpaces(value: string): string {
  let text = '';
  for (let at = 0; at < value.length; at++) {
    if (value.startsWith('/*', at)) {
      const end = value.indexOf('*/', at + 2);
      if (end > 0) {
        at = end + 1;
        continue;
      }
    }
    if (value.charCodeAt(at) > 0x20) text += value.charAt(at);
  }
  return text.toLowerCase();
}

function isNamePart(code: number): boolean {
  const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
  return isLetter || (code >= 0x30 && code <= 0x39) || code === 0x5f || code === 0x24;
}

/** Whether something is called in a script. */
function mayCall(script: string): boolean {
  return script.includes('(') || script.includes('`');
}

/** Whether the name of a dialog is a value: called through another function, alone in brackets, or a text that is a member. */
function isReferred(script: string, start: number, end: number): boolean {
  if (CALLERS.some((caller) => script.startsWith(caller, end))) return true;
  const before = script.charAt(start - 1);
  const next = script.charAt(end);
  if (before === '(' || before === ',' || before === '[') {
    // `(alert)(1)`, `[alert][0](1)`, `[1].map(alert)`: a list of names has no call.
    const isAlone = next === ')' || next === ']';
    return isAlone && (isOpening(script.charAt(end + 1)) || isMethod(script, start - 1));
  }
  if (before === '{' && next === '}') return script.charAt(start - 2) === '$' && mayCall(script);
  const isText = (before === "'" || before === '"' || before === '`') && next === before;
  return isText && script.charAt(start - 2) === '[' && script.charAt(end + 1) === ']';
}

function isOpening(mark: string): boolean {
  return mark === '(' || mark === '`' || mark === '[';
}

/** Whether the bracket at or before `open` is that of a method of a list: `[1].map(`, `[1].with(0,`. */
function isMethod(script: string, open: number): boolean {
  const round = script.lastIndexOf('(', open);
  if (round < 2) return false;
  let at = round;
  while (at > 0 && isNamePart(script.charCodeAt(at - 1))) at--;
  return at < round && script.charAt(at - 1) === '.' && script.charAt(at - 2) === ']';
}

/** Whether a value is a call of the dialog that shows a number, and little around it. */
function isCalled(script: string, start: number, end: number): boolean {
  const open = script.charAt(end) === '?' ? end + 2 : end;
  const close = closing(script, open);
  if (close < 0) return false;
  if (script.charAt(open) === '(' && !isProbe(script, start, open, close)) return false;
  if (start > LONGEST_AROUND || script.length - close > LONGEST_AROUND) return false;
  // The body of a function is a program's own.
  const before = script.slice(0, start);
  return !before.includes('){') && !before.includes('=>');
}

/** Whether a call shows a number, or nothing from inside of brackets of its own: texts are examples of documentation. */
function isProbe(script: string, start: number, open: number, close: number): boolean {
  if (close === open + 1) return script.charAt(start - 1) === '(' && script.charAt(close + 1) === ')';
  for (let at = open + 1; at < close; at++) {
    const code = script.charCodeAt(at);
    const isHex = (code >= 0x61 && code <= 0x66) || code === 0x78;
    if (!(code >= 0x30 && code <= 0x39) && !isHex && !isQuote(code)) return false;
  }
  return hasDigit(script, open, close);
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27 || code === 0x60 || code === 0x2f;
}

function hasDigit(script: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++)
    if (script.charCodeAt(at) >= 0x30 && script.charCodeAt(at) <= 0x39) return true;
  return false;
}

/** The place of the bracket that closes the one at `open`; -1: no bracket is there, or it stays open. */
function closing(script: string, open: number): number {
  if (script.charAt(open) === '`') return script.indexOf('`', open + 1);
  if (script.charAt(open) !== '(') return -1;
  let depth = 0;
  for (let at = open; at < script.length; at++) {
    const mark = script.charAt(at);
    if (mark === '(') depth++;
    else if (mark === ')' && --depth === 0) return at;
  }
  return -1;
}
