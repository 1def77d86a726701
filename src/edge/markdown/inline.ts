/**
 * Builds one line of text: words, code spans and images, with white space folded. Delimiters of emphasis and links are
 * written at the first text after their opening tag, so that none encloses nothing and none is next to a space
 * (CommonMark §6.2).
 */
import type { OutputMeter } from './writer.ts';

/** Emphasis or a link around text. */
export interface Mark {
  readonly kind: 'strong' | 'emphasis' | 'strike' | 'link';
  /** A link's destination; empty for the other kinds. */
  readonly href: string;
  /** Its closing delimiter, once the opening one is written; empty before. */
  closing: string;
}

/** The current line. */
export interface Inline {
  /** Text of the page up to the next tag. */
  text(run: string): void;
  /** A code span. @param cell within a table, where a pipe would end the cell */
  code(text: string, cell: boolean): void;
  /** An image; without a destination its `alt` as text. `alt` is escaped already. */
  image(alt: string, url: string | null): void;
  /** White space before the next text. */
  space(): void;
  /** A hard line break before the next text. */
  lineBreak(): void;
  /** Whether a line break is pending. */
  readonly breaking: boolean;
  /** Opens a mark; `null`: one of its kind is open already. */
  open(kind: Mark['kind'], href?: string): Mark | null;
  close(mark: Mark): void;
  /** Returns the line and starts the next one; open marks are closed, and opened again in the next line. */
  take(): string;
}

interface LineState {
  readonly meter: OutputMeter;
  pieces: string[];
  /** Open marks, the innermost last. */
  readonly marks: Mark[];
  /** Open marks whose opening delimiter is not written yet. */
  unwritten: number;
  /** White space precedes the next text. */
  spaced: boolean;
  /** A line break precedes the next text. */
  breaking: boolean;
}

const SIGNS = { strong: '**', emphasis: '*', strike: '~~' } as const;

export function createInline(meter: OutputMeter): Inline {
  const line: LineState = { meter, pieces: [], marks: [], unwritten: 0, spaced: false, breaking: false };
  return {
    get breaking() {
      return line.breaking;
    },
    text: (run) => addText(line, run),
    code: (text, cell) => addCode(line, text, cell),
    image(alt, url) {
      startText(line);
      put(line, url === null ? alt : `![${alt}](${url})`);
    },
    space() {
      line.spaced = true;
    },
    lineBreak() {
      line.breaking = true;
    },
    open(kind, href = '') {
      if (line.marks.some((mark) => mark.kind === kind)) return null;
      const mark: Mark = { kind, href, closing: '' };
      line.marks.push(mark);
      line.unwritten++;
      return mark;
    },
    close(mark) {
      line.marks.splice(line.marks.indexOf(mark), 1);
      if (mark.closing === '') line.unwritten--;
      else put(line, mark.closing);
    },
    take: () => takeLine(line),
  };
}

/** Adds to the line. @throws PageLimit */
function put({ meter, pieces }: LineState, piece: string): void {
  meter(piece.length);
  pieces.push(piece);
}

/** Writes what precedes text: a space or a line break, and the opening delimiters of its marks. */
function startText(line: LineState): void {
  if (line.pieces.length > 0) {
    if (line.breaking) put(line, '\\\n');
    else if (line.spaced) put(line, ' ');
  }
  line.spaced = false;
  line.breaking = false;
  if (line.unwritten === 0) return;
  for (const mark of line.marks) if (mark.closing === '') openDelimiter(line, mark);
  line.unwritten = 0;
}

/** Writes the opening delimiter of a mark and sets its closing one. */
function openDelimiter(line: LineState, mark: Mark): void {
  if (mark.kind === 'link') {
    put(line, '[');
    mark.closing = `](${mark.href})`;
    return;
  }
  const sign = SIGNS[mark.kind];
  // Adjacent asterisks of two marks would be read as one delimiter.
  const other = line.pieces.at(-1)?.endsWith('*') === true && mark.kind !== 'strike';
  mark.closing = other ? sign.replaceAll('*', '_') : sign;
  put(line, mark.closing);
}

/** Adds text: escapes its words, folds white space between them. */
function addText(line: LineState, run: string): void {
  let from = -1;
  for (let at = 0; at <= run.length; at++) {
    const ended = at === run.length;
    if (!ended && !isSpace(run.charCodeAt(at))) {
      if (from < 0) from = at;
      continue;
    }
    if (from >= 0) {
      startText(line);
      put(line, escapeWord(run.slice(from, at), ended));
      from = -1;
    }
    if (!ended) line.spaced = true;
  }
}

/** Adds a code span; padded if its text starts or ends with a backtick (CommonMark §6.1). */
function addCode(line: LineState, text: string, cell: boolean): void {
  const folded = wordsOf(text).join(' ');
  if (folded === '') return;
  startText(line);
  const fence = fenceFor(folded, 1);
  const pad = folded.startsWith('`') || folded.endsWith('`') ? ' ' : '';
  const content = cell ? folded.replaceAll('|', '\\|') : folded;
  put(line, `${fence}${pad}${content}${pad}${fence}`);
}

