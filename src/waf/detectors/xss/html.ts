/**
 * Reads HTML piece by piece: tags, attribute names and values, comments, after "Tokenization" of the WHATWG HTML standard,
 * with what browsers took beyond it (Internet Explorer's back quotes around values, `<%`, NUL and vertical tab as space),
 * and with the pieces that the end of the text cuts off. Every call goes forward: reading a text is linear in its length.
 */

export const TEXT = 1;
export const TAG = 2;
/** The `>` of a tag. */
export const TAG_END = 3;
/** The `/>` of a tag. */
export const SELF_CLOSE = 4;
/** `</name>`; one with a space after its name is read as a tag. */
export const CLOSING_TAG = 5;
export const ATTRIBUTE = 6;
export const VALUE = 7;
export const COMMENT = 8;
export const DOCTYPE = 9;

/** What is read next. The first three letters of a value's state say what ends it. */
export const IN_DATA = 0;
export const IN_UNQUOTED = 1;
export const IN_SINGLE = 2;
export const IN_DOUBLE = 3;
export const IN_BACK = 4;
const IN_TAG = 5;
const AFTER_NAME = 6;
const BEFORE_VALUE = 7;
const AT_TAG_END = 8;

/** A text and how far it was read; `text[start, end)` is the piece read last. */
export interface Html {
  text: string;
  at: number;
  state: number;
  kind: number;
  start: number;
  end: number;
}

/** Where a character code stands in `text[start, end)`; -1: nowhere. Never looks beyond `end`, unlike `indexOf`. */
export function indexWithin(text: string, code: number, { start, end }: Span): number {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) === code) return at;
  return -1;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

export function newHtml(): Html {
  return { text: '', at: 0, state: IN_DATA, kind: 0, start: 0, end: 0 };
}

/** Makes `html` stand at the beginning of `text`, in one of the `IN_` states. */
export function beginHtml(html: Html, text: string, state: number): void {
  html.text = text;
  html.at = 0;
  html.state = state;
}

/** Reads the next piece; `false` at the end of the text. */
export function nextPiece(html: Html): boolean {
  switch (html.state) {
    case IN_DATA:
      return readData(html);
    case IN_UNQUOTED:
      return readUnquoted(html);
    case IN_SINGLE:
      return readUntilQuote(html, "'");
    case IN_DOUBLE:
      return readUntilQuote(html, '"');
    case IN_BACK:
      return readUntilQuote(html, '`');
    case AFTER_NAME:
      return readAfterName(html);
    case BEFORE_VALUE:
      return readValue(html);
    case AT_TAG_END:
      return emit(html, { kind: TAG_END, start: html.at, end: html.at + 1, at: html.at + 1, state: IN_DATA });
    default:
      return readInTag(html);
  }
}

interface Piece {
  readonly kind: number;
  readonly start: number;
  readonly end: number;
  /** Where reading goes on, and in what state. */
  readonly at: number;
  readonly state: number;
}

function emit(html: Html, piece: Piece): true {
  html.kind = piece.kind;
  html.start = piece.start;
  html.end = piece.end;
  html.at = piece.at;
  html.state = piece.state;
  return true;
}

function emitText(html: Html, start: number, end: number): true {
  return emit(html, { kind: TEXT, start, end, at: end, state: IN_DATA });
}

/** Emits what ends at the first `end` from `from` on, or with the text. */
function emitUntil(
  html: Html,
  kind: number,
  { from, end }: { readonly from: number; readonly end: string },
): true {
  const found = html.text.indexOf(end, from);
  const stop = found < 0 ? html.text.length : found;
  return emit(html, {
    kind,
    start: from,
    end: stop,
    at: found < 0 ? stop : stop + end.length,
    state: IN_DATA,
  });
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0;
}

function isLetter(code: number): boolean {
  return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
}

function skipSpace({ text, at }: Html): number {
  let end = at;
  while (end < text.length && isSpace(text.charCodeAt(end))) end++;
  return end;
}

function readData(html: Html): boolean {
  const { text, at } = html;
  if (at >= text.length) return false;
  const open = text.indexOf('<', at);
  if (open !== at) return emitText(html, at, open < 0 ? text.length : open);
  const code = text.charCodeAt(at + 1);
  if (isLetter(code) || code === 0) return readTag(html, at + 1);
  switch (code) {
    case 0x21: // !
      return readDeclaration(html);
    case 0x2f: // /
      return readClosing(html);
    case 0x3f: // ?
      return emitUntil(html, COMMENT, { from: at + 2, end: '>' });
    case 0x25: // %
      return emitUntil(html, COMMENT, { from: at + 2, end: '%>' });
    default:
      return emitText(html, at, at + 1);
  }
}

