/** Padding and rotation, which MD5 and SHA-1 have in common (RFC 1321 §3.1 and §3.2, RFC 3174 §4). */

/** Rotates a word of 32 bits; `bits` is 1 to 31. */
export function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** Pads a message to whole blocks of 64 octets: a one bit, zeros, and the length in bits as a word of 64 bits. */
export function paddedBlocks(message: string, { bigEndian }: { readonly bigEndian: boolean }): DataView {
  const octets = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
  for (let at = 0; at < message.length; at++) octets[at] = message.charCodeAt(at);
  octets[message.length] = 0x80;
  const view = new DataView(octets.buffer);
  view.setBigUint64(octets.length - 8, BigInt(message.length) * 8n, !bigEndian);
  return view;
}
