/**
 * The tags of tables. A cell is one line of text; a table with blocks in its cells, or one for layout only (WAI-ARIA), is
 * written as paragraphs.
 */
import { type Attributes, isLayout, spanOf } from './elements.ts';
import type { Flow } from './flow.ts';
import { addCell, createTable, endRow, writeTable } from './table.ts';

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
