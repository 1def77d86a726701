/** The transformations `md5` (RFC 1321) and `sha1` (RFC 3174), with the padding and rotation that they have in common. */
import { latin1Text } from '../octets/latin1.ts';

/** Rotates a word of 32 bits; `bits` is 1 to 31. */
function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** Pads a message to whole blocks of 64 octets: a one bit, zeros, and the length in bits as a word of 64 bits. */
function paddedBlocks(message: string, { bigEndian }: { readonly bigEndian: boolean }): DataView {
  const octets = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
  for (let at = 0; at < message.length; at++) octets[at] = message.charCodeAt(at);
  octets[message.length] = 0x80;
  const view = new DataView(octets.buffer);
  view.setBigUint64(octets.length - 8, BigInt(message.length) * 8n, !bigEndian);
  return view;
}

/** The constants of the 64 steps: the integer part of 2³² × |sin step| (RFC 1321 §3.4). */
const SINES = Uint32Array.from({ length: 64 }, (_, step) =>
  Math.floor(2 ** 32 * Math.abs(Math.sin(step + 1))),
);
/** By round and step modulo four, the bits that a step rotates by (RFC 1321 §3.4). */
const ROTATIONS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;

/** Replaces the value by its MD5 digest, 16 octets (not hexadecimal; rules add `t:hexEncode`). */
export function md5(value: string): string {
  const blocks = paddedBlocks(value, { bigEndian: false });
  const state = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  for (let at = 0; at < blocks.byteLength; at += 64) addMd5Block(state, blocks, at);
  const digest = new DataView(new ArrayBuffer(16));
  for (const [index, word] of state.entries()) digest.setUint32(index * 4, word, true);
  return latin1Text(new Uint8Array(digest.buffer), 0, 16);
}

/** Processes the block of 64 octets at `at` (RFC 1321 §3.4). */
function addMd5Block(state: Uint32Array, blocks: DataView, at: number): void {
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  for (let step = 0; step < 64; step++) {
    const round = step >> 4;
    const word = blocks.getUint32(at + wordOf(round, step) * 4, true);
    const sum = (a + mixedMd5(round, b, c, d) + SINES[step]! + word) | 0;
    a = d;
    d = c;
    c = b;
    b = (b + rotateLeft(sum, ROTATIONS[round]![step & 3]!)) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
}

/** The index of the word of the block that a step adds. */
function wordOf(round: number, step: number): number {
  if (round === 0) return step;
  if (round === 1) return (5 * step + 1) & 15;
  if (round === 2) return (3 * step + 5) & 15;
  return (7 * step) & 15;
}

/** The functions F, G, H and I of the four rounds. */
function mixedMd5(round: number, b: number, c: number, d: number): number {
  if (round === 0) return (b & c) | (~b & d);
  if (round === 1) return (b & d) | (c & ~d);
  if (round === 2) return b ^ c ^ d;
  return c ^ (b | ~d);
}

/** Replaces the value by its SHA-1 digest, 20 octets (not hexadecimal; rules add `t:hexEncode`). */
export function sha1(value: string): string {
  const blocks = paddedBlocks(value, { bigEndian: true });
  const state = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  const words = new Uint32Array(80);
  for (let at = 0; at < blocks.byteLength; at += 64) {
    for (let index = 0; index < 16; index++) words[index] = blocks.getUint32(at + index * 4);
    for (let index = 16; index < 80; index++) {
      words[index] = rotateLeft(
        words[index - 3]! ^ words[index - 8]! ^ words[index - 14]! ^ words[index - 16]!,
        1,
      );
    }
    addSha1Block(state, words);
  }
  const digest = new DataView(new ArrayBuffer(20));
  for (const [index, word] of state.entries()) digest.setUint32(index * 4, word);
  return latin1Text(new Uint8Array(digest.buffer), 0, 20);
}

/** Processes one block, expanded to 80 words: 80 steps in four rounds (RFC 3174 §5 and §6.1). */
function addSha1Block(state: Uint32Array, words: Uint32Array): void {
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
  for (let step = 0; step < 80; step++) {
    const next = (rotateLeft(a, 5) + mixedSha1(step, b, c, d) + e + words[step]!) | 0;
    e = d;
    d = c;
    c = rotateLeft(b, 30);
    b = a;
    a = next;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
}

/** The function and the constant of a step (RFC 3174 §5). */
function mixedSha1(step: number, b: number, c: number, d: number): number {
  if (step < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (step < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (step < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}
