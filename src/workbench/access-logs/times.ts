/** Reads the times of access logs, as milliseconds since the epoch; `NaN` for what is no time. */

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';
/** Characters of `06/Feb/2009:12:14:14`. */
const DATE_LENGTH = 20;

/** Reads times of one log, most of which are those of the line before. */
export type ReadTime = (text: string) => number;

/**
 * Creates a reader of `10/Oct/2000:13:55:36 -0700`, and of HAProxy's `06/Feb/2009:12:14:14.655`, which has no zone and is
 * read as UTC.
 */
export function createClfTime(): ReadTime {
  let known = '';
  let time = Number.NaN;
  return (text) => {
    // PERF: hundreds of lines have the time of the line before.
    if (text !== known) {
      known = text;
      time = clfTime(text);
    }
    return time;
  };
}

function clfTime(text: string): number {
  const month = MONTHS.indexOf(text.slice(3, 6));
  if (month < 0 || month % 3 !== 0 || text[2] !== '/' || text[11] !== ':') return Number.NaN;
  const [day, year] = [text.slice(0, 2), text.slice(7, 11)];
  const date = Date.UTC(Number(year), month / 3, Number(day), ...clock(text));
  const rest = text.slice(DATE_LENGTH);
  if (rest === '') return date;
  if (rest[0] === '.') return date + Number(`0${rest}`) * 1_000;
  return date - zoneMs(rest);
}

/** Hours, minutes and seconds. */
function clock(text: string): [number, number, number] {
  return [Number(text.slice(12, 14)), Number(text.slice(15, 17)), Number(text.slice(18, 20))];
}

/** ` -0700` in milliseconds. */
function zoneMs(text: string): number {
  const minutes = Number(text.slice(2, 4)) * 60 + Number(text.slice(4, 6));
  return (text[1] === '-' ? -1 : 1) * minutes * 60_000;
}

/** The largest numbers that are taken for seconds, milliseconds and microseconds: each is after the year 5000. */
const LARGEST = [
  { below: 1e11, factor: 1_000 },
  { below: 1e14, factor: 1 },
  { below: 1e17, factor: 1e-3 },
] as const;

/** Reads a time of a JSON log: RFC 3339, Unix time in s, ms, µs or ns as number or text, or the combined format's. */
export function timeOf(value: unknown): number {
  if (typeof value === 'number') return unixTime(value);
  if (typeof value !== 'string' || value === '') return Number.NaN;
  if (isNumber(value)) return unixTime(Number(value));
  return value[2] === '/' ? clfTime(value) : Date.parse(value);
}

function unixTime(value: number): number {
  const unit = LARGEST.find(({ below }) => value < below);
  // Seconds with decimals and nanoseconds are not exact in binary.
  return Math.round(value * (unit?.factor ?? 1e-6));
}

/** Digits with at most one dot. */
function isNumber(text: string): boolean {
  return /^\d{1,20}(?:\.\d{1,12})?$/.test(text);
}
