/** Parses HTTP-dates (RFC 9110 §5.6.7) strictly: a lenient parser could make a response fresh for longer than meant. */

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const LONG_DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/**
 * Milliseconds since the epoch; `null`: the text has none of the three forms. Ignores the case of letters (a common and
 * unambiguous mistake) and whether the weekday fits the date. `now` determines the century of two-digit years.
 */
export function parseHttpDate(text: string, now: number): number | null {
  const value = text.trim().toLowerCase();
  if (value.length > 40) return null;
  const comma = value.indexOf(',');
  if (comma < 0) return asctime(value);
  const day = value.slice(0, comma);
  const rest = value.slice(comma + 1);
  if (DAYS.includes(day)) return imfFixdate(rest);
  return LONG_DAYS.includes(day) ? rfc850(rest, now) : null;
}

/** The preferred form after its weekday: ` 06 Nov 1994 08:49:37 GMT`. */
function imfFixdate(rest: string): number | null {
  if (rest.length !== 25 || rest[0] !== ' ' || rest[3] !== ' ' || rest[7] !== ' ' || rest[12] !== ' ')
    return null;
  if (rest.slice(21) !== ' gmt') return null;
  return instant(
    digits(rest, 8, 12),
    MONTHS.indexOf(rest.slice(4, 7)),
    digits(rest, 1, 3),
    rest.slice(13, 21),
  );
}

/** The obsolete form of RFC 850 after its weekday: ` 06-Nov-94 08:49:37 GMT`. */
function rfc850(rest: string, now: number): number | null {
  if (rest.length !== 23 || rest[0] !== ' ' || rest[3] !== '-' || rest[7] !== '-' || rest[10] !== ' ')
    return null;
  if (rest.slice(19) !== ' gmt') return null;
  const short = digits(rest, 8, 10);
  if (short < 0) return null;
  const year = new Date(now).getUTCFullYear();
  const full = year - (year % 100) + short;
  // A date more than 50 years ahead is one of the past century (RFC 9110 §5.6.7).
  return instant(
    full > year + 50 ? full - 100 : full,
    MONTHS.indexOf(rest.slice(4, 7)),
    digits(rest, 1, 3),
    rest.slice(11, 19),
  );
}

/** The obsolete form of ANSI C's `asctime`: `Sun Nov  6 08:49:37 1994`. */
function asctime(value: string): number | null {
  if (value.length !== 24 || !DAYS.includes(value.slice(0, 3)) || value[3] !== ' ' || value[7] !== ' ')
    return null;
  if (value[10] !== ' ' || value[19] !== ' ') return null;
  const day = value[8] === ' ' ? digits(value, 9, 10) : digits(value, 8, 10);
  return instant(digits(value, 20, 24), MONTHS.indexOf(value.slice(4, 7)), day, value.slice(11, 19));
}

function instant(year: number, month: number, day: number, time: string): number | null {
  if (time[2] !== ':' || time[5] !== ':') return null;
  const hour = digits(time, 0, 2);
  const minute = digits(time, 3, 5);
  const second = digits(time, 6, 8);
  if (year < 0 || month < 0 || day < 1 || day > 31 || hour < 0 || hour > 23) return null;
  if (minute < 0 || minute > 59 || second < 0 || second > 60) return null;
  const at = Date.UTC(year, month, day, hour, minute, second);
  // `Date.UTC` maps years below 100 to the 1900s; no response is as old.
  return Number.isNaN(at) || year < 100 ? null : at;
}

/** The number in a part of a text; -1: the part has other characters than digits. */
function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at) - 48;
    if (!(code >= 0 && code <= 9)) return -1;
    number = number * 10 + code;
  }
  return number;
}
