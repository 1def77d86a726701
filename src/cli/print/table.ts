/** Prints rows of text in aligned columns. */
import { visible } from '../../workbench/simulation/render-text.ts';

/** Formats a table with headings; each column is as wide as its widest cell. Empty without rows. */
export function tableText(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const lines = [headings, ...rows.map((row) => row.map(visible))];
  // In characters; wide characters are not expected in ids, names and times.
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
