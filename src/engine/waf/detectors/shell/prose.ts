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
  return (
    endsElement(value) ||
    hasCodeSpans(value) ||
    isBlockList(value) ||
    isSetting(value) ||
    isWikiTemplate(value)
  );
}

/** Whether a value is a setting whose text is in quotes: `archive_command = 'test ! -f %f && cp %p %f'`. */
function isSetting(value: string): boolean {
  let at = 0;
  while (isUpper(value.charCodeAt(at) & ~32) || value[at] === '_' || value[at] === '.') at++;
  const name = at;
  while (value[at] === ' ') at++;
  if (name < 2 || value[at] !== '=') return false;
  at++;
  while (value[at] === ' ') at++;
  return (
    (value[at] === '"' || value[at] === "'") && value.indexOf(value.charAt(at), at + 1) === value.length - 1
  );
}

/** Whether a value begins with a template of a wiki and its arguments: `{{Command|systemctl restart ssh}}`. */
function isWikiTemplate(value: string): boolean {
  if (!value.startsWith('{{')) return false;
  let at = 2;
  while (isUpper(value.charCodeAt(at) & ~32)) at++;
  return at > 3 && value[at] === '|' && value.includes('}}', at);
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

/** Whether a text begins with a key and a list of YAML below it: `script:`, `  - make test`. */
function isBlockList(value: string): boolean {
  const line = value.indexOf('\n');
  if (line < 2) return false;
  let end = line - 1;
  if (value[end] === '\r') end--;
  if (value[end] !== ':') return false;
  let at = line + 1;
  while (value[at] === ' ') at++;
  return value[at] === '-' && value[at + 1] === ' ';
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
  if (
    value.startsWith('#!/', at) ||
    value.startsWith('[ -', at) ||
    isPrompt(value, at) ||
    isSchedule(value, at)
  )
    return true;
  const blank = value.indexOf(' ', at);
  if (blank < 0 || blank - at > 5) return false;
  const head = value.slice(blank, blank + LONGEST_HEAD);
  const body = COMPOUNDS.get(value.slice(at, blank));
  if (body === undefined) return false;
  // PowerShell: `if ($x -eq 5) { … }`.
  if (head.startsWith(' ($')) return head.includes(') {');
  return head.includes(`; ${body} `) || head.includes(`;${body} `) || head.includes(`\n${body}`);
}

/** The longest prompt that is read, in octets. */
const LONGEST_PROMPT = 64;

/** Whether the prompt of a terminal is at `at`: `C:\Users>`, `PS C:\>`, `pi@host:~$ `. What follows was copied from it. */
function isPrompt(value: string, at: number): boolean {
  const drive = value.startsWith('PS ', at) ? at + 3 : at;
  const ofWindows = value.startsWith(':\\', drive + 1) && isUpper(value.charCodeAt(drive) & ~32);
  const limit = Math.min(value.length, at + LONGEST_PROMPT);
  let host = false;
  for (let end = at; end < limit; end++) {
    const mark = value.charAt(end);
    if (ofWindows) {
      if (mark === '>') return true;
      if (';|&"$`<\n'.includes(mark)) return false;
      continue;
    }
    if (mark === '@') host = true;
    if (mark === '$' || mark === '#') return host && value.charAt(end + 1) === ' ';
    if (isSpace(value.charCodeAt(end)) || ';|&"`<>'.includes(mark)) return false;
  }
  return false;
}

/** The fields of a time in crontab(5), and the octets that are read of them. */
const TIME_FIELDS = 5;
const LONGEST_TIME = 64;
const NICKNAMES = [
  '@reboot ',
  '@yearly ',
  '@annually ',
  '@monthly ',
  '@weekly ',
  '@daily ',
  '@hourly ',
] as const;

/** Whether a line of a crontab is at `at`: a time, and then a command. */
function isSchedule(value: string, at: number): boolean {
  if (value[at] === '@') return NICKNAMES.some((name) => value.startsWith(name, at));
  const limit = Math.min(value.length, at + LONGEST_TIME);
  let fields = 0;
  let length = 0;
  for (let end = at; end < limit && fields < TIME_FIELDS; end++) {
    if (isSpace(value.charCodeAt(end))) {
      if (length > 0) fields++;
      length = 0;
    } else if (!'0123456789*/,-'.includes(value.charAt(end))) return false;
    else length++;
  }
  return fields === TIME_FIELDS;
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