/** Closes the written marks from the innermost outwards and returns the line. */
function takeLine(line: LineState): string {
  const { marks } = line;
  for (let at = marks.length - 1; at >= 0; at--) {
    const mark = marks[at]!;
    if (mark.closing === '') continue;
    put(line, mark.closing);
    mark.closing = '';
    line.unwritten++;
  }
  const text = line.pieces.join('');
  line.pieces = [];
  line.spaced = false;
  line.breaking = false;
  return text;
}

// Escapes text so that no part of it acts as markup (CommonMark 0.31 §2.4, GFM §4.10). A URL in the text is not escaped;
// readers of GFM make a link to itself of it (§6.9).

const BACKSLASH = 92;
const UNDERSCORE = 95;
const AMPERSAND = 38;
const LESS = 60;
const BANG = 33;
/** Characters that always get a backslash: \ ` * [ ] ~ | */
const ESCAPED: ReadonlySet<number> = new Set([BACKSLASH, 96, 42, 91, 93, 126, 124]);

/** White space of HTML, and the no-break space; all of it is folded. */
function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 160;
}

/**
 * Escapes one word. @param last whether markup may follow directly, with which the end of the word must not combine
 */
function escapeWord(word: string, last: boolean): string {
  let escaped = '';
  let from = 0;
  for (let at = 0; at < word.length; at++) {
    const instead = escapeAt(word, at, last);
    if (instead === null) continue;
    escaped += word.slice(from, at) + instead;
    from = at + 1;
  }
  return from === 0 ? word : escaped + word.slice(from);
}

/** The replacement of a character; `null`: none. */
function escapeAt(word: string, at: number, last: boolean): string | null {
  const code = word.charCodeAt(at);
  if (ESCAPED.has(code)) return `\\${word[at]}`;
  // An entity instead of a backslash: a reader that ignores escapes must not find a tag either.
  if (code === LESS) return '&lt;';
  const ends = at === word.length - 1;
  if (code === UNDERSCORE) {
    const within = at > 0 && !ends && isAlphanumeric(word.charCodeAt(at - 1));
    return within && isAlphanumeric(word.charCodeAt(at + 1)) ? null : '\\_';
  }
  if (code === AMPERSAND) {
    const next = ends ? -1 : word.charCodeAt(at + 1);
    return (ends && last) || next === 35 || isAlphanumeric(next) ? '&amp;' : null;
  }
  return code === BANG && ends && last ? '\\!' : null;
}

function isAlphanumeric(code: number): boolean {
  return isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** The escaped words of a text, joined by single spaces. */
export function escapeText(text: string): string {
  const words = wordsOf(text);
  return words.map((word, index) => escapeWord(word, index === words.length - 1)).join(' ');
}

/** The words between white space. */
function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  let from = -1;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && !isSpace(text.charCodeAt(at))) {
      if (from < 0) from = at;
    } else if (from >= 0) {
      words.push(text.slice(from, at));
      from = -1;
    }
  }
  return words;
}

/** Escapes the start of lines that would begin a heading, an item, a quotation or a rule. */
export function guardLines(text: string): string {
  if (!text.includes('\n')) return guardLine(text);
  return text.split('\n').map(guardLine).join('\n');
}

/** Escapes the first character of a line if it would begin another block. */
function guardLine(line: string): string {
  const first = line.charCodeAt(0);
  if (isDigit(first)) return guardNumber(line);
  if (line.startsWith('>') || line.startsWith('=')) return `\\${line}`;
  let run = 1;
  while (run < line.length && line.charCodeAt(run) === first) run++;
  const alone = run === line.length || line.charCodeAt(run) === 32;
  const guarded = first === 35 ? alone && run <= 6 : first === 45 || first === 43 || first === 58;
  return guarded && alone ? `\\${line}` : line;
}

/** Escapes the delimiter after a number of up to nine digits, which would begin an ordered item. */
function guardNumber(line: string): string {
  let at = 0;
  while (at < line.length && at < 10 && isDigit(line.charCodeAt(at))) at++;
  const mark = line[at];
  const ends = at + 1 === line.length || line.charCodeAt(at + 1) === 32;
  if (at > 9 || (mark !== '.' && mark !== ')') || !ends) return line;
  return `${line.slice(0, at)}\\${line.slice(at)}`;
}

/** Escapes number signs at the end of a heading, which would be its closing sequence (CommonMark §4.2). */
export function guardHeading(text: string): string {
  let at = text.length;
  while (at > 0 && text.charCodeAt(at - 1) === 35) at--;
  const closes = at < text.length && (at === 0 || text.charCodeAt(at - 1) === 32);
  return closes ? `${text.slice(0, at)}\\${text.slice(at)}` : text;
}

/** A fence of backticks for a text: longer than any run in it, at least `least`. */
export function fenceFor(text: string, least: number): string {
  let longest = 0;
  let run = 0;
  for (let at = 0; at < text.length; at++) {
    run = text.charCodeAt(at) === 96 ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return '`'.repeat(Math.max(least, longest + 1));
}
