/**
 * Internet addresses: a strict parser for visitors' addresses (no allocation), canonical text (RFC 5952), and the
 * entries customers write (address, prefix, range). An IPv4 address is one unsigned 32-bit word; an IPv6 address is
 * four, most significant first. Only the strict dotted quad is IPv4 (semantics §1): `010.0.0.1` and `1` are not
 * addresses, since readers disagree about what they mean.
 */

const DOT = 0x2e;
const COLON = 0x3a;
const ZERO = 0x30;
const NINE = 0x39;

/** The second word of an IPv4-mapped address, ::ffff:0:0/96 (RFC 4291 §2.5.5.2). */
const MAPPED = 0xffff;

/** A strict dotted quad as an unsigned 32-bit number, or -1. No leading zeros, no other bases, no short forms. */
export function parseIpv4(text: string): number {
  return text.length < 7 ? -1 : quad(text, 0);
}

/**
 * An IPv6 address (RFC 4291 §2.2: groups, one `::`, a dotted-quad tail) into `out[0..3]`. False, with `out` in no
 * defined state, for anything else: zone ids, brackets, prefixes, `::` that replaces no group.
 */
export function parseIpv6(text: string, out: Uint32Array): boolean {
  const length = text.length;
  if (length < 2 || length > 45) return false;
  let position = 0;
  let count = 0;
  let gap = -1;
  out[0] = 0;
  out[1] = 0;
  out[2] = 0;
  out[3] = 0;
  if (text.charCodeAt(0) === COLON) {
    if (text.charCodeAt(1) !== COLON) return false;
    gap = 0;
    position = 2;
  }
  while (position < length) {
    if (count === 8) return false;
    const start = position;
    let group = 0;
    while (position < length && position - start < 5) {
      const digit = hexDigit(text.charCodeAt(position));
      if (digit < 0) break;
      group = group * 16 + digit;
      position++;
    }
    if (position === start || position - start > 4) return false;
    if (position < length && text.charCodeAt(position) === DOT) {
      if (count > 6) return false;
      const tail = quad(text, start);
      if (tail < 0) return false;
      putGroup(out, count, tail >>> 16);
      putGroup(out, count + 1, tail & 0xffff);
      count += 2;
      position = length;
      break;
    }
    putGroup(out, count, group);
    count++;
    if (position === length) break;
    if (text.charCodeAt(position) !== COLON) return false;
    position++;
    if (position === length) return false;
    if (text.charCodeAt(position) === COLON) {
      if (gap >= 0) return false;
      gap = count;
      position++;
    }
  }
  if (gap < 0) return count === 8;
  if (count === 8) return false;
  spread(out, gap, count);
  return true;
}

/**
 * Any address: 4 with the address in `out[0]`, 6 with it in `out[0..3]`, or 0 when the text is no address.
 * IPv4-mapped addresses are IPv4 (semantics §1).
 */
export function parseIp(text: string, out: Uint32Array): 0 | 4 | 6 {
  const ipv4 = parseIpv4(text);
  if (ipv4 >= 0) {
    out[0] = ipv4;
    return 4;
  }
  if (!parseIpv6(text, out)) return 0;
  if (out[0] !== 0 || out[1] !== 0 || out[2] !== MAPPED) return 6;
  out[0] = out[3]!;
  return 4;
}

/** The canonical text of an address, IPv4-mapped ones as IPv4; `null`: the text is no address (semantics §1). */
export function canonicalIp(text: string): string | null {
  const words = new Uint32Array(4);
  const family = parseIp(text, words);
  return family === 0 ? null : formatIp(family, words);
}

/** Canonical text of an address: a dotted quad for family 4 (`words[0]`), RFC 5952 for family 6 (`words[0..3]`). */
export function formatIp(family: 4 | 6, words: ArrayLike<number>): string {
  if (family === 4) return formatQuad(words[0]!);
  if (words[0] === 0 && words[1] === 0 && words[2] === MAPPED) return `::ffff:${formatQuad(words[3]!)}`;
  let bestStart = -1;
  let bestLength = 1;
  for (let start = 0; start < 8; start++) {
    let end = start;
    while (end < 8 && groupAt(words, end) === 0) end++;
    if (end - start > bestLength) {
      bestStart = start;
      bestLength = end - start;
    }
    if (end > start) start = end;
  }
  let text = '';
  for (let index = 0; index < 8; index++) {
    if (index === bestStart) {
      text += '::';
      index += bestLength - 1;
      continue;
    }
    if (text !== '' && !text.endsWith(':')) text += ':';
    text += groupAt(words, index).toString(16);
  }
  return text;
}

/** An address entry of a drop rule, read: an inclusive interval of one family and its canonical text. */
export interface IpInterval {
  readonly ok: true;
  readonly family: 4 | 6;
  /** One word for family 4, four for family 6; never above `last`. */
  readonly first: Uint32Array;
  readonly last: Uint32Array;
  /** The form it was written in: an address, a prefix with its host bits masked, or a range in order. */
  readonly canonical: string;
}

/** Why an entry is invalid; a sentence that names what would be valid. */
export interface IpRefusal {
  readonly ok: false;
  readonly reason: string;
}

/**
 * Reads an entry of `ips` (API document, drop): a single address, a CIDR prefix, or an inclusive range
 * `<first>-<last>`. Host bits are masked, reversed ranges ordered, IPv4-mapped forms become IPv4; a range that mixes
 * families and a mapped prefix shorter than /96 are refused (semantics §5).
 */
