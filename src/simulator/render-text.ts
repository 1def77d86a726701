/**
 * Text for terminals: spans with a tone instead of escape codes, columns counted as a terminal counts them, and
 * nothing of a customer's that a terminal would obey.
 */

/** What a span is for; `paint` turns it into a colour. No tone is the only bearer of a meaning. */
export const TONES = ['plain', 'strong', 'dim', 'good', 'bad', 'warn', 'accent'] as const;
export type Tone = (typeof TONES)[number];

export interface TextSpan {
  readonly text: string;
  readonly tone: Tone;
  /** Not to be broken between its words. */
  readonly whole?: true;
}
export type RenderedLine = readonly TextSpan[];

/** One span, made safe to print. */
export function span(text: string, tone: Tone = 'plain'): TextSpan {
  return { text: visible(text), tone };
}

/** A span that moves to the next line as one. */
export function wholeSpan(text: string, tone: Tone): TextSpan {
  return { ...span(text, tone), whole: true };
}

/** Parts with a dot between them, in which no part is broken while it fits a line. */
export function dotted(parts: readonly (string | null)[], tone: Tone): RenderedLine {
  const said = parts.filter((part) => part !== null && part !== '');
  return said.map((part, index) => wholeSpan(index < said.length - 1 ? `${part} · ` : `${part}`, tone));
}

// Controls, bidirectional overrides, line separators and lone surrogates: what moves a cursor, turns text round or is
// no text at all.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Surrogate}/gu;

/** Writes each character a terminal would obey, hide or reorder by as `\u{…}`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

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
const COMBINING = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** Columns of one character, after the East Asian Width classes W and F (UAX #11). */
function columnsOf(character: string): number {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x300) return 1;
  if (COMBINING.test(character)) return 0;
  return WIDE.some((range) => point >= range.from && point <= range.to) ? 2 : 1;
}

/** Columns a text takes in a terminal. */
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

/** Fills a text with spaces up to a number of columns. */
export function pad(text: string, to: number): string {
  return text + ' '.repeat(Math.max(0, to - columns(text)));
}

/** Cuts a word that is longer than a line where the line ends. */
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

/** Breaks spans into lines of at most `room` columns, between words where it can. `Infinity` keeps one line. */
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

/** Adds to a line, joining what has the same tone. */
function append(line: TextSpan[], added: TextSpan): void {
  const last = line.at(-1);
  if (last?.tone === added.tone) line[line.length - 1] = { text: last.text + added.text, tone: last.tone };
  else line.push(added);
}

function trimLine(line: RenderedLine): RenderedLine {
  const last = line.at(-1);
  return last === undefined ? line : [...line.slice(0, -1), { text: last.text.trimEnd(), tone: last.tone }];
}

/** Puts `first` before the first line and the same width of blanks before the others. */
export function hang(first: RenderedLine, lines: readonly RenderedLine[]): readonly RenderedLine[] {
  const blank: TextSpan = { text: ' '.repeat(lineColumns(first)), tone: 'plain' };
  return lines.map((line, index) => (index === 0 ? [...first, ...line] : [blank, ...line]));
}
