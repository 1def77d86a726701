/** Host names as rules see them (semantics §1): lower case, port stripped, IDNA to ASCII (UTS 46). */
import { toASCII } from 'tr46';
import { MAX_HOST_OCTETS, MAX_LABEL_OCTETS } from '../vocabulary/limits.ts';
import { parseIp } from './ip.ts';

/** Characters of the longest Host value that is parsed; a name of 253 octets never needs more. */
const MAX_HOST_TEXT = 1024;

/** A host as it was understood; filled in place so that a request allocates nothing. */
export interface HostFacts {
  host: string;
  /** -1: none was given. */
  port: number;
  /** An IPv6 literal in brackets: valid, but a host no domain owns. */
  literal: boolean;
}

const PLAIN = 0;
const UPPER = 1;
const DOT = 2;
const COLON = 3;
const FORBIDDEN = 4;
const CLASSES = buildClasses();

/** WHATWG URL's forbidden host code points, controls, and the comma that marks a doubled header. */
function buildClasses(): Uint8Array {
  const classes = new Uint8Array(128);
  classes.fill(FORBIDDEN, 0, 33);
  for (const mark of '#%,/<>?@[\\]^|\x7f') classes[mark.charCodeAt(0)] = FORBIDDEN;
  classes.fill(UPPER, 65, 91);
  classes[46] = DOT;
  classes[58] = COLON;
  return classes;
}

/** Reads a Host value. `false`: it is not a valid host, and the request is refused with 400. */
export function parseHost(text: string, out: HostFacts): boolean {
  out.port = -1;
  out.literal = false;
  if (text.length === 0 || text.length > MAX_HOST_TEXT) return false;
  if (text.charCodeAt(0) === 91) return parseLiteral(text, out);
  let end = text.length;
  let upper = false;
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code > 127) return parseUnicode(text, out);
    const kind = CLASSES[code]!;
    if (kind === PLAIN || kind === DOT) continue;
    if (kind === FORBIDDEN) return false;
    if (kind === UPPER) upper = true;
    else {
      if (!parsePort(text, at + 1, out)) return false;
      end = at;
    }
  }
  if (text.charCodeAt(end - 1) === 46) end--;
  const name = end === text.length ? text : text.slice(0, end);
  out.host = upper ? name.toLowerCase() : name;
  return isName(name);
}

function parsePort(text: string, from: number, out: HostFacts): boolean {
  if (from === text.length) return true;
  let port = 0;
  for (let at = from; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return false;
    port = port * 10 + digit;
    if (port > 65535) return false;
  }
  out.port = port;
  return true;
}

/** Whether the labels are non-empty and within DNS lengths (RFC 1035 §2.3.4). */
function isName(name: string): boolean {
  if (name.length === 0 || name.length > MAX_HOST_OCTETS) return false;
  let start = 0;
  for (let at = 0; at <= name.length; at++) {
    if (at < name.length && name.charCodeAt(at) !== 46) continue;
    const length = at - start;
    if (length === 0 || length > MAX_LABEL_OCTETS) return false;
    start = at + 1;
  }
  return true;
}

function parseLiteral(text: string, out: HostFacts): boolean {
  const close = text.indexOf(']');
  if (close < 0) return false;
  const rest = text.slice(close + 1);
  if (rest !== '' && !rest.startsWith(':')) return false;
  if (rest !== '' && !parsePort(text, close + 2, out)) return false;
  const inner = text.slice(1, close);
  if (!inner.includes(':') || parseIp(inner, new Uint32Array(4)) === 0) return false;
  out.host = text.slice(0, close + 1).toLowerCase();
  out.literal = true;
  return true;
}

function parseUnicode(text: string, out: HostFacts): boolean {
  const colon = text.lastIndexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  // PERF: UTS 46 takes the square of a label's length (100 ms for 1,000 characters). A name longer than its ASCII
  // form may be could only get there by characters that map to nothing; one more for the trailing dot.
  if (name.length > MAX_HOST_OCTETS + 1) return false;
  const ascii = toAsciiName(name);
  if (ascii === null || ascii.includes(':') || !parseHost(ascii, out)) return false;
  return colon < 0 || parsePort(text, colon + 1, out);
}

/**
 * UTS 46 ToASCII, non-transitional. `null`: the name has no ASCII form.
 *
 * The package `tr46` and not the platform's `URL`: the evaluator runs in the bare language, which has no `URL`, and Node
 * 20's `URL` disagrees with `tr46` on 307 of the 3,961 non-ASCII vectors of IdnaTestV2 (it does not check the Bidi rule
 * of RFC 5893, for one).
 */
