/**
 * The octets that a visitor sent for a part of the canonical path (semantics §5 rewrite). In: the forwarded path. Out: for
 * each offset of the canonical path, the offset in the forwarded one.
 */
import { decodeEscapes, encodeCapture, escapedOctet } from '../octets/octets.ts';
import { slashWidth, withoutParams } from './path.ts';

/** A part of a canonical path. */
export interface PathPart {
  readonly from: number;
  readonly text: string;
}

/** The spellings of the parts of one path. */
export interface SentPath {
  /** The canonical path, or that without parameters. */
  readonly path: string;
  /** The path as forwarded, without parameters if `path` is. */
  readonly sent: string;
  /** The offset in `sent` of each offset in `path`, -1 inside an escape; `null`: both are the same text. */
  readonly offsets: Int32Array | null;
}

/** @param path the canonical path of `forwarded`, or that without parameters */
export function readSentPath(path: string, forwarded: string, parameters: boolean): SentPath {
  const sent = parameters ? forwarded : dropParameters(forwarded);
  return { path, sent, offsets: path === sent ? null : offsetsOf(path, sent) };
}

/**
 * A part as the visitor sent it. A part that begins or ends inside an escape is percent-encoded from the canonical form, so
 * that no half of an escape joins with other text.
 */
export function sentPart({ sent, offsets }: SentPath, { from, text }: PathPart): string {
  const to = from + text.length;
  if (offsets === null) return isWhole(sent, from, to) ? text : encodeCapture(text);
  const start = offsets[from]!;
  const end = offsets[to]!;
  return start < 0 || end < 0 ? encodeCapture(text) : sent.slice(start, end);
}

/** Whether neither end of a part is inside an escape, in a path that is spelled as its canonical form. */
function isWhole(sent: string, from: number, to: number): boolean {
  return !isInside(sent, from) && !isInside(sent, to);
}

function isInside(sent: string, at: number): boolean {
  return sent.charCodeAt(at - 1) === 37 || (at > 1 && sent.charCodeAt(at - 2) === 37);
}

/** The forwarded path with each segment cut before its first `;`, in either spelling. */
function dropParameters(forwarded: string): string {
  let out = '';
  let isCut = false;
  for (let at = 0; at < forwarded.length; ) {
    const slash = slashWidth(forwarded, at);
    const octet = escapedOctet(forwarded, at);
    const width = octet < 0 ? 1 : 3;
    if (slash > 0) isCut = false;
    else if (octet === 59 || forwarded.charCodeAt(at) === 59) isCut = true;
    if (!isCut) out += forwarded.slice(at, at + width);
    at += width;
  }
  return out;
}

/**
 * Walks the segments of the forwarded path. A slash of the canonical path is all that separates two of its segments:
 * doubled slashes, segments of nothing but parameters.
 */
function offsetsOf(path: string, sent: string): Int32Array {
  const offsets = new Int32Array(path.length + 1).fill(-1);
  let at = 0;
  let slash = 0;
  for (let start = 1; start <= sent.length; ) {
    let end = start;
    while (end < sent.length && slashWidth(sent, end) === 0) end++;
    if (withoutParams(decodeEscapes(sent.slice(start, end))) !== '') {
      offsets[at++] = slash;
      at = addSegment(offsets, at, { sent, start, end });
      slash = end;
    }
    start = end + Math.max(1, end < sent.length ? slashWidth(sent, end) : 1);
  }
  if (at < path.length) offsets[at++] = slash;
  offsets[path.length] = sent.length;
  return offsets;
}

/** Adds the characters of a segment. @returns the offset in the canonical path after it */
function addSegment(
  offsets: Int32Array,
  from: number,
  { sent, start, end }: { readonly sent: string; readonly start: number; readonly end: number },
): number {
  let at = from;
  for (let next = start; next < end; ) {
    const width = characterWidth(sent, next, end);
    offsets[at] = next;
    at += decodeEscapes(sent.slice(next, next + width)).length;
    next += width;
  }
  offsets[at] = end;
  return at;
}

/** The octets of the character at `at`: one, or the escapes of one character of UTF-8. */
function characterWidth(sent: string, at: number, end: number): number {
  if (escapedOctet(sent, at) < 0) return 1;
  for (let width = 12; width > 3; width -= 3) {
    if (at + width > end || !isRun(sent, at, width)) continue;
    const decoded = decodeEscapes(sent.slice(at, at + width));
    if (decoded.length <= 2 && (decoded.length === 1 || decoded.codePointAt(0)! > 0xffff)) return width;
  }
  return 3;
}

function isRun(sent: string, at: number, width: number): boolean {
  for (let next = at; next < at + width; next += 3) if (escapedOctet(sent, next) < 0) return false;
  return true;
}
