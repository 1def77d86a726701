/**
 * Detects commands for shells of Unix and Windows: `detectShell` for `@detectShell`, which reports commands
 * that were put into a value; `detectCommandLine` for `@detectCommandLine`, which reports values that are command lines,
 * too; `detectCommand` for `@detectCommand`, which reports commands in prose, too. The value is read as if an application
 * put it into a command line: places where a command can begin (the start, a separator, a substitution, a call that runs
 * a text) are found, the word there is read without its quoting and looked up, and its arguments and the text around it
 * decide whether it is a command or prose. Grammar: POSIX.1-2017, "Shell Command Language", 2.10.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { isDigit, isUpper } from '../octets/latin1.ts';
import { type Arguments, newArguments, readArguments } from './shell/arguments.ts';
import { newBefore, passCharacter, resetBefore } from './shell/before.ts';
import { besideProse, isCopied } from './shell/beside-prose.ts';
import {
  commandKind,
  isAdministration,
  isBareCommand,
  isInterpreter,
  isLanguage,
  isOrdinaryName,
  isScriptName,
  isShell,
  isTool,
  LONGEST_COMMAND,
  mayBeCommand,
  PREFIX,
  PROBE,
  PROGRAM,
  runsText,
  takesNumber,
  UNKNOWN,
  WORD,
} from './shell/commands.ts';
import { isList } from './shell/lists.ts';
import {
  endsReference,
  isArgument,
  isBlankAt,
  isLineEnd,
  isNameCharacter,
  isOneOf,
  isProgramFolder,
  isQuotedName,
  isRubyText,
  proseBehind,
  proseBehindBracket,
} from './shell/places.ts';
import { beginsScript, isQuotedPhrase, isText, printsOwnVariable } from './shell/prose.ts';
import { fieldSeparator, newWord, readWord, skipBlanks } from './shell/words.ts';

/** The length in octets of the shortest command that is detected: a separator and the name of a program (`&w`). */
export const SHORTEST_SHELL = 2;
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
/** The same for `detectCommandLine` and `detectCommand`: a command line may be one name, which has a letter. */
export const COMMAND_LINE_KINDS = SHELL_KINDS | KIND.lower | KIND.upper;

/** Which commands are reported: those put into a value; whole values, too; those in prose, too. */
const INJECTED = 1;
const ALONE = 2;
const ANYWHERE = 3;

let mode = INJECTED;
let loose = false;

// PERF: one state for all calls. Calls are synchronous, and each resets all of its fields.
const before = newBefore();
const word = newWord();
const args: Arguments = newArguments();

/** The command that was read last. */
const command = {
  name: '',
  kind: UNKNOWN,
  numeric: false,
  pathed: false,
  prefixed: false,
  braced: false,
  end: 0,
};

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
const LONGEST_REMEMBERED = 131_072;

function detect(value: string, reported: number): string | null {
  if (reported < without.reported && value === without.text) return null;
  mode = reported;
  loose = reported === ANYWHERE;
  const line = search(value);
  const found = line !== null && !loose && isText(value, args.prose) ? null : line;
  if (found !== null) return found;
  const beside = hasSpecial(value, 0) ? besideProse(value, mode !== INJECTED) : null;
  if (beside === null && value.length <= LONGEST_REMEMBERED) {
    without.text = value;
    without.reported = reported;
  }
  return beside;
}

function search(value: string): string | null {
  resetBefore(before);
  const first = commandPlace(value);
  // Without any mark the value itself is the only command that there can be.
  if (!hasSpecial(value, first) && (mode === INJECTED || !mayBeCommand(value, first))) return null;
  const start = atStart(value);
  if (start !== null) return start;
  let passed = 0;
  let isInTicks = false;
  for (let at = 0; at < value.length; at++) {
    if (PLACES[value.charCodeAt(at)] !== 1) continue;
    // Behind prose nothing counts. PERF: most texts end the search within their first words.
    while (passed < at) {
      passCharacter(before, value, passed++);
      if (before.prose > 1 && !loose) return null;
    }
    if (value.charCodeAt(at) === BACKTICK) {
      isInTicks = !isInTicks;
      if (!isInTicks) continue;
    }
    const found = atPlace(value, at);
    if (found !== null) return found;
    if (isInTicks && !loose && value.charCodeAt(at) === BACKTICK && isWork(value)) {
      // The code span of a developer's command: what it has inside is an argument of it.
      const close = value.indexOf('`', at + 1);
      if (close < 0) return null;
      at = close;
      isInTicks = false;
    }
  }
  return null;
}

