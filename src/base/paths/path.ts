/**
 * The canonical path (semantics §1.1): one form for all spellings of a path, so that a rule on `/admin` cannot be
 * walked around. Also the forwarded path, which has the visitor's own spelling for the origin.
 */
import { characterName } from '../addresses/host.ts';
import {
  decodeEscapes,
  encodeUri,
  escapedOctet,
  hasBadEscape,
  isUriCode,
  utf8Length,
} from '../octets/octets.ts';
import { MAX_TARGET_OCTETS } from '../vocabulary/limits.ts';

/** A target as it was understood; filled in place so that an ordinary request allocates nothing here. */
export interface TargetFacts {
  path: string;
  /** The path without `;params`; `null` when it has none. */
  pathWithoutParameters: string | null;
  /** What the origin gets when nothing rewrites it, percent-encoded. */
  forwarded: string;
  /** After the first `?`, as sent; `null` when there is no `?`. */
  query: string | null;
  /** The query with what a URI may not hold percent-encoded. */
  encodedQuery: string | null;
  /** Of an absolute-form target; `null` for origin-form. */
  authority: string | null;
  /** The scheme that the authority was given with; empty for origin-form. */
  authorityScheme: '' | 'http' | 'https';
}

const PLAIN = 0;
const SLASH = 1;
const QUESTION = 2;
const UNUSUAL = 3;
const PATH_CLASSES = buildPathClasses();

function buildPathClasses(): Uint8Array {
  const classes = new Uint8Array(128);
  for (let code = 0; code < 128; code++) classes[code] = isUriCode(code) ? PLAIN : UNUSUAL;
  for (const mark of '%;\\#') classes[mark.charCodeAt(0)] = UNUSUAL;
  classes[47] = SLASH;
  classes[63] = QUESTION;
  return classes;
}

/** Reads a request target. 0: fine; 400 or 414: the request is refused with that status. */
export function parseTarget(target: string, out: TargetFacts): 0 | 400 | 414 {
  const length = target.length;
  // PERF: a code unit is an octet or more, so a target of megabytes is refused unread.
  if (length > MAX_TARGET_OCTETS) return 414;
  if (length * 3 > MAX_TARGET_OCTETS && utf8Length(target) > MAX_TARGET_OCTETS) return 414;
  if (length === 0 || target.charCodeAt(0) !== 47) return parseUnusual(target, out);
  let at = 0;
  for (; at < length; at++) {
    const code = target.charCodeAt(at);
    if (code > 127) return parseUnusual(target, out);
    const kind = PATH_CLASSES[code];
    if (kind === PLAIN) continue;
    if (kind === SLASH) {
      const next = target.charCodeAt(at + 1);
      if (next === 47 || (next === 46 && startsDotSegment(target, at + 1))) return parseUnusual(target, out);
    } else if (kind === QUESTION) break;
    else return parseUnusual(target, out);
  }
  out.pathWithoutParameters = null;
  out.authority = null;
  out.authorityScheme = '';
  if (at === length) {
    out.path = target;
    out.forwarded = target;
    out.query = null;
    out.encodedQuery = null;
    return 0;
  }
  for (let rest = at + 1; rest < length; rest++) {
    const code = target.charCodeAt(rest);
    if (code === 35 || !isUriCode(code)) return parseUnusual(target, out);
  }
  out.path = target.slice(0, at);
  out.forwarded = out.path;
  out.query = target.slice(at + 1);
  out.encodedQuery = out.query;
  return 0;
}

/** Whether the `.` at `at` starts a `.` or `..` segment rather than a name such as `.well-known`. */
function startsDotSegment(target: string, at: number): boolean {
  let end = at + 1;
  if (target.charCodeAt(end) === 46) end++;
  const code = target.charCodeAt(end);
  return end >= target.length || code === 47 || code === 63 || code === 59;
}

function parseUnusual(target: string, out: TargetFacts): 0 | 400 {
  const text = target.toWellFormed();
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 32 || code === 127 || code === 35) return 400;
  }
  const origin = splitAuthority(text, out);
  if (origin === null) return 400;
  const question = origin.indexOf('?');
  const raw = question < 0 ? origin : origin.slice(0, question);
  out.query = question < 0 ? null : origin.slice(question + 1);
  out.encodedQuery = out.query === null ? null : encodeUri(out.query);
  return canonicalize(raw === '' ? '/' : raw, out);
}

/** Takes the authority off an absolute-form target. `null`: neither form. */
function splitAuthority(text: string, out: TargetFacts): string | null {
  out.authority = null;
  out.authorityScheme = '';
  if (text === '' || text.startsWith('/') || text.startsWith('?')) return text;
  const head = text.slice(0, 8).toLowerCase();
  const scheme = head.startsWith('http://') ? 'http' : head === 'https://' ? 'https' : '';
  if (scheme === '') return null;
  const rest = text.slice(scheme.length + 3);
  let end = 0;
  while (end < rest.length && rest[end] !== '/' && rest[end] !== '?') end++;
  out.authority = rest.slice(0, end);
  out.authorityScheme = scheme;
  return rest.slice(end);
}

interface Segments {
  readonly canonical: string[];
  readonly raw: string[];
  /** The last segment was dropped, so the path ends in `/`. */
  trailing: boolean;
  /** A segment was `.` or `..` in any spelling. */
  dots: boolean;
}

