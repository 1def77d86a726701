/** Tells prose and source code from a command line by the whole value. */
import { isSpace, isUpper } from '../../octets/latin1.ts';
import { commandKind, LONGEST_COMMAND, UNKNOWN } from './commands.ts';

/** The most words of prose beside a command that was put into a value, its arguments left out. */
const MAX_WORDS = 2;
/** The most octets of a text with several lines: longer ones are source code or logs. */
const MAX_LINED_TEXT = 200;
/** Octets beyond ASCII that count as a word of prose more: scripts without blanks write one or two characters with them. */
const OCTETS_OF_WORD = 4;

/** Whether a value is a text that has commands in it; `own` words of letters belong to the command itself. */
export function isText(value: string, own: number): boolean {
  let words = 0;
  let lines = 0;
  for (let at = 0; at < value.length; ) {
    const code = value.charCodeAt(at);
    if (isSpace(code)) {
      if (code === 0x0a) lines++;
      at++;
      continue;
    }
    let end = at;
    while (end < value.length && !isSpace(value.charCodeAt(end))) end++;
    words += wordsOf(value, at, end);
    if (words > MAX_WORDS + own) return true;
    at = end;
  }
  return (lines > 1 && value.length > MAX_LINED_TEXT) || isMarkedUp(value);
}

/** Whether a value is source code, a log, or a text with marked code in it. */
export function isSource(value: string): boolean {
  const line = value.indexOf('\n');
  const isLined = line >= 0 && value.length > MAX_LINED_TEXT && value.includes('\n', line + 1);
  return isLined || isMarkedUp(value);
}

/** Whether a value shows code: a fenced block of Markdown, or the end tag of an element. */
function isMarkedUp(value: string): boolean {
  const fence = value.indexOf('```');
  if (fence === 0 || (fence > 0 && isSpace(value.charCodeAt(fence - 1)))) {
    let at = fence + 3;
    while (at < value.length && !isSpace(value.charCodeAt(at))) at++;
    while (value[at] === ' ') at++;
    if (at < value.length && (value[at] === '\n' || value[at] === '\r' || value[fence + 3] === ' '))
      return true;
  }
  return endsElement(value) || hasCodeSpans(value);
}

/** Whether the command at `at` prints a variable that the value sets before it: `a=1; echo $a`. An exercise does. */
export function printsOwnVariable(value: string, at: number, command: string, end: number): boolean {
  const dollar = command === 'echo' ? value.indexOf('$', at) : -1;
  if (dollar < 0 || dollar >= end) return false;
  let last = dollar + 1;
  while (isUpper(value.charCodeAt(last) & ~32)) last++;
  const name = value.slice(dollar + 1, last);
  if (name === '' || value.indexOf('$', last) >= 0) return false;
  const set = value.indexOf(`${name}=`);
  return set >= 0 && set < at && (set === 0 || isSpace(value.charCodeAt(set - 1)));
}

/** Whether a text of several lines has two code spans of Markdown. */
function hasCodeSpans(value: string): boolean {
  if (!value.includes('\n')) return false;
  let at = -1;
  for (let ticks = 0; ticks < 4; ticks++) {
    at = value.indexOf('`', at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** Whether a value has the end tag of an element: `</code>`; a redirection has a slash in its path: `</etc/passwd`. */
function endsElement(value: string): boolean {
  const tag = value.indexOf('</');
  if (tag < 0) return false;
  let at = tag + 2;
  while (at < value.length && isUpper(value.charCodeAt(at) & ~32)) at++;
  return at > tag + 2 && value[at] === '>';
}

/** Whether a value is one text in quotes, as searches write it: a shell takes it for one word. */
export function isQuotedPhrase(value: string): boolean {
  const quote = value.charAt(0);
  return (quote === '"' || quote === "'") && value.indexOf(quote, 1) === value.length - 1;
}

/** Words with which a compound command of a script begins, and the word that follows its head. */
const COMPOUNDS: ReadonlyMap<string, string> = new Map([
  ['for', 'do'],
  ['while', 'do'],
  ['until', 'do'],
  ['if', 'then'],
]);

/** The octets of the head of a compound command that are read. */
const LONGEST_HEAD = 128;

/** Whether a script begins at `at`: its interpreter, or a loop or condition with its body. */
export function beginsScript(value: string, at: number): boolean {
  if (value.startsWith('#!/', at)) return true;
  const blank = value.indexOf(' ', at);
  if (blank < 0 || blank - at > 5) return false;
  const head = value.slice(blank, blank + LONGEST_HEAD);
  const body = COMPOUNDS.get(value.slice(at, blank));
  if (body === undefined) return false;
  // PowerShell: `if ($x -eq 5) { … }`.
  if (head.startsWith(' ($')) return head.includes(') {');
  return head.includes(`; ${body} `) || head.includes(`;${body} `) || head.includes(`\n${body}`);
}

/** The words of prose in a token: one of letters that is no command, and what is written without blanks. */
function wordsOf(value: string, at: number, end: number): number {
  let last = end;
  while (last > at && '.,:!?'.includes(value.charAt(last - 1))) last--;
  let high = 0;
  let letters = 0;
  for (let place = at; place < last; place++) {
    const code = value.charCodeAt(place);
    if (code >= 0x80) high++;
    if (isUpper(code & ~32) || code >= 0x80 || code === 0x27 || code === 0x2d) letters++;
  }
  const dense = Math.floor(high / OCTETS_OF_WORD);
  if (letters < last - at || letters < 3 || value.charCodeAt(at) === 0x2d) return dense;
  const isCommand =
    letters <= LONGEST_COMMAND && commandKind(value.slice(at, last).toLowerCase(), false) !== UNKNOWN;
  return isCommand ? dense : dense + 1;
}
