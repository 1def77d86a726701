/** Collects the cells of a table and writes it as GFM (§4.10). */
import { guardLines } from './escape.ts';
import type { BlockWriter } from './writer.ts';

interface Row {
  readonly cells: string[];
  /** All cells are headers. */
  head: boolean;
}

/** An open table. */
export interface MarkdownTable {
  readonly rows: Row[];
  /** The open row. */
  row: Row | null;
  /** A `thead` is open. */
  inHead: boolean;
  /** Text outside of cells: the caption, or misplaced text. */
  readonly captions: string[];
  /** For layout only: the content of cells is written as paragraphs. */
  layout: boolean;
}

/** An empty table. */
export function createTable(layout: boolean): MarkdownTable {
  return { rows: [], row: null, inHead: false, captions: [], layout };
}

/** A whole cell. */
export interface Cell {
  readonly text: string;
  readonly head: boolean;
  /** Columns. */
  readonly span: number;
}

/** Adds a cell to the open row; starts one if none is open. */
export function addCell(table: MarkdownTable, { text, head, span }: Cell): void {
  table.row ??= { cells: [], head: true };
  table.row.cells.push(text);
  for (let more = 1; more < span; more++) table.row.cells.push('');
  table.row.head &&= head || table.inHead;
}

/** Ends the open row; drops it if all cells are empty. */
export function endRow(table: MarkdownTable): void {
  const { row } = table;
  table.row = null;
  if (row?.cells.some((cell) => cell !== '')) table.rows.push(row);
}

/** Writes a whole table; with one column, its cells as paragraphs. */
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

/** Writes the cells so far as paragraphs, and removes them. */
export function writeCells(table: MarkdownTable, writer: BlockWriter): void {
  endRow(table);
  for (const caption of table.captions.splice(0)) if (caption !== '') writer.block(guardLines(caption));
  for (const { cells } of table.rows.splice(0)) {
    for (const cell of cells) if (cell !== '') writer.block(guardLines(cell));
  }
}
