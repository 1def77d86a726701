/** Directs text to where the open elements put it: the current line, a code span, a code block, the title, a cell. */
import { guardLines } from './escape.ts';
import { createInline, type Inline } from './inline.ts';
import type { OutputMeter } from './meter.ts';
import { type MarkdownTable, writeCells } from './table.ts';
import { type BlockWriter, createWriter } from './writer.ts';

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
