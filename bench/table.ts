/** Rows as an aligned table for people. */
import { type BenchOptions, type Goal, isMet, type Row } from './row.ts';

/** The lines of a table of one group's rows. A smoke run has no numbers worth printing. */
export function tableOf(rows: readonly Row[], { quick }: BenchOptions): readonly string[] {
  if (quick) return rows.map((row) => `  ${row.name}`);
  const cells = rows.map((row) => [
    row.name,
    `${numberText(row.value)} ${row.unit}`,
    goalText(row.goal),
    wordOf(row),
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((line) => line[column]!.length)));
  return rows.map((row, index) => {
    const [name, value, goal, word] = cells[index]!;
    const parts = [name!.padEnd(widths[0]!), value!.padStart(widths[1]!), goal!.padStart(widths[2]!)];
    return `  ${parts.join('  ')}  ${word!.padEnd(widths[3]!)}  ${row.note}`.trimEnd();
  });
}

function wordOf(row: Row): string {
  const met = isMet(row);
  return met === null ? '-' : met ? 'met' : 'missed';
}

function goalText(goal: Goal | null): string {
  if (goal === null) return '';
  return 'atMost' in goal ? `≤ ${numberText(goal.atMost)}` : `≥ ${numberText(goal.atLeast)}`;
}

/** Three significant digits; ratios far below one as `1/n`. */
export function numberText(value: number): string {
  if (value > 0 && value < 0.1) return `1/${numberText(1 / value)}`;
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}
