/** Reads the arguments of a command and tells what command lines write from the words of a sentence. */
import { isAlphanumeric, isDigit, isSpace, isUpper } from '../../octets/latin1.ts';
import { skipBlanks } from './words.ts';

/** What follows a command, up to the next separator. */
export interface Arguments {
  /** Options, paths, variables, redirections, addresses: what sentences hardly have. */
  marks: number;
  /** Words of letters. */
  prose: number;
  /** Anything else. */
  others: number;
  /** Whether a path from the root is among the marks. */
  rooted: boolean;
  /** Whether such a path has quoting between its letters. */
  broken: boolean;
  /** The place after them: of a separator, of a closing bracket or quote, or the end. */
  end: number;
}

/** Creates arguments; readers fill them again and again. */
export function newArguments(): Arguments {
  return { marks: 0, prose: 0, others: 0, rooted: false, broken: false, end: 0 };
}

/** The most words that are read, and how far. */
const MAX_WORDS = 16;
const REACH = 128;

/** Reads the arguments at `from` into `args`; `numeric`: a number is what the command takes. */
export function readArguments(
  text: string,
  from: number,
  { numeric, args }: { readonly numeric: boolean; readonly args: Arguments },
): void {
  args.marks = 0;
  args.prose = 0;
  args.others = 0;
  args.rooted = false;
  args.broken = false;
  const limit = Math.min(text.length, from + REACH);
  let at = from;
  for (let count = 0; count < MAX_WORDS; count++) {
    at = skipBlanks(text, at);
    if (at >= limit || isEnd(text, at)) break;
    const end = wordEnd(text, at, limit);
    if (isRooted(text, at)) args.rooted = true;
    if (text.charAt(at) === '/' && isBroken(text, at, end)) args.broken = true;
    if (isMark(text, at, end) || (numeric && isTarget(text, at, end))) args.marks++;
    else if (isProse(text, at, end)) args.prose++;
    else args.others++;
    at = end;
  }
  args.end = at;
}

/** Whether a path from the root of Unix or of a drive of Windows is at `at`. */
function isRooted(text: string, at: number): boolean {
  const first = text.charAt(at);
  return (
    first === '/' ||
    (first === '~' && text[at + 1] === '/') ||
    (text[at + 1] === ':' && text[at + 2] === '\\')
  );
}

/** Whether the arguments end at `at`. */
function isEnd(text: string, at: number): boolean {
  return ';|&\n\r)`#\0'.includes(text.charAt(at)) || (text.charAt(at) === '\\' && at + 2 === text.length);
}

/** The place after the word at `at`, which is longer than nothing. */
function wordEnd(text: string, at: number, limit: number): number {
  let end = at + 1;
  while (end < limit && !isSpace(text.charCodeAt(end)) && !';|&`)'.includes(text.charAt(end))) end++;
  return end;
}

/** Whether a word is written in command lines and hardly in sentences. */
function isMark(text: string, at: number, end: number): boolean {
  const first = text.charAt(at);
  const second = text.charCodeAt(at + 1);
  const length = end - at;
  switch (first) {
    case '-':
      return length > 1 && (isAlphanumeric(second) || second === 0x2d);
    case '/':
    case '~':
      return length > 1 || first === '/';
    case '$':
      return length > 1 && !isDigit(second);
    case '<':
    case '>':
    case '*':
      return true;
    case '"':
    case "'":
      return length > 2 && isMark(text, at + 1, end);
    case '.':
      return second === 0x2f || (second === 0x2e && text[at + 2] === '/');
    default:
      return hasMark(text, at, end);
  }
}

/** Whether a word has a mark inside: a variable, a redirection, a drive, a URL, the extension of a file. */
function hasMark(text: string, at: number, end: number): boolean {
  for (let place = at; place < end; place++) {
    switch (text.charAt(place)) {
      case '$':
      case '>':
      case '<':
        return true;
      case '=':
        if (text.charAt(place + 1) === '/') return true;
        break;
      case ':':
        if (text.startsWith('://', place) || (place === at + 1 && text[place + 1] === '\\')) return true;
        break;
      case '.':
        if (isExtension(text, place + 1, end)) return true;
        break;
      default:
    }
  }
  return false;
}

/** Whether two to four letters or digits end the word after a dot inside of it. */
function isExtension(text: string, from: number, end: number): boolean {
  let at = from;
  while (at < end && isAlphanumeric(text.charCodeAt(at))) at++;
  return at - from >= 2 && at - from <= 4 && (at === end || '"\')'.includes(text.charAt(at)));
}

/** Whether a quote or a backslash is between two letters of a word. */
function isBroken(text: string, at: number, end: number): boolean {
  for (let place = at + 1; place < end - 1; place++) {
    if (!'\'"\\'.includes(text.charAt(place))) continue;
    if (isLetter(text.charCodeAt(place - 1)) && isLetter(text.charCodeAt(place + 1))) return true;
  }
  return false;
}

function isLetter(code: number): boolean {
  return isUpper(code & ~32);
}

/** Whether a word is a number, or an address or a name with a dot inside. */
function isTarget(text: string, at: number, end: number): boolean {
  for (let dot = at + 1; dot < end - 1; dot++) {
    if (text.charCodeAt(dot) === 0x2e && isAlphanumeric(text.charCodeAt(dot + 1))) return true;
  }
  for (let place = at; place < end; place++) {
    const code = text.charCodeAt(place);
    if (!isDigit(code) && code !== 0x2e && !(place === end - 1 && 'smhd#)\'"'.includes(text.charAt(place))))
      return false;
  }
  return isDigit(text.charCodeAt(at));
}

/** Whether a word is of letters, with punctuation at its end. */
function isProse(text: string, at: number, end: number): boolean {
  let last = end;
  while (last > at && '.,:!?"\')'.includes(text.charAt(last - 1))) last--;
  for (let place = at; place < last; place++) {
    const code = text.charCodeAt(place);
    if (!isUpper(code & ~32) && code < 0x80 && code !== 0x27 && code !== 0x2d) return false;
  }
  return last - at > 1;
}
