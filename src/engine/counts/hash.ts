/**
 * Hashes of texts for sketches, 53 bits: an integer that a JavaScript number represents exactly. Two lanes of
 * FNV-1a (RFC 9923) with multipliers of 32 random bits over the UTF-16 units, mixed by the finaliser of MurmurHash3
 * (A. Appleby, 2011). Not against chosen collisions: visitors who make them lower a count that they could raise as well.
 */
const LANE_1 = 0x9e3779b1;
const LANE_2 = 0x5f356495;
/** 2^32: the low word of a hash has 32 bits, the high word 21. */
const WORD = 4_294_967_296;
const HIGH_BITS = 0x1fffff;

function finalise(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

function join(high: number, low: number): number {
  return (finalise(high) & HIGH_BITS) * WORD + (finalise(low) >>> 0);
}

/** The hash of a text. */
export function hashText(text: string): number {
  let first = 0x243f6a88 ^ text.length;
  let second = 0x85a308d3;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    first = Math.imul(first ^ code, LANE_1);
    second = Math.imul(second ^ code, LANE_2);
  }
  return join(second, first);
}

/** The hash of a pair of hashes; the order matters. */
export function hashPair(one: number, other: number): number {
  const low = Math.imul(finalise(one | 0), LANE_1) ^ finalise((other | 0) + LANE_2);
  const high = Math.imul(finalise(one / WORD), LANE_2) ^ finalise(other / WORD + LANE_1);
  return join(high + Math.imul(low, LANE_1), low + Math.imul(high, LANE_2));
}
