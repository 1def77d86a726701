/**
 * Detects commands for shells of Unix and Windows: `detectShell` for `@detectShell`, which reports commands
 * that were put into a value; `detectCommandLine` for `@detectCommandLine`, which reports values that are command lines,
 * too; `detectCommand` for `@detectCommand`, which reports commands in prose, too. The value is read as if an application
 * put it into a command line: places where a command can begin (the start, a separator, a substitution, a call that runs
 * a text) are found, the word there is read without its quoting and looked up, and its arguments and the text around it
 * decide whether it is a command or prose. Grammar: POSIX.1-2017, "Shell Command Language", 2.10.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { isDigit, isSpace, isUpper } from '../octets/latin1.ts';
import { type Arguments, newArguments, readArguments } from './shell/arguments.ts';
import {
  commandKind,
  LONGEST_COMMAND,
  mayBeCommand,
  PREFIX,
  PROBE,
  PROGRAM,
  UNKNOWN,
  WORD,
} from './shell/commands.ts';
import { isText } from './shell/prose.ts';
import { fieldSeparator, newWord, readWord, skipBlanks } from './shell/words.ts';

/** The length in octets of the shortest command that is detected: a separator and the name of a program. */
export const SHORTEST_SHELL = 3;
/** Every command but a whole command line has an octet of these kinds: a separator, a substitution, quoting. */
export const SHELL_KINDS =
  KIND.semicolon |
  KIND.bar |
  KIND.ampersand |
  KIND.blank |
  KIND.dollar |
  KIND.backtick |
  KIND.round |
  KIND.curly |
  KIND.quote |
  KIND.apostrophe |
  KIND.backslash |
  KIND.caret |
  KIND.angle;

/** The text before a place, as far as it matters: how much of it is prose. */
interface Before {
  /** Whole words of letters between blanks that are no names of commands. */
  prose: number;
  /** The place of the current token. */
  start: number;
  /** Letters of the current token, if it has nothing else but punctuation at its end; -1: it has. */
  letters: number;
  /** Letters of the current element, that is since the last separator or blank; -1: it has something else. */
  element: number;
  /** Tokens between blanks. */
  tokens: number;
  /** Whether there is a `?` or `=`: an ampersand may then separate parameters. */
  query: boolean;
  /** Whether it begins with a command: what is behind separators belongs to a command line. */
  line: boolean;
}

/** Which commands are reported: those put into a value; whole values, too; those in prose, too. */
const INJECTED = 1;
const ALONE = 2;
const ANYWHERE = 3;

let mode = INJECTED;
let loose = false;

// PERF: one state for all calls. Calls are synchronous, and each resets all of its fields.
const before: Before = { prose: 0, start: 0, letters: 0, element: 0, tokens: 0, query: false, line: false };
const word = newWord();
const args: Arguments = newArguments();

/** The command that was read last. */
const command = { kind: UNKNOWN, numeric: false, pathed: false, prefixed: false, braced: false, end: 0 };

/**
 * Returns the construct found, or `null`. `value` is Latin-1: one character an octet. Takes linear time; never throws.
 */
export function detectShell(value: string): string | null {
  return detect(value, INJECTED);
}

/** Returns the construct found, or `null`, as `detectShell` does, but for values that are a command line, too. */
export function detectCommandLine(value: string): string | null {
  return detect(value, ALONE);
}

/** Returns the construct found, or `null`, as `detectCommandLine` does, but for commands in prose, too. */
export function detectCommand(value: string): string | null {
  return detect(value, ANYWHERE);
}

/** The last text without a command, and which commands were searched for: what is reported less often has none either. */
// PERF: signatures of several levels read the same text one after the other.
const without = { text: '', reported: 0 };
/** The longest text that is remembered, in octets. */
const LONGEST_REMEMBERED = 4_096;

function detect(value: string, reported: number): string | null {
  if (reported < without.reported && value === without.text) return null;
  mode = reported;
  loose = reported === ANYWHERE;
  const found = search(value);
  if (found === null && value.length <= LONGEST_REMEMBERED) {
    without.text = value;
    without.reported = reported;
  }
  return found !== null && !loose && isText(value, args.prose) ? null : found;
}

