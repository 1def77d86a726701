/** Reads the boundary in the `Content-Type` of a multipart body as ModSecurity does, and reports its irregularities. */
import { isAlphanumeric, isSpace } from '../../octets/latin1.ts';
import { lowercase } from '../../transformations/lowercase.ts';
import { trim, trimLeft } from '../../transformations/trim.ts';
import { MAX_CONTENT_TYPE_OCTETS } from './limits.ts';

const TYPE = 'multipart/form-data';
const PARAMETER = 'boundary';

/** The boundary, and what ModSecurity's flags need. */
export interface Boundary {
  /** `null`: the header has no usable boundary. */
  readonly text: string | null;
  readonly isQuoted: boolean;
  /** Whether white space is around the `=`. */
  readonly hasWhitespace: boolean;
  /** Whether no semicolon is before the parameter. */
  readonly lacksSemicolon: boolean;
  /** The first error; `text` may have a value even so. `null`: none. */
  readonly problem: string | null;
}

/** Reads the boundary of a `Content-Type`, as sent. */
export function readBoundary(contentType: string): Boundary {
  const none = { text: null, isQuoted: false, hasWhitespace: false, lacksSemicolon: false };
  if (contentType.length > MAX_CONTENT_TYPE_OCTETS) {
    return { ...none, problem: `its Content-Type is longer than ${MAX_CONTENT_TYPE_OCTETS} octets` };
  }
  const lower = lowercase(contentType);
  if (!lower.startsWith(TYPE)) return { ...none, problem: 'its Content-Type is not multipart/form-data' };
  const start = lower.indexOf(PARAMETER);
  const equals = start < 0 ? -1 : contentType.indexOf('=', start);
  if (equals < 0) return { ...none, problem: 'its Content-Type names no boundary' };
  const between = contentType.slice(TYPE.length, start);
  const raw = contentType.slice(equals + 1);
  const value = readValue(trimLeft(raw));
  return {
    text: value.text === '' ? null : value.text,
    isQuoted: value.isQuoted,
    hasWhitespace: equals > start + PARAMETER.length || isSpace(raw.charCodeAt(0)),
    lacksSemicolon: !between.includes(';'),
    problem:
      (countParameters(lower) > 1 ? 'its Content-Type names more than one boundary' : null) ??
      (isSeparator(between) ? null : 'text precedes the boundary in its Content-Type') ??
      (contentType.startsWith(PARAMETER, start) ? null : 'the word boundary is not in lower case') ??
      (isBlank(contentType.slice(start + PARAMETER.length, equals))
        ? null
        : 'the name of the boundary parameter is not just boundary') ??
      value.problem,
  };
}

/** Whether a text is white space and at most one semicolon. */
function isSeparator(text: string): boolean {
  const semicolon = text.indexOf(';');
  return isBlank(semicolon < 0 ? text : text.slice(0, semicolon) + text.slice(semicolon + 1));
}

function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!isSpace(text.charCodeAt(at))) return false;
  return true;
}

/** How often the word occurs before a `=`. */
function countParameters(lower: string): number {
  let count = 0;
  for (let at = lower.indexOf(PARAMETER); at >= 0; at = lower.indexOf(PARAMETER, at + PARAMETER.length)) {
    if (lower.indexOf('=', at) >= 0) count++;
  }
  return count;
}

/** The value of the parameter. */
interface Value {
  readonly text: string;
  readonly isQuoted: boolean;
  readonly problem: string | null;
}

function readValue(raw: string): Value {
  if (raw.length >= 2 && raw.startsWith('"') && raw.endsWith('"')) {
    return checked(raw.slice(1, -1), true, null);
  }
  if (raw.startsWith('"') || raw.endsWith('"')) {
    const inner = raw.startsWith('"') ? raw.slice(1) : raw;
    const end = inner.indexOf('"');
    return checked(end < 0 ? inner : inner.slice(0, end), true, 'its boundary is quoted on one side only');
  }
  return checked(raw, false, null);
}

/** Checks a boundary; ignores a parameter after it, since some frameworks append a charset. */
function checked(raw: string, isQuoted: boolean, problem: string | null): Value {
  const semicolon = raw.indexOf(';');
  const text = semicolon < 0 ? raw : raw.slice(0, semicolon);
  const invalid = isValid(text) ? null : 'its boundary is empty or holds what a boundary may not';
  return { text: trim(text), isQuoted, problem: problem ?? invalid };
}

/** `bcharsnospace` of RFC 2046 §5.1.1, besides letters and digits. */
const MARKS = "'()+_,-./:=?";

/** Whether a boundary conforms to RFC 2046 §5.1.1; a space is allowed except as last character. */
function isValid(boundary: string): boolean {
  for (let at = 0; at < boundary.length; at++) {
    const code = boundary.charCodeAt(at);
    const isInnerSpace = code === 32 && at + 1 < boundary.length;
    if (!isAlphanumeric(code) && !isInnerSpace && !MARKS.includes(boundary.charAt(at))) return false;
  }
  return boundary !== '';
}
