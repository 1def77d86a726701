/** Splits a command line into words as a POSIX shell does, without anything that would run or expand something. */
import type { Typed } from './request-line.ts';

/** Escapes of `$'…'` that stand for one character (POSIX.1-2024, 2.2.4). */
const ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Characters that end a command or redirect it. */
const OPERATORS = '|&;<>()';

/** A part of a word, and where the text goes on. */
interface Piece {
  readonly text: string;
  readonly next: number;
}

/** A mistake; caught in `splitShell`. */
class ShellMistake extends Error {}

/** The octets of a run of `\xHH` as text. */
function octetsText(run: string): string {
  const octets = run
    .split('\\x')
    .slice(1)
    .map((digits) => Number.parseInt(digits, 16));
  return new TextDecoder().decode(new Uint8Array(octets));
}

/** Reads an escape of `$'…'`; `at` is the place of its backslash. */
function ansiEscape(line: string, at: number): Piece {
  const rest = line.slice(at, at + 4096);
  const octets = /^(?:\\x[0-9A-Fa-f]{1,2})+/.exec(rest)?.[0];
  if (octets !== undefined) return { text: octetsText(octets), next: at + octets.length };
  const point = /^\\(?:u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3}))/.exec(rest);
  if (point !== null) {
    const [all, short, long, octal] = point;
    const code = octal === undefined ? Number.parseInt(short ?? long ?? '', 16) : Number.parseInt(octal, 8);
    if (code > 0x10ffff) throw new ShellMistake(`\`${all}\` is not a character`);
    return { text: String.fromCodePoint(code), next: at + all.length };
  }
  const character = line[at + 1] ?? '';
  return { text: ESCAPES[character] ?? character, next: at + 2 };
}

/** Reads `'…'` or `$'…'` from behind its opening quote. */
function singleQuoted(line: string, from: number, ansi: boolean): Piece {
  let text = '';
  for (let at = from; at < line.length; ) {
    const character = line[at]!;
    if (character === "'") return { text, next: at + 1 };
    const piece = ansi && character === '\\' ? ansiEscape(line, at) : { text: character, next: at + 1 };
    text += piece.text;
    at = piece.next;
  }
  throw new ShellMistake("a quote `'` is not closed");
}

/** Reads `"…"` from behind its opening quote. */
function doubleQuoted(line: string, from: number): Piece {
  let text = '';
  for (let at = from; at < line.length; ) {
    const character = line[at]!;
    if (character === '"') return { text, next: at + 1 };
    if (character === '\\' && '"\\$`\n'.includes(line[at + 1] ?? ' ')) {
      text += line[at + 1] === '\n' ? '' : line[at + 1];
      at += 2;
    } else {
      refuseExpansion(line, at);
      text += character;
      at += 1;
    }
  }
  throw new ShellMistake('a quote `"` is not closed');
}

/** Refuses what a shell would replace: variables and commands. */
function refuseExpansion(line: string, at: number): void {
  const found = /^(?:\$[A-Za-z_{(][\w]{0,40}|`)/.exec(line.slice(at, at + 48))?.[0];
  if (found === undefined) return;
  const what = found === '`' ? 'a backtick' : `\`${found}\``;
  throw new ShellMistake(`${what} is for the shell to replace; write the value`);
}

/** Reads the next part of a word outside of quotes. */
function bare(line: string, at: number): Piece {
  const character = line[at]!;
  const ansi = character === '$' && line[at + 1] === "'";
  if (ansi || character === "'") return singleQuoted(line, at + (ansi ? 2 : 1), ansi);
  if (character === '"') return doubleQuoted(line, at + 1);
  if (character === '\\') return { text: line[at + 1] ?? '', next: at + 2 };
  if (OPERATORS.includes(character)) throw new ShellMistake(`\`${character}\` needs quotes`);
  refuseExpansion(line, at);
  return { text: character, next: at + 1 };
}

/** All words of a line. */
function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < line.length; ) {
    if (line.startsWith('\\\n', at)) at += 2;
    else if (/\s/.test(line[at]!)) {
      if (word !== null) words.push(word);
      word = null;
      at += 1;
    } else {
      const piece = bare(line, at);
      word = (word ?? '') + piece.text;
      at = piece.next;
    }
  }
  return word === null ? words : [...words, word];
}

/** The words of a command line, quotes and escapes removed. */
export function splitShell(line: string): Typed<readonly string[]> {
  try {
    return { ok: true, value: wordsOf(line.replaceAll('\r\n', '\n')) };
  } catch (error) {
    if (!(error instanceof ShellMistake)) throw error;
    return { ok: false, error: error.message };
  }
}
