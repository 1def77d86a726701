/** Tables as text: rows in aligned columns, cells with tones, and numbers as people read them. */
import {
  lineColumns,
  type RenderedLine,
  span,
  type TextSpan,
  visible,
} from '../../workbench/simulation/render-text.ts';

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

// Lays out cells with tones in columns: each as wide as its widest cell, numbers on the right.

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

// Numbers as people read them in tables: grouped digits, octets, shares, times ago, and small charts of one line.

/** A whole number with its digits in groups of three: `1,204,311`. */
export function grouped(value: number): string {
  return value.toLocaleString('en-GB');
}

/** Decimal units of octets (IEC 80000-13). */
const OCTET_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** Octets with three significant digits: `48.2 MB`. */
export function octetsText(octets: number): string {
  let [value, unit] = [octets, 0];
  while (value >= 999.5 && unit < OCTET_UNITS.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${unit === 0 ? value : value.toPrecision(3)} ${OCTET_UNITS[unit]}`;
}

/** A part of a whole: `91.3 %`; `<0.1 %` for a part that would be shown as nothing. */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (part / whole) * 100;
  return percent > 0 && percent < 0.05 ? '<0.1 %' : `${percent.toFixed(1)} %`;
}

/** Milliseconds of a time that was measured: `12.4 ms`, `1.21 s`. */
export function millisecondsText(milliseconds: number): string {
  if (milliseconds >= 999.5) return `${(milliseconds / 1_000).toPrecision(3)} s`;
  return `${milliseconds.toPrecision(milliseconds >= 99.95 ? 3 : 2)} ms`;
}

/** Units of a duration, the longest first: how many milliseconds, and from how many on the unit is used. */
const UNITS = [
  { name: 'd', milliseconds: 86_400_000, from: 172_800_000 },
  { name: 'h', milliseconds: 3_600_000, from: 7_200_000 },
  { name: 'min', milliseconds: 60_000, from: 120_000 },
  { name: 's', milliseconds: 1_000, from: 0 },
] as const;

/** A duration in its largest unit of which there are two: `47 h`, `3 d`. */
export function durationText(milliseconds: number): string {
  const unit = UNITS.find(({ from }) => milliseconds >= from) ?? UNITS[3];
  return `${Math.max(0, Math.floor(milliseconds / unit.milliseconds))} ${unit.name}`;
}

/** The bars of a chart, the lowest first. */
const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/**
 * A chart of one line, at most `width` characters wide: neighbouring values are summed where there are more. The highest
 * bar is the largest value; a blank stands for 0.
 */
export function sparkline(values: readonly number[], width: number): string {
  const sums = binned(values, width);
  const most = Math.max(...sums, 0);
  return sums
    .map((sum) =>
      sum === 0 ? ' ' : BARS[Math.min(BARS.length - 1, Math.floor((sum / most) * BARS.length))]!,
    )
    .join('');
}

/** Sums of neighbouring values in at most `width` groups of the same size, but for the first. */
function binned(values: readonly number[], width: number): readonly number[] {
  const size = Math.max(1, Math.ceil(values.length / Math.max(1, width)));
  // The last group is whole, so that the newest bar is comparable.
  const short = values.length % size;
  const ends: number[] = [];
  for (let end = short === 0 ? size : short; end <= values.length; end += size) ends.push(end);
  return ends.map((end, index) =>
    values.slice(index === 0 ? 0 : end - size, end).reduce((sum, value) => sum + value, 0),
  );
}

// Prints amounts of money. In: minor units and a currency of ISO 4217. Out: text such as `-12.50 EUR`.

/**
 * An amount in major units with its currency. How many digits the minor unit has is that of ICU's data; a code that ICU does
 * not list has two (ECMA-402).
 */
export function moneyText(amount: number, currency: string): string {
  const { maximumFractionDigits: digits = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  // By text, so that no digit is lost to binary fractions.
  const minor = String(Math.abs(amount)).padStart(digits + 1, '0');
  const whole = minor.slice(0, minor.length - digits);
  const fraction = digits === 0 ? '' : `.${minor.slice(-digits)}`;
  return `${amount < 0 ? '-' : ''}${whole}${fraction} ${currency}`;
}
