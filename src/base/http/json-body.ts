/**
 * Reads the JSON of bodies and of tokens, more strictly than `JSON.parse`: valid UTF-8, no duplicate names in one object
 * (RFC 8259 §4 leaves their meaning undefined), and at most `MAX_JSON_DEPTH` levels. Linear in the length.
 */

/** Objects and lists inside one another: no request of the API needs more than eight, and claims of providers have four. */
const MAX_JSON_DEPTH = 32;

/** The value of a body, or why it cannot be read. */
export type ReadJson =
  /** `undefined` for an empty body. */
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/** Refuses invalid UTF-8 instead of replacing it, and removes a byte order mark. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });
/** Only white space of JSON (RFC 8259 §2). */
const BLANK = /^[ \t\r\n]*$/;

/** Octets as text, without a byte order mark; `null`: not UTF-8. */
export function readUtf8(octets: Uint8Array): string | null {
  try {
    return UTF8.decode(octets);
  } catch {
    return null;
  }
}

/** Reads one JSON value. Never throws. */
export function readJson(octets: Uint8Array): ReadJson {
  const text = readUtf8(octets);
  if (text === null) return { ok: false, reason: 'the body must be valid UTF-8' };
  if (BLANK.test(text)) return { ok: true, value: undefined };
  const deep = judgeShape(text);
  if (deep !== null) return { ok: false, reason: deep };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, reason: 'the body must be valid JSON' };
  }
}

/** Code units of `"` and `\`. */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Checks the nesting and the names of a text. Returns the message of the first mistake, or `null`. A name is a string that
 * a colon follows. Text that is not JSON passes here, and `JSON.parse` refuses it.
 */
function judgeShape(text: string): string | null {
  const open: (Set<string> | null)[] = [];
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = stringEnd(text, at);
      const names = open.at(-1);
      if (names instanceof Set && isFollowedByColon(text, end)) {
        const name = decodeName(text.slice(at, end));
        if (names.has(name)) return `the body holds the field \`${name.slice(0, 64)}\` twice in one object`;
        names.add(name);
      }
      at = end;
      continue;
    }
    if (code === 0x7b || code === 0x5b) {
      open.push(code === 0x7b ? new Set() : null);
      if (open.length > MAX_JSON_DEPTH)
        return `the body must nest objects and lists at most ${MAX_JSON_DEPTH} deep`;
    } else if (code === 0x7d || code === 0x5d) open.pop();
    at++;
  }
  return null;
}

/** The position after the closing quote of a string, or the end of the text. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
  }
  return text.length;
}

/** Whether the next character after white space is a colon. */
function isFollowedByColon(text: string, start: number): boolean {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x3a) return true;
    if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return false;
  }
  return false;
}

/** The name in a quoted string, with its escapes decoded, so that two spellings of a name count as duplicates. */
function decodeName(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