function search(value: string): string | null {
  before.prose = 0;
  before.start = 0;
  before.letters = 0;
  before.element = 0;
  before.tokens = 0;
  before.query = false;
  before.line = false;
  const first = commandPlace(value);
  // Without any mark the value itself is the only command that there can be.
  if (!hasSpecial(value, first) && (mode === INJECTED || !mayBeCommand(value, first))) return null;
  const start = atStart(value);
  if (start !== null) return start;
  let passed = 0;
  for (let at = 0; at < value.length; at++) {
    if (PLACES[value.charCodeAt(at)] !== 1) continue;
    // Behind prose nothing counts. PERF: most texts end the search within their first words.
    while (passed < at) {
      pass(value, passed++);
      if (before.prose > 1 && !loose) return null;
    }
    const found = atPlace(value, at);
    if (found !== null) return found;
  }
  return null;
}

/** By octet, 1 if `atPlace` finds something there. */
const PLACES = new Uint8Array(256);
for (const mark of ';|&\n\r\\`$<>(') PLACES[mark.charCodeAt(0)] = 1;

/** By octet, 1 if it is one of `PLACES`, or hides the name of a command or a path that the value begins with. */
const SPECIAL = Uint8Array.from(PLACES);
for (const mark of '{"\'^') SPECIAL[mark.charCodeAt(0)] = 1;

/** The place of the command that the value begins with: behind quotes and blanks. */
function commandPlace(value: string): number {
  let at = 0;
  while (at < value.length && (value[at] === '"' || value[at] === "'" || value[at] === ' ')) at++;
  return at;
}

/** Whether one of `SPECIAL` is at `from` or behind it. PERF: most values have none, and an apostrophe begins many others. */
function hasSpecial(value: string, from: number): boolean {
  let at = from;
  while (at < value.length && SPECIAL[value.charCodeAt(at)] !== 1) at++;
  return at < value.length;
}

/** Words of prose from which on their number does not matter. */
const MUCH_PROSE = 4;

/** Adds the character at `at` to the text before. */
function pass(value: string, at: number): void {
  const code = value.charCodeAt(at);
  if (isSpace(code)) {
    if (before.letters > 1 && before.prose < MUCH_PROSE && !isName(value.slice(before.start, at)))
      before.prose++;
    if (before.letters !== 0) before.tokens++;
    before.start = at + 1;
    before.letters = 0;
    before.element = 0;
    return;
  }
  if (isLetter(code)) {
    if (before.letters >= 0) before.letters++;
    if (before.element >= 0) before.element++;
    return;
  }
  if (code === 0x3b || code === 0x7c || code === 0x26) before.element = 0;
  else before.element = -1;
  // A dot, comma, colon, mark, hyphen or apostrophe belongs to prose; a hyphen before it makes an option.
  if (!".,:!?-'".includes(value.charAt(at)) || (code === 0x2d && at === before.start)) before.letters = -1;
  if (code === 0x3d || code === 0x3f) before.query = true;
}

function isName(token: string): boolean {
  return token.length <= LONGEST_COMMAND && commandKind(token.toLowerCase(), false) !== UNKNOWN;
}

function isLetter(code: number): boolean {
  return isUpper(code & ~32) || code >= 0x80;
}

/** What begins at `at`; `null`: nothing that runs a command. */
function atPlace(value: string, at: number): string | null {
  switch (value.charCodeAt(at)) {
    case 0x3b: // ;
      return isLineEnd(value, at + 1) || endsReference(value, at) ? null : behindSeparator(value, at);
    case 0x7c: // |
      return behindSeparator(value, at);
    case 0x26: // &
      return before.query && !isBlankAt(value, at - 1) && !isBlankAt(value, at + 1) && value[at + 1] !== '&'
        ? null
        : behindSeparator(value, at);
    case 0x0a:
    case 0x0d:
      // Lines of text and of programs begin with anything: only a line behind one word or less counts.
      return before.tokens === 0 && (before.letters <= 1 || before.element < 0)
        ? behindSeparator(value, at)
        : null;
    case 0x5c: // a line end that is written as an escape
      return at === 0 && (value[1] === 'n' || value[1] === 'r') ? behindSeparator(value, 1) : null;
    case 0x60: // `
      return inSubstitution(value, at + 1, '`');
    case 0x24: // $
      if (value.charCodeAt(at + 1) === 0x28 && value.charCodeAt(at + 2) !== 0x28) {
        return inSubstitution(value, at + 2, ')');
      }
      return null;
    case 0x3c: // <
    case 0x3e: // >
      return value.charCodeAt(at + 1) === 0x28 ? inSubstitution(value, at + 2, ')') : null;
    case 0x28: // (
      return isRubyText(value, at) ? inSubstitution(value, at + 1, ')') : inCall(value, at);
    default:
      return null;
  }
}

