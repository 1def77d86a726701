/**
 * Parses `Cache-Control` (RFC 9111 §5.2) and `CDN-Cache-Control` (RFC 9213). The first has a lenient grammar, and an invalid
 * lifetime counts as 0; the second is a structured field (RFC 8941), which is valid as a whole or ignored.
 */
import { MAX_SECONDS } from './limits.ts';

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
