/**
 * A tokenizer of HTML: text, tags, attribute names and values, comments, after "Tokenization" of the WHATWG HTML standard.
 * In addition it accepts what browsers accepted (Internet Explorer's back quotes around values, `<%`, NUL and vertical tab
 * as white space), and it returns tokens that the end of the text cuts off. Each token begins after the one before, so
 * that tokenizing takes linear time.
 */

/** Kinds of pieces. */
export const TEXT = 1;
/** The name of an opening tag. */
export const TAG = 2;
/** The `>` of a tag. */
export const TAG_END = 3;
/** The `/>` of a tag. */
export const SELF_CLOSE = 4;
/** `</name>`; a closing tag with white space after its name is a `TAG`. */
export const CLOSING_TAG = 5;
/** The name of an attribute. */
export const ATTRIBUTE = 6;
/** The value of an attribute, without quotes. */
export const VALUE = 7;
/** The content of a comment, also of `<!…>`, `<?…>`, `<%…%>` and `</…>` without a name. */
export const COMMENT = 8;
export const DOCTYPE = 9;

/** States: in text; in an unquoted value; in a value in single, double or back quotes. */
export const IN_DATA = 0;
export const IN_UNQUOTED = 1;
export const IN_SINGLE = 2;
export const IN_DOUBLE = 3;
export const IN_BACK = 4;
/** States: between attributes; after the name of an attribute; before a value; before `>`. */
const IN_TAG = 5;
const AFTER_NAME = 6;
const BEFORE_VALUE = 7;
const AT_TAG_END = 8;

/** The state of the tokenizer. */
export interface Html {
  /** The text, Latin-1. */
  text: string;
  /** The place after the last piece. */
  at: number;
  /** One of the states above. */
  state: number;
  /** The kind of the last piece, which is `text[start, end)`. */
  kind: number;
  start: number;
  end: number;
}

/** The first place of a character code in `text[start, end)`; -1: none. Unlike `indexOf` it stops at `end`. */
export function indexWithin(text: string, code: number, { start, end }: Span): number {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) === code) return at;
  return -1;
}

/** A part of a text, from `start` up to but not including `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Allocates a tokenizer; one is enough, since `beginHtml` resets it. */
export function newHtml(): Html {
  return { text: '', at: 0, state: IN_DATA, kind: 0, start: 0, end: 0 };
}

/** Begins to tokenize `text` in one of the exported `IN_` states. */
export function beginHtml(html: Html, text: string, state: number): void {
  html.text = text;
  html.at = 0;
  html.state = state;
}

/** Reads the next piece; `false`: the text has ended. */
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

/** A piece of the text, and how tokenizing continues. */
interface Piece {
  readonly kind: number;
  readonly start: number;
  readonly end: number;
  /** The place and the state in which tokenizing continues. */
  readonly at: number;
  readonly state: number;
}

/** Stores a piece in `html`. */
function emit(html: Html, piece: Piece): true {
  html.kind = piece.kind;
  html.start = piece.start;
  html.end = piece.end;
  html.at = piece.at;
  html.state = piece.state;
  return true;
}

/** Stores a piece of text. */
function emitText(html: Html, start: number, end: number): true {
  return emit(html, { kind: TEXT, start, end, at: end, state: IN_DATA });
}

/** Stores a piece from `from` up to the first `end`, or to the end of the text. */
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

/** White space of the HTML standard, vertical tab, or NUL. */
function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0;
}

/** An ASCII letter. */
function isLetter(code: number): boolean {
  return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
}

/** The place after the white space at `at`. */
function skipSpace({ text, at }: Html): number {
  let end = at;
  while (end < text.length && isSpace(text.charCodeAt(end))) end++;
  return end;
}

/** Reads text up to the next `<`, or the markup that begins there (the data state of the standard). */
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

/** Reads `</`: a closing tag, `</>` (ignored), or else a bogus comment. */
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

/** Reads the name of a tag that begins at `start`, up to white space, a slash or `>`. */
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

/** Reads `<!`: a comment, CDATA, a doctype, or else a bogus comment. */
function readDeclaration(html: Html): true {
  const { text, at } = html;
  if (text.startsWith('--', at + 2)) return readComment(html);
  if (text.startsWith('[CDATA[', at + 2)) return emitUntil(html, TEXT, { from: at + 9, end: ']]>' });
  const isDoctype = text.slice(at + 2, at + 9).toLowerCase() === 'doctype';
  return emitUntil(html, isDoctype ? DOCTYPE : COMMENT, { from: at + 2, end: '>' });
}

/** Reads a comment. `<!-->` and `<!--->` are complete; `--!>` ends a comment as `-->` does. */
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

/** Reads on between attributes: a slash separates them unless it ends the tag. */
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

/** Reads the name of an attribute; an equals sign may be its first character. */
function readName(html: Html): true {
  const { text, at } = html;
  let end = at + 1;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === 0x3d || code === 0x2f || code === 0x3e || isSpace(code)) break;
  }
  return emit(html, { kind: ATTRIBUTE, start: at, end, at: end, state: AFTER_NAME });
}

/** Reads a value if `=` follows the name, else the next attribute. */
function readAfterName(html: Html): boolean {
  html.at = skipSpace(html);
  if (html.text.charCodeAt(html.at) !== 0x3d) return readInTag(html);
  html.at++;
  return readValue(html);
}

/** Reads a quoted or unquoted value. */
function readValue(html: Html): boolean {
  const at = skipSpace(html);
  html.at = at;
  if (at >= html.text.length) return false;
  const code = html.text.charCodeAt(at);
  if (code !== 0x22 && code !== 0x27 && code !== 0x60) return readUnquoted(html);
  html.at = at + 1;
  return readUntilQuote(html, html.text.charAt(at));
}

/** Reads a value up to its closing quote. */
function readUntilQuote(html: Html, quote: string): true {
  emitUntil(html, VALUE, { from: html.at, end: quote });
  html.state = IN_TAG;
  return true;
}

/** Reads a value up to white space or `>`. */
function readUnquoted(html: Html): true {
  const { text, at } = html;
  let end = at;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === 0x3e || isSpace(code)) break;
  }
  return emit(html, { kind: VALUE, start: at, end, at: end, state: IN_TAG });
}
