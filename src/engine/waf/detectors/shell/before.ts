/** What is known of the text before a place of a value where a command can begin: prose, or a command line. */
import { isSpace, isUpper } from '../../octets/latin1.ts';
import { isCommandName } from './commands.ts';

/** The text before a place, as far as it matters: how much of it is prose. */
export interface TextBefore {
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
  /** Whether that command line is one of developers or administrators, or a script. */
  work: boolean;
}

/** Creates the state; `resetBefore` sets it to the beginning of a value. */
export function newBefore(): TextBefore {
  return { prose: 0, start: 0, letters: 0, element: 0, tokens: 0, query: false, line: false, work: false };
}

/** Sets the state to the beginning of a value. */
export function resetBefore(before: TextBefore): void {
  before.prose = 0;
  before.start = 0;
  before.letters = 0;
  before.element = 0;
  before.tokens = 0;
  before.query = false;
  before.line = false;
  before.work = false;
}

/** Words of prose from which on their number does not matter. */
const MUCH_PROSE = 4;

/** Adds the character at `at` to the text before. */
export function passCharacter(before: TextBefore, value: string, at: number): void {
  const code = value.charCodeAt(at);
  if (isSpace(code)) {
    if (before.letters > 1 && before.prose < MUCH_PROSE && !isCommandName(value.slice(before.start, at)))
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

function isLetter(code: number): boolean {
  return isUpper(code & ~32) || code >= 0x80;
}
