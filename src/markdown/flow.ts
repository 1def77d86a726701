/** Where text goes: the line that grows, a code span, a code block, the title; and what ends a line. */
import { guardLines } from './escape.ts';
import { createInline, type Inline } from './inline.ts';
import type { OutputMeter } from './meter.ts';
import { type MarkdownTable, writeCells } from './table.ts';
import { type BlockWriter, createWriter } from './writer.ts';

export interface Preformatted {
  readonly pieces: string[];
  language: string;
}

export interface Flow {
  readonly writer: BlockWriter;
  readonly inline: Inline;
  /** Tables that are open. */
  readonly tables: MarkdownTable[];
  isHeading: boolean;
  inTitle: boolean;
  hasTitle: boolean;
  /** The page's title as it stands in it. */
  readonly title: string;
  /** The code block that is open. */
  pre: Preformatted | null;
  /** The code span that is open. */
  code: string | null;
  text(run: string): void;
  /** The table whose cells are being filled. */
  table(): MarkdownTable | null;
  /** Whether everything goes on one line: in a heading, in a cell, or as it stands. */
  isFlat(): boolean;
  endCode(): void;
  /** Ends the line, where there is more than one. */
  breakBlock(): void;
  /** A table with more in its cells than lines holds the page together: what it has is written as it comes. */
  dissolveTables(): void;
  /** Begins what must stand by itself, unless everything goes on one line here; gives what ends it. */
  standing(begin: () => () => void): () => void;
}

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
      for (const one of tables) {
        if (one.layout) continue;
        one.layout = true;
        writeCells(one, writer);
      }
    },
    standing(begin) {
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