export function toAsciiName(name: string): string | null {
  if (!name.isWellFormed()) return null;
  return toASCII(name, {
    checkHyphens: false,
    checkBidi: true,
    checkJoiners: true,
    useSTD3ASCIIRules: false,
    verifyDNSLength: false,
    transitionalProcessing: false,
  });
}

/** A name (no port) in canonical form, or `null` when it is not one. */
export function normalizeName(text: string): string | null {
  const facts: HostFacts = { host: '', port: -1, literal: false };
  if (text.includes(':') || !parseHost(text, facts)) return null;
  return facts.host;
}

/**
 * A wildcard host entry as the literal pieces between its stars, each normalised as hosts are. `null`: a piece could
 * never be part of a canonical host (a label that is neither ASCII nor whole included).
 */
export function hostPieces(entry: string): readonly string[] | null {
  const bare = entry.length > 1 && entry.endsWith('.') ? entry.slice(0, -1) : entry;
  const pieces: string[] = [];
  const raw = bare.split('*');
  for (const [index, piece] of raw.entries()) {
    const ascii = isAscii(piece) ? piece.toLowerCase() : asciiPiece(piece, index > 0, index < raw.length - 1);
    if (ascii === null || !isPiece(ascii)) return null;
    pieces.push(ascii);
  }
  return pieces;
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

function asciiPiece(piece: string, starBefore: boolean, starAfter: boolean): string | null {
  const labels = piece.split('.');
  const out: string[] = [];
  for (const [index, label] of labels.entries()) {
    const cut = (index === 0 && starBefore) || (index === labels.length - 1 && starAfter);
    if (isAscii(label)) out.push(label.toLowerCase());
    else {
      const ascii = cut ? null : toAsciiName(label);
      if (ascii === null) return null;
      out.push(ascii);
    }
  }
  return out.join('.');
}

function isPiece(piece: string): boolean {
  if (piece.includes('..')) return false;
  for (let at = 0; at < piece.length; at++) {
    const kind = CLASSES[piece.charCodeAt(at)];
    if (kind !== PLAIN && kind !== DOT) return false;
  }
  return true;
}

/** Why a Host value is refused, as a sentence goes on after it; `null` if it is accepted. For accounts, not for speed. */
export function hostMistake(text: string): string | null {
  const facts: HostFacts = { host: '', port: -1, literal: false };
  if (parseHost(text, facts)) return null;
  if (text === '') return 'is empty';
  if (text.length > MAX_HOST_TEXT) return `is longer than ${MAX_HOST_OCTETS} octets`;
  const bracketed = text.startsWith('[');
  const colon = text.indexOf(':', bracketed ? Math.max(0, text.indexOf(']')) : 0);
  const name = colon < 0 ? text : text.slice(0, colon);
  const port = colon < 0 ? '' : text.slice(colon + 1);
  if (bracketed && !parseLiteral(name, facts)) return 'is not an IPv6 address in brackets';
  const odd = [...name].find((character) => CLASSES[character.codePointAt(0)!] === FORBIDDEN);
  if (odd !== undefined && !bracketed) return `holds ${characterName(odd)}`;
  if (/[^0-9]/.test(port)) return `has the port \`${port.slice(0, 20)}\`, which is not a number`;
  if (Number(port) > 65535) return `has the port ${port.slice(0, 20)}, which is above 65535`;
  const ascii = toAsciiName(name);
  if (ascii === null) return 'has no ASCII form (IDNA)';
  const bare = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii;
  if (bare.length > MAX_HOST_OCTETS) return `is longer than ${MAX_HOST_OCTETS} octets`;
  if (bare.split('.').includes('')) return 'has an empty label';
  if (bare.split('.').some((label) => label.length > MAX_LABEL_OCTETS))
    return `has a label longer than ${MAX_LABEL_OCTETS} octets`;
  return 'is not a valid host';
}

/** A character that must not stand raw, as a sentence names it. */
export function characterName(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 32) return 'a raw space';
  if (code < 32 || code === 127)
    return `a raw control character (U+${code.toString(16).toUpperCase().padStart(4, '0')})`;
  return `a raw \`${character}\``;
}

// The Host values of requests to a listener on loopback. A page of any site can have a browser ask it under the page's own name,
// once that name's address in the DNS is changed to 127.0.0.1 (DNS rebinding), and read the answer; the Host header still
// has the name.

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d{1,5})?$/i;

/** Why a request with this Host is not answered, as a sentence; `null`: it is answered. */
export function foreignHost(host: string | undefined): string | null {
  // Health checks in HTTP/1.0 have none; browsers send one always.
  if (host === undefined || LOOPBACK.test(host)) return null;
  return 'this listener answers to `localhost` and loopback addresses only: the Host header names another';
}
