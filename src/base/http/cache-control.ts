/**
 * Parses the fields that state how long a response is fresh: `Cache-Control` (RFC 9111 §5.2), `CDN-Cache-Control` (RFC
 * 9213) and HTTP-dates. The first has a lenient grammar, and an invalid lifetime counts as 0; the second is a structured
 * field (RFC 8941), which is valid as a whole or ignored.
 */

/** Maximum of delta-seconds: RFC 9111 §1.2.2 requires at least 2^31, which are 68 years. */
const MAX_SECONDS = 2 ** 31;

/** The directives of a message. Times in seconds; `null`: absent; an invalid time is 0 (RFC 9111 §4.2.1). */
export interface Directives {
  readonly maxAge: number | null;
  readonly sharedMaxAge: number | null;
  readonly noStore: boolean;
  /** `true`: the whole response; names: only these headers, lower case. */
  readonly noCache: boolean | readonly string[];
  readonly private: boolean | readonly string[];
  readonly public: boolean;
  readonly mustRevalidate: boolean;
  readonly proxyRevalidate: boolean;
  readonly mustUnderstand: boolean;
  readonly staleWhileRevalidate: number | null;
  readonly staleIfError: number | null;
  /** In requests only. */
  readonly onlyIfCached: boolean;
}

type Value = string | true;

const NOTHING = directivesOf(new Map());

/** Parses a `Cache-Control` value, several joined by `, `; `null`: the header is absent. */
export function parseCacheControl(value: string | null): Directives {
  if (value === null) return NOTHING;
  const found = new Map<string, Value>();
  for (const element of splitList(value)) {
    const equals = element.indexOf('=');
    const name = (equals < 0 ? element : element.slice(0, equals)).toLowerCase();
    const given: Value = equals < 0 ? true : unquoted(element.slice(equals + 1));
    const before = found.get(name);
    found.set(name, before === undefined ? given : stricter(before, given));
  }
  return directivesOf(found);
}

/**
 * Parses a `CDN-Cache-Control` value; `null`: it is absent, empty, no structured dictionary, or has a time that is no integer.
 * `Cache-Control` applies then (RFC 9213 §2.1).
 */
export function parseTargeted(value: string | null): Directives | null {
  if (value === null || value.trim() === '') return null;
  const found = new Map<string, Value>();
  for (const element of splitList(value)) {
    const equals = element.indexOf('=');
    const name = equals < 0 ? element : element.slice(0, equals);
    if (!isKey(name.toLowerCase())) return null;
    const given = equals < 0 ? true : bareItem(element.slice(equals + 1));
    if (given === null) return null;
    if (TIMES.has(name.toLowerCase()) && (given === true || !isDigits(given))) return null;
    if (given === '?0') found.delete(name.toLowerCase());
    else found.set(name.toLowerCase(), given);
  }
  return directivesOf(found);
}

/** Directives whose value is a number of seconds. */
const TIMES: ReadonlySet<string> = new Set([
  'max-age',
  's-maxage',
  'stale-while-revalidate',
  'stale-if-error',
]);

function directivesOf(found: ReadonlyMap<string, Value>): Directives {
  const seconds = (name: string): number | null => {
    const value = found.get(name);
    return value === undefined ? null : value === true ? 0 : (parseSeconds(value) ?? 0);
  };
  const fields = (name: string): boolean | readonly string[] => {
    const value = found.get(name);
    if (value === undefined || value === true || value.trim() === '') return value !== undefined;
    return unquoted(value)
      .split(',')
      .map((one) => one.trim().toLowerCase());
  };
  return {
    maxAge: seconds('max-age'),
    sharedMaxAge: seconds('s-maxage'),
    noStore: found.has('no-store'),
    noCache: fields('no-cache'),
    private: fields('private'),
    public: found.has('public'),
    mustRevalidate: found.has('must-revalidate'),
    proxyRevalidate: found.has('proxy-revalidate'),
    mustUnderstand: found.has('must-understand'),
    staleWhileRevalidate: seconds('stale-while-revalidate'),
    staleIfError: seconds('stale-if-error'),
    onlyIfCached: found.has('only-if-cached'),
  };
}

/** The value of a directive that occurs twice: the shorter time, or all header names; none names all of the response. */
function stricter(before: Value, given: Value): Value {
  if (before === true || given === true) return true;
  const times = [parseSeconds(before), parseSeconds(given)];
  if (times[0] === null || times[1] === null) return `${before},${given}`;
  return times[0]! <= times[1]! ? before : given;
}

/** Parses delta-seconds (RFC 9111 §1.2.2), at most `MAX_SECONDS`; `null`: the text has other characters than digits. */
export function parseSeconds(text: string): number | null {
  return isDigits(text) ? Math.min(Number(text), MAX_SECONDS) : null;
}

function isDigits(text: string): boolean {
  if (text === '') return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

/** The elements of a list (RFC 9110 §5.6.1), trimmed, without empty ones; a comma in a quoted string separates nothing. */
export function splitList(value: string): readonly string[] {
  const elements: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at <= value.length; at++) {
    const char = value[at];
    if (quoted) {
      if (char === '\\') at++;
      else if (char === '"') quoted = false;
      if (at < value.length) continue;
    }
    if (char === '"') quoted = true;
    else if (char === ',' || at >= value.length) {
      const element = value.slice(from, at).trim();
      if (element !== '') elements.push(element);
      from = at + 1;
    }
  }
  return elements;
}

function unquoted(text: string): string {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return text;
  return text.slice(1, -1).replaceAll('\\', '');
}

/** Whether a name in lower case is a key of a structured dictionary (RFC 8941 §3.2). */
function isKey(name: string): boolean {
  if (name === '') return false;
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    const letter = (code >= 97 && code <= 122) || code === 42;
    const other = (code >= 48 && code <= 57) || code === 95 || code === 45 || code === 46;
    if (!letter && !(other && at > 0)) return false;
  }
  return true;
}

/**
 * The value of a dictionary member without its parameters: integers and tokens as written, strings with their quotes, so that
 * none is a time; `null`: the value is none of these.
 */
function bareItem(text: string): Value | null {
  if (text.startsWith('"')) {
    const end = text.indexOf('"', 1);
    return end < 0 ? null : text.slice(0, end + 1);
  }
  const semicolon = text.indexOf(';');
  const item = semicolon < 0 ? text : text.slice(0, semicolon).trimEnd();
  if (item === '?1') return true;
  for (let at = 0; at < item.length; at++) {
    const code = item.charCodeAt(at);
    if (code <= 32 || code >= 127 || BARE_REFUSED.has(item[at]!)) return null;
  }
  return item === '' ? null : item;
}

const BARE_REFUSED: ReadonlySet<string> = new Set([
  '"',
  '(',
  ')',
  '<',
  '>',
  '@',
  '[',
  ']',
  '{',
  '}',
  '=',
  '\\',
]);

// Parses HTTP-dates (RFC 9110 §5.6.7) strictly: a lenient parser could make a response fresh for longer than meant.

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