function canonicalize(raw: string, out: TargetFacts): 0 | 400 {
  if (hasBadEscape(raw) || hidesSlashInParams(raw)) return 400;
  const segments = resolveSegments(raw);
  const { canonical } = segments;
  const tail = segments.trailing && canonical.length > 0 ? '/' : '';
  out.path = `/${canonical.join('/')}${tail}`;
  out.pathWithoutParameters = out.path.includes(';')
    ? `/${canonical.map(withoutParams).join('/')}${tail}`
    : null;
  const rebuilt = segments.dots || raw.includes('\\');
  out.forwarded = encodeUri(rebuilt ? `/${segments.raw.join('/')}${tail}` : mergeLeadingSlashes(raw));
  return 0;
}

/** A decoded segment without its parameters. */
export function withoutParams(segment: string): string {
  const at = segment.indexOf(';');
  return at < 0 ? segment : segment.slice(0, at);
}

/** A `;` followed by an escaped slash or a backslash before the next `/`: origins disagree on what it means. */
function hidesSlashInParams(raw: string): boolean {
  for (let at = raw.indexOf(';'); at >= 0; ) {
    const slash = raw.indexOf('/', at);
    const end = slash < 0 ? raw.length : slash;
    const params = raw.slice(at, end).toLowerCase();
    if (params.includes('%2f') || params.includes('%5c') || params.includes('\\')) return true;
    // PERF: on from the segment's end, or a target of nothing but `;` costs the square of its length.
    at = raw.indexOf(';', end);
  }
  return false;
}

/** Splits at every spelling of a slash, drops empty and `.` segments and resolves `..` (RFC 3986 §5.2.4). */
function resolveSegments(raw: string): Segments {
  const segments: Segments = { canonical: [], raw: [], trailing: false, dots: false };
  let start = 1;
  for (let at = 1; at <= raw.length; at++) {
    const width = at === raw.length ? 1 : slashWidth(raw, at);
    if (width === 0) continue;
    addSegment(segments, raw.slice(start, at));
    at += width - 1;
    start = at + 1;
  }
  return segments;
}

/** The octets of the slash at `at`, in any spelling; 0: another character is there. */
export function slashWidth(raw: string, at: number): 0 | 1 | 3 {
  const code = raw.charCodeAt(at);
  if (code === 47 || code === 92) return 1;
  if (code !== 37) return 0;
  const octet = escapedOctet(raw, at);
  return octet === 47 || octet === 92 ? 3 : 0;
}

function addSegment(segments: Segments, raw: string): void {
  const decoded = decodeEscapes(raw);
  const judged = withoutParams(decoded);
  segments.trailing = judged === '' || judged === '.' || judged === '..';
  if (!segments.trailing) {
    segments.canonical.push(decoded);
    segments.raw.push(raw);
    return;
  }
  if (judged !== '') segments.dots = true;
  if (judged === '..') {
    segments.canonical.pop();
    segments.raw.pop();
  }
}

/** Leading slashes as one, so that a path never reads as an authority (`//host`). */
export function mergeLeadingSlashes(path: string): string {
  let at = 0;
  while (path.charCodeAt(at + 1) === 47 && path.charCodeAt(at) === 47) at++;
  return at === 0 ? path : path.slice(at);
}

/** Whether a path holds a `.` or `..` segment in any spelling that an origin might resolve. */
export function hasDotSegment(path: string): boolean {
  return resolveSegments(path).dots;
}

/**
 * A wildcard path entry as the literal pieces between its stars, decoded once. `null` when it could never match: a
 * bad escape, a `\`, `//` or a dot segment.
 */
export function pathPieces(entry: string): readonly string[] | null {
  if (hasBadEscape(entry)) return null;
  const text = decodeEscapes(entry);
  if (text.includes('\\') || text.includes('//') || text.split('/').some(isDotSegment)) return null;
  return entry.split('*').map((piece) => decodeEscapes(piece));
}

function isDotSegment(segment: string): boolean {
  return segment === '.' || segment === '..';
}

/** The facts of no target, which `parseTarget` fills. */
export function createTargetFacts(): TargetFacts {
  return {
    path: '',
    pathWithoutParameters: null,
    forwarded: '',
    query: null,
    encodedQuery: null,
    authority: null,
    authorityScheme: '',
  };
}

/**
 * Why a request target is refused with 400, as the end of a sentence; `null` when the target alone is valid.
 * For accounts, not for speed.
 */
export function targetMistake(target: string): string | null {
  if (parseTarget(target, createTargetFacts()) !== 400) return null;
  const raw = [...target].find((character) => /[\u0000-\u0020\u007f#]/.test(character));
  if (raw !== undefined) return `holds ${characterName(raw)}`;
  const origin = splitAuthority(target, createTargetFacts());
  if (origin === null) return 'is neither a path nor an http URL';
  const path = origin.split('?', 1)[0]!;
  const bad = /%(?![0-9A-Fa-f]{2})[^/]{0,2}|%00/.exec(path)?.[0];
  if (bad !== undefined) return `holds the bad escape \`${bad}\``;
  return 'holds an escaped slash or a backslash behind a `;`';
}
