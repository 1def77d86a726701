/** The transformation `sha1` (RFC 3174). */
import { latin1Text } from '../octets/latin1.ts';
import { paddedBlocks, rotateLeft } from './digest.ts';

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
    addBlock(state, words);
  }
  const digest = new DataView(new ArrayBuffer(20));
  for (const [index, word] of state.entries()) digest.setUint32(index * 4, word);
  return latin1Text(new Uint8Array(digest.buffer), 0, 20);
}

/** Processes one block, expanded to 80 words: 80 steps in four rounds (RFC 3174 §5 and §6.1). */
function addBlock(state: Uint32Array, words: Uint32Array): void {
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
  for (let step = 0; step < 80; step++) {
    const next = (rotateLeft(a, 5) + mixed(step, b, c, d) + e + words[step]!) | 0;
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
function mixed(step: number, b: number, c: number, d: number): number {
  if (step < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (step < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (step < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}