/** Whether the semicolon at `at` ends a reference to a character (`&amp;`). */
function endsReference(value: string, at: number): boolean {
  let start = at - 1;
  while (start > 0 && at - start < 9 && isReferenceCharacter(value.charCodeAt(start))) start--;
  return start >= 0 && value[start] === '&' && at - start > 2;
}

function isReferenceCharacter(code: number): boolean {
  return isUpper(code & ~32) || isDigit(code) || code === 0x23;
}

function isLineEnd(value: string, at: number): boolean {
  return value.charCodeAt(at) === 0x0a || value.charCodeAt(at) === 0x0d;
}

function isBlankAt(value: string, at: number): boolean {
  return at >= 0 && at < value.length && isSpace(value.charCodeAt(at));
}

/** Separators and brackets before a command that are skipped at most. */
const MAX_OPENINGS = 4;

function isOpening(value: string, at: number): boolean {
  return isOneOf(value, at, '{(!;&|\n\r');
}

/** Whether a character is at `at`, and one of `marks`. */
function isOneOf(value: string, at: number, marks: string): boolean {
  return at < value.length && marks.includes(value.charAt(at));
}

/** Words before a command that are read at most: assignments, `sudo`, `then`. */
const MAX_PREFIXES = 4;

/** Reads the command that begins at `from`: its name, after assignments and prefixes; `false`: no known one does. */
function readCommand(value: string, from: number): boolean {
  command.kind = UNKNOWN;
  command.prefixed = false;
  let at = from;
  for (let turn = 0; turn < MAX_PREFIXES; turn++) {
    at = skipBlanks(value, at);
    for (let skipped = 0; skipped < MAX_OPENINGS && isOpening(value, at); skipped++)
      at = skipBlanks(value, at + 1);
    const braced = at > from && value[at - 1] === '{';
    const last = word.plain;
    readWord(value, at, word);
    if (word.end === at) return turn > 0 && last === 'env' && readEnvironment(at);
    if (word.plain === '' && word.variables !== 1) return word.variables > 1 && readBuilt(value);
    if (word.plain === '' || (command.prefixed && word.plain.startsWith('-'))) {
      at = word.end;
      continue;
    }
    command.braced = braced && cutAtComma(value, at);
    const kind = kindOfWord(value);
    if (kind !== PREFIX && !isAssignment(value, at)) {
      command.kind = kind;
      command.end = word.end;
      return kind !== UNKNOWN;
    }
    command.prefixed = true;
    at = word.end;
  }
  return false;
}

/** Makes `env` without a command behind it, which prints the environment, the command that was read; always `true`. */
function readEnvironment(end: number): boolean {
  command.kind = PROBE;
  command.pathed = false;
  command.braced = false;
  command.numeric = false;
  command.prefixed = false;
  command.end = end;
  return true;
}

/** Reads a word of variables alone, the one that was read last, as a command; `false`: no path from the root follows. */
function readBuilt(value: string): boolean {
  command.kind = PROGRAM;
  command.pathed = false;
  command.braced = false;
  command.numeric = false;
  command.end = word.end;
  readArguments(value, word.end, { numeric: false, args });
  return args.rooted;
}

/** The kind of the word that was read last, in the place of a command. */
function kindOfWord(value: string): number {
  const { plain } = word;
  // The condition of `if`.
  if (plain === '[' || plain === '[[') return command.prefixed ? PROGRAM : UNKNOWN;
  const slash = plain.lastIndexOf('/');
  // Only the beginning of a long word is known.
  if (plain.length - slash > LONGEST_COMMAND || isCalled(value, word.end)) return UNKNOWN;
  const name = plain.slice(slash + 1);
  command.pathed = slash >= 0 && isProgramFolder(plain.slice(0, slash + 1));
  command.numeric = NUMERIC.has(name);
  if (slash >= 0 && !command.pathed) return UNKNOWN;
  return commandKind(name, word.cased);
}

/**
 * Leaves of a word in braces what is before its first comma, which separates a command from its arguments there:
 * `{cat,/etc/passwd}`. Returns whether an argument of a command follows.
 */
function cutAtComma(value: string, at: number): boolean {
  const comma = word.plain.indexOf(',');
  if (comma < 1) return false;
  word.plain = word.plain.slice(0, comma);
  word.end = value.indexOf(',', at);
  return isOneOf(value, word.end + 1, '/-.~$*') || value.startsWith('http', word.end + 1);
}

