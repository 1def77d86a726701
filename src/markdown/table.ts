/** A table as it grows, and as GFM writes it (§4.10). */
import { guardLines } from './escape.ts';
import type { BlockWriter } from './writer.ts';

interface Row {
  readonly cells: string[];
  /** All of it are headers. */
  head: boolean;
}

export interface MarkdownTable {
  readonly rows: Row[];
  /** The row that cells are put into. */
  row: Row | null;
  inHead: boolean;
  /** Its text outside of cells: its caption, or what is misplaced. */
  readonly captions: string[];
  /** It only places things: what its cells hold stands by itself. */
  layout: boolean;
}

export function createTable(layout: boolean): MarkdownTable {
  return { rows: [], row: null, inHead: false, captions: [], layout };
}

export interface Cell {
  readonly text: string;
  readonly head: boolean;
  readonly span: number;
}

export function addCell(table: MarkdownTable, { text, head, span }: Cell): void {
  table.row ??= { cells: [], head: true };
  table.row.cells.push(text);
  for (let more = 1; more < span; more++) table.row.cells.push('');
  table.row.head &&= head || table.inHead;
}

export function endRow(table: MarkdownTable): void {
  const { row } = table;
  table.row = null;
  if (row?.cells.some((cell) => cell !== '')) table.rows.push(row);
}

/** Writes a table that is whole. One column is no table: its cells are paragraphs. */
export function writeTable(table: MarkdownTable, writer: BlockWriter): void {
  endRow(table);
  const { captions, rows } = table;
  let columns = 0;
  for (const { cells } of rows) columns = Math.max(columns, cells.length);
  if (columns <= 1) {
    writeCells(table, writer);
    return;
  }
  for (const caption of captions) if (caption !== '') writer.block(guardLines(caption));
  const [first] = rows;
  const head = first!.head ? first!.cells : [];
  const body = first!.head ? rows.slice(1) : rows;
  const titles = Array.from({ length: columns }, (_, column) => head[column] ?? '');
  const lines = [titles, titles.map(() => '---'), ...body.map(({ cells }) => cells)];
  writer.block(lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n'));
}

/** Writes what a table holds so far as paragraphs. */
export function writeCells(table: MarkdownTable, writer: BlockWriter): void {
  endRow(table);
  for (const caption of table.captions.splice(0)) if (caption !== '') writer.block(guardLines(caption));
  for (const { cells } of table.rows.splice(0)) {
    for (const cell of cells) if (cell !== '') writer.block(guardLines(cell));
  }
}
