/** Lays out cells with tones in columns: each as wide as its widest cell, numbers on the right. */
import {
  lineColumns,
  type RenderedLine,
  span,
  type TextSpan,
} from '../../workbench/simulation/render-text.ts';

/** A column of a table. */
export interface Column {
  readonly heading: string;
  /** Numbers end at the same place; texts begin there. */
  readonly align: 'left' | 'right';
}

/** Blanks between columns. */
const GAP = 2;

/** The widths of the columns, headings included. Rows may have fewer cells than there are columns. */
export function columnWidths(
  columns: readonly Column[],
  rows: readonly (readonly RenderedLine[])[],
): readonly number[] {
  return columns.map(({ heading }, index) =>
    Math.max(heading.length, ...rows.map((row) => lineColumns(row[index] ?? []))),
  );
}

/** The headings of a table as a line. */
export function headingLine(columns: readonly Column[], widths: readonly number[]): RenderedLine {
  const cells = columns.map(({ heading }) => [span(heading, 'dim')]);
  return rowLine(columns, widths, cells);
}

/** One row as a line; a cell that is wider than its column moves those after it. */
export function rowLine(
  columns: readonly Column[],
  widths: readonly number[],
  cells: readonly RenderedLine[],
): RenderedLine {
  return cells.flatMap((cell, index): readonly TextSpan[] => {
    const blanks = span(' '.repeat(Math.max(0, widths[index]! - lineColumns(cell))));
    const padded = columns[index]!.align === 'right' ? [blanks, ...cell] : [...cell, blanks];
    return index === 0 ? padded : [span(' '.repeat(GAP)), ...padded];
  });
}

/** Columns that the given widths leave of a line for one more. */
export function roomBeside(widths: readonly number[], width: number): number {
  return width - widths.reduce((sum, one) => sum + one + GAP, 0);
}