/** Whether a word is the name of a function or of a property, not of a command. */
function isCalled(value: string, end: number): boolean {
  // A cmdlet has a dash in its name.
  if (value.charAt(end) === ' ') return value.charAt(end + 1) === '(' && !word.plain.includes('-');
  return value.charAt(end) === '(';
}

/** Commands whose argument is a number or an address. */
const NUMERIC: ReadonlySet<string> = new Set(
  'curl dig host kill nc ncat nslookup ping seq sleep start-sleep telnet timeout usleep wget'.split(' '),
);

/** Whether the folder of a program is one of a system: `/bin/`, `/usr/local/sbin/`, `/tmp/`, `./`. */
function isProgramFolder(folder: string): boolean {
  return (
    folder.endsWith('bin/') || folder.startsWith('/tmp/') || folder.startsWith('/dev/shm/') || folder === './'
  );
}

/** Whether the word at `at` is `name=value`. */
function isAssignment(value: string, at: number): boolean {
  const equals = word.plain.indexOf('=');
  if (equals < 1) return false;
  const first = value.charCodeAt(at);
  if (isDigit(first)) return false;
  for (let place = 0; place < equals; place++) {
    const code = word.plain.charCodeAt(place);
    if (!isUpper(code & ~32) && !isDigit(code) && code !== 0x5f) return false;
  }
  return true;
}

/** What hides the name of the command that was read last; `null`: nothing does. */
function hidden(value: string): string | null {
  if (command.braced) return 'command in braces';
  if (word.variables > 1 && command.pathed) return 'command between empty variables';
  if (word.breaks > 0 && (command.kind === PROGRAM || command.pathed))
    return 'command with quoting in its name';
  return fieldSeparator(value, word.end) >= 0 ? 'command before $IFS' : null;
}

/** The command that the value begins with: reported if its name is hidden, or as a command line. */
function atStart(value: string): string | null {
  const at = commandPlace(value);
  if (';|&\n\r'.includes(value.charAt(at)) || !readCommand(value, at)) return null;
  const { kind, numeric, end, prefixed } = command;
  const trick = hidden(value);
  if (trick !== null) return trick;
  const quoted = word.breaks > 0;
  // The command is no prose.
  before.prose = -1;
  readArguments(value, end, { numeric, args });
  if (args.broken) return 'path with quoting in it';
  if (mode !== INJECTED && args.prose === 0 && (kind === PROGRAM || args.marks > 0)) return 'command line';
  before.line = true;
  if (args.prose > 0 || (kind !== PROBE && args.marks === 0)) return null;
  if (quoted) return 'command with quoting in its name';
  if (mode === INJECTED || prefixed || value[args.end] === '#') return null;
  if (!';|&\n'.includes(value.charAt(args.end)) || args.end >= value.length) return null;
  if (!readCommand(value, args.end + 1)) return null;
  return 'chain of commands';
}

/** The command behind a separator. */
function behindSeparator(value: string, at: number): string | null {
  const { prose, letters, element } = before;
  if (mode === INJECTED && before.line) return null;
  const words = prose + (letters > 1 && isBlankAt(value, at + 1) ? 1 : 0);
  if ((words > 1 && !loose) || !readCommand(value, at + 1)) return null;
  const { kind, numeric, pathed, end, prefixed } = command;
  const trick = hidden(value);
  if (trick !== null) return trick;
  if (value[end] === '=' || value[end] === ':') return null;
  readArguments(value, end, { numeric, args });
  if (pathed && kind !== UNKNOWN && args.prose < 2) return 'separator and a program by its path';
  const bare = prose <= 0 && element <= 1;
  if (args.marks > 0 && args.prose <= (kind === PROGRAM ? 2 : bare || loose ? 1 : 0)) {
    return 'separator and a command';
  }
  if (loose && kind === PROGRAM) return 'separator and the name of a program';
  if (kind === PROGRAM && bare && args.marks === 0 && args.prose === 1) {
    return 'separator and a command';
  }
  if (args.marks > 0 || args.prose > 0 || prose > 0)
    return prefixed && kind === PROGRAM ? 'separator and a command' : null;
  if (kind === WORD) return null;
  // A name alone: what stands before has to be no word, and the value no list of words.
  if (kind === PROBE && element > 1) return null;
  return value.charAt(args.end) === ')' || (!prefixed && isList(value))
    ? null
    : 'separator and the name of a program';
}

/** The most elements of a list that are read. */
const MAX_ELEMENTS = 16;

