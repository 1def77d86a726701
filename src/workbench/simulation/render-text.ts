/**
 * Text for terminals: spans with a tone instead of escape codes, widths in terminal columns, and customer text made
 * safe: no character of it controls the terminal.
 */

/** The role of a span; `paint` converts it to a colour. No meaning depends on the tone alone. */
export const TONES = ['plain', 'strong', 'dim', 'good', 'bad', 'warn', 'accent'] as const;
export type Tone = (typeof TONES)[number];

/** A piece of a line. */
export interface TextSpan {
  readonly text: string;
  readonly tone: Tone;
  /** The span is not broken between its words while it fits a line. */
  readonly whole?: true;
}
/** One line. */
export type RenderedLine = readonly TextSpan[];

/** Creates a span; characters that control a terminal are escaped. */
export function span(text: string, tone: Tone = 'plain'): TextSpan {
  return { text: visible(text), tone };
}

/** Creates a span that moves to the next line as a whole. */
export function wholeSpan(text: string, tone: Tone): TextSpan {
  return { ...span(text, tone), whole: true };
}

/** Joins parts with dots; no part is broken while it fits a line. `null` and empty parts are left out. */
export function dotted(parts: readonly (string | null)[], tone: Tone): RenderedLine {
  const present = parts.filter((part) => part !== null && part !== '');
  return present.map((part, index) => wholeSpan(index < present.length - 1 ? `${part} · ` : `${part}`, tone));
}

// Controls, bidirectional overrides, line separators and lone surrogates: characters that move the cursor, reorder
// text, or are invalid.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Surrogate}/gu;

/** Escapes each character that a terminal would interpret, hide or reorder by, as `\u{…}`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Ranges of the East Asian Width classes W and F (UAX #11), two columns each. */
const WIDE: readonly { readonly from: number; readonly to: number }[] = [
  { from: 0x1100, to: 0x115f },
  { from: 0x2e80, to: 0x303e },
  { from: 0x3041, to: 0xa4cf },
  { from: 0xa960, to: 0xa97f },
  { from: 0xac00, to: 0xd7a3 },
  { from: 0xf900, to: 0xfaff },
  { from: 0xfe30, to: 0xfe6f },
  { from: 0xff00, to: 0xff60 },
  { from: 0xffe0, to: 0xffe6 },
  { from: 0x1f300, to: 0x1f64f },
  { from: 0x1f680, to: 0x1f9ff },
  { from: 0x20000, to: 0x3fffd },
];
/** Characters of no width: combining marks and format characters. */
const COMBINING = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** Columns of one character by the East Asian Width classes W and F (UAX #11). */
function columnsOf(character: string): number {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x300) return 1;
  if (COMBINING.test(character)) return 0;
  return WIDE.some((range) => point >= range.from && point <= range.to) ? 2 : 1;
}

/** Columns of a text in a terminal. */
export function columns(text: string): number {
  let sum = 0;
  for (const character of text) sum += columnsOf(character);
  return sum;
}

/** `1 rule`, `2 rules`: a number with its noun; `plural` defaults to the noun with an `s`. */
export function quantity(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Columns of a line. */
export function lineColumns(line: RenderedLine): number {
  return line.reduce((sum, one) => sum + columns(one.text), 0);
}

/** Pads a text with spaces to a number of columns. */
export function pad(text: string, to: number): string {
  return text + ' '.repeat(Math.max(0, to - columns(text)));
}

/** Splits a word that is wider than a line at the line's end. */
function chop(word: string, room: number): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const character of word) {
    const wide = columnsOf(character);
    if (used + wide > room && piece !== '') {
      pieces.push(piece);
      piece = '';
      used = 0;
    }
    piece += character;
    used += wide;
  }
  pieces.push(piece);
  return pieces;
}

/**
 * Breaks spans into lines of at most `room` columns, between words if possible. With `Infinity` the result is
 * one line.
 */
export function wrap(spans: RenderedLine, room: number): readonly RenderedLine[] {
  if (lineColumns(spans) <= room) return [spans];
  const width = Math.max(1, room);
  const lines: TextSpan[][] = [[]];
  let used = 0;
  const put = (text: string, tone: Tone) => {
    append(lines.at(-1) ?? [], { text, tone });
    used += columns(text);
  };
  const breakLine = () => {
    lines.push([]);
    used = 0;
  };
  for (const { text, tone, whole } of spans) {
    const fits = whole === true && columns(text.trim()) <= width;
    for (const word of fits ? [text] : text.split(/(?<= )/)) {
      const bare = columns(word.trimEnd());
      const breaks = used > 0 && used + bare > width;
      if (breaks) breakLine();
      const left = breaks ? word.trimStart() : word;
      const pieces = columns(left.trimEnd()) > width ? chop(left, width) : [left];
      pieces.forEach((piece, index) => {
        if (index > 0) breakLine();
        put(piece, tone);
      });
    }
  }
  return lines.filter((line) => line.length > 0).map(trimLine);
}

/** Appends to a line; a span of the same tone is joined to the last. */
function append(line: TextSpan[], added: TextSpan): void {
  const last = line.at(-1);
  if (last?.tone === added.tone) line[line.length - 1] = { text: last.text + added.text, tone: last.tone };
  else line.push(added);
}

/** Removes blanks at the end of a line. */
function trimLine(line: RenderedLine): RenderedLine {
  const last = line.at(-1);
  return last === undefined ? line : [...line.slice(0, -1), { text: last.text.trimEnd(), tone: last.tone }];
}

/** Puts `first` before the first line, and blanks of the same width before the others. */
export function hang(first: RenderedLine, lines: readonly RenderedLine[]): readonly RenderedLine[] {
  const blank: TextSpan = { text: ' '.repeat(lineColumns(first)), tone: 'plain' };
  return lines.map((line, index) => (index === 0 ? [...first, ...line] : [blank, ...line]));
}

/** A text as one word of a POSIX shell: unquoted if that is safe, else in single quotes. */
export function shellWord(text: string): string {
  return /^[\w./@%+,:-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
