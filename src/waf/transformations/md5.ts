import { latin1Text } from '../octets/latin1.ts';
import { paddedBlocks, rotateLeft } from './digest.ts';

/** The constants of the 64 steps: the whole part of 2³² × |sin step| (RFC 1321 §3.4). */
const SINES = Uint32Array.from({ length: 64 }, (_, step) =>
  Math.floor(2 ** 32 * Math.abs(Math.sin(step + 1))),
);
/** How far each round's steps rotate, by step modulo four. */
const ROTATIONS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;

/** The MD5 digest (RFC 1321), sixteen octets. */
export function md5(value: string): string {
  const blocks = paddedBlocks(value, { bigEndian: false });
  const state = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  for (let at = 0; at < blocks.byteLength; at += 64) addBlock(state, blocks, at);
  const digest = new DataView(new ArrayBuffer(16));
  for (const [index, word] of state.entries()) digest.setUint32(index * 4, word, true);
  return latin1Text(new Uint8Array(digest.buffer), 0, 16);
}

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

/** Which of the block's sixteen words a step adds. */
function wordOf(round: number, step: number): number {
  if (round === 0) return step;
  if (round === 1) return (5 * step + 1) & 15;
  if (round === 2) return (3 * step + 5) & 15;
  return (7 * step) & 15;
}

function mixed(round: number, b: number, c: number, d: number): number {
  if (round === 0) return (b & c) | (~b & d);
  if (round === 1) return (b & d) | (c & ~d);
  if (round === 2) return b ^ c ^ d;
  return c ^ (b | ~d);
}
