/** Directs text to where the open elements put it: the current line, a code span, a code block, the title, a cell. */
import { type Attributes, isLayout, spanOf } from './elements.ts';
import { createInline, guardLines, type Inline } from './inline.ts';
import { type BlockWriter, createWriter, type OutputMeter } from './writer.ts';

/** An open code block. */
export interface Preformatted {
  readonly pieces: string[];
  language: string;
}

/** The state of text, shared by the functions of all tags. */
export interface Flow {
  readonly writer: BlockWriter;
  readonly inline: Inline;
  /** Open tables, the innermost last. */
  readonly tables: MarkdownTable[];
  /** A heading is open. */
  isHeading: boolean;
  /** A `title` element is open. */
  inTitle: boolean;
  /** The first `title` has ended; later ones are ignored. */
  hasTitle: boolean;
  /** The page's title, not escaped. */
  readonly title: string;
  /** The open code block. */
  pre: Preformatted | null;
  /** Text of the open code span. */
  code: string | null;
  /** Adds text of the page. */
  text(run: string): void;
  /** The innermost table, unless it is written as paragraphs. */
  table(): MarkdownTable | null;
  /** Whether text cannot be split into blocks: in a heading, a cell, or a code block. */
  isFlat(): boolean;
  /** Writes the text of the open code span. */
  endCode(): void;
  /** Ends the current line as a block; a space if text is flat. */
  breakBlock(): void;
  /** Turns the open tables into paragraphs, since blocks in their cells do not fit into GFM tables. */
  dissolveTables(): void;
  /** Opens a block of its own, unless text is flat here. @returns what ends it */
  asBlock(begin: () => () => void): () => void;
}

/** The meters of `MarkdownWriterOptions`. */
export interface FlowOptions {
  readonly meter: OutputMeter;
  readonly shape: OutputMeter;
}

export function createFlow({ meter, shape }: FlowOptions): Flow {
  const writer = createWriter(shape);
  const inline = createInline(meter);
  const tables: MarkdownTable[] = [];
  let title = '';

  const flow: Flow = {
    writer,
    inline,
    tables,
    isHeading: false,
    inTitle: false,
    hasTitle: false,
    pre: null,
    code: null,
    get title() {
      return title;
    },
    text(run) {
      if (flow.inTitle) title += flow.hasTitle ? '' : run;
      else if (flow.pre !== null) flow.pre.pieces.push(run);
      else if (flow.code !== null) flow.code += run;
      else inline.text(run);
    },
    table() {
      const top = tables.at(-1);
      return top === undefined || top.layout ? null : top;
    },
    isFlat: () => flow.isHeading || flow.pre !== null || flow.table() !== null,
    endCode() {
      if (flow.code === null) return;
      inline.code(flow.code, flow.table() !== null);
      flow.code = '';
    },
    breakBlock() {
      if (flow.pre !== null) {
        const last = flow.pre.pieces.at(-1);
        if (last !== undefined && !last.endsWith('\n')) flow.pre.pieces.push('\n');
        return;
      }
      flow.endCode();
      if (flow.isFlat()) return inline.space();
      const line = inline.take();
      if (line !== '') writer.block(guardLines(line));
    },
    dissolveTables() {
      if (flow.isHeading || flow.pre !== null) return;
      for (const table of tables) {
        if (table.layout) continue;
        table.layout = true;
        writeCells(table, writer);
      }
    },
    asBlock(begin) {
      flow.breakBlock();
      if (flow.isFlat()) return flow.breakBlock;
      const end = begin();
      return () => {
        flow.breakBlock();
        end();
      };
    },
  };
  return flow;
}

// Collects the cells of a table and writes it as GFM (§4.10).

interface Row {
  readonly cells: string[];
  /** All cells are headers. */
  head: boolean;
}

/** An open table. */
interface MarkdownTable {
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
function createTable(layout: boolean): MarkdownTable {
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
function addCell(table: MarkdownTable, { text, head, span }: Cell): void {
  table.row ??= { cells: [], head: true };
  table.row.cells.push(text);
  for (let more = 1; more < span; more++) table.row.cells.push('');
  table.row.head &&= head || table.inHead;
}

/** Ends the open row; drops it if all cells are empty. */
function endRow(table: MarkdownTable): void {
  const { row } = table;
  table.row = null;
  if (row?.cells.some((cell) => cell !== '')) table.rows.push(row);
}

/** Writes a whole table; with one column, its cells as paragraphs. */
function writeTable(table: MarkdownTable, writer: BlockWriter): void {
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
function writeCells(table: MarkdownTable, writer: BlockWriter): void {
  endRow(table);
  for (const caption of table.captions.splice(0)) if (caption !== '') writer.block(guardLines(caption));
  for (const { cells } of table.rows.splice(0)) {
    for (const cell of cells) if (cell !== '') writer.block(guardLines(cell));
  }
}

// The tags of tables. A cell is one line of text; a table with blocks in its cells, or one for layout only (WAI-ARIA), is
// written as paragraphs.

/** What to do at the closing tag. */
type Close = () => void;

/** A `table`; within a cell it turns the outer tables into paragraphs. */
export function openTable(flow: Flow, attributes: Attributes): Close {
  flow.dissolveTables();
  flow.breakBlock();
  if (flow.isFlat()) return flow.breakBlock;
  const table = createTable(isLayout(attributes));
  flow.tables.push(table);
  return () => {
    flow.breakBlock();
    if (!table.layout) table.captions.push(flow.inline.take());
    flow.tables.pop();
    if (!table.layout) writeTable(table, flow.writer);
  };
}

/** A `td` or `th`; outside of a table it is a block. */
export function openCell(flow: Flow, name: string, attributes: Attributes): Close {
  const table = flow.table();
  if (table === null || flow.isHeading || flow.pre !== null) {
    flow.breakBlock();
    return flow.breakBlock;
  }
  flow.endCode();
  // Text between cells is misplaced: it becomes a caption.
  table.captions.push(flow.inline.take());
  return () => {
    // A block within the cell has dissolved the table.
    if (table.layout) return flow.breakBlock();
    flow.endCode();
    addCell(table, { text: flow.inline.take(), head: name === 'th', span: spanOf(attributes) });
  };
}

export function openRow(flow: Flow): Close {
  flow.breakBlock();
  const table = flow.table();
  if (table !== null) endRow(table);
  return () => {
    flow.breakBlock();
    if (table !== null) endRow(table);
  };
}

/** A `thead`: all cells of its rows are headers. */
export function openHead(flow: Flow): Close {
  flow.breakBlock();
  const table = flow.table();
  if (table !== null) table.inHead = true;
  return () => {
    if (table !== null) table.inHead = false;
    flow.breakBlock();
  };
}
