/**
 * The keyed hash behind every counter key: HalfSipHash-1-3 with 64 bits of result (Aumasson and Bernstein, "SipHash:
 * a fast short-input PRF", 2012; the 32-bit variant of the reference code, which the Linux kernel uses for its hash
 * tables). Visitors choose addresses and paths; without the seed they cannot choose which of them collide.
 */

/** Four words of hash state. */
export type HashState = Int32Array;

/** A state to be initialised by `begin`. */
export function createHashState(): HashState {
  return new Int32Array(4);
}

/** Starts a key. @param seed two random words */
export function begin(state: HashState, seed: Int32Array): void {
  const k0 = seed[0]!;
  const k1 = seed[1]!;
  state[0] = k0;
  state[1] = k1 ^ 0xee;
  state[2] = 0x6c796765 ^ k0;
  state[3] = 0x74656462 ^ k1;
}

/** Absorbs the words of `input` from `first` to before `end`, one compression round each. */
export function absorb(state: HashState, input: Int32Array, first: number, end: number): void {
  let v0 = state[0]!;
  let v1 = state[1]!;
  let v2 = state[2]!;
  let v3 = state[3]!;
  for (let i = first; i < end; i++) {
    const word = input[i]!;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  state[0] = v0;
  state[1] = v1;
  state[2] = v2;
  state[3] = v3;
}

/** Absorbs a text, two UTF-16 units a word. Its length belongs into the closing word of `finish`. */
export function absorbText(state: HashState, text: string): void {
  let v0 = state[0]!;
  let v1 = state[1]!;
  let v2 = state[2]!;
  let v3 = state[3]!;
  const length = text.length;
  for (let i = 0; i < length; i += 2) {
    const word = text.charCodeAt(i) | (i + 1 < length ? text.charCodeAt(i + 1) << 16 : 0);
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  state[0] = v0;
  state[1] = v1;
  state[2] = v2;
  state[3] = v3;
}

/**
 * Writes the 64-bit hash of what was absorbed and of the `closing` word into `out[0]` and `out[1]`. The state stays
 * as it was, so several keys can share what they have in common.
 */
export function finish(state: HashState, closing: number, out: Int32Array): void {
  let v0 = state[0]!;
  let v1 = state[1]!;
  let v2 = state[2]!;
  let v3 = state[3]! ^ closing;
  for (let round = 0; round < 7; round++) {
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    if (round === 0) {
      v0 ^= closing;
      v2 ^= 0xee;
    } else if (round === 3) {
      out[0] = v1 ^ v3;
      v1 ^= 0xdd;
    }
  }
  out[1] = v1 ^ v3;
}

/**
 * A number for `RateWindow.space`, 53 bits of the name's hash (two lanes of the 32-bit finaliser of MurmurHash3).
 * Not seeded: who shares counters between customers gives names that customers do not choose freely.
 */
export function counterSpace(name: string): number {
  let a = 0x9e3779b9;
  let b = 0x85ebca6b;
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x85ebca6b);
    a ^= a >>> 13;
    b = Math.imul(b ^ unit, 0xc2b2ae35);
    b ^= b >>> 16;
  }
  a = Math.imul(a ^ (a >>> 16) ^ name.length, 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 13) ^ a, 0x85ebca6b);
  return ((a ^ (a >>> 16)) >>> 11) * 2 ** 32 + ((b ^ (b >>> 16)) >>> 0);
}
