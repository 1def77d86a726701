/**
 * Builds one line of text: words, code spans and images, with white space folded. Delimiters of emphasis and links are
 * written at the first text after their opening tag, so that none encloses nothing and none is next to a space
 * (CommonMark §6.2).
 */
import { escapeWord, fenceFor, isSpace, wordsOf } from './escape.ts';
import type { OutputMeter } from './meter.ts';

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
