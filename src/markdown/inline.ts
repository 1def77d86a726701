/**
 * One line of text as it grows: words, spans and images, with white space folded and marks set where text begins and
 * ends, so that none encloses nothing and none is next to a space.
 */
import { escapeWord, fenceFor, isSpace, wordsOf } from './escape.ts';
import type { OutputMeter } from './meter.ts';

/** Something around text. */
export interface Mark {
  readonly kind: 'strong' | 'emphasis' | 'strike' | 'link';
  /** Of a link. */
  readonly href: string;
  /** What ends it, once it has begun; empty before. */
  closing: string;
}

export interface Inline {
  /** Text as it stands in the page, up to the next tag. */
  text(run: string): void;
  /** A code span; `cell`: within a table, where a pipe would end the cell. */
  code(text: string, cell: boolean): void;
  /** `alt` escaped, or an image with a destination. */
  image(alt: string, url: string | null): void;
  space(): void;
  /** A line break, once more text follows. */
  lineBreak(): void;
  readonly breaking: boolean;
  open(kind: Mark['kind'], href?: string): Mark | null;
  close(mark: Mark): void;
  /** The line so far; marks that are open end with it and begin again in the next. */
  take(): string;
}

const SIGNS = { strong: '**', emphasis: '*', strike: '~~' } as const;

export function createInline(meter: OutputMeter): Inline {
  let pieces: string[] = [];
  const marks: Mark[] = [];
  let unbegun = 0;
  let spaced = false;
  let breaking = false;

  function put(piece: string): void {
    meter(piece.length);
    pieces.push(piece);
  }

  /** Before text: what separates it from the text before, and the marks it is in. */
  function begin(): void {
    if (pieces.length > 0) {
      if (breaking) put('\\\n');
      else if (spaced) put(' ');
    }
    spaced = false;
    breaking = false;
    if (unbegun === 0) return;
    for (const mark of marks) if (mark.closing === '') beginMark(mark);
    unbegun = 0;
  }

  function beginMark(mark: Mark): void {
    if (mark.kind === 'link') {
      put('[');
      mark.closing = `](${mark.href})`;
      return;
    }
    const sign = SIGNS[mark.kind];
    // Asterisks of two marks would run together.
    const other = pieces.at(-1)?.endsWith('*') === true && mark.kind !== 'strike';
    mark.closing = other ? sign.replaceAll('*', '_') : sign;
    put(mark.closing);
  }

  return {
    get breaking() {
      return breaking;
    },
    text(run) {
      let from = -1;
      for (let at = 0; at <= run.length; at++) {
        const ended = at === run.length;
        if (!ended && !isSpace(run.charCodeAt(at))) {
          if (from < 0) from = at;
          continue;
        }
        if (from >= 0) {
          begin();
          put(escapeWord(run.slice(from, at), ended));
          from = -1;
        }
        if (!ended) spaced = true;
      }
    },
    code(text, cell) {
      const folded = wordsOf(text).join(' ');
      if (folded === '') return;
      begin();
      const fence = fenceFor(folded, 1);
      const pad = folded.startsWith('`') || folded.endsWith('`') ? ' ' : '';
      const content = cell ? folded.replaceAll('|', '\\|') : folded;
      put(`${fence}${pad}${content}${pad}${fence}`);
    },
    image(alt, url) {
      begin();
      put(url === null ? alt : `![${alt}](${url})`);
    },
    space() {
      spaced = true;
    },
    lineBreak() {
      breaking = true;
    },
    open(kind, href = '') {
      if (marks.some((mark) => mark.kind === kind)) return null;
      const mark: Mark = { kind, href, closing: '' };
      marks.push(mark);
      unbegun++;
      return mark;
    },
    close(mark) {
      marks.splice(marks.indexOf(mark), 1);
      if (mark.closing === '') unbegun--;
      else put(mark.closing);
    },
    take() {
      for (let at = marks.length - 1; at >= 0; at--) {
        const mark = marks[at]!;
        if (mark.closing === '') continue;
        put(mark.closing);
        mark.closing = '';
        unbegun++;
      }
      const line = pieces.join('');
      pieces = [];
      spaced = false;
      breaking = false;
      return line;
    },
  };
}