function readClosing(html: Html): boolean {
  const { text, at } = html;
  const code = text.charCodeAt(at + 2);
  if (code === 0x3e) {
    html.at = at + 3;
    return readData(html);
  }
  if (isLetter(code)) return readTag(html, at + 2);
  return emitUntil(html, COMMENT, { from: at + 2, end: '>' });
}

/** The name that begins at `start`, up to a space, a slash or the tag's end. */
function readTag(html: Html, start: number): true {
  const { text, at } = html;
  let end = start;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === 0x2f || code === 0x3e || (code !== 0 && isSpace(code))) break;
  }
  const ends = text.charCodeAt(end) === 0x3e;
  if (ends && start === at + 2)
    return emit(html, { kind: CLOSING_TAG, start, end, at: end + 1, state: IN_DATA });
  return emit(html, { kind: TAG, start, end, at: end, state: ends ? AT_TAG_END : IN_TAG });
}

function readDeclaration(html: Html): true {
  const { text, at } = html;
  if (text.startsWith('--', at + 2)) return readComment(html);
  if (text.startsWith('[CDATA[', at + 2)) return emitUntil(html, TEXT, { from: at + 9, end: ']]>' });
  const isDoctype = text.slice(at + 2, at + 9).toLowerCase() === 'doctype';
  return emitUntil(html, isDoctype ? DOCTYPE : COMMENT, { from: at + 2, end: '>' });
}

/** `<!-->` and `<!--->` are whole comments; `--!>` ends one like `-->`. */
function readComment(html: Html): true {
  const { text, at } = html;
  const start = at + 4;
  let dashes = text.indexOf('--', at + 2);
  for (; dashes >= 0; dashes = text.indexOf('--', dashes + 1)) {
    const code = text.charCodeAt(dashes + 2);
    const after =
      code === 0x3e ? 3 : code === 0x21 && dashes >= start && text.charCodeAt(dashes + 3) === 0x3e ? 4 : 0;
    if (after === 0) continue;
    return emit(html, {
      kind: COMMENT,
      start,
      end: Math.max(start, dashes),
      at: dashes + after,
      state: IN_DATA,
    });
  }
  const end = text.length;
  return emit(html, { kind: COMMENT, start, end, at: end, state: IN_DATA });
}

/** Between a tag's attributes: a slash is a separator unless it ends the tag. */
function readInTag(html: Html): boolean {
  const { text } = html;
  for (;;) {
    const at = skipSpace(html);
    html.at = at;
    if (at >= text.length) return false;
    const code = text.charCodeAt(at);
    if (code === 0x3e)
      return emit(html, { kind: TAG_END, start: at, end: at + 1, at: at + 1, state: IN_DATA });
    if (code !== 0x2f) return readName(html);
    if (text.charCodeAt(at + 1) === 0x3e) {
      return emit(html, { kind: SELF_CLOSE, start: at, end: at + 2, at: at + 2, state: IN_DATA });
    }
    html.at = at + 1;
  }
}

/** An attribute's name; an equals sign may begin it. */
function readName(html: Html): true {
  const { text, at } = html;
  let end = at + 1;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === 0x3d || code === 0x2f || code === 0x3e || isSpace(code)) break;
  }
  return emit(html, { kind: ATTRIBUTE, start: at, end, at: end, state: AFTER_NAME });
}

function readAfterName(html: Html): boolean {
  html.at = skipSpace(html);
  if (html.text.charCodeAt(html.at) !== 0x3d) return readInTag(html);
  html.at++;
  return readValue(html);
}

function readValue(html: Html): boolean {
  const at = skipSpace(html);
  html.at = at;
  if (at >= html.text.length) return false;
  const code = html.text.charCodeAt(at);
  if (code !== 0x22 && code !== 0x27 && code !== 0x60) return readUnquoted(html);
  html.at = at + 1;
  return readUntilQuote(html, html.text.charAt(at));
}

function readUntilQuote(html: Html, quote: string): true {
  emitUntil(html, VALUE, { from: html.at, end: quote });
  html.state = IN_TAG;
  return true;
}

function readUnquoted(html: Html): true {
  const { text, at } = html;
  let end = at;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === 0x3e || isSpace(code)) break;
  }
  return emit(html, { kind: VALUE, start: at, end, at: end, state: IN_TAG });
}