/** Whether a value lists words, of which only some are names of commands: `name|id|price`. */
function isList(value: string): boolean {
  let elements = 0;
  let others = 0;
  for (let start = 0; start <= value.length && elements < MAX_ELEMENTS; ) {
    let end = start;
    while (end < value.length && !';|&\n\r'.includes(value.charAt(end))) end++;
    const element = value
      .slice(start, Math.min(end, start + LONGEST_COMMAND))
      .trim()
      .toLowerCase();
    if (element !== '') elements++;
    if (start > 0 && isSimple(element) && !isName(element)) others++;
    start = end + 1;
  }
  return others > 0 || (elements > 2 && before.element > 1);
}

/** Whether an element is one word of letters and digits. */
function isSimple(element: string): boolean {
  for (let at = 0; at < element.length; at++) {
    const code = element.charCodeAt(at);
    if (!isLetter(code) && !isDigit(code) && code !== 0x5f && code !== 0x20 && code !== 0x2d) return false;
  }
  return element !== '';
}

/** How far the end of a substitution and the text after it are looked for, in characters. */
const REACH = 96;

/** The command in a substitution that begins at `from` and ends with `close`. */
function inSubstitution(value: string, from: number, close: string): string | null {
  const quote = value.charAt(from);
  // `$("cat")` is a call of a library of JavaScript.
  if (close === ')' && (quote === '"' || quote === "'")) return null;
  if (quote === '<' && isOneOf(value, skipBlanks(value, from + 1), '/~.')) return 'substitution of a file';
  if ((before.prose > 1 && !loose) || !readCommand(value, from)) return null;
  const { kind, numeric, pathed, end } = command;
  const trick = hidden(value);
  if (trick !== null) return trick;
  readArguments(value, end, { numeric, args });
  if (loose && (kind === PROGRAM || (args.marks > 0 && args.prose === 0))) return 'substitution of a command';
  const marked = pathed || args.marks > 0;
  const named = kind === PROGRAM || kind === PROBE || (args.prose + args.others > 0 && isBlankAt(value, end));
  if (args.prose > 2 || !(marked || named)) return null;
  // A name that `$(` follows without a blank is no word of prose: `x.jpg$(id).png`.
  const glued = close === ')' && before.letters > 1 && !isBlankAt(value, from - 3);
  const prose = before.prose + (before.letters > 1 && !glued ? 1 : 0) + proseBehind(value, end, close);
  return prose > (marked ? 1 : 0) ? null : 'substitution of a command';
}

/** Words of prose behind the end of a substitution, at most two. */
function proseBehind(value: string, from: number, close: string): number {
  const limit = Math.min(value.length, from + REACH);
  let at = from;
  while (at < limit && value[at] !== close) at++;
  let words = 0;
  // What is glued to the substitution is no word of prose.
  let letters = -1;
  for (at++; at <= limit && words < 2; at++) {
    const code = at < limit ? value.charCodeAt(at) : 0x20;
    if (isLetter(code)) letters = letters < 0 ? letters : letters + 1;
    else if (isSpace(code)) {
      if (letters > 1) words++;
      if (code === 0x0a) return words;
      letters = 0;
    } else if (';|&'.includes(value.charAt(at))) return words;
    else if (!'.,:!?'.includes(value.charAt(at))) letters = -1;
  }
  return words;
}

/** Whether the bracket at `at` begins a text that Ruby runs: `%x(id)`. */
function isRubyText(value: string, at: number): boolean {
  return value.charCodeAt(at - 1) === 0x78 && value.charCodeAt(at - 2) === 0x25;
}

/** Functions that run the text of their argument. */
const CALLS: ReadonlySet<string> = new Set(
  `eval exec execsync execute passthru pcntl_exec popen proc_open shell_exec spawn spawnsync system getoutput check_output
   shellexecute`.split(/\s+/),
);

/** The longest name of a function, in characters. */
const LONGEST_CALL = 12;

/** The command in the text that a function runs; the bracket is at `at`. */
function inCall(value: string, at: number): string | null {
  const quote = value.charAt(at + 1);
  if ((quote !== '"' && quote !== "'" && quote !== '`') || (before.tokens > 0 && !loose)) return null;
  let start = at;
  while (start > 0 && at - start <= LONGEST_CALL && isNameCharacter(value.charCodeAt(start - 1))) start--;
  if (!CALLS.has(value.slice(start, at).toLowerCase()) || !readCommand(value, at + 2)) return null;
  return 'call that runs a command';
}

function isNameCharacter(code: number): boolean {
  return isUpper(code & ~32) || code === 0x5f;
}