export function parseIpEntry(text: string): IpInterval | IpRefusal {
  const slash = text.indexOf('/');
  if (slash >= 0) return parsePrefix(text.slice(0, slash), text.slice(slash + 1));
  const dash = text.indexOf('-');
  if (dash >= 0) return parseRange(text.slice(0, dash), text.slice(dash + 1));
  const words = new Uint32Array(4);
  const family = parseIp(text, words);
  if (family === 0) return notAnAddress(text);
  const address = trim(words, family);
  return { ok: true, family, first: address, last: address, canonical: formatIp(family, address) };
}

function parsePrefix(addressText: string, lengthText: string): IpInterval | IpRefusal {
  const words = new Uint32Array(4);
  const family = parseIp(addressText, words);
  if (family === 0) return notAnAddress(addressText);
  const mapped = family === 4 && addressText.includes(':');
  const most = family === 4 && !mapped ? 32 : 128;
  if (!/^(?:0|[1-9][0-9]{0,2})$/.test(lengthText) || Number(lengthText) > most) {
    return refuse(`a prefix length must be a whole number from 0 to ${most}`);
  }
  let length = Number(lengthText);
  if (mapped) {
    if (length < 96) return refuse('an IPv4-mapped prefix must be at least /96; write it as an IPv4 prefix');
    length -= 96;
  }
  const first = trim(words, family);
  const last = trim(words, family);
  for (let index = 0; index < first.length; index++) {
    const bits = Math.min(Math.max(length - index * 32, 0), 32);
    const mask = bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0;
    first[index] = first[index]! & mask;
    last[index] = last[index]! | ~mask;
  }
  return { ok: true, family, first, last, canonical: `${formatIp(family, first)}/${length}` };
}

function parseRange(firstText: string, lastText: string): IpInterval | IpRefusal {
  const low = new Uint32Array(4);
  const high = new Uint32Array(4);
  const family = parseIp(firstText, low);
  const lastFamily = parseIp(lastText, high);
  if (family === 0) return notAnAddress(firstText);
  if (lastFamily === 0) return notAnAddress(lastText);
  if (family !== lastFamily) return refuse('a range must not mix IPv4 and IPv6; write one range for each');
  let first = trim(low, family);
  let last = trim(high, family);
  if (compareIp(first, last) > 0) [first, last] = [last, first];
  const canonical = `${formatIp(family, first)}-${formatIp(family, last)}`;
  return { ok: true, family, first, last, canonical };
}

/** Order of two addresses of one family: negative, zero or positive. */
export function compareIp(a: Uint32Array, b: Uint32Array): number {
  for (let index = 0; index < a.length; index++) {
    const difference = a[index]! - b[index]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

function notAnAddress(text: string): IpRefusal {
  if (text === '') return refuse('an address is missing; write an address, a prefix or `<first>-<last>`');
  if (/\s/.test(text)) return refuse('an address holds a space; write it without spaces');
  if (text.startsWith('[')) return refuse('an address stands without brackets');
  if (text.includes('%')) return refuse('an address stands without a zone id');
  if (/^[0-9.]+$/.test(text)) {
    return refuse('an IPv4 address must be four numbers from 0 to 255 without leading zeros');
  }
  return refuse('must be an IPv4 or IPv6 address, a CIDR prefix, or a range `<first>-<last>`');
}

function refuse(reason: string): IpRefusal {
  return { ok: false, reason };
}

function trim(words: Uint32Array, family: 4 | 6): Uint32Array {
  return words.slice(0, family === 4 ? 1 : 4);
}

/** The dotted quad that reaches from `start` to the end of the text, or -1. */
function quad(text: string, start: number): number {
  const length = text.length;
  if (length - start > 15) return -1;
  let address = 0;
  let octet = 0;
  let digits = 0;
  let dots = 0;
  for (let position = start; position < length; position++) {
    const code = text.charCodeAt(position);
    if (code === DOT) {
      if (digits === 0 || dots === 3) return -1;
      address = address * 256 + octet;
      octet = 0;
      digits = 0;
      dots++;
      continue;
    }
    if (code < ZERO || code > NINE || (digits > 0 && octet === 0)) return -1;
    octet = octet * 10 + code - ZERO;
    digits++;
    if (octet > 255) return -1;
  }
  return dots === 3 && digits > 0 ? address * 256 + octet : -1;
}

function hexDigit(code: number): number {
  if (code >= ZERO && code <= NINE) return code - ZERO;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function putGroup(words: Uint32Array, index: number, group: number): void {
  const word = index >> 1;
  words[word] =
    (index & 1) === 0 ? (words[word]! & 0xffff) | (group << 16) : (words[word]! & 0xffff0000) | group;
}

function groupAt(words: ArrayLike<number>, index: number): number {
  const word = words[index >> 1]!;
  return (index & 1) === 0 ? word >>> 16 : word & 0xffff;
}

/** Moves the groups behind `::` to the end and clears the gap. */
function spread(words: Uint32Array, gap: number, count: number): void {
  const moved = count - gap;
  for (let index = 0; index < moved; index++) {
    const from = count - 1 - index;
    putGroup(words, 7 - index, groupAt(words, from));
    if (from < 8 - moved) putGroup(words, from, 0);
  }
}

function formatQuad(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}