const BACKTICK = 0x60;

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

/** Separators and brackets before a command that are skipped at most. */
const MAX_OPENINGS = 4;
const OPENINGS = '{(!;&|\n\r';

/** Words before a command that are read at most: assignments, `sudo`, `then`. */
const MAX_PREFIXES = 4;

/** Reads the command that begins at `from`: its name, after assignments and prefixes; `false`: no known one does. */
function readCommand(value: string, from: number): boolean {
  command.kind = UNKNOWN;
  command.name = '';
  command.prefixed = false;
  let at = from;
  for (let turn = 0; turn < MAX_PREFIXES; turn++) {
    at = skipBlanks(value, at);
    if (turn > 0 && word.plain === 'env' && isOneOf(value, at, ';|&\n\r')) return readEnvironment(at);
    for (let skipped = 0; skipped < MAX_OPENINGS && isOneOf(value, at, OPENINGS); skipped++)
      at = skipBlanks(value, at + 1);
    const braced = at > from && value[at - 1] === '{';
    const last = word.plain;
    readWord(value, at, word);
    if (word.end === at) return turn > 0 && last === 'env' && readEnvironment(at);
    if (word.plain === '' && word.variables !== 1) return word.variables > 1 && readBuilt(value);
    if (
      word.plain === '' ||
      (command.prefixed && (word.plain.startsWith('-') || isDigit(word.plain.charCodeAt(0))))
    ) {
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
  command.name = name;
  command.pathed = slash >= 0 && isProgramFolder(plain.slice(0, slash + 1));
  command.numeric = takesNumber(name);
  if (slash >= 0 && !command.pathed) return UNKNOWN;
  const kind = commandKind(name, word.cased);
  return kind === UNKNOWN && command.pathed && isScriptName(name) ? PROGRAM : kind;
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

/** Whether the command that was read last is a tool of developers, or an interpreter without a text to run. */
function isToolCall(value: string): boolean {
  const { name, end } = command;
  if (!isInterpreter(name)) return isTool(name);
  const option = skipBlanks(value, end);
  return value[option] !== '-' || !isOneOf(value, option + 1, 'cer');
}

/** Whether the command that was read last is one of developers or administrators. */
function isWork(value: string): boolean {
  return isToolCall(value) || isAdministration(command.name);
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
  if (beginsScript(value, at)) {
    before.line = true;
    before.work = true;
    return null;
  }
  if (';|&\n\r'.includes(value.charAt(at)) || !readCommand(value, at)) return null;
  const { kind, name, numeric, end, prefixed } = command;
  const trick = hidden(value);
  if (trick !== null) return trick;
  const quoted = word.breaks > 0;
  // The command is no prose.
  before.prose = -1;
  readArguments(value, end, { numeric, args });
  if (args.broken) return 'path with quoting in it';
  before.work = !loose && isWork(value);
  const ordinary = isOrdinaryName(name) && args.end >= value.length;
  const bare = (isLanguage(name) || ordinary) && args.marks + args.others === 0;
  if (
    mode !== INJECTED &&
    !before.work &&
    !bare &&
    !isQuotedPhrase(value) &&
    args.prose + proseBehindBracket(value, args.end) === 0 &&
    (kind === PROGRAM || args.marks > 0)
  ) {
    return 'command line';
  }
  before.line = true;
  if (args.prose > 0 || (kind !== PROBE && args.marks === 0)) return null;
  if (quoted) return 'command with quoting in its name';
  if (mode === INJECTED || before.work || prefixed || value[args.end] === '#') return null;
  if (!';|&\n'.includes(value.charAt(args.end)) || args.end >= value.length) return null;
  if (!readCommand(value, args.end + 1)) return null;
  readArguments(value, command.end, { numeric: false, args });
  return isTopic() ? null : 'chain of commands';
}

/** Whether the command that was read last is a shell, and has words of prose behind it: `curl | bash security`. */
function isTopic(): boolean {
  return isShell(command.name) && args.prose > 0 && args.marks + args.others === 0;
}

/** The command behind a separator. */
function behindSeparator(value: string, at: number): string | null {
  const { prose, letters, element } = before;
  if (before.line && (mode === INJECTED || before.work)) return null;
  const words = prose + (letters > 1 && isBlankAt(value, at + 1) ? 1 : 0);
  if ((words > 1 && !loose) || !readCommand(value, at + 1)) return null;
  const { kind, numeric, pathed, end, prefixed } = command;
  const trick = hidden(value);
  if (trick !== null) return trick;
  if (!loose && before.tokens > 0 && isToolCall(value)) return null;
  if (value[end] === '=' || value[end] === ':') return null;
  readArguments(value, end, { numeric, args });
  if (pathed && kind !== UNKNOWN && args.prose < 2) return 'separator and a program by its path';
  if ((before.line && isTopic()) || printsOwnVariable(value, at, command.name, args.end)) return null;
  const bare = prose <= 0 && element <= 1;
  if (before.tokens === 0 && before.letters === 0 && at < MAX_OPENINGS && isLine(value, kind)) {
    return args.end > end && args.marks + args.prose + args.others > 0
      ? 'separator and a command'
      : 'separator and the name of a program';
  }
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
  return value.charAt(args.end) === ')' || (!prefixed && isList(value, before.element))
    ? null
    : 'separator and the name of a program';
}

/** The most words of letters among the arguments of a command that the value begins with behind its separator. */
const MAX_WORD_ARGUMENTS = 4;

/** Whether the command that was read last is one, whatever words it has for arguments: sentences begin with no separator. */
function isLine(value: string, kind: number): boolean {
  if (args.prose > MAX_WORD_ARGUMENTS) return false;
  if (args.end >= value.length && args.marks + args.prose + args.others === 0) {
    return kind === PROGRAM || kind === PROBE || isBareCommand(command.name);
  }
  if (kind === PROGRAM || args.rooted) return args.marks + args.prose + args.others > 0;
  return command.name === 'ps' && args.prose === 1;
}

/** The command in a substitution that begins at `from` and ends with `close`. */
function inSubstitution(value: string, from: number, close: string): string | null {
  const quote = value.charAt(from);
  // `$("cat")` is a call of a library of JavaScript.
  if (close === ')' && (quote === '"' || quote === "'")) return null;
  if (quote === '<' && isOneOf(value, skipBlanks(value, from + 1), '/~.')) return 'substitution of a file';
  if (close === '`' && isQuotedName(value, from)) return null;
  if ((before.prose > 1 && !loose) || !readCommand(value, from)) return null;
  const { kind, numeric, pathed, end } = command;
  const trick = hidden(value);
  if (trick !== null) return trick;
  // `npm test` in a text is a command that people write about, `chown $(whoami) x` a line that they copy.
  if (
    !loose &&
    (isToolCall(value) ||
      (mode === INJECTED && before.line && isArgument(value, from, close) && isCopied(value, from, close)))
  )
    return null;
  readArguments(value, end, { numeric, args });
  if (loose && (kind === PROGRAM || (args.marks > 0 && args.prose === 0))) return 'substitution of a command';
  const marked = pathed || args.marks > 0;
  const named = kind === PROGRAM || kind === PROBE || (args.prose + args.others > 0 && isBlankAt(value, end));
  if (args.prose > 2 || !(marked || named)) return null;
  // A name that `$(` follows without a blank is no word of prose: `x.jpg$(id).png`.
  const glued = close === ')' && before.letters > 1 && !isBlankAt(value, from - 3);
  const prose = before.prose + (before.letters > 1 && !glued ? 1 : 0) + proseBehind(value, end, close);
  // A command in backticks beside a word is a code span, unless it reaches a path from the root.
  const most = marked && (close === ')' || pathed || args.rooted) ? 1 : 0;
  return prose > most ? null : 'substitution of a command';
}

/** The longest name of a function, in characters. */
const LONGEST_CALL = 12;

/** The command in the text that a function runs; the bracket is at `at`. */
function inCall(value: string, at: number): string | null {
  const quote = value.charAt(at + 1);
  if ((quote !== '"' && quote !== "'" && quote !== '`') || (before.tokens > 0 && !loose)) return null;
  let start = at;
  while (start > 0 && at - start <= LONGEST_CALL && isNameCharacter(value.charCodeAt(start - 1))) start--;
  if (!runsText(value.slice(start, at).toLowerCase()) || !readCommand(value, at + 2)) return null;
  return 'call that runs a command';
}
