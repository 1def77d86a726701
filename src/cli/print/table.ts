/** Rows of text in columns. */
import { visible } from '../../simulator/render-text.ts';

/** A table with its headings, each column as wide as its widest cell; nothing at all without rows. */
export function tableText(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const lines = [headings, ...rows.map((row) => row.map(visible))];
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => [...(line[column] ?? '')].length)),
  );
  const text = lines.map((line) =>
    line
      .map((cell, column) => cell + ' '.repeat(widths[column]! - [...cell].length))
      .join('  ')
      .trimEnd(),
  );
  return `${text.join('\n')}\n`;
}
