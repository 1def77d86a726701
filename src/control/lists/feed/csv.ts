/**
 * Reads CSV (RFC 4180) row by row. In: text. Out: the fields of each row with the number of its first line. Blank lines, and lines that
 * begin with `#`, are no rows. Linear in the length of the text.
 */
import { MAX_COLUMNS } from './limits.ts';

/** A row, or what is wrong with it, after which nothing can be read. */
export type CsvRow =
  | { readonly line: number; readonly fields: readonly string[] }
  | { readonly line: number; readonly problem: string };

/** A place in the text. */
interface Cursor {
  readonly text: string;
  at: number;
  line: number;
}

/** The rows of a text; a mistake ends them. */
export function* csvRows(text: string): Iterable<CsvRow> {
  const cursor: Cursor = { text, at: 0, line: 1 };
  while (cursor.at < text.length) {
    if (isSkipped(cursor)) continue;
    const { line } = cursor;
    const fields = readRow(cursor);
    if (typeof fields === 'string') {
      yield { line, problem: fields };
      return;
    }
    yield { line, fields };
  }
}

/** Skips one blank line or comment. */
function isSkipped(cursor: Cursor): boolean {
  const { text, at } = cursor;
  const isBlank = text[at] === '\n' || (text[at] === '\r' && text[at + 1] === '\n');
  if (!isBlank && text[at] !== '#') return false;
  const end = text.indexOf('\n', at);
  cursor.at = end < 0 ? text.length : end + 1;
  cursor.line++;
  return true;
}

function readRow(cursor: Cursor): readonly string[] | string {
  const { text } = cursor;
  const fields: string[] = [];
  for (;;) {
    const field = text[cursor.at] === '"' ? readQuoted(cursor) : readBare(cursor);
    if (typeof field !== 'string') return field.problem;
    fields.push(field);
    if (fields.length > MAX_COLUMNS) return `must have at most ${MAX_COLUMNS} columns`;
    const next = text[cursor.at];
    if (next === ',') {
      cursor.at++;
      continue;
    }
    if (next === '\r') cursor.at++;
    if (cursor.at < text.length && text[cursor.at] !== '\n') return 'has text after a quoted field';
    cursor.at++;
    cursor.line++;
    return fields;
  }
}

interface Wrong {
  readonly problem: string;
}

/** A field in quotes; two quotes in it mean one. */
function readQuoted(cursor: Cursor): string | Wrong {
  const { text } = cursor;
  let value = '';
  for (let from = cursor.at + 1; ; ) {
    const end = text.indexOf('"', from);
    if (end < 0) return { problem: 'has a quote that nothing closes' };
    value += text.slice(from, end);
    if (text[end + 1] !== '"') {
      cursor.line += value.split('\n').length - 1;
      cursor.at = end + 1;
      return value;
    }
    value += '"';
    from = end + 2;
  }
}

/** Where a field without quotes ends. */
const END = /[,\n]/g;

function readBare(cursor: Cursor): string | Wrong {
  const { text, at } = cursor;
  END.lastIndex = at;
  const end = END.exec(text)?.index ?? text.length;
  const isCrLf = text[end] !== ',' && end > at && text[end - 1] === '\r';
  const value = text.slice(at, isCrLf ? end - 1 : end);
  if (value.includes('"')) return { problem: 'has a quote inside a field that does not begin with one' };
  cursor.at = isCrLf ? end - 1 : end;
  return value;
}
