/** Numbers as people read them in tables: grouped digits, octets, shares, times ago, and small charts of one line. */

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
