/** Addresses and the entries of a drop rule's `ips` (semantics §1 and §5 drop). */

/** An IPv4 address as 32 bits or an IPv6 address as 128; a mapped one has become IPv4. */
export interface Address {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

/** All addresses from `first` to `last`, both of one family. */
interface Span {
  readonly first: Address;
  readonly last: Address;
}

function parseV4(text: string): bigint | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) {
    return null;
  }
  return parts.reduce((bits, part) => bits * 256n + BigInt(part), 0n);
}

/** The 16-bit groups of one side of `::`; a dotted quad may be the last piece of the whole address. */
function groups(text: string, quadAllowed: boolean): bigint[] | null {
  if (text === '') return [];
  const found: bigint[] = [];
  const pieces = text.split(':');
  for (const [index, piece] of pieces.entries()) {
    const quad = quadAllowed && index === pieces.length - 1 ? parseV4(piece) : null;
    if (quad !== null) found.push(quad >> 16n, quad & 0xffffn);
    else if (/^[0-9A-Fa-f]{1,4}$/.test(piece)) found.push(BigInt(`0x${piece}`));
    else return null;
  }
  return found;
}

/** The 128 bits of an IPv6 address in any RFC 4291 spelling; no zone, no brackets. */
export function parseV6(text: string): bigint | null {
  const sides = text.split('::');
  if (sides.length > 2) return null;
  const left = groups(sides[0]!, sides.length === 1);
  const right = sides.length === 2 ? groups(sides[1]!, true) : [];
  if (left === null || right === null) return null;
  const missing = 8 - left.length - right.length;
  if (sides.length === 2 ? missing < 1 : missing !== 0) return null;
  const all = [...left, ...Array.from({ length: missing }, () => 0n), ...right];
  return all.reduce((bits, group) => (bits << 16n) | group, 0n);
}

const MAPPED = 0xffffn;

/** An address as sent; `null` for whatever is not one. */
export function parseAddress(text: unknown): Address | null {
  if (typeof text !== 'string') return null;
  const v4 = parseV4(text);
  if (v4 !== null) return { family: 4, bits: v4 };
  const v6 = parseV6(text);
  if (v6 === null) return null;
  return v6 >> 32n === MAPPED ? { family: 4, bits: v6 & 0xffffffffn } : { family: 6, bits: v6 };
}

function parsePrefix(text: string): Span | null {
  const [base, digits] = text.split('/') as [string, string];
  const address = parseAddress(base);
  if (address === null) return null;
  const width = address.family === 4 ? 32 : 128;
  const mapped = address.family === 4 && base.includes(':');
  const host = BigInt(width - (Number(digits) - (mapped ? 96 : 0)));
  const bits = (address.bits >> host) << host;
  return {
    first: { family: address.family, bits },
    last: { family: address.family, bits: bits + (1n << host) - 1n },
  };
}

function parseEntry(text: string): Span | null {
  if (text.includes('/')) return parsePrefix(text);
  const [from, to] = text.split('-') as [string, string?];
  const first = parseAddress(from);
  const last = to === undefined ? first : parseAddress(to);
  return first === null || last === null || first.family !== last.family ? null : { first, last };
}

const entries = new Map<string, Span | null>();

/** Whether an address, a prefix or a `first-last` range covers the address. */
export function covers(entry: string, address: Address): boolean {
  let span = entries.get(entry);
  if (span === undefined) {
    span = parseEntry(entry);
    entries.set(entry, span);
  }
  if (span === null || span.first.family !== address.family) return false;
  return address.bits >= span.first.bits && address.bits <= span.last.bits;
}
