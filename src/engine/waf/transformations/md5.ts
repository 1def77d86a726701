/** The transformation `md5` (RFC 1321). */
import { latin1Text } from '../octets/latin1.ts';
import { paddedBlocks, rotateLeft } from './digest.ts';

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
  for (let at = 0; at < blocks.byteLength; at += 64) addBlock(state, blocks, at);
  const digest = new DataView(new ArrayBuffer(16));
  for (const [index, word] of state.entries()) digest.setUint32(index * 4, word, true);
  return latin1Text(new Uint8Array(digest.buffer), 0, 16);
}

/** Processes the block of 64 octets at `at` (RFC 1321 §3.4). */
function addBlock(state: Uint32Array, blocks: DataView, at: number): void {
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  for (let step = 0; step < 64; step++) {
    const round = step >> 4;
    const word = blocks.getUint32(at + wordOf(round, step) * 4, true);
    const sum = (a + mixed(round, b, c, d) + SINES[step]! + word) | 0;
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
function mixed(round: number, b: number, c: number, d: number): number {
  if (round === 0) return (b & c) | (~b & d);
  if (round === 1) return (b & d) | (c & ~d);
  if (round === 2) return b ^ c ^ d;
  return c ^ (b | ~d);
}
